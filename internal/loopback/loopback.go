// Package loopback keeps a server on this machine from answering pages of other sites in a browser.
// It is for servers that show what only the owner of a process may see: its metrics, its store.
//
//	address, err := loopback.Address("9464") // 127.0.0.1:9464
//	listener, err := net.Listen("tcp", address)
//	http.Serve(listener, loopback.Only(address, mux))
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// Address completes an address that a person wrote: a port alone, with or without a colon, is a
// port of loopback.
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

// Only answers requests that send one of a server's own names, and refuses the others. address is
// what the server was told to listen at.
//
// A page in a browser can let its own name resolve to our address. Then the browser lets the page
// read our answers as its own (DNS rebinding), such as the profiles of a process that listens on
// loopback. But the page cannot make the browser send another name than the page's. So a request
// has to send one of our names: the address that it came to, localhost at loopback, the machine's
// name, or the name that the server was told to listen at.
//
// The body of a request has to come within ten seconds, also if the request is refused.
func Only(address string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 { // a body of unknown length has -1
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // a server in a test may not have one
		}
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !answers(address, r.Host, local) {
			http.Error(w, "unexpected host name: use the address that skink printed", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bodyTime is how long a body may take: those of our forms have some dozen bytes.
const bodyTime = 10 * time.Second

// answers says whether a Host header names a server that was told to listen at an address, and of
// which local is the end of the connection.
func answers(address, header string, local net.Addr) bool {
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
	machine, err := os.Hostname()
	return name != "" && (name == strings.ToLower(hostOf(address)) || err == nil && name == strings.ToLower(machine))
}

// hostOf is a host without its port, and without the brackets of an address.
func hostOf(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		return host
	}
	return strings.Trim(hostPort, "[]")
}
