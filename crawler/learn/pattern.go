package learn

import (
	"strings"

	"github.com/zeebo/xxh3"
)

// # How evidence decides
//
// A pattern has lost its budget if its last fetches gave no new text: at least leastRow of them, and
// half as many as ever gave one. From then on its URLs are postponed, but for samples: a quarter of
// them, and half as many after each leastRow samples that were copies, down to one in 1,024. One new
// text ends the row.
//
// The hash of a URL decides whether it is a sample. So the decision about a URL depends on the URL
// and on the evidence alone.
const (
	leastRow  = 8
	rowAText  = 2    // new texts for which one copy more is needed: a pattern that gave 100 texts and then 16 copies may give more
	firstRate = 2    // one in 1<<2 URLs is a sample at first
	leastRate = 10   // one in 1<<10 at last
	mostNear  = 1000 // near duplicates of a pattern that count as new texts
)

// A Pattern is what is known of the URLs of one pattern, of those fetched.
type Pattern struct {
	New    int64 `json:"new,omitempty"`    // that gave new texts
	Copies int64 `json:"copies,omitempty"` // that gave known ones
	Row    int64 `json:"row,omitempty"`    // copies since the last new text
	Near   int64 `json:"near,omitempty"`   // of New: those that resemble another page

	Swept int64 `json:"swept,omitempty"` // New when a chunk was last queued, see sweep.go
	Chunk int   `json:"chunk,omitempty"` // chunks that were queued
}

func (p *Pattern) fetched() int64 { return p.New + p.Copies }

// limit is the row of copies with which a pattern loses its budget.
func (p *Pattern) limit(least int64) int64 { return max(least, p.New/rowAText) }

// spent says whether a pattern has lost its budget. That needs a row of at least so many copies.
func (p *Pattern) spent(least int64) bool { return p != nil && p.Row >= p.limit(least) }

// rate is r if one in 1<<r URLs of a pattern that is spent is a sample.
func (p *Pattern) rate(least int64) int { return thinner(firstRate, p.Row, p.limit(least)) }

// thinner adds one to a rate for each leastRow that n has beyond least.
func thinner(rate int, n, least int64) int {
	return int(min(int64(rate)+max(n-least, 0)/leastRow, leastRate))
}

// sampled says whether a URL is one of the samples at a rate. Those at a lower rate are among those
// at a higher one.
func sampled(url string, rate int) bool { return Luck(url)>>(64-rate) == 0 }

// Luck is a number that follows from the name of a host, a path and a query. So a site gives the
// same samples on another port.
func Luck(url string) uint64 {
	host, _, _ := strings.Cut(hostOf(url), ":")
	return xxh3.HashString(host + pathOf(url))
}

// An outcome is what a page was, for the patterns of its URL.
type outcome uint8

const (
	newText  outcome = iota
	nearText         // it resembles another page, and says something of its own
	copied
)

// take counts a page.
func (p *Pattern) take(o outcome) {
	if o == nearText {
		if p.Near++; p.Near > mostNear {
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

// take counts a page for a pattern.
func (h *Host) take(name string, o outcome) {
	p := h.pattern(name)
	if p == nil {
		return
	}
	if p.Row >= leastRow {
		h.Rows--
	}
	if p.take(o); p.Row >= leastRow {
		h.Rows++
	}
}

// pattern is what is known of a pattern, nil if there is no room for another.
func (h *Host) pattern(name string) *Pattern {
	p := h.Patterns[name]
	if p != nil || len(h.Patterns) >= mostPatterns {
		return p
	}
	if h.Patterns == nil {
		h.Patterns = map[string]*Pattern{}
	}
	p = &Pattern{}
	h.Patterns[name] = p
	return p
}

// spent is the pattern for which a URL is to be postponed, and the rate of its samples; "": it is
// not. The finest pattern that has evidence, a whole row of copies or two new texts, says whether the
// URL is to be postponed. One new text is no evidence, because the first page of any pattern may be
// new. If it is, the coarsest pattern that gave no more new texts than the finest
// names them all.
func (h *Host) spent(a *address) (pattern string, rate int) {
	if h.Rows == 0 {
		return "", 0
	}
	texts := int64(0)
	for name := range h.patterns(a) {
		switch p := h.Patterns[name]; {
		case p == nil:
		case pattern == "" && p.spent(leastRow):
			pattern, rate, texts = name, p.rate(leastRow), p.New
		case pattern == "" && p.New > 1:
			return "", 0
		case p.spent(leastRow) && p.New <= texts:
			pattern, rate = name, p.rate(leastRow)
		}
	}
	return pattern, rate
}
