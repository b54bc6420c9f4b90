// Package access holds settings for individual hosts: the delay between requests, headers and
// credentials, the proxy, and the URLs to fetch or to skip.
//
// Start with a [Table]. Its For method returns the settings of one host:
//
//	t := access.Table{{Pattern: "*.example.org", UserAgent: "nightly/1.0"}}
//	h := t.For("www.example.org:443")
//
// The package reads no files and makes no requests. The configuration fills a table, and the
// crawler applies it.
package access

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"skink/extract/selector"
	"skink/frontier"
)

// Behaviors lists what a browser can do in a rendered page: scroll to the end, open details elements, and
// press buttons that load more of the page.
var Behaviors = []string{"scroll", "details", "more"}

// A Host holds the user's settings for the hosts that match a pattern. If a field is zero or nil,
// the setting of a less specific pattern is used, or else the setting of the whole crawl. Include
// and Exclude are different: those of all patterns and of the whole crawl add up.
type Host struct {
	Pattern string // pattern for host names; see [Matches]

	Delay     *time.Duration // minimum time between two requests; a pointer to 0 means no delay
	PerHost   int            // maximum number of simultaneous requests
	UserAgent string
	Include   []*regexp.Regexp // only URLs that match one of these expressions are fetched
	Exclude   []*regexp.Regexp // URLs that match one of these expressions are not fetched
	Pages     int64            // maximum number of pages and files to fetch
	Bytes     int64            // maximum number of bytes to fetch
	Rate      Rate             // budget of requests

	Headers map[string]Secret // header fields, by canonical name
	Cookies Cookies           // each is sent only to URLs within its domain and path
	Basic   *Basic
	Login   *Login
	Logout  *bool   // whether to follow links that log out or delete something; nil means only if the crawl is not logged in to the host
	Proxies []Proxy // if a proxy fails, the next one in the list is used; an empty non-nil list means a direct connection

	Render  string        // which pages a browser renders: "off", "auto" or "always"
	Wait    time.Duration // how long a rendered page may change after loading
	WaitFor string        // CSS selector of an element that a rendered page must have
	Posts   *bool         // whether scripts of rendered pages may send POST requests to the host; nil means no
	Robots  string        // reason for fetching URLs that robots.txt does not allow; "" means that they are not fetched

	Behaviors []string // what a browser does in a rendered page: any of the list Behaviors

	Select selector.Rules // selectors for the main text and for fields, all from the most specific pattern that has any

	// Sections are the patterns with secrets that match the host, the one with the login first.
	// Table.For sets them. Cookies are shared only between hosts of the same section.
	Sections []string
}

// LoggedIn reports whether the host may treat requests as those of a logged-in user, because they
// carry a password or cookies, or are made after a login.
func (h *Host) LoggedIn() bool { return h.Basic != nil || h.KeepsCookies() }

// KeepsCookies reports whether cookies set by the host should be kept.
func (h *Host) KeepsCookies() bool { return h.Cookies != nil || h.Login != nil }

// Private reports whether the user's settings (a password, cookies, a login or a header) may give
// access to pages that others cannot see. Headers that choose a language or a format do not count.
func (h *Host) Private() bool {
	if h.LoggedIn() {
		return true
	}
	for name := range h.Headers {
		if !IsPublic(name) {
			return true
		}
	}
	return false
}

// IsPublic reports whether a header field, given by its canonical name, only chooses a language or
// a format, and so is no secret.
func IsPublic(name string) bool {
	return strings.HasPrefix(name, "Accept") || name == "Referer" || name == "From" || name == "Dnt"
}

// SameSecrets reports whether two hosts get the same password, login, cookies and headers.
func (h *Host) SameSecrets(other *Host) bool {
	return h.Basic == other.Basic && h.Login == other.Login && slices.Equal(h.Cookies, other.Cookies) && maps.Equal(h.Headers, other.Headers)
}

// A Login describes how to log in with a form.
type Login struct {
	Page   string            // URL of the page with the form
	Fields map[string]Secret // names of form fields and the values to fill in
	Check  string            // status, URL or text that identifies a response after a successful login
}

// A Seed holds settings of one seed, instead of those of the whole crawl.
type Seed struct {
	URL      string // canonical
	Scope    string // see [skink/crawler.NewScope]; "" means that of the crawl
	MaxDepth int    // maximum distance from a seed, in links; 0 means that of the crawl
	Priority int    // 0 to 7; pages of seeds with higher numbers are fetched sooner
	Include  []*regexp.Regexp
	Exclude  []*regexp.Regexp
}

// Reasons returns the patterns of the hosts whose robots.txt is overridden, with the reasons.
func (t Table) Reasons() map[string]string {
	all := map[string]string{}
	for _, h := range t {
		if h.Robots != "" {
			all[h.Pattern] = h.Robots
		}
	}
	return all
}

// A Table holds settings for individual hosts.
type Table []Host

// For returns the settings of a host, given as name or name:port. If several patterns match, each
// field comes from the most specific one that sets it.
func (t Table) For(host string) Host {
	var found Host
	for _, h := range t.matching(host) {
		switch {
		case h.Login != nil && found.Login == nil:
			found.Sections = slices.Insert(found.Sections, 0, h.Pattern)
		case h.Private():
			found.Sections = append(found.Sections, h.Pattern)
		}
		found = found.or(h)
	}
	return found
}

// Matches reports whether a pattern matches a host. A pattern is a name ("example.org"), a name
// with a port ("example.org:8080"), a name and all names below it ("*.example.org"), or "*". A trailing dot of
// a name is ignored.
func Matches(pattern, host string) bool {
	name := strings.ToLower(frontier.Undotted(host))
	if _, port := frontier.SplitPort(pattern); port == "" {
		name, _ = frontier.SplitPort(name)
	}
	pattern = strings.ToLower(frontier.Undotted(pattern))
	if pattern == "*" {
		return true
	}
	if below, ok := strings.CutPrefix(pattern, "*."); ok {
		return name == below || strings.HasSuffix(name, "."+below)
	}
	return name == pattern
}

// A ProxyChoice selects the proxies for hosts whose settings name no proxy. With the zero value,
// the crawler connects to them directly.
type ProxyChoice struct {
	List    []Proxy // if a proxy fails, the next one in the list is used
	FromEnv bool    // use the environment variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY
}

// A Rate is a budget of requests for a period. The requests are spread over the period, so the budget is
// a minimum time between two requests. The zero Rate means no limit.
type Rate struct {
	N   int64
	Per time.Duration
}

// Every returns the minimum time between two requests; 0 means no limit.
func (r Rate) Every() time.Duration {
	if r.N <= 0 {
		return 0
	}
	return (r.Per + time.Duration(r.N-1)) / time.Duration(r.N)
}
