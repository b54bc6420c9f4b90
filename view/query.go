package view

import (
	"bytes"
	"sort"
	"strings"

	"skink/dedup"
)

// A query selects the rows of a list, their order, and the part of the list that is shown.
type query struct {
	words   []string // in lower case; a row matches if its URL or title contains all words
	host    string
	shape   string
	lang    string
	segment string
	verdict uint8 // index in verdicts; 0 means any verdict
	kind    uint8 // index in kinds; 0 means any kind
	status  int   // HTTP status; 0 means any status
	column  int   // index in columns of the sort column
	down    bool
	from    int // index in the list of the first row to show
}

type selection struct {
	ids      []dedup.Hash
	total    int  // number of rows in the whole list
	unsorted bool // whether the rows are in crawl order because the requested order is not ready
}

// wordsOf splits a search text into at most eight words, in lower case.
func wordsOf(text string) []string {
	const maxWords = 8
	words := strings.Fields(searchable(text, len(text)))
	return words[:min(len(words), maxWords)]
}

// list returns the part of a list that q selects. If the order of q is not ready, the list is in
// crawl order.
func (t *rows) list(q query, o *orders) (s selection) {
	var order []int32
	if q.column > 0 {
		order = o.sortedBy(q.column, t)
		s.unsorted = order == nil
	}
	matches := t.matching(q)
	for k := range t.n {
		i := k
		if q.down {
			i = t.n - 1 - k
		}
		if order != nil {
			i = int(order[i])
		}
		if !matches(i) {
			continue
		}
		if s.total >= q.from && len(s.ids) < rowsShown {
			s.ids = append(s.ids, t.at(i).id)
		}
		s.total++
	}
	return s
}

// matching returns a function that reports whether the row with a given number matches q.
func (t *rows) matching(q query) func(i int) bool {
	found := t.search(q.words)
	host, shape, lang, segment := noPlace, t.shapes.find(q.shape), t.langs.find(q.lang), t.segments.find(q.segment)
	if at, ok := t.hostAt[q.host]; ok {
		host = int(at)
	}
	return func(i int) bool {
		r := t.at(i)
		return r.flags&dead == 0 &&
			(q.host == "" || int(r.host) == host) &&
			(q.shape == "" || int(r.shape) == shape) &&
			(q.lang == "" || int(r.lang) == lang) &&
			(q.segment == "" || int(r.segment) == segment) &&
			(q.verdict == 0 || r.verdict == q.verdict) &&
			(q.kind == 0 || r.kind == q.kind) &&
			(q.status == 0 || int(r.status) == q.status) &&
			(found == nil || found.has(i))
	}
}

const noPlace = -1

type rowSet []uint64

func (s rowSet) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s rowSet) add(i int)      { s[i/64] |= 1 << (i % 64) }

// search returns the rows whose URL or title contains all words, or nil if there are no words. It
// searches the strings of all rows of a chunk as one byte slice, and then finds the row that each
// hit belongs to.
func (t *rows) search(words []string) (found rowSet) {
	for _, w := range words {
		here := make(rowSet, t.n/64+1)
		for c, in := range t.chunks {
			in.search([]byte(w), func(i int) { here.add(c*chunkRows + i) })
		}
		if found != nil {
			for i := range here {
				here[i] &= found[i]
			}
		}
		found = here
	}
	return found
}

// search calls hit with the index of each row of the chunk whose URL or title contains word.
func (c *chunk) search(word []byte, hit func(i int)) {
	for i := 0; i < c.n; {
		from := c.rows[i].text
		at := bytes.Index(c.texts[from:], word)
		if at < 0 {
			return
		}
		place := from + uint32(at)
		first, step := i, 1 // hits are often close together, so search forward for the row in steps that double each time
		for i+step < c.n && c.rows[i+step].text <= place {
			first, step = i+step, 2*step
		}
		behind := sort.Search(min(i+step, c.n)-first, func(k int) bool { return c.rows[first+k].text > place })
		i = first + behind - 1
		hit(i)
		i++
	}
}
