package crawler

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"skink/frontier"
)

// The scopes a crawl can have, from the narrowest to the widest.
const (
	ScopePrefix = "prefix" // URLs that begin as a seed does, up to its last slash
	ScopeHost   = "host"   // the seeds' hosts and ports
	ScopeDomain = "domain" // all hosts of the seeds' registrable domains
	ScopeAny    = "any"    // everything
)

// A Scope says which URLs belong to a crawl. Seeds always do.
type Scope struct {
	kind             string
	include, exclude []*regexp.Regexp

	mu    sync.RWMutex
	roots map[string]bool // guarded by mu: hosts, domains or prefixes, as kind says
	seeds map[string]bool // guarded by mu

	hostsMu sync.RWMutex    // taken after mu
	hosts   map[string]bool // guarded by hostsMu: of ScopeDomain, whether hosts met lately are in
}

// NewScope makes a scope without seeds, in which only ScopeAny has room for a URL. A URL must match
// one of the regular expressions include, if there are any, and none of exclude; they are searched
// for in the canonical URL. The error for one that cannot be read is a *[PatternError].
func NewScope(kind string, include, exclude []string) (*Scope, error) {
	switch kind {
	case ScopePrefix, ScopeHost, ScopeDomain, ScopeAny:
	default:
		return nil, fmt.Errorf("no scope is called %q: try host, domain, prefix or any", kind)
	}
	s := &Scope{kind: kind, roots: map[string]bool{}, hosts: map[string]bool{}, seeds: map[string]bool{}}
	var err error
	if s.include, err = compile("include", include); err != nil {
		return nil, err
	}
	s.exclude, err = compile("exclude", exclude)
	return s, err
}

// A PatternError is a pattern of a scope that cannot be read.
type PatternError struct {
	List    string // "include" or "exclude"
	Pattern string
	Err     error
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("%s pattern %q is no regular expression: %v", e.List, e.Pattern, e.Err)
}

func (e *PatternError) Unwrap() error { return e.Err }

func compile(list string, patterns []string) ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, &PatternError{list, p, err}
		}
		all = append(all, re)
	}
	return all, nil
}

// AddSeed widens the scope by a canonical URL and what its kind makes of it.
func (s *Scope) AddSeed(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seeds[url] = true
	s.roots[s.root(url)] = true
	clear(s.hosts)
}

// root is the part of a URL by which this kind of scope knows its own.
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

// Contains says whether a canonical URL belongs to the crawl.
func (s *Scope) Contains(url string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.seeds[url] || s.near(url) && s.wanted(url)
}

// near says whether a URL is where the seeds are.
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

// mostHosts bounds the hosts whose domain is remembered.
const mostHosts = 10_000

// onDomain says whether a host is of a seed's domain. To find the domain costs more than everything
// else that is done for a link, and links lead to the same few hosts, so the answers are
// remembered.
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
	if len(s.hosts) >= mostHosts {
		clear(s.hosts)
	}
	s.hosts[strings.Clone(host)] = in
	return in
}

// underRoot tries the folders that hold a URL, as a crawl may have many seeds.
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

// wanted says whether the patterns let a URL pass.
func (s *Scope) wanted(url string) bool {
	return !matches(s.exclude, url) && (len(s.include) == 0 || matches(s.include, url))
}

// excludes says whether a URL is one of those that nobody is to ask for.
func (s *Scope) excludes(url string) bool { return matches(s.exclude, url) }

func matches(patterns []*regexp.Regexp, url string) bool {
	return slices.ContainsFunc(patterns, func(re *regexp.Regexp) bool { return re.MatchString(url) })
}

// Moved says whether a redirect from a seed to another URL is the site's own way to its address
// (from http to https, from example.com to www.example.com), so that the target is as good as a
// seed. It need not match what is to be included, as no seed has to. But it must not be excluded:
// nobody named it.
func (s *Scope) Moved(seed, target string) bool {
	return !matches(s.exclude, target) && frontier.Domain(frontier.HostOf(seed)) == frontier.Domain(frontier.HostOf(target))
}
