package monitor

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
)

// ownNames is the host of the address that a server was told to listen at. The server answers under
// this name, beside its addresses.
//
// A page in a browser can let its own name resolve to our address. Then the browser lets the page
// read our answers as its own (DNS rebinding), such as the profiles of a process that listens on
// loopback. But the page cannot make the browser send another name than the page's. So a request
// has to send one of our names: the address that it came to, localhost at loopback, the machine's
// name, or the name that the server was told to listen at.
type ownNames string

// only answers requests that send one of our names, and refuses the others.
func (n ownNames) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !n.answers(r.Host, local) {
			http.Error(w, "this server has another name: ask for the address it listens at", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answers says whether a Host header names the server, of which local is the end of the connection.
func (n ownNames) answers(header string, local net.Addr) bool {
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
	return name != "" && (name == strings.ToLower(hostOf(string(n))) || err == nil && name == strings.ToLower(machine))
}

// hostOf is a host without its port, and without the brackets of an address.
func hostOf(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		return host
	}
	return strings.Trim(hostPort, "[]")
}
