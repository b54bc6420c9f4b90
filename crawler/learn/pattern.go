package learn

import (
	"strings"

	"github.com/zeebo/xxh3"
)

// # When URLs are postponed
//
// A pattern loses its budget if many fetches in a row give only copies: at least minRow, and at
// least half as many as the earlier fetches that gave new text. From then on, the URLs of the
// pattern are postponed, except for samples. The samples are a quarter of the URLs at first. Their
// share is halved after each minRow samples that were copies, down to one in 1,024. After a fetch
// that gives new text, the pattern gets its budget back.
//
// The hash of a URL decides whether it is a sample. So the decision about a URL depends only on the
// URL and on the evidence.
const (
	minRow    = 8
	rowAText  = 2    // a pattern that gave n pages with new text loses its budget after n/rowAText copies in a row, or minRow if that is more
	firstRate = 2    // at first, one in 1<<2 URLs is a sample
	minRate   = 10   // in the end, one in 1<<10 URLs is a sample
	maxNear   = 1000 // maximum number of near duplicates within a pattern that count as new text
)

// A Pattern counts the fetched URLs of one pattern.
type Pattern struct {
	New    int64 `json:"new,omitempty"`    // number of URLs with new text
	Copies int64 `json:"copies,omitempty"` // number of URLs with known text
	Row    int64 `json:"row,omitempty"`    // number of copies since the last page with new text
	Near   int64 `json:"near,omitempty"`   // number of near duplicates; the first maxNear are also counted in New, the others in Copies

	Swept int64 `json:"swept,omitempty"` // the value of New when a chunk was last queued; see sweep.go
	Chunk int   `json:"chunk,omitempty"` // number of chunks queued
}

func (p *Pattern) fetched() int64 { return p.New + p.Copies }

// limit returns the number of copies in a row after which the URLs of a pattern are postponed.
func (p *Pattern) limit() int64 { return max(minRow, p.New/rowAText) }

// spent reports whether the URLs of a pattern are postponed because of too many copies in a row.
func (p *Pattern) spent() bool { return p != nil && p.Row >= p.limit() }

// rate returns r such that one in 1<<r URLs of a spent pattern is a sample.
func (p *Pattern) rate() int { return thinner(firstRate, p.Row, p.limit()) }

// thinner raises a rate by one for each minRow by which n exceeds least, up to minRate.
func thinner(rate int, n, least int64) int {
	return int(min(int64(rate)+max(n-least, 0)/minRow, minRate))
}

// sampled reports whether a URL is a sample if one in 1<<rate URLs is. If so, it is also a sample
// for every smaller value of rate.
func sampled(url string, rate int) bool { return Luck(url)>>(64-rate) == 0 }

// Luck returns a hash of the host name, path and query of a URL, which decides whether the URL is a
// sample. It ignores the port, so a site has the same samples on another port.
func Luck(url string) uint64 {
	host, _, _ := strings.Cut(hostOf(url), ":")
	return xxh3.HashString(host + pathOf(url))
}

type outcome uint8

const (
	newText  outcome = iota
	nearText         // the page resembles another, but is not a copy
	copied
)

func (p *Pattern) take(o outcome) {
	if o == nearText {
		if p.Near++; p.Near > maxNear {
			o = copied
		}
	}
	if o == copied {
		p.Copies++
		p.Row++
		return
	}
	p.New++
	p.Row = 0
}

// take counts a page for a pattern, unless the host already has maxPatterns other patterns.
func (h *Host) take(name string, o outcome) {
	p := h.Patterns[name]
	if p == nil {
		if len(h.Patterns) >= maxPatterns {
			return
		}
		if h.Patterns == nil {
			h.Patterns = map[string]*Pattern{}
		}
		p = new(Pattern)
		h.Patterns[name] = p
	}
	p.take(o)
}

// spent returns the pattern that causes a URL to be postponed, and the rate of its samples. The
// pattern is "" if the URL is not postponed. The finest pattern with evidence decides. Evidence is
// either enough copies in a row, or two pages with new text. One such page is not evidence, because
// the first page of any pattern may be new. If the URL is postponed, spent returns the coarsest
// pattern that gave no more new pages than the finest.
func (h *Host) spent(a *address) (pattern string, rate int) {
	texts := int64(0)
	for _, name := range h.patterns(a) {
		switch p := h.Patterns[name]; {
		case p == nil:
		case pattern == "" && p.spent():
			pattern, rate, texts = name, p.rate(), p.New
		case pattern == "" && p.New > 1:
			return "", 0
		case p.spent() && p.New <= texts:
			pattern, rate = name, p.rate()
		}
	}
	return pattern, rate
}
