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

	"skink/frontier"
)

// # What a crawl remembers of a site
//
// A site is a registrable domain with all of its hosts. The crawl remembers which of these hosts
// have received an https request, because their secrets must not be sent with http later. With
// Options.StoreCookies, it also remembers the cookies that they have set. Both are stored at once:
// the former before the request is sent, the latter before the page is handled. So the next run
// knows them even if this one is killed, and so do other workers.
//
// Only sites for which the crawl has secrets or keeps cookies are remembered.

// Sites stores what a crawl remembers of sites, such as in a store.
type Sites interface {
	// ReadSite returns the value of a domain, or nil if it has none.
	ReadSite(ctx context.Context, domain string) ([]byte, error)
	// ChangeSite atomically replaces the value of a domain. It may call change several times.
	ChangeSite(ctx context.Context, domain string, change func(old []byte) []byte) error
}

// A site is the value that is stored for a domain.
type site struct {
	Secure  []string     `json:"secure,omitempty"` // names of the hosts that have received an https request
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
// been requested before, in this run or an earlier one, by this worker or another.
func (s *cookieStore) trusts(ctx context.Context, u *url.URL) (bool, error) {
	name := u.Hostname()
	s.mu.Lock()
	known := s.secure[name]
	s.mu.Unlock()
	if u.Scheme == "https" {
		if known {
			return true, nil
		}
		return true, s.change(ctx, name, func(of *site) {
			if !slices.Contains(of.Secure, name) {
				of.Secure = append(of.Secure, name)
			}
		})
	}
	if known || s.seeds[name] {
		return false, nil
	}
	if err := s.read(ctx, name); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.secure[name], nil
}

// read learns what is stored of a host's site.
func (s *cookieStore) read(ctx context.Context, host string) error {
	if s.opt.Sites == nil {
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

// change changes what is known of a host's site, and stores it.
func (s *cookieStore) change(ctx context.Context, host string, change func(*site)) error {
	var of site
	if s.opt.Sites == nil {
		change(&of)
		s.learn(&of)
		return nil
	}
	err := s.opt.Sites.ChangeSite(ctx, frontier.Domain(host), func(old []byte) []byte {
		of = site{}
		_ = json.Unmarshal(old, &of) // a damaged value is replaced
		change(&of)
		text, _ := json.Marshal(of)
		return text
	})
	if err == nil {
		s.learn(&of)
	}
	return err
}

// learn remembers the secure hosts of a site, and puts its unknown cookies into their jars unless they
// have expired.
func (s *cookieStore) learn(of *site) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range of.Secure {
		s.secure[name] = true
	}
	if !s.opt.StoreCookies {
		return
	}
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
	return s.change(ctx, u.Host, func(of *site) {
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
	})
}

// keyOf returns what distinguishes a cookie from others: its section, host, domain, path and name.
func keyOf(section string, u *url.URL, c *http.Cookie) string {
	return strings.Join([]string{section, u.Host, c.Domain, c.Path, c.Name}, "\x00")
}
