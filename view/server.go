package view

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// A Server serves a [View] over HTTP until it is closed.
type Server struct {
	view *View
	http *http.Server
	url  string // address to open in a browser
	done chan error
}

// Listen starts a Server at an address such as 127.0.0.1:8465. If other machines can reach the
// address, the Server answers only browsers that send the token in the Server's URL.
func Listen(address string, opt Options) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: try another port", address, err)
	}
	at, query := reachable(listener.Addr()), ""
	if !isLoopback(listener.Addr().String()) {
		opt.Token = rand.Text()
		query = "?token=" + opt.Token
	}
	v, err := New(opt)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &Server{view: v, url: "http://" + at + "/" + query, done: make(chan error, 1)}
	s.http = &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	s.http.RegisterOnShutdown(v.End)
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// URL returns the address to open in a browser, with the token if there is one.
func (s *Server) URL() string { return s.url }

// reachable returns the address at which a browser can reach a listener. A listener on all
// interfaces has an address such as 0.0.0.0, which a browser cannot open. In that case reachable
// returns an address of this machine that other machines can reach, or 127.0.0.1 if there is none.
func reachable(listener net.Addr) string {
	at, err := netip.ParseAddrPort(listener.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return listener.String()
	}
	best := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	all, _ := net.InterfaceAddrs() // if this fails, the loopback address is used
	for _, one := range all {
		of, err := netip.ParsePrefix(one.String())
		switch addr := of.Addr().Unmap(); {
		case err != nil, !addr.IsGlobalUnicast(), at.Addr().Is4() && !addr.Is4():
		case best.IsLoopback(), !best.Is4() && addr.Is4():
			best = addr
		}
	}
	return netip.AddrPortFrom(best, at.Port()).String()
}

// isLoopback reports whether an address, such as 127.0.0.1:8465, can only be reached from this
// machine.
func isLoopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().IsLoopback()
}

// Close stops the server. Requests in progress have one second to finish.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
	s.view.Close()
	if err := <-s.done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
