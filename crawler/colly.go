package crawler

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/gocolly/colly/v2"

	"skink/crawler/wire"
)

// # Exchanges through Colly
//
// With Colly, a request cannot have its own context or limits. Colly also changes much of the
// response: it decodes some bodies a second time because of the file name, rewrites URLs (a "%"
// that is not an escape becomes "%25"), and copies the whole body to convert its character set. So
// the exchange, with its context, limits and request, is prepared outside Colly. Colly only passes
// it on, in a context. Package wire makes the exchange and reads the body. Colly gets only the status of the response, so it has nothing to decode, copy or
// follow.

// collyURL is the URL of all Colly requests. Only the exchange contains the real URL, because
// Colly would reject some URLs that are valid in the current URL Standard. Colly parses the URL of
// each request three times, with two allocations for each letter of the scheme.
const collyURL = "x:"

// A shell makes HTTP exchanges through Colly. It is also the http.RoundTripper that Colly calls.
type shell struct {
	collector *colly.Collector // cloned for each exchange, because its context is that of all its requests
	wire      *wire.Transport
}

type exchangeKey struct{}

// newShell sets up a Colly collector that passes each request on, and does nothing else. It calls Init
// because NewCollector would read settings from environment variables.
func newShell(t *wire.Transport) *shell {
	c := new(colly.Collector)
	s := &shell{c, t}
	c.Init()
	c.AllowURLRevisit = true        // the frontier decides which URLs are visited
	c.IgnoreRobotsTxt = true        // package crawler obeys robots.txt itself; see robots_cache.go
	c.ParseHTTPErrorResponse = true // responses with an error status are passed on like any others
	c.MaxBodySize = 0               // package wire limits the body
	c.SetRequestTimeout(0)          // package wire limits the time of a request
	c.DisableCookies()
	c.SetRedirectHandler(func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse })
	c.WithTransport(s)
	return s
}

func (s *shell) do(x *wire.Exchange) error {
	c := s.collector.Clone()
	c.Context = context.WithValue(context.Background(), exchangeKey{}, x)
	err := c.Request(http.MethodGet, collyURL, nil, nil, nil)
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err // drop the method and the URL of Colly's request
	}
	return err
}

func (s *shell) RoundTrip(r *http.Request) (*http.Response, error) {
	x := r.Context().Value(exchangeKey{}).(*wire.Exchange)
	if err := s.wire.Do(x); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: x.Status, Header: http.Header{}, Body: http.NoBody,
		Uncompressed: true, // otherwise Colly treats a path that ends in .xml.gz as gzip
		Request:      r,
	}, nil
}
