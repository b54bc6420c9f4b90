package crawler

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"skink/crawler/access"
	"skink/frontier"
)

// These are the kinds of scope, from the narrowest to the widest.
const (
	ScopePrefix = "prefix" // URLs that begin with a seed up to the last slash of its path
	ScopeHost   = "host"   // URLs with the host and port of a seed
	ScopeDomain = "domain" // URLs with the registrable domain of a seed, such as example.com
	ScopeAny    = "any"    // all URLs
)

// A Scope decides which URLs belong to a crawl. The URLs of seeds do, unless an exclude pattern
// matches: a user who excludes URLs wants no more requests for them.
//
// A seed may have settings of its own. A URL belongs to the crawl if the settings of any seed admit
// it, whichever page links to it. Its depth is its distance from the nearest seed.
type Scope struct {
	exclude []*regexp.Regexp // of all seeds
	own     access.Table     // settings of individual hosts; see Obey

	mu      sync.RWMutex
	extents []*extent          // guarded by mu; the first is for seeds without settings of their own
	seeds   map[string]*extent // guarded by mu: by canonical URL
}

// An extent is the part of the web that belongs to a crawl because of seeds with the same settings.
type extent struct {
	access.Seed                 // without a URL
	roots       map[string]bool // the hosts, domains or prefixes of the seeds, depending on Scope

	hostsMu sync.RWMutex    // if the mutex of the scope is needed, lock it first
	hosts   map[string]bool // guarded by hostsMu: for ScopeDomain, caches whether a host is in the scope
}

// NewScope returns a scope without seeds. Until a seed is added, it contains no URL, unless kind is
// ScopeAny. A URL in the scope must also match one of the regular expressions in include, if there
// are any, and none of those in exclude. An expression may match any part of the canonical URL. An
// invalid kind or expression is an error.
func NewScope(kind string, include, exclude []string) (*Scope, error) {
	switch kind {
	case ScopePrefix, ScopeHost, ScopeDomain, ScopeAny:
	default:
		return nil, fmt.Errorf("unknown scope %q: must be host, domain, prefix or any", kind)
	}
	s := &Scope{seeds: map[string]*extent{}}
	included, err := compile("include", include)
	if err != nil {
		return nil, err
	}
	s.extents = []*extent{newExtent(access.Seed{Scope: kind, Include: included})}
	s.exclude, err = compile("exclude", exclude)
	return s, err
}

func newExtent(of access.Seed) *extent {
	return &extent{Seed: of, roots: map[string]bool{}, hosts: map[string]bool{}}
}

func compile(list string, patterns []string) ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("%s pattern %q is not a regular expression: %w", list, p, err)
		}
		all = append(all, re)
	}
	return all, nil
}

// AddSeed adds a seed, given as a canonical URL. The scope then contains the seed and, depending on
// its kind, the other URLs of the seed's host, domain or prefix.
func (s *Scope) AddSeed(url string) { s.AddMoved("", url) }

// AddMoved adds the target of a redirect from a seed. It gets the settings of the seed.
func (s *Scope) AddMoved(from, url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(url, cmp.Or(s.seeds[url], s.seeds[from], s.extents[0]))
}

func (s *Scope) add(url string, e *extent) {
	s.seeds[url] = e
	e.roots[e.root(url)] = true
	clear(e.hosts)
}

// AddOwn adds a seed with settings of its own. It replaces those that the seed has.
func (s *Scope) AddOwn(seed access.Seed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	url := seed.URL
	seed.URL, seed.Scope = "", cmp.Or(seed.Scope, s.extents[0].Scope)
	if seed.Include == nil {
		seed.Include = s.extents[0].Include
	}
	same := func(e *extent) bool { return e.String() == (&extent{Seed: seed}).String() }
	at := slices.IndexFunc(s.extents[1:], same) + 1 // a crawl may have thousands of seeds with the same settings
	if at == 0 {
		at = len(s.extents)
		s.extents = append(s.extents, newExtent(seed))
	}
	s.add(url, s.extents[at])
}

