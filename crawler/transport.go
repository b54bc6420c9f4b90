package crawler

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"skink/frontier"
)

// # Exchanges
//
// Colly gives a request neither a context nor limits of its own, and it changes much of what a
// server said: it decodes bodies a second time because of a file name, writes URLs anew (a lone "%"
// becomes "%25"), and copies the whole body to change its character set. So an [exchange] is
// prepared beside Colly, with context, limits and the request as it is to be sent. Only its number
// goes through Colly, in a header that ends here. The transport makes the exchange, reads the body,
// and answers Colly with the bare status, so that Colly has nothing to decode, to copy or to
// follow.

// numberHeader holds the number of an exchange, between Colly and the transport.
const numberHeader = "Skink-Exchange"

const (
	// maxHeaderBytes bounds the head of an answer. Servers of our days stop at 8 to 64 KB; a
	// megabyte of headers is an attack, or a bug.
	maxHeaderBytes = 256 << 10

	idleTimeout = 30 * time.Second // longer than the delay between two requests to a host
	maxIdle     = 256              // connections kept in all; a process may often open 1,024 files
)

// An exchange is one request and what came of it.
type exchange struct {
	request *http.Request
	limit   int64  // bytes of the decoded body
	clock   *clock // of its time

	status  int
	header  http.Header
	body    []byte
	bodyErr error // why body is not the whole body
	raw     *Raw  // nil: nobody wants it
}

// A transport makes exchanges. It is an http.RoundTripper only to those that were registered with
// begin.
type transport struct {
	http   *http.Transport
	dialer *dialer
	raw    bool // answers are kept as they came

	last atomic.Uint64
	open sync.Map // of *exchange, by number as text
}

// newTransport makes the transport of a crawl. It uses no proxy, whatever the environment says:
// behind a proxy nobody could tell which address is asked.
func newTransport(opt Options, d *dialer) *transport {
	perHost := opt.PerHost
	if len(opt.Folders) > 0 {
		perHost = opt.Parallel // folders are crawled as fast as they go
	}
	raw := opt.OnAnswer != nil
	dial, dialTLS := d.dial, d.dialTLS
	if raw {
		dial, dialTLS = tapped(dial), tapped(dialTLS)
	}
	return &transport{
		dialer: d,
		raw:    raw,
		http: &http.Transport{
			DialContext:            dial,
			DialTLSContext:         dialTLS,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // bodies are decoded here, within limits
			MaxResponseHeaderBytes: maxHeaderBytes,
			MaxIdleConns:           maxIdle,
			MaxIdleConnsPerHost:    max(perHost, 1),
			IdleConnTimeout:        idleTimeout,
			HTTP2: &http.HTTP2Config{
				SendPingTimeout:           idleTimeout / 2, // or one dead connection fails every page of its host
				MaxReceiveBufferPerStream: streamBuffer,
			},
		},
	}
}

// A dial makes connections, as http.Transport wants it.
type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// tapped makes connections that keep the heads which go over them, but for those of HTTP/2.
func tapped(to dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := to(ctx, network, address)
		if t, ok := conn.(*tls.Conn); err != nil || ok && t.ConnectionState().NegotiatedProtocol == "h2" {
			return conn, err
		}
		return &tap{Conn: conn}, nil
	}
}

// begin registers an exchange; end must be called with its number.
func (t *transport) begin(x *exchange) (number string) {
	number = strconv.FormatUint(t.last.Add(1), 10)
	t.open.Store(number, x)
	return number
}

func (t *transport) end(number string) { t.open.Delete(number) }

// RoundTrip makes the exchange whose number a request carries.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	found, ok := t.open.Load(r.Header.Get(numberHeader))
	if !ok {
		return nil, fmt.Errorf("%s %s: a request that nobody asked for", r.Method, r.URL)
	}
	x := found.(*exchange)
	if err := t.do(x); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: x.status, Status: strconv.Itoa(x.status) + " " + http.StatusText(x.status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody,
		Uncompressed: true, // or a path that ends in .xml.gz is taken for gzip
		Request:      r,
	}, nil
}

