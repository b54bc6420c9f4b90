package crawler

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"

	"skink/crawler/access"
	"skink/crawler/wire"
	"skink/frontier"
)

// # Cookies
//
// The crawl keeps the cookies of all hosts if Options.Cookies is set, and otherwise those of hosts
// whose settings contain cookies or a login. The cookies are kept in a jar during the run. The jar
// follows RFC 6265. It knows the public suffixes, so a site cannot set a cookie for all of "co.uk".
//
// Each section of the configuration with secrets has a jar of its own, and all hosts without such a
// section share one. So a session of a section is never sent to other hosts of its domain or to
// other ports, and no longer sent at all when the section is removed.
//
// Some sites redirect requests that lack a certain cookie. The redirect leads to the page itself,
// or to a consent page that sets the cookie and redirects back. A site can lead back to a page only
// if it knows the page: from the redirect's target, or from a cookie. So if a host's cookies are
// kept, redirects are followed within the host as long as they name the page or change its cookies.
// If they lead back to the page, it is requested again with the cookies. Otherwise, the page is
// recorded as a redirect like any other.

const (
	wallHops   = 5        // maximum number of redirects followed to see whether they lead back to the page
	wallRounds = 2        // maximum number of times that a page is requested again because its redirects led back to it
	wallMisses = 20       // once this many redirects of a host have failed to lead back to their page, its redirects are no longer followed
	wallLimit  = 64 << 10 // maximum number of body bytes read from the target of such a redirect
)

// A cookieStore holds the cookies of a run, and the hosts that get secrets only with https; see
// sites.go.
type cookieStore struct {
	opt   *Options
	jars  sync.Map        // jars by the pattern of their section; the jar of hosts without a section has the key ""
	seeds map[string]bool // names of the hosts that have an https seed

	mu     sync.Mutex
	misses map[string]int  // guarded by mu: number of redirects that did not lead back to their page, by host
	secure map[string]bool // guarded by mu: names of hosts that have received an https request
}

func newCookieStore(opt *Options) *cookieStore {
	s := &cookieStore{opt: opt, seeds: opt.secureHosts(), misses: map[string]int{}, secure: map[string]bool{}}
	for _, h := range opt.Hosts {
		s.load(h)
	}
	return s
}

func (s *cookieStore) jar(section string) *cookiejar.Jar {
	fresh, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
	jar, _ := s.jars.LoadOrStore(section, fresh)
	return jar.(*cookiejar.Jar)
}

// sections returns the keys of the jars of a host. The first one gets the cookies that it sets.
func sections(h *access.Host) []string {
	if len(h.Sections) == 0 {
		return []string{""}
	}
	return h.Sections
}

// cookies returns the cookies that a host gets with a URL.
func (s *cookieStore) cookies(h *access.Host, u *url.URL) (all []*http.Cookie) {
	if !s.keeps(h) {
		return nil
	}
	for _, section := range sections(h) {
		earlier := all
		for _, c := range s.jar(section).Cookies(u) {
			if !slices.ContainsFunc(earlier, func(e *http.Cookie) bool { return e.Name == c.Name }) {
				all = append(all, c)
			}
		}
	}
	return all
}

// load puts the cookies from a section's settings into its jar. It ignores cookies for hosts that do
// not match the settings' pattern.
func (s *cookieStore) load(h access.Host) {
	for _, c := range h.Cookies {
		c := *c
		name, below := strings.CutPrefix(c.Domain, ".")
		if !access.Matches(h.Pattern, name) && !access.Matches(name, strings.TrimPrefix(h.Pattern, "*.")) {
			continue
		}
		if c.Domain = ""; below {
			c.Domain = name
		}
		scheme := "http"
		if c.Secure {
			scheme = "https"
		}
		s.jar(h.Pattern).SetCookies(&url.URL{Scheme: scheme, Host: name, Path: c.Path}, []*http.Cookie{&c})
	}
}

func (s *cookieStore) keeps(h *access.Host) bool { return s.opt.Cookies || h.KeepsCookies() }

// add adds the cookies of a host to a request.
func (s *cookieStore) add(r *http.Request, h *access.Host) *http.Request {
	all := s.cookies(h, jarURL(r))
	if len(all) == 0 {
		return r
	}
	r = r.WithContext(wire.WithSecrets(r.Context(), "Cookie"))
	for _, c := range all {
		r.AddCookie(c)
	}
	return r
}

// keep keeps the cookies that a response of a host has set.
func (s *cookieStore) keep(x *wire.Exchange, h access.Host) {
	if x.Header["Set-Cookie"] != nil && s.keeps(&h) {
		s.jar(sections(&h)[0]).SetCookies(jarURL(x.Request), (&http.Response{Header: x.Header}).Cookies())
	}
}