// Describe writes the exclude patterns of a scope, and the rules of each seed that named admits, as
// lines NAME: VALUE.
func (s *Scope) Describe(w io.Writer, named func(url string) bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.exclude {
		fmt.Fprintf(w, "exclude: %s\r\n", p)
	}
	for _, url := range slices.Sorted(maps.Keys(s.seeds)) {
		if named(url) {
			fmt.Fprintf(w, "seed: %s%s\r\n", access.Redacted(url), s.seeds[url])
		}
	}
}

// RulesOf returns [Options.Rules]: a hash of everything but the seeds that decides which links are followed, and of
// more, which describes what else is read from a page.
func (o *Options) RulesOf(more ...any) uint64 {
	h, orders := fnv.New32a(), o.Control.orders()
	fmt.Fprintln(h, orders.Include, orders.Exclude, o.MaxDepth, o.IgnoreNoFollow, o.ObeyNoFollow, o.CheckAssets, o.CheckOthers, o.Requisites, o.Render, more)
	for _, host := range o.Hosts {
		if logout := host.Logout != nil && *host.Logout; logout || len(host.Include)+len(host.Exclude)+len(host.Render) > 0 {
			fmt.Fprintln(h, host.Pattern, logout, host.Include, host.Exclude, host.Render)
		}
	}
	o.Scope.mu.RLock()
	defer o.Scope.mu.RUnlock()
	fmt.Fprintln(h, o.Scope.exclude)
	for _, e := range o.Scope.extents {
		fmt.Fprintln(h, e)
	}
	return uint64(h.Sum32())
}

func (e *extent) String() string {
	b := bytes.NewBufferString(" scope=" + e.Scope)
	if e.MaxDepth > 0 {
		fmt.Fprintf(b, " max-depth=%d", e.MaxDepth)
	}
	if e.Priority > 0 {
		fmt.Fprintf(b, " priority=%d", e.Priority)
	}
	for _, p := range e.Include {
		fmt.Fprintf(b, " include=%s", p)
	}
	for _, p := range e.Exclude {
		fmt.Fprintf(b, " exclude=%s", p)
	}
	return b.String()
}

// root returns the part of a URL that must be the same as in a seed: the host, domain or prefix,
// depending on the kind.
func (e *extent) root(url string) string {
	switch e.Scope {
	case ScopeHost:
		return frontier.HostOf(url)
	case ScopeDomain:
		return frontier.Domain(frontier.HostOf(url))
	case ScopePrefix:
		path, _, _ := strings.Cut(url, "?")
		return path[:strings.LastIndexByte(path, '/')+1]
	}
	return ""
}

// Contains reports whether a canonical URL belongs to the crawl.
func (s *Scope) Contains(url string) bool { return s.refuse(url, forPage, 0, 0, &noOrders) == "" }

