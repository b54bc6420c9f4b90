// Package wire makes exchanges: one request to a server and its response. It bounds everything that
// a server decides: time, bytes on the wire, bytes of a decoded body, the total memory of bodies,
// and the addresses to connect to.
//
// Start with [New], [NewRequest] and [Transport.Do]:
//
//	t := wire.New(wire.Options{Timeout: 30 * time.Second})
//	ctx, clock, cancel := wire.StartClock(ctx, 30*time.Second, 30*time.Second)
//	defer cancel()
//	request, err := wire.NewRequest(ctx, "https://example.com/", http.Header{"Accept-Encoding": {wire.AcceptEncoding}})
//	...
//	x := &wire.Exchange{Request: request, Limit: func(http.Header) int64 { return 10 << 20 }, Clock: clock}
//	err = t.Do(x)
//
// The package follows no redirect, sends no request twice, and knows nothing about pages or
// robots.txt. The crawler interprets an exchange, and decides when the next one may begin.
package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"skink/crawler/folder"
	"skink/frontier"
)

const (
	// maxHeaderBytes bounds the head of a response. Common servers have limits of 8 to 64 KB; a
	// megabyte of headers is an attack, or a bug.
	maxHeaderBytes = 256 << 10

	idleTimeout = 30 * time.Second // longer than the delay between two requests to a host
	maxIdle     = 256              // maximum number of idle connections kept open, for all hosts together; many systems allow a process only 1,024 open files
)

// An Exchange is one request and its outcome.
type Exchange struct {
	Request *http.Request // the request to send; see [NewRequest]
	Limit   Limit         // where to cut the decoded body of a page; other bodies are cut at MaxOtherBody
	Clock   *Clock        // measures the time of the exchange
	At      time.Time     // when the exchange began; only its caller uses this

	Status  int
	Header  http.Header
	Body    []byte
	BodyErr error  // reason why Body is incomplete
	Note    string // what may be wrong with a complete Body, for the user; "" means nothing
	Raw     *Raw   // the undecoded response; nil unless Options.KeepRaw is set
}

// A Limit returns the maximum number of bytes to read from the body of a response with a header.
type Limit func(http.Header) int64

// Options configures a transport.
type Options struct {
	Timeout    time.Duration  // maximum time for each of three steps: DNS lookup, connecting, and TLS handshake; at most 10 s
	Idle       int            // maximum number of idle connections kept open to each host; at least one
	KeepRaw    bool           // store the undecoded response of each exchange in Raw
	AllowHosts []string       // hosts (name, or name:port) that may have special addresses
	AllowNets  []netip.Prefix // special addresses that the transport may connect to
	SeedHosts  []string       // hosts (name:port) that may have special addresses if their names say so, or their first lookup returns no others
	Folders    *folder.Server // the server for hosts that are folders on disk; nil if there are none
	Proxies    Proxies        // the proxies through which hosts are reached; nil means that all hosts are reached directly

	Resolver *net.Resolver  // nil means the system's resolver
	Roots    *x509.CertPool // nil means the certificate authorities that the system trusts

	Insecure func(address string) bool // reports whether any certificate of a host, given as name:port, is accepted; nil means none
}

// A Transport makes exchanges. Several goroutines may use it.
type Transport struct {
	http    *http.Transport
	forward *http.Transport // transport for http URLs through HTTP proxies; nil if there are no proxies
	dialer  *dialer
	raw     bool
}

// New returns a transport. It ignores proxies in environment variables.
func New(opt Options) *Transport {
	d := newDialer(opt)
	dial, dialTLS := d.dial, d.dialTLS
	if opt.KeepRaw {
		dial, dialTLS = tapped(dial), tapped(dialTLS)
	}
	t := &Transport{
		dialer: d,
		raw:    opt.KeepRaw,
		http: &http.Transport{
			DialContext:            dial,
			DialTLSContext:         dialTLS,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // bodies are decoded here, within limits
			MaxResponseHeaderBytes: maxHeaderBytes,
			MaxIdleConns:           maxIdle,
			MaxIdleConnsPerHost:    max(opt.Idle, 1),
			IdleConnTimeout:        idleTimeout,
			HTTP2: &http.HTTP2Config{
				SendPingTimeout:           idleTimeout / 2, // detects a dead connection before it makes all pages of its host fail
				MaxReceiveBufferPerStream: streamBuffer,
			},
		},
	}
	if opt.Proxies != nil {
		t.forward = newForward(d, t.http, opt.KeepRaw)
	}
	return t
}

// CloseIdle closes all idle connections.
func (t *Transport) CloseIdle() {
	t.http.CloseIdleConnections()
	if t.forward != nil {
		t.forward.CloseIdleConnections()
	}
}

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// tapped returns a dial function whose connections have a [tap]. HTTP/2 connections have none.
func tapped(to dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := to(ctx, network, address)
		if t, ok := conn.(*tls.Conn); err != nil || ok && t.ConnectionState().NegotiatedProtocol == "h2" {
			return conn, err
		}
		t := &tap{Conn: conn}
		t.to.Store(new(recorder)) // for bytes that arrive before the first request
		return t, nil
	}
}