// do makes an exchange, with one request on the wire. An error means that there is no answer. If
// only the body of the answer is broken, x.bodyErr says so.
func (t *transport) do(x *exchange) error {
	attempt, request := watch(x.request)
	defer attempt.end()
	resp, err := t.http.RoundTrip(request)
	if err != nil {
		return attempt.why(err)
	}
	defer resp.Body.Close()
	resp.Body = attempt.body(resp.Body)
	x.status, x.header = resp.StatusCode, resp.Header
	if t.raw {
		x.raw = rawOf(attempt, x.request, resp)
	}
	if !hasBody(x.status) {
		return nil
	}
	ctx, limit := x.request.Context(), bodyLimit(x.status, x.limit)
	x.body, x.bodyErr = readBody(resp, limit, func(body io.Reader) io.Reader { return shareOf(ctx).within(ctx, body, x.clock) }, x.raw)
	x.bodyErr = attempt.why(x.bodyErr)
	if x.raw != nil && x.raw.Cut == Whole {
		x.raw.Cut = cutBy(x.bodyErr)
	}
	return nil
}

// maxOtherBody is how much is read of the body of an error or a redirect.
const maxOtherBody = 64 << 10

// bodyLimit is how much is read of the body of an answer, if that of a page is read up to some
// limit.
func bodyLimit(status int, limit int64) int64 {
	if isPage(status) {
		return limit
	}
	return min(limit, maxOtherBody)
}

// isPage says whether a status comes with what the URL names.
func isPage(status int) bool {
	return status >= 200 && status < 300 && status != http.StatusPartialContent
}

// hasBody says whether a body is worth reading. 101 has a connection in its place, and 205 must
// have none (RFC 9110, section 15.3.6).
func hasBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusResetContent && status != http.StatusNotModified
}

// newRequest makes the request for a canonical URL.
func newRequest(ctx context.Context, canonicalURL string, header http.Header) (*http.Request, error) {
	u, err := requestURL(canonicalURL)
	if err != nil {
		return nil, err
	}
	r := &http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	r.Close = ctx.Value(noReuse{}) != nil
	return r.WithContext(ctx), nil
}

// noReuse marks the context of requests whose connection is to be closed after the answer.
type noReuse struct{}

func withoutReuse(ctx context.Context) context.Context {
	return context.WithValue(ctx, noReuse{}, true)
}

// requestURL makes the url.URL by which net/http asks for the canonical URL byte for byte, with one
// exception: a per cent sign that escapes nothing is sent as %25. The URL Standard leaves that
// alone, and most servers answer it with 400; sent as an escape, it finds the page that the author
// of the link meant. Parsing alone would not do: net/url makes "/a/b%7Cc" of "/a%2Fb|c", which is
// another page.
func requestURL(canonicalURL string) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(canonicalURL, "://")
	host := frontier.HostOf(canonicalURL)
	target := escapeLone(rest[len(host):])
	if u, err := url.Parse(scheme + "://" + host + target); err == nil && u.RequestURI() == target {
		return u, nil
	}
	u, err := url.Parse(scheme + "://" + host)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(target, "//") {
		target = "//" + host + target // the absolute form, RFC 9112 3.2.2: "//a" alone would be a host
	}
	u.Opaque = target
	return u, nil
}

// escapeLone escapes the per cent signs that are not followed by two hex digits.
func escapeLone(target string) string {
	isHex := func(i int) bool {
		return i < len(target) && strings.IndexByte("0123456789abcdefABCDEF", target[i]) >= 0
	}
	var b strings.Builder
	done := 0
	for i := range len(target) {
		if target[i] == '%' && !(isHex(i+1) && isHex(i+2)) {
			b.WriteString(target[done:i])
			b.WriteString("%25")
			done = i + 1
		}
	}
	return b.String() + target[done:]
}

// A handshakeError is a TLS handshake that failed, with a host that was reached.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "tls handshake: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// dialTLS connects and shakes hands as the transport itself would, but for the error, which then
// would not say where it comes from.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: d.roots, NextProtos: []string{"h2", "http/1.1"}})
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &handshakeError{err}
	}
	return conn, nil
}