// refuse returns the rule by which a canonical URL must not be requested for a purpose. Pages of
// seeds without a depth of their own may be up to most links away from a seed.
func (s *Scope) refuse(url string, p purpose, depth, most int, orders *Orders) refusal {
	include, exclude := s.patterns(url, orders)
	if pattern := match(exclude, url); pattern != nil && p.applies(ruleExclude) {
		return excluded(pattern)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	why := refusal(ruleScope + ": beyond --scope " + s.extents[0].Scope)
	if len(s.extents) > 1 {
		why = ruleScope + ": beyond the scope of each seed"
	}
	of := s.seeds[url]
	for i, e := range s.extents {
		isSeed := of == e
		if i == 0 && len(s.extents) > 1 && len(e.roots) == 0 || !isSeed && !e.near(url) {
			continue
		}
		if why = e.refuse(url, isSeed, include, depth, cmp.Or(e.MaxDepth, most)); why == "" || !p.applies(why.rule()) {
			return ""
		}
	}
	if !p.applies(why.rule()) {
		return ""
	}
	return why
}

// Priority returns the priority in the frontier of a page. If it is in the extents of several seeds, the most urgent of
// theirs counts.
func (s *Scope) Priority(url string) (p int) {
	if s == nil {
		return 0
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, e := range s.extents {
		if e.Priority > p && (s.seeds[url] == e || e.near(url) && e.refuse(url, false, nil, 0, 0) == "") {
			p = e.Priority
		}
	}
	return -p * frontier.SeedPriority
}

func excluded(by *regexp.Regexp) refusal {
	return refusal(ruleExclude + ": matches the pattern " + by.String())
}

// refuse returns the rule of an extent by which a URL near its seeds does not belong to the crawl.
// include has patterns of the URL's host.
func (e *extent) refuse(url string, isSeed bool, include []*regexp.Regexp, depth, most int) refusal {
	if p := match(e.Exclude, url); p != nil {
		return excluded(p)
	}
	if !isSeed && len(e.Include)+len(include) > 0 && match(e.Include, url) == nil && match(include, url) == nil {
		return ruleInclude + ": matches none of the patterns"
	}
	return beyond(depth, most)
}

// beyond refuses URLs that are more than most links away from a seed; 0 means no limit.
func beyond(depth, most int) refusal {
	if most <= 0 || depth <= most {
		return ""
	}
	return refusal(fmt.Sprintf("%s: beyond --max-depth %d", ruleDepth, most))
}

// near reports whether a URL shares the host, domain or prefix of a seed.
func (e *extent) near(url string) bool {
	switch e.Scope {
	case ScopeAny:
		return true
	case ScopeDomain:
		return e.onDomain(frontier.HostOf(url))
	case ScopePrefix:
		return e.underRoot(url)
	}
	return e.roots[frontier.HostOf(url)]
}

const maxHosts = 10_000

// onDomain reports whether a host is in the domain of a seed. It caches the results, because
// finding the domain costs more than the rest of the work for a link, and most links lead to the
// same few hosts.
func (e *extent) onDomain(host string) bool {
	e.hostsMu.RLock()
	in, known := e.hosts[host]
	e.hostsMu.RUnlock()
	if known {
		return in
	}
	in = e.roots[frontier.Domain(host)]
	e.hostsMu.Lock()
	defer e.hostsMu.Unlock()
	if len(e.hosts) >= maxHosts {
		clear(e.hosts)
	}
	e.hosts[strings.Clone(host)] = in
	return in
}

// underRoot reports whether a URL begins with the prefix of any seed. It looks up each folder of
// the URL's path, because a crawl may have more seeds than a URL has folders.
func (e *extent) underRoot(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	for {
		end := strings.LastIndexByte(path, '/')
		if end < 0 {
			return false
		}
		if e.roots[path[:end+1]] {
			return true
		}
		path = path[:end]
	}
}

// Obey applies the settings of individual hosts. Their include and exclude patterns are added to
// the patterns passed to NewScope. Obey must be called before the scope is used.
func (s *Scope) Obey(t access.Table) { s.own = t }

func (s *Scope) patterns(url string, orders *Orders) (include, exclude []*regexp.Regexp) {
	if include, exclude = orders.Include, s.exclude; len(orders.Exclude) > 0 {
		exclude = slices.Concat(exclude, orders.Exclude)
	}
	if len(s.own) == 0 {
		return include, exclude
	}
	h := s.own.For(frontier.HostOf(url))
	return slices.Concat(include, h.Include), slices.Concat(exclude, h.Exclude)
}

// match returns the first of the patterns that matches a URL, or nil.
func match(patterns []*regexp.Regexp, url string) *regexp.Regexp {
	if i := slices.IndexFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(url) }); i >= 0 {
		return patterns[i]
	}
	return nil
}

// Moved reports whether a redirect from a seed stays within the seed's domain (from http to https,
// or from example.com to www.example.com), so that the target counts as a seed. Like a seed, the
// target need not match an include pattern.
func (s *Scope) Moved(seed, target string) bool {
	return frontier.Domain(frontier.HostOf(seed)) == frontier.Domain(frontier.HostOf(target))
}
