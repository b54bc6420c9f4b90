package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/proxy"
)

// # Proxies
//
// With an HTTP proxy, requests for https URLs use a tunnel, which is opened with CONNECT. With a
// SOCKS5 proxy, all requests use a tunnel. The dialer opens the tunnel, so the rest of the code is
// not aware of the proxy. Requests for http URLs are sent to an HTTP proxy in absolute form (RFC
// 9112, section 3.2.2), because many proxies allow CONNECT for https only. These requests have
// their own transport, which connects only to proxies.
//
// The proxy connects to the host, so the dialer cannot check the address of that connection.
// Instead, the name is looked up here before the request, and the request is refused if the name
// has a special address. A proxy that resolves the name differently may still connect to such an
// address. If the name cannot be resolved here, the proxy may be able to resolve it, so the request
// is not refused.

// Proxies chooses the proxy for each host.
type Proxies interface {
	// For returns the URL of the proxy for a host, given as name:port, or nil if no proxy is used.
	// The scheme is http, https, socks5 or socks5h. The URL may contain a user name and a password.
	For(host string) *url.URL
	// Failed is called when a host's proxy has not answered, or has refused a connection.
	Failed(host string, proxy *url.URL)
}

// A ProxyError means that a proxy did not answer, or refused a connection. It never contains a
// password.
type ProxyError struct {
	Proxy string // URL of the proxy, without user name and password
	Err   error
}

func (e *ProxyError) Error() string {
	return fmt.Sprintf("connect through proxy %s: %v", e.Proxy, e.Err)
}
func (e *ProxyError) Unwrap() error { return e.Err }

// proxyFor returns the proxy for a host and port, or nil if there is none.
func (d *dialer) proxyFor(address string) *url.URL {
	if d.opt.Proxies == nil || d.opt.Folders.Serves(address) {
		return nil
	}
	return d.opt.Proxies.For(address)
}

// failed reports a failure of a proxy, and returns a ProxyError.
func (d *dialer) failed(address string, through *url.URL, err error) error {
	d.opt.Proxies.Failed(address, through)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Source != nil {
		err = op.Err // the text of the whole error could contain a password
	}
	return &ProxyError{through.Scheme + "://" + through.Host, err}
}

// checkTarget refuses a host and port if the host has a special address that is not permitted.
func (d *dialer) checkTarget(ctx context.Context, address string) error {
	if d.allows(address) || d.maybeSpecial(ctx, address) {
		return nil
	}
	name, _, err := net.SplitHostPort(lookedUpAs(address))
	if err != nil {
		return err
	}
	addrs, _ := d.lookUp(ctx, name) // if the name cannot be resolved here, the proxy may be able to resolve it
	if i := slices.IndexFunc(addrs, func(addr netip.Addr) bool { return !d.permits(addr) }); i >= 0 {
		return &PrivateError{address, addrs[i].Unmap()}
	}
	return nil
}

func (d *dialer) tunnel(ctx context.Context, through *url.URL, address string) (net.Conn, error) {
	if err := d.checkTarget(ctx, address); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	conn, err := d.toProxy(ctx, through)
	if err != nil {
		return nil, d.failed(address, through, err)
	}
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if isSOCKS(through) {
		err = socks(ctx, conn, through, address)
	} else {
		err = connectBy(conn, through, address)
	}
	if err != nil {
		_ = conn.Close()
		return nil, d.failed(address, through, err)
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, nil
}

// toProxy connects to a proxy. The user chose the proxy, so it may have any address.
func (d *dialer) toProxy(ctx context.Context, through *url.URL) (net.Conn, error) {
	plain := net.Dialer{Timeout: d.opt.Timeout, Resolver: d.opt.Resolver}
	conn, err := plain.DialContext(ctx, "tcp", withPort(through))
	if err != nil || through.Scheme != "https" {
		return conn, err
	}
	secure := tls.Client(conn, &tls.Config{ServerName: through.Hostname(), RootCAs: d.opt.Roots})
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

func isSOCKS(through *url.URL) bool { return strings.HasPrefix(through.Scheme, "socks5") }

type oneConn struct{ net.Conn }

func (c oneConn) Dial(string, string) (net.Conn, error) { return c.Conn, nil }

// socks asks a SOCKS5 proxy (RFC 1928) for a connection. The proxy resolves the host name.
func socks(ctx context.Context, conn net.Conn, through *url.URL, address string) error {
	var auth *proxy.Auth
	if through.User != nil {
		password, _ := through.User.Password()
		auth = &proxy.Auth{User: through.User.Username(), Password: password}
	}
	dial, err := proxy.SOCKS5("tcp", through.Host, auth, oneConn{conn})
	if err != nil {
		return err
	}
	_, err = dial.(proxy.ContextDialer).DialContext(ctx, "tcp", lookedUpAs(address))
	return err
}

// connectBy asks an HTTP proxy for a tunnel (RFC 9110, section 9.3.6).
func connectBy(conn net.Conn, through *url.URL, address string) error {
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if through.User != nil {
		r.Header.Set("Proxy-Authorization", basicOf(through))
	}
	if err := r.Write(conn); err != nil {
		return err
	}
	// The host sends nothing before the tunnel is used, so the buffer of this reader cannot contain
	// bytes from the host.
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), r)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy returned %s", resp.Status)
	}
	return nil
}

// basicOf returns the value of Proxy-Authorization for a proxy.
func basicOf(through *url.URL) string {
	password, _ := through.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(through.User.Username()+":"+password))
}

// forwards returns the HTTP proxy to which a request is sent in absolute form, or nil if there is
// none.
func (t *Transport) forwards(r *http.Request) *url.URL {
	if r.URL.Scheme != "http" || t.forward == nil {
		return nil
	}
	through := t.dialer.proxyFor(withPort(r.URL))
	if through == nil || isSOCKS(through) {
		return nil
	}
	return through
}

func (t *Transport) roundTrip(r *http.Request) (*http.Response, error) {
	through := t.forwards(r)
	if through == nil {
		return t.http.RoundTrip(r)
	}
	address := withPort(r.URL)
	if err := t.dialer.checkTarget(r.Context(), address); err != nil {
		return nil, err
	}
	r = r.WithContext(context.WithValue(r.Context(), throughKey{}, through))
	resp, err := t.forward.RoundTrip(r)
	if _, ok := errors.AsType[*ProxyError](err); ok {
		t.dialer.opt.Proxies.Failed(address, through)
	}
	if err == nil && resp.StatusCode == http.StatusProxyAuthRequired {
		_ = resp.Body.Close()
		return nil, t.dialer.failed(address, through, fmt.Errorf("the proxy returned %s", resp.Status))
	}
	return resp, err
}

type throughKey struct{}

// newForward returns the transport for requests in absolute form. It connects only to the proxy of
// each request.
func newForward(d *dialer, base *http.Transport, keepRaw bool) *http.Transport {
	f := base.Clone()
	dialProxy := func(ctx context.Context, _, _ string) (net.Conn, error) {
		through := ctx.Value(throughKey{}).(*url.URL)
		conn, err := d.toProxy(ctx, through)
		if err != nil {
			return nil, &ProxyError{through.Scheme + "://" + through.Host, err}
		}
		return newWire(conn), nil
	}
	if keepRaw {
		dialProxy = tapped(dialProxy)
	}
	f.DialContext, f.DialTLSContext = dialProxy, dialProxy
	f.Proxy = func(r *http.Request) (*url.URL, error) { return r.Context().Value(throughKey{}).(*url.URL), nil }
	return f
}
