package crawler

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"skink/crawler/access"
	"skink/crawler/wire"
	"skink/frontier"
)

// # One gate for all requests
//
// Every request of a crawl is an ask that passes send, whatever its purpose. send asks whether the
// URL may be requested, waits until its host may get a request, builds the request with the secrets
// of its host, and makes the exchange. No other code builds a request or changes its header.

// A purpose is the reason for a request.
type purpose int

const (
	forPage      purpose = iota // a page of the crawl: a seed, a link, the target of a redirect, a retry or a revisit
	forSitemap                  // a sitemap that the site names
	forRequisite                // a file that a page needs to look right
	forProbe                    // a URL that cannot exist
	forCheck                    // a URL that is only checked
	forRobots                   // a robots.txt, or the target of its redirect
	forGuess                    // the beginning of a sitemap that no one has named
	forDetour                   // the target of a redirect, to find out whether it leads back to the page
	forLogin                    // a step of a login
	forPart                     // a file that a browser requests for a page
)

// An ask describes a request before it is built.
type ask struct {
	url     string // canonical
	purpose purpose
	from    string       // canonical URL of the page that caused the request; "" means that the frontier or the user did
	method  string       // "" means GET
	body    string       // for POST
	login   *access.Host // for steps of a login: the settings with the login, whose page may be on another host
	depth   int          // distance from a seed, for pages
	limit   int64        // maximum number of bytes to read from the body; 0 means that its kind decides; see limit

	etag, modified string        // validators of the last visit
	more           http.Header   // header fields from the browser, or of a form
	anonymous      bool          // the request is sent without the secrets of its host, because another site made the browser request it
	delay          time.Duration // Crawl-delay of the host, which admit finds for parts of rendered pages
	left           time.Duration // maximum time of the exchange; 0 means Options.Timeout
}

// purposeOf returns the purpose of requests for items of the frontier.
func purposeOf(item frontier.Item) purpose {
	switch item.Kind {
	case frontier.Sitemap:
		return forSitemap
	case frontier.Requisite:
		return forRequisite
	case frontier.Check:
		return forCheck
	case Probing:
		return forProbe
	}
	return forPage
}

// send makes the request of an ask, and returns its exchange, which is never nil. It follows no
// redirects. If the request was not sent, the exchange has no time (At). A request that is no item
// of the frontier is repeated here if the host asks for a pause that does not exceed
// Options.Timeout, because no one else can try it later.
func (f *fetcher) send(ctx context.Context, a ask) (*wire.Exchange, error) {
	x, err := f.sendOnce(ctx, a)
	for range f.opt.Retries {
		if f.schedule == nil || a.purpose < forGuess || a.isPost() || pause(x.Status, x.Header) == 0 {
			break
		}
		next, nextErr := f.sendOnce(ctx, a)
		if next.At.IsZero() {
			break
		}
		x, err = next, nextErr
	}
	return x, err
}

func (f *fetcher) sendOnce(ctx context.Context, a ask) (*wire.Exchange, error) {
	x := &wire.Exchange{Limit: f.opt.limit(a.purpose, a.limit)}
	if err := f.admit(ctx, &a); err != nil {
		return x, err
	}
	ctx, leave, err := f.schedule.slot(ctx, &a)
	if err != nil {
		return x, err
	}
	defer func() { leave(x) }()
	ctx, clock, cancel := wire.StartClock(ctx, cmp.Or(a.left, f.opt.Timeout), f.opt.Timeout)
	defer cancel()
	x.Clock, x.At = clock, time.Now()
	if x.Request, err = f.build(ctx, &a); err != nil {
		return x, err
	}
	if err = f.do(x); err != nil {
		return x, err
	}
	if !a.isPost() && !f.opt.insecure(frontier.HostOf(a.url)) { // a stranger's session must not replace the own one, and anyone can have set the others, for other hosts of the domain too
		f.cookies.keep(x, f.settings(&a))
	}
	if x.Raw != nil {
		x.Raw.URL, x.Raw.At = a.url, x.At
		x.Raw.Private = f.opt.IsPrivate(a.url) || a.from != "" && f.opt.IsPrivate(a.from)
		if a.isPost() {
			x.Raw.Posted, x.Raw.Request = partKey(&a), append(x.Raw.Request, a.body...)
		}
		if a.purpose == forRobots || a.purpose == forDetour || a.purpose == forPart {
			f.opt.OnAnswer(x.Raw)
		}
	}
	return x, nil
}