// jarURL returns the URL with which the jar looks up cookies for a request. The path is taken from
// RequestURI, because it may be in URL.Opaque.
func jarURL(r *http.Request) *url.URL {
	path, _, _ := strings.Cut(r.URL.RequestURI(), "?")
	return &url.URL{Scheme: r.URL.Scheme, Host: r.Host, Path: path}
}

func (s *cookieStore) missed(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.misses[host]++
}

// follows reports whether to follow the redirects of a host, to find out whether they lead back to
// the redirected page.
func (s *cookieStore) follows(host string) bool {
	if h := s.opt.Hosts.For(host); !s.keeps(&h) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.misses[host] < wallMisses
}

func (f *fetcher) fetchAs(ctx context.Context, item frontier.Item) *Page {
	if h := f.opt.Hosts.For(frontier.HostOf(item.URL)); h.Login != nil {
		return f.fetchLoggedIn(ctx, item, h)
	}
	return f.fetchPast(ctx, item)
}

// fetchPast fetches a URL. If its redirects set cookies and lead back to it, fetchPast fetches it
// again with these cookies.
func (f *fetcher) fetchPast(ctx context.Context, item frontier.Item) *Page {
	host := frontier.HostOf(item.URL)
	before := f.cookies.of(item.URL)
	page := f.fetch(ctx, item)
	for range wallRounds {
		if !isRedirect(page.Status) || !f.cookies.follows(host) {
			break
		}
		to, err := location(item.URL, page.Header)
		if err == nil && !f.mayLeadBack(item.URL, to, before) {
			break // not a cookie wall
		}
		if err != nil || !f.leadsBack(ctx, item.URL, to, before) {
			f.cookies.missed(host)
			break
		}
		page = f.again(page, f.fetch(ctx, item))
	}
	return page
}

// again returns the result of a repeated request, and archives the first response. If the request
// was not sent again, it returns the first page.
func (f *fetcher) again(first, second *Page) *Page {
	if second.unsent {
		return first
	}
	if first.Raw != nil {
		f.opt.OnAnswer(first.Raw)
	}
	return second
}

// leadsBack follows a redirect from one URL to another, and further redirects within the host. It
// reports whether they lead back to the first URL.
func (f *fetcher) leadsBack(ctx context.Context, from, to, before string) bool {
	for range wallHops {
		if to == from {
			return true
		}
		if !f.mayLeadBack(from, to, before) {
			return false
		}
		x, err := f.send(ctx, ask{url: to, purpose: forDetour, from: from, limit: wallLimit})
		if err != nil || !isRedirect(x.Status) {
			return false
		}
		if to, err = location(to, x.Header); err != nil {
			return false
		}
	}
	return false
}

// mayLeadBack reports whether a redirect within a host may lead back to the page at from: because
// its query names the page, or because the cookies of the page are no longer those in before.
func (f *fetcher) mayLeadBack(from, to, before string) bool {
	u, err := url.Parse(from)
	if err != nil || frontier.HostOf(to) != frontier.HostOf(from) {
		return false
	}
	_, query, _ := strings.Cut(to, "?")
	query, err = url.QueryUnescape(query)
	return to == from || err == nil && strings.Contains(query, u.RequestURI()) || f.cookies.of(from) != before
}

// of returns the cookies of a page as text, to find out whether they have changed.
func (s *cookieStore) of(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	h := s.opt.Hosts.For(frontier.HostOf(page))
	return fmt.Sprint(s.cookies(&h, u))
}

// Sites remembers each host that has received an https request, because secrets must not be sent to
// it with http later, also if the user adds these secrets only then. A host is stored before the
// request is sent. So the next run knows it even if this one is killed, and so do other workers.
//
// A store implements Sites: the value for a host is not nil if the host has received one.
type Sites interface {
	Meta(ctx context.Context, name string) ([]byte, error)
	SetMeta(ctx context.Context, name string, value []byte) error
}

const secureSite = "site/https://" // beginning of the names of values

// trusts reports whether the secrets of a host may be sent with a request for a URL. They may be
// sent with https. With http, they may be sent only if no https URL of the host is a seed or has
// been requested before, in this run or an earlier one, by this worker or another. trusts asks the
// store before each http request, and before the first https request of a host.
func (s *cookieStore) trusts(ctx context.Context, u *url.URL) (trusted bool, err error) {
	name := u.Hostname()
	s.mu.Lock()
	known := s.secure[name]
	s.mu.Unlock()
	https := u.Scheme == "https"
	switch {
	case known, s.seeds[name] && !https:
		return https, nil
	case s.opt.Sites == nil:
		known = https
	case https:
		known, err = true, s.opt.Sites.SetMeta(ctx, secureSite+name, []byte("1"))
	default:
		value, readErr := s.opt.Sites.Meta(ctx, secureSite+name)
		known, err = value != nil, readErr
	}
	if err != nil {
		return false, err
	}
	if known {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.secure[name] = true
	}
	return https || !known, nil
}
