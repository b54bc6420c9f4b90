package crawler

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"skink/crawler/access"
	"skink/crawler/wire"
)

// request returns a request for a canonical URL with the fields of header, which it does not
// change. It adds the user's settings for the URL's host, such as a password. Each redirect needs
// its own request, so a host never gets a password or cookie for another host.
func (f *fetcher) request(ctx context.Context, method, rawURL string, header http.Header) (*http.Request, error) {
	r, err := wire.NewRequest(ctx, rawURL, header)
	if err != nil {
		return nil, err
	}
	r.Method = method
	host := f.opt.Hosts.For(r.Host)
	if host.Private() {
		r = r.WithContext(wire.WithSecrets(r.Context(), "Set-Cookie"))
	}
	r = f.dress(r, host)
	if f.cookies != nil && f.trusts(r.URL) {
		r = f.cookies.add(r, host)
	}
	if s := f.opt.Signer; s != nil && (host.Sign == nil || *host.Sign) {
		r.Header = r.Header.Clone()
		if err := s.Sign(r, time.Now()); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// dress applies the user's settings for the host to a request: the user agent, headers, and a
// password. If the host is known to support https, dress does not add headers or the password to
// http requests. Otherwise, a redirect or a link could make the crawler send these secrets
// unencrypted.
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

// exchange makes a GET request for a URL that is not a page of the crawl, reads at most limit bytes
// of the response, and passes the raw response to OnAnswer.
func (f *fetcher) exchange(ctx context.Context, url string, header http.Header, limit int64, clock *wire.Clock) (*wire.Exchange, error) {
	request, err := f.request(ctx, http.MethodGet, url, header)
	if err != nil {
		return nil, err
	}
	x := &wire.Exchange{Request: request, Limit: limit, Clock: clock}
	began := time.Now()
	err = f.do(x)
	if x.Raw != nil {
		x.Raw.URL, x.Raw.At = url, began
		f.opt.OnAnswer(x.Raw)
	}
	return x, err
}

// trusts reports whether the secrets of a host may be sent with a request for a URL. They may be
// sent with https. With http, they may be sent only if no https URL of the host is a seed or has
// been requested before.
func (f *fetcher) trusts(u *url.URL) bool {
	f.secureMu.Lock()
	defer f.secureMu.Unlock()
	if u.Scheme == "https" {
		f.secure[u.Hostname()] = true
		return true
	}
	return !f.secure[u.Hostname()]
}