// isPost reports whether the request is a POST request of a script, which is sent once and without secrets.
func (a *ask) isPost() bool { return a.purpose == forPart && a.method == http.MethodPost }

// IsPrivate reports whether others may not be allowed to see what a request for a URL returns.
func (opt *Options) IsPrivate(url string) bool {
	host := opt.Hosts.For(frontier.HostOf(url))
	return host.Private()
}

// insecure reports whether the certificates of a host, given as name or name:port, are not checked.
func (opt *Options) insecure(host string) bool {
	host = strings.TrimSuffix(host, ":443")
	return slices.ContainsFunc(opt.Insecure, func(name string) bool { return access.Matches(name, host) })
}

// settings returns the settings for the host of an ask. A login keeps the cookies of its section,
// wherever its page is.
func (f *fetcher) settings(a *ask) access.Host {
	h := f.opt.Hosts.For(frontier.HostOf(a.url))
	if a.login != nil {
		h.Login, h.Sections = a.login.Login, a.login.Sections
	}
	return h
}

// build returns the request for an ask: the URL, the header for its purpose, and the user's
// settings for the URL's host, such as a password. Each redirect needs its own request, so a host
// never gets a password or cookie for another host.
func (f *fetcher) build(ctx context.Context, a *ask) (*http.Request, error) {
	host := f.settings(a)
	insecure := f.opt.insecure(frontier.HostOf(a.url))
	if a.anonymous = a.anonymous || insecure; insecure && a.purpose == forLogin {
		return nil, &LoginError{a.url, "--insecure accepts any certificate of this host, so the host gets no secrets"}
	}
	r, err := wire.NewRequest(ctx, a.url, f.header(a, host.UserAgent))
	if err != nil {
		return nil, err
	}
	r.Method = cmp.Or(a.method, http.MethodGet)
	if r.Method == http.MethodPost {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(a.body)), int64(len(a.body))
		r.Header.Set("Content-Length", strconv.Itoa(len(a.body))) // for the archive, if the request is sent with HTTP/2
	}
	if host.Private() {
		r = r.WithContext(wire.WithSecrets(r.Context(), "Set-Cookie"))
	}
	if r, err = f.addSecrets(r, a, host); err != nil {
		return nil, err
	}
	if insecure || a.isPost() {
		r.Header.Del("Authorization") // of a script
	}
	return r, nil
}

// header returns the header of a request without secrets. It contains the validators of the last
// visit, so that the server does not send an unchanged page again (RFC 9110, section 13.1). A
// server that supports both uses If-None-Match.
func (f *fetcher) header(a *ask, agent string) http.Header {
	accept := "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"
	switch a.purpose {
	case forRobots:
		accept = "text/plain,*/*;q=0.5"
	case forRequisite, forPart:
		accept = "*/*"
	}
	h := http.Header{"User-Agent": {cmp.Or(agent, f.opt.UserAgent)}, "Accept": {accept}, "Accept-Encoding": {wire.AcceptEncoding}}
	maps.Copy(h, a.more)
	if a.etag != "" {
		h.Set("If-None-Match", a.etag)
	}
	if a.modified != "" {
		h.Set("If-Modified-Since", a.modified)
	}
	return h
}

// addSecrets adds the headers, the password and the cookies of a host to a request. If the host is
// known to support https, it adds none to http requests. Otherwise, a redirect or a link could make
// the crawler send these secrets unencrypted.
func (f *fetcher) addSecrets(r *http.Request, a *ask, h access.Host) (*http.Request, error) {
	if len(h.Headers) > 0 || h.Basic != nil || a.purpose == forPart { // scripts may send a token of their own
		r = r.WithContext(wire.WithSecrets(r.Context(), append(slices.Collect(maps.Keys(h.Headers)), "Authorization")...))
	}
	if len(h.Headers) == 0 && h.Basic == nil && !f.cookies.keeps(&h) && r.URL.Scheme != "https" {
		return r, nil
	}
	if trusted, err := f.cookies.trusts(r.Context(), r.URL); !trusted || err != nil {
		return r, err
	}
	for name, value := range h.Headers {
		if !a.anonymous || access.IsPublic(name) {
			r.Header.Set(name, string(value))
		}
	}
	if a.anonymous {
		return r, nil
	}
	if b := h.Basic; b != nil {
		r.SetBasicAuth(string(b.User), string(b.Password))
	}
	return f.cookies.add(r, &h), nil
}
