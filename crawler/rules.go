package crawler

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"skink/crawler/access"
	"skink/frontier"
)

// A hostRules holds the limits that apply to one host. They come from the host's settings, or else
// from the crawl's options.
type hostRules struct {
	delay   time.Duration
	perHost int
	budget  Budget
}

func (o *Options) rulesOf(host string) hostRules {
	r, rate := hostRules{o.Delay, o.PerHost, o.HostBudget}, o.HostRate
	h := o.Hosts.For(host)
	r.delay = *cmp.Or(h.Delay, &r.delay)
	r.perHost = cmp.Or(h.PerHost, r.perHost)
	r.budget.Pages = cmp.Or(h.Pages, r.budget.Pages)
	r.budget.Bytes = cmp.Or(h.Bytes, r.budget.Bytes)
	rate = cmp.Or(h.Rate, rate)
	orders := o.Control.orders()
	if d, is := orders.Delay[host]; is {
		r.delay = d
	}
	r.delay = max(r.delay, rate.Every())
	r.perHost = cmp.Or(orders.PerHost[host], r.perHost)
	return r
}

// HasHostBudgets reports whether any host has a budget.
func (o *Options) HasHostBudgets() bool {
	if b := o.HostBudget; b.Pages > 0 || b.Bytes > 0 || b.Requisites > 0 && o.Requisites {
		return true
	}
	return slices.ContainsFunc(o.Hosts, func(h access.Host) bool { return h.Pages > 0 || h.Bytes > 0 })
}

func (o *Options) maxPerHost() int {
	limit := o.PerHost
	for _, h := range o.Hosts {
		limit = max(limit, h.PerHost)
	}
	for _, n := range o.Control.orders().PerHost {
		limit = max(limit, n)
	}
	return limit
}

// AgentFor returns the user agent for a host. Its product token selects the rules in robots.txt,
// and the directives that pages address to one crawler.
func (o *Options) AgentFor(host string) string {
	return cmp.Or(o.Hosts.For(host).UserAgent, o.UserAgent)
}

// secureHosts returns the names of the hosts that have an https seed. The map is empty if the crawl
// has no secrets.
func (o *Options) secureHosts() map[string]bool {
	secure := map[string]bool{}
	if len(o.Hosts) == 0 && !o.Cookies || o.Scope == nil {
		return secure
	}
	o.Scope.mu.RLock()
	defer o.Scope.mu.RUnlock()
	for seed := range o.Scope.seeds {
		if strings.HasPrefix(seed, "https://") {
			if u, err := url.Parse("https://" + frontier.HostOf(seed)); err == nil {
				secure[u.Hostname()] = true
			}
		}
	}
	return secure
}
