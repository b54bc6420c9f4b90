package crawler

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/http/httpproxy"

	"skink/crawler/access"
	"skink/frontier"
)

// A proxyPicker chooses the proxy of each host. If there are several proxies, hosts are spread over
// them. A host uses the same proxy until a connection through it fails.
type proxyPicker struct {
	opt *Options
	env func(*url.URL) (*url.URL, error)

	mu   sync.Mutex
	next int            // guarded by mu: index of the proxy for the next new host, modulo the number of proxies
	at   map[string]int // guarded by mu: index of the proxy for each known host, modulo the number of proxies
}

// newProxyPicker returns the picker for a crawl, or nil if the crawl uses no proxies.
func newProxyPicker(opt *Options) *proxyPicker {
	ofHosts := slices.ContainsFunc(opt.Hosts, func(h access.Host) bool { return len(h.Proxies) > 0 })
	if !ofHosts && !opt.Proxies.FromEnv && len(opt.Proxies.List) == 0 {
		return nil
	}
	return &proxyPicker{opt: opt, env: httpproxy.FromEnvironment().ProxyFunc(), at: make(map[string]int)}
}

// For returns the proxy for a host, given as name:port, or nil if it has none.
func (p *proxyPicker) For(host string) *url.URL {
	host = strings.ToLower(frontier.Undotted(host))
	list := p.opt.Hosts.For(host).Proxies
	if list == nil {
		if p.opt.Proxies.FromEnv {
			return p.fromEnv(host)
		}
		list = p.opt.Proxies.List
	}
	if len(list) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at, known := p.at[host]
	if !known {
		at = p.next
		p.at[host] = at
		p.next++
	}
	return list[at%len(list)].URL()
}

// fromEnv returns the proxy for a host from the environment variables HTTPS_PROXY (for port 443),
// HTTP_PROXY (for other ports) and NO_PROXY. It returns nil if they name no proxy for the host.
func (p *proxyPicker) fromEnv(host string) *url.URL {
	scheme := "http"
	if strings.HasSuffix(host, ":443") {
		scheme = "https"
	}
	through, _ := p.env(&url.URL{Scheme: scheme, Host: host}) // nil with an error
	return through
}

// Failed makes a host use its next proxy.
func (p *proxyPicker) Failed(host string, through *url.URL) {
	if used := p.For(host); used == nil || used.String() != through.String() {
		return // another request has already changed the proxy
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[strings.ToLower(frontier.Undotted(host))]++
}
