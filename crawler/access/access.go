// Package access says how single hosts are reached: at what pace, with which headers and
// credentials, through which proxy, and which of their URLs are wanted.
//
// Start with a [Table]. Its method For returns the settings of one host:
//
//	t := access.Table{{Pattern: "*.example.org", UserAgent: "nightly/1.0"}}
//	h := t.For("www.example.org:443")
//
// The package knows no files and makes no requests. The configuration fills a table, and the
// crawler obeys it.
package access

import (
	"regexp"
	"strings"
	"time"
)

// A Host is what the user chose for the hosts that match a pattern. A field that is zero or nil
// says nothing: the setting of a less specific pattern holds, or that of the whole crawl.
type Host struct {
	Pattern string // see [Matches]

	Delay     *time.Duration // shortest time between two requests; 0 is a choice too
	PerHost   int            // requests at once
	UserAgent string
	Include   []*regexp.Regexp // only URLs that match one are fetched
	Exclude   []*regexp.Regexp // URLs that match one are not
	Pages     int64            // most pages and files
	Bytes     int64            // most bytes

	Headers map[string]Secret // by canonical name
	Cookies Cookies           // sent as the cookie's domain and path say
	Basic   *Basic            // for HTTP Basic
	Login   *Login
	Logout  *bool   // follow links that log out or delete; nil: not while logged in
	Proxies []Proxy // tried in turn; an empty list that is not nil: connect directly

	Render string // when a browser draws pages: "off", "auto" or "always"
	Sign   *bool  // sign requests
}

// LoggedIn reports whether requests to the host may belong to a session of the user: they have a
// password or cookies, or follow a login.
func (h *Host) LoggedIn() bool { return h.Basic != nil || h.KeepsCookies() }

// KeepsCookies reports whether the host's own cookies are kept because of its settings.
func (h *Host) KeepsCookies() bool { return h.Cookies != nil || h.Login != nil }

// Private reports whether the host may show pages only because of what the user chose for it: a
// password, cookies, a login, or a header other than those that choose a language or a format.
func (h *Host) Private() bool {
	if h.LoggedIn() {
		return true
	}
	for name := range h.Headers {
		if !strings.HasPrefix(name, "Accept") && name != "Referer" && name != "From" && name != "Dnt" {
			return true
		}
	}
	return false
}

// A Login is a form that starts a session.
type Login struct {
	Page   string            // URL of the page with the form
	Fields map[string]Secret // names and values to fill in
	Check  string            // how a logged-in answer is recognised: a status, a URL, or a text
}

// A Table holds the settings of hosts.
type Table []Host

// For returns the settings of a host, given as name or name:port. If several patterns match, each
// field comes from the most specific one that sets it.
func (t Table) For(host string) Host {
	var found Host
	for _, h := range t.matching(host) {
		found = found.or(h)
	}
	return found
}

// Matches reports whether a pattern names a host. A pattern is a name ("example.org"), a name with a
// port ("example.org:8080"), a name and all names below it ("*.example.org"), or "*".
func Matches(pattern, host string) bool {
	name := strings.ToLower(host)
	if _, port := split(pattern); port == "" {
		name, _ = split(name)
	}
	pattern = strings.ToLower(pattern)
	if pattern == "*" {
		return true
	}
	if below, ok := strings.CutPrefix(pattern, "*."); ok {
		return name == below || strings.HasSuffix(name, "."+below)
	}
	return name == pattern
}

// split returns the name and the port of a host. The port is "" if there is none.
func split(host string) (name, port string) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host, ""
	}
	return host[:i], host[i+1:]
}

// A ProxyChoice says how hosts without settings of their own are reached. The zero value reaches them
// directly.
type ProxyChoice struct {
	List    []Proxy // tried in turn
	FromEnv bool    // as HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the environment say
}
