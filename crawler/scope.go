package crawler

import (
	"fmt"
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
type Scope struct {
	kind             string
	include, exclude []*regexp.Regexp
	own              access.Table // settings of individual hosts; see Obey

	mu    sync.RWMutex
	roots map[string]bool // guarded by mu: the hosts, domains or prefixes of the seeds, depending on kind
	seeds map[string]bool // guarded by mu: canonical URLs

	hostsMu sync.RWMutex    // if both mutexes are needed, lock mu first
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
	s := &Scope{kind: kind, roots: map[string]bool{}, hosts: map[string]bool{}, seeds: map[string]bool{}}
	var err error
	if s.include, err = compile("include", include); err != nil {
		return nil, err
	}
	s.exclude, err = compile("exclude", exclude)
	return s, err
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
func (s *Scope) AddSeed(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seeds[url] = true
	s.roots[s.root(url)] = true
	clear(s.hosts)
}

// root returns the part of a URL that must be the same as in a seed: the host, domain or prefix,
// depending on the kind.
func (s *Scope) root(url string) string {
	switch s.kind {
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
func (s *Scope) Contains(url string) bool { return s.refuse(url) == "" }

// refuse returns the rule by which a canonical URL does not belong to the crawl.
func (s *Scope) refuse(url string) refusal {
	include, exclude := s.patterns(url)
	if p := match(exclude, url); p != nil {
		return refusal(ruleExclude + ": matches the pattern " + p.String())
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.seeds[url]:
		return ""
	case !s.near(url):
		return refusal(ruleScope + ": beyond --scope " + s.kind)
	case len(include) > 0 && match(include, url) == nil:
		return ruleInclude + ": matches none of the patterns"
	}
	return ""
}

// near reports whether a URL shares the host, domain or prefix of a seed.
func (s *Scope) near(url string) bool {
	switch s.kind {
	case ScopeAny:
		return true
	case ScopeDomain:
		return s.onDomain(frontier.HostOf(url))
	case ScopePrefix:
		return s.underRoot(url)
	}
	return s.roots[frontier.HostOf(url)]
}

const maxHosts = 10_000

// onDomain reports whether a host is in the domain of a seed. It caches the results, because
// finding the domain costs more than the rest of the work for a link, and most links lead to the
// same few hosts.
func (s *Scope) onDomain(host string) bool {
	s.hostsMu.RLock()
	in, known := s.hosts[host]
	s.hostsMu.RUnlock()
	if known {
		return in
	}
	in = s.roots[frontier.Domain(host)]
	s.hostsMu.Lock()
	defer s.hostsMu.Unlock()
	if len(s.hosts) >= maxHosts {
		clear(s.hosts)
	}
	s.hosts[strings.Clone(host)] = in
	return in
}

// underRoot reports whether a URL begins with the prefix of any seed. It looks up each folder of
// the URL's path, because a crawl may have more seeds than a URL has folders.
func (s *Scope) underRoot(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	for {
		end := strings.LastIndexByte(path, '/')
		if end < 0 {
			return false
		}
		if s.roots[path[:end+1]] {
			return true
		}
		path = path[:end]
	}
}

// Obey applies the settings of individual hosts. Their include and exclude patterns are added to
// the patterns passed to NewScope. Obey must be called before the scope is used.
func (s *Scope) Obey(t access.Table) { s.own = t }

func (s *Scope) patterns(url string) (include, exclude []*regexp.Regexp) {
	if len(s.own) == 0 {
		return s.include, s.exclude
	}
	h := s.own.For(frontier.HostOf(url))
	return slices.Concat(s.include, h.Include), slices.Concat(s.exclude, h.Exclude)
}

// match returns the first of the patterns that matches a URL, or nil.
func match(patterns []*regexp.Regexp, url string) *regexp.Regexp {
	for _, p := range patterns {
		if p.MatchString(url) {
			return p
		}
	}
	return nil
}

// Moved reports whether a redirect from a seed stays within the seed's domain (from http to https,
// or from example.com to www.example.com), so that the target counts as a seed. Like a seed, the
// target need not match an include pattern.
func (s *Scope) Moved(seed, target string) bool {
	return frontier.Domain(frontier.HostOf(seed)) == frontier.Domain(frontier.HostOf(target))
}
