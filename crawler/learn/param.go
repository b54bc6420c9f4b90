package learn

import "hash/maphash"

// # Parameters that never change a page
//
// Two URLs that differ in one parameter alone, because one has it and the other has not,
// or because its values differ, are a pair. If both have the same words and lead to the same
// URLs, the parameter did nothing there. (The second is asked for because of lists: what a
// list says may be the same on each of its pages, where its pages lead is not.) It is taken
// off the host's URLs when that was so for leastPairs pages and no pair had different words.
// The first that has ends it for good, also when the parameter was already taken off.
//
// The pairs are found in a table of what was judged, which lives as long as the process:
// what was counted is kept, the table is not.
const (
	leastPairs = 8
	mostPairs  = 1 << 16 // entries of that table, some 5 MB; of what comes after nothing is learned
	mostParams = 256     // names; a host that has more makes them up
	mostPaired = 12      // parameters of one URL
)

// A Param is what is known of a parameter.
type Param struct {
	Same      int64  `json:"same"`                // pairs of which both were the same page
	Different int64  `json:"different,omitempty"` // pairs of which both had other words
	Example   string `json:"example,omitempty"`   // a URL that has the page of another without it
}

// useless says whether the parameter never changes a page, as far as is known.
func (p *Param) useless() bool {
	return p != nil && p.Same >= leastPairs && p.Different == 0
}

// seen is the page that was found under a URL, or under one that a pair has in common.
type seen struct {
	page    page
	name    string // of the parameter in which a pair would differ
	counted bool   // as the same
}

// A page is what two URLs must have in common to be the same.
type page struct {
	group [16]byte
	links uint64
}

// judgeParams counts the pairs that a page makes with those before it.
func (h *Host) judgeParams(url string, v *Verdict) {
	if v.Copy() && !v.Exact {
		return // alike is neither the same nor different
	}
	if h.pairs == nil {
		h.pairs, h.seed = map[uint64]seen{}, maphash.MakeSeed()
	}
	is := page{v.Group, v.Links}
	bare := h.hash("bare", url)
	if longer, known := h.pairs[bare]; known { // a URL with one parameter more was judged before
		h.pair(longer.name, url, is, bare)
	}
	h.note(h.hash("url", url), seen{page: is})
	n := 0
	for name := range names(url) {
		if n++; n > mostPaired {
			return
		}
		without := remove(url, func(other string) bool { return other == name })
		h.pair(name, url, is, h.hash("url", without))
		values := h.hash("values of "+name, without)
		h.pair(name, url, is, values)
		h.note(values, seen{page: is, name: name})
		h.note(h.hash("bare", without), seen{page: is, name: name})
	}
}

func (h *Host) hash(kind, url string) uint64 { return maphash.String(h.seed, kind+" "+url) }

// note keeps what was found first under a key.
func (h *Host) note(key uint64, s seen) {
	if _, known := h.pairs[key]; !known && len(h.pairs) < mostPairs {
		h.pairs[key] = s
	}
}

// pair counts a page against that which is known under a key, if there is one.
func (h *Host) pair(name, url string, is page, key uint64) {
	other, known := h.pairs[key]
	if !known {
		return
	}
	p := h.param(name)
	switch {
	case p == nil:
	case other.page.group != is.group:
		p.Different++
	case other.page.links == is.links && !other.counted:
		other.counted = true
		h.pairs[key] = other
		if p.Same++; p.Example == "" {
			p.Example = url
		}
	}
}

// param is what is known of a parameter, nil if there is no room for another.
func (h *Host) param(name string) *Param {
	p := h.Params[name]
	if p != nil || len(h.Params) >= mostParams {
		return p
	}
	if h.Params == nil {
		h.Params = map[string]*Param{}
	}
	p = &Param{}
	h.Params[name] = p
	return p
}

// Useless are the parameters that are taken off, by name, each with its evidence.
func (h *Host) Useless() map[string]*Param {
	all := map[string]*Param{}
	for name, p := range h.Params {
		if p.useless() {
			all[name] = p
		}
	}
	return all
}
