package crawler

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gocolly/colly/v2"

	"skink/crawler/wire"
)

// # Exchanges by way of Colly
//
// Colly gives a request neither a context nor limits of its own, and it changes much of what a
// server said: it decodes bodies a second time because of a file name, writes URLs anew (a lone "%"
// becomes "%25"), and copies the whole body to change its character set. So an exchange is prepared
// beside Colly, with context, limits and the request as it is to be sent. Only its number goes
// through Colly, in a header that ends here. The [wire] makes the exchange and reads the body, and
// Colly gets the bare status, so that it has nothing to decode, to copy or to follow.

const (
	// numberHeader holds the number of an exchange, on its way through Colly.
	numberHeader = "Skink-Exchange"

	// answeredKey is where a request's Colly context holds what to do with its answer.
	answeredKey = "answered"

	// collyURL is what Colly is told to fetch. The exchange has the real URL: Colly would parse it,
	// and refuse some that are URLs by today's standard.
	collyURL = "http://exchange.invalid/"
)

// A shell makes exchanges by way of Colly. To Colly it is the http.RoundTripper.
type shell struct {
	collector *colly.Collector
	wire      *wire.Transport

	last atomic.Uint64
	open sync.Map // of *wire.Exchange, by number as text
}

func newShell(t *wire.Transport) *shell {
	s := &shell{wire: t}
	s.collector = newCollector(s)
	return s
}

// newCollector sets Colly up to do one thing: pass a request to t, and its answer to the callback.
// Init is used in place of NewCollector because that reads settings from COLLY_ variables of the
// environment.
func newCollector(t http.RoundTripper) *colly.Collector {
	c := new(colly.Collector)
	c.Init()
	c.AllowURLRevisit = true        // the frontier says what is visited
	c.IgnoreRobotsTxt = true        // robots_cache.go
	c.ParseHTTPErrorResponse = true // a 404 is an answer
	c.MaxBodySize = 0               // package wire bounds the body
	c.SetRequestTimeout(0)          // and the time
	c.DisableCookies()
	c.SetRedirectHandler(func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse })
	c.WithTransport(t)
	c.OnResponse(func(r *colly.Response) {
		if answered, ok := r.Ctx.GetAny(answeredKey).(func()); ok {
			answered()
		}
	})
	return c
}

// do makes an exchange, and calls answered if there is an answer.
func (s *shell) do(x *wire.Exchange, answered func()) error {
	number := strconv.FormatUint(s.last.Add(1), 10)
	s.open.Store(number, x)
	defer s.open.Delete(number)
	ctx := colly.NewContext()
	ctx.Put(answeredKey, answered)
	return s.collector.Request(http.MethodGet, collyURL, nil, ctx, http.Header{numberHeader: {number}})
}

// RoundTrip makes the exchange whose number a request carries.
func (s *shell) RoundTrip(r *http.Request) (*http.Response, error) {
	found, ok := s.open.Load(r.Header.Get(numberHeader))
	if !ok {
		return nil, fmt.Errorf("%s %s: a request that nobody asked for", r.Method, r.URL)
	}
	x := found.(*wire.Exchange)
	if err := s.wire.Do(x); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: x.Status, Status: strconv.Itoa(x.Status) + " " + http.StatusText(x.Status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody,
		Uncompressed: true, // or a path that ends in .xml.gz is taken for gzip
		Request:      r,
	}, nil
}
