package crawler

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"skink/crawler/access"
	"skink/frontier"
)

// # What a crawl remembers of hosts and sites
//
// The crawl remembers each host that has received an https request, because secrets must not be
// sent to it with http later, also if the user adds these secrets only then. With
// Options.StoreCookies, it also remembers the cookies of a site, which is a registrable domain with
// all of its hosts. Both are stored at once: the former before the request is sent, the latter
// before the page is handled. So the next run knows them even if this one is killed, and so do
// other workers.

// Sites stores what a crawl remembers of hosts and sites, such as in a store. Each value has a name:
// the domain of the site, or "https://" and the name of the host.
type Sites interface {
	// ReadSite returns the value with a name, or nil if there is none.
	ReadSite(ctx context.Context, name string) ([]byte, error)
	// ChangeSite atomically replaces the value with a name. It may call change several times.
	ChangeSite(ctx context.Context, name string, change func(old []byte) []byte) error
}

// A site is the value that is stored for a domain.
type site struct {
	Cookies []keptCookie `json:"kept,omitempty"`
}

// A keptCookie is a cookie set by a host and kept for later runs.
type keptCookie struct {
	Section string    `json:"section,omitempty"` // pattern of the section to whose hosts it is sent; "" means hosts without a section
	URL     string    `json:"url"`               // URL of the response that set the cookie
	Cookie  string    `json:"cookie"`            // the value of Set-Cookie; secret
	At      time.Time `json:"at"`                // when the cookie was set
}

// A site keeps at most maxCookies cookies of maxCookie bytes, as browsers do.
const (
	maxCookies = 180
	maxCookie  = 4 << 10
)

// trusts reports whether the secrets of a host may be sent with a request for a URL. They may be
// sent with https. With http, they may be sent only if no https URL of the host is a seed or has
// been requested before, in this run or an earlier one, by this worker or another. trusts asks the
// store before each http request, and before the first https request of a host.
func (s *cookieStore) trusts(ctx context.Context, u *url.URL) (trusted bool, err error) {
	name := u.Hostname()
	s.mu.Lock()
	known := s.secure[name]
	s.mu.Unlock()
	https, secure := u.Scheme == "https", []byte("1")
	switch {
	case known, s.seeds[name] && !https:
		return https, nil
	case s.opt.Sites == nil:
		known = https
	case https:
		known, err = true, s.opt.Sites.ChangeSite(ctx, "https://"+name, func([]byte) []byte { return secure })
	default:
		secure, err = s.opt.Sites.ReadSite(ctx, "https://"+name)
		known = secure != nil
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

// read puts the cookies that are stored for a host's site into their jars, if the host keeps cookies.
func (s *cookieStore) read(ctx context.Context, h *access.Host, host string) error {
	if s.opt.Sites == nil || !s.opt.StoreCookies || !s.keeps(h) {
		return nil
	}
	domain := frontier.Domain(host)
	text, err := s.opt.Sites.ReadSite(ctx, domain)
	if err != nil || text == nil {
		return err
	}
	var of site
	if err := json.Unmarshal(text, &of); err != nil {
		return fmt.Errorf("read what is stored of the site %s: %w", domain, err)
	}
	s.learn(&of)
	return nil
}

// learn puts the unknown cookies of a site into their jars unless they have expired.
func (s *cookieStore) learn(of *site) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range of.Cookies {
		u, err := url.Parse(k.URL)
		c, cookieErr := http.ParseSetCookie(k.Cookie)
		if err != nil || cookieErr != nil || !s.set[keyOf(k.Section, u, c)].Before(k.At) {
			continue
		}
		s.set[keyOf(k.Section, u, c)] = k.At
		if c.MaxAge > 0 { // Max-Age counts from when the cookie was set
			if c.MaxAge -= int(time.Since(k.At).Seconds()); c.MaxAge <= 0 {
				continue
			}
		}
		s.jar(k.Section).SetCookies(u, []*http.Cookie{c})
	}
}

// store stores the cookies that a response has set.
func (s *cookieStore) store(ctx context.Context, section string, u *url.URL, all []*http.Cookie) error {
	now := time.Now().UTC()
	return s.opt.Sites.ChangeSite(ctx, frontier.Domain(u.Host), func(old []byte) []byte {
		var of site
		_ = json.Unmarshal(old, &of) // a damaged value is replaced
		for _, c := range all {
			key := keyOf(section, u, c)
			of.Cookies = slices.DeleteFunc(of.Cookies, func(k keptCookie) bool {
				at, err := url.Parse(k.URL)
				old, oldErr := http.ParseSetCookie(k.Cookie)
				return err != nil || oldErr != nil || keyOf(k.Section, at, old) == key
			})
			if len(c.Raw) <= maxCookie {
				of.Cookies = append(of.Cookies, keptCookie{section, u.String(), c.Raw, now})
			}
		}
		of.Cookies = of.Cookies[max(0, len(of.Cookies)-maxCookies):]
		text, _ := json.Marshal(of)
		return text
	})
}

// keyOf returns what distinguishes a cookie from others: its section, host, domain, path and name.
func keyOf(section string, u *url.URL, c *http.Cookie) string {
	return strings.Join([]string{section, u.Host, c.Domain, c.Path, c.Name}, "\x00")
}
