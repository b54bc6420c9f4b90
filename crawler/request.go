package crawler

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"skink/crawler/access"
	"skink/crawler/wire"
)

// request makes a request for a canonical URL with the given header, which it does not change. It
// adds what the user set for the URL's host, such as a password. It is called anew for each
// redirect, so a host never gets what is meant for another host.
func (f *fetcher) request(ctx context.Context, method, rawURL string, header http.Header) (*http.Request, error) {
	r, err := wire.NewRequest(ctx, rawURL, header)
	if err != nil {
		return nil, err
	}
	r.Method = method
	host := f.opt.Hosts.For(r.Host)
	if f.opt.isPrivate(r.Host) {
		r = r.WithContext(wire.WithSecrets(r.Context(), "Set-Cookie"))
	}
	r = f.dress(r, host)
	if f.cookies != nil && f.trusts(r.URL) {
		r = f.cookies.add(r)
	}
	if s := f.opt.Signer; s != nil && (host.Sign == nil || *host.Sign) {
		r.Header = r.Header.Clone()
		if err := s.Sign(r, time.Now()); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// dress adds to a request what the user set for its host: the user agent, headers, and a password.
// If the host is known to be reached by https, it does not add headers and password to http
// requests: a redirect or a link could otherwise make the crawler send these secrets unencrypted.
func (f *fetcher) dress(r *http.Request, h access.Host) *http.Request {
	if h.UserAgent == "" && len(h.Headers) == 0 && h.Basic == nil {
		return r
	}
	if len(h.Headers) > 0 || h.Basic != nil {
		r = r.WithContext(wire.WithSecrets(r.Context(), append(slices.Collect(maps.Keys(h.Headers)), "Authorization")...))
	}
	r.Header = r.Header.Clone()
	if h.UserAgent != "" {
		r.Header.Set("User-Agent", h.UserAgent)
	}
	if !f.trusts(r.URL) {
		return r
	}
	for name, value := range h.Headers {
		r.Header.Set(name, string(value))
	}
	if b := h.Basic; b != nil {
		r.SetBasicAuth(string(b.User), string(b.Password))
	}
	return r
}

// isPrivate reports whether a host may show pages only because of what the user chose for it: a
// password, cookies, or a header other than those that choose a language or a format.
func (o *Options) isPrivate(host string) bool {
	h := o.Hosts.For(host)
	if h.Basic != nil || h.Cookies != nil || h.Login != nil {
		return true
	}
	for name := range h.Headers {
		if !strings.HasPrefix(name, "Accept") && name != "Referer" && name != "From" && name != "Dnt" {
			return true
		}
	}
	return false
}

// trusts reports whether the secrets of a host may be sent with a request for a URL: the URL is
// https, or no https URL of the host is a seed or was requested before.
func (f *fetcher) trusts(u *url.URL) bool {
	f.secureMu.Lock()
	defer f.secureMu.Unlock()
	if u.Scheme == "https" {
		f.secure[u.Hostname()] = true
		return true
	}
	return !f.secure[u.Hostname()]
}
