// Package loopback protects a local server from web pages of other sites that are open in a
// browser. It is for servers whose content only the owner of the process may see, such as metrics
// or a store.
//
//	address, err := loopback.Address("9464") // 127.0.0.1:9464
//	listener, err := net.Listen("tcp", address)
//	http.Serve(listener, loopback.Only(mux, address))
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Address expands an address typed by a user to HOST:PORT. A port alone, with or without a colon,
// means that port on the loopback interface.
func Address(s string) (string, error) {
	if !strings.Contains(s, ":") {
		s = ":" + s
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", err
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%q is not a port", port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// Only returns a handler that passes a request to next if its Host header is one of the server's
// own names, and refuses it otherwise. The names are the address that the server was told to listen
// on, and other names by which it is known.
//
// A page in a browser can make its own host name resolve to the server's address (DNS rebinding).
// The browser then lets the page read the server's responses, such as the profiles of a process
// that listens on loopback. But the page cannot make the browser send a name other than its own. So
// the Host header must be one of the server's names: the address at which the request arrived,
// localhost on loopback, the name of the machine, or one of names.
//
// The body of a request must arrive within ten seconds, even if the request is refused.
func Only(next http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 { // -1 means unknown
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // response writers in tests may not support deadlines
		}
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !answers(names, r.Host, local) {
			http.Error(w, "unexpected host name: use the address that skink printed", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bodyTime is how long the body of a request may take to arrive. Forms send only a few dozen bytes.
const bodyTime = 10 * time.Second

// answers reports whether a Host header names the server. The argument names is that of [Only], and
// local is the server's end of the connection.
func answers(names []string, header string, local net.Addr) bool {
	at, ok := local.(*net.TCPAddr)
	if !ok {
		return false
	}
	name := strings.ToLower(strings.TrimSuffix(hostOf(header), "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().WithZone("") == at.AddrPort().Addr().Unmap().WithZone("")
	}
	if name == "localhost" {
		return at.IP.IsLoopback()
	}
	machine, _ := os.Hostname() // without it, only names remain
	return name != "" && slices.ContainsFunc(slices.Concat(names, []string{machine}), func(own string) bool { return strings.ToLower(hostOf(own)) == name })
}

func hostOf(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		return host
	}
	return strings.Trim(hostPort, "[]")
}