// Do sends the request of an exchange once, and stores the response in the exchange. It fails if
// there is no response. If only the body of the response is broken, Do sets x.BodyErr.
func (t *Transport) Do(x *Exchange) error {
	attempt, request := watch(x.Request)
	defer attempt.end()
	resp, err := t.roundTrip(request)
	if err != nil {
		return attempt.why(err)
	}
	defer resp.Body.Close()
	resp.Body = attempt.body(resp.Body)
	x.Status, x.Header = resp.StatusCode, resp.Header
	if t.raw {
		if x.Raw, err = rawOf(attempt, x.Request, resp); err != nil {
			return err
		}
	}
	if !hasBody(x.Status) {
		return nil
	}
	ctx := x.Request.Context()
	share, _ := ctx.Value(inShare{}).(*Share)
	x.read(resp, func(body io.Reader) io.Reader { return share.within(ctx, body, x.Clock) })
	x.BodyErr = attempt.why(x.BodyErr)
	if x.Raw != nil && x.Raw.Cut == Whole {
		x.Raw.Cut = cutBy(x.BodyErr)
	}
	return nil
}

// MaxOtherBody is the maximum number of bytes read from the body of a response that is not a page,
// such as an error or a redirect. The beginning of such a body is enough.
const MaxOtherBody = 64 << 10

// IsPage reports whether a response with this status is the whole page at the URL, and not an
// error, a redirect or a part of the page. This is true of statuses from 200 to 299, except 206.
func IsPage(status int) bool {
	return status >= 200 && status < 300 && status != http.StatusPartialContent
}

// hasBody reports whether a response with this status has a body that should be read. It returns
// false for statuses below 200, such as 101, after which another protocol is used, and for 204, 205
// and 304, whose responses have no body.
func hasBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusResetContent && status != http.StatusNotModified
}

// NewRequest returns a GET request for a canonical URL. The request contains exactly the bytes of
// that URL; see requestURL.
func NewRequest(ctx context.Context, canonicalURL string, header http.Header) (*http.Request, error) {
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

type noReuse struct{}

// WithoutReuse returns a context for requests whose connection is closed after the response.
func WithoutReuse(ctx context.Context) context.Context {
	return context.WithValue(ctx, noReuse{}, true)
}

// requestURL returns a url.URL with which net/http requests the canonical URL byte for byte, with
// one exception: a percent sign without two hex digits is sent as %25. The URL Standard leaves this
// sign unchanged, but most servers answer it with 400. Sent as %25, it leads to the page that the
// author of the link meant. It is not enough to parse the URL, because net/url turns "/a/b%7Cc"
// into "/a%2Fb|c", which is another page.
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
		target = "//" + host + target // the absolute form (RFC 9112, section 3.2.2), because in "//a" alone, a would be a host
	}
	u.Opaque = target
	return u, nil
}

// escapeLone escapes the percent signs that are not followed by two hex digits.
func escapeLone(target string) string {
	return percent.ReplaceAllStringFunc(target, func(sign string) string {
		if sign == "%" {
			return "%25"
		}
		return sign
	})
}

var percent = regexp.MustCompile("%([0-9A-Fa-f]{2})?")

// A HandshakeError means that a connection was made, but the TLS handshake with the host failed.
type HandshakeError struct{ err error }

func (e *HandshakeError) Error() string {
	if bad, ok := errors.AsType[tls.RecordHeaderError](e.err); ok && string(bad.RecordHeader[:]) == "HTTP/" {
		return "the server speaks http, so try http:// instead of https://"
	}
	return "tls handshake: " + e.err.Error()
}
func (e *HandshakeError) Unwrap() error { return e.err }

// dialTLS connects and performs the TLS handshake, as http.Transport itself would. If the handshake
// fails, it returns a HandshakeError.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, _ := net.SplitHostPort(address) // dial has parsed it
	unchecked := d.opt.Insecure != nil && d.opt.Insecure(address)
	conn := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: d.opt.Roots, NextProtos: []string{"h2", "http/1.1"}, InsecureSkipVerify: unchecked, ClientSessionCache: d.sessions})
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &HandshakeError{err}
	}
	return conn, nil
}

type secretHeaders struct{}

// WithSecrets returns a context for a request with secret headers. Raw contains *** instead of
// their values.
func WithSecrets(ctx context.Context, names ...string) context.Context {
	known, _ := ctx.Value(secretHeaders{}).([]string)
	return context.WithValue(ctx, secretHeaders{}, slices.Concat(known, names))
}

// withoutSecrets returns a head with *** in place of the values of the secret headers in ctx. It
// removes Proxy-Authorization, which belongs to the connection to a proxy, and not to the request.
func withoutSecrets(ctx context.Context, head []byte) []byte {
	names, _ := ctx.Value(secretHeaders{}).([]string)
	var out []byte
	hidden := false // whether the last field was a secret, whose value may continue on the next line
	for i, line := range bytes.SplitAfter(head, []byte("\n")) {
		name, _, field := bytes.Cut(line, []byte(":"))
		isNamed := func(n string) bool { return strings.EqualFold(n, string(bytes.TrimSpace(name))) }
		continued := bytes.HasPrefix(line, []byte(" ")) || bytes.HasPrefix(line, []byte("\t"))
		switch {
		case hidden && continued:
		case i > 0 && field && isNamed("Proxy-Authorization"):
			hidden = true
		case i > 0 && field && slices.ContainsFunc(names, isNamed):
			hidden = true
			out = append(out, name...)
			out = append(out, ": ***"...)
			out = append(out, line[len(bytes.TrimRight(line, "\r\n")):]...)
		default:
			hidden = false
			out = append(out, line...)
		}
	}
	return out
}
