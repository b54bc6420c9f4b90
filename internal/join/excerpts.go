package join

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"

	"skink/dedup"
)

// # All excerpts
//
// An [Excerpts] finds, among n texts, all excerpts of a source without comparing the source with
// each text. It is an exact set-containment join by prefixes: it misses no excerpt, but may also
// return texts that are not excerpts. Suppose that a source must have the share c of the runs of a
// text A. Then it may lack at most
//
//	slack = |A| - c·|A|
//
// runs. So of any slack+n runs of A, a source has at least n. The index stores slack+[excerptProof]
// runs of each text, and a search counts how many of them occur in the source. Any choice of runs
// gives the same excerpts. The rarest runs give the fewest candidates. A run that occurs in no
// other text is never in a source, so a text with more than slack such runs is not indexed at all.
// Most texts of most sites have more. So only excerpts, and texts that look like excerpts, take up
// memory.
//
// A search looks up every run of the source, because any of them may be the rarest run of an
// excerpt.
//
// Known weakness: if many texts share even their rarest runs, each search reads all of them, as in
// a [Join].
type Excerpts struct {
	texts []indexed
	posts []post // sorted by run

	starts []uint32 // posts[starts[i]] is the first post whose run has i in its upper bits
	shift  int      // starts is indexed by post.run >> shift
	met    []int32
}

type indexed struct {
	text  int32
	need  int32 // number of the text's indexed runs that a source must have
	found int32 // number of these runs that the current search has found
}

type post struct {
	run  uint32 // upper half of the run
	text int32  // index in Excerpts.texts
}

// excerptProof is how many of a text's rarest runs a source must have to become a candidate. Two
// unrelated texts often share one rare run, but rarely several. Each of these runs costs eight
// bytes for each indexed text.
const excerptProof = 4

// Excerpt returns a row of bytes with what an index needs to know of a text. least is the minimum share
// of a text's runs that its source must have, above 0 and at most 1. o must have counted the runs of
// all texts and all sources. Excerpt returns nil if no source can contain the text. Rows sort by text.
func (o *Occurrences) Excerpt(least float64, text int32, runs dedup.Set) (row []byte) {
	size := len(runs)
	slack := size - max(1, int(math.Ceil(least*float64(size)-leeway)))
	type counted struct {
		count uint16
		run   uint32
	}
	others := make([]counted, 0, size)
	for _, run := range runs {
		if o.times(run) == several {
			others = append(others, counted{o.counts[run>>o.shift], uint32(run >> 32)})
		}
	}
	slack -= size - len(others)
	if slack < 0 || size == 0 {
		return nil
	}
	slices.SortFunc(others, func(a, b counted) int { return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.run, b.run)) })
	need := min(excerptProof, len(others)-slack)
	row = binary.BigEndian.AppendUint32(row, uint32(text))
	row = binary.BigEndian.AppendUint32(row, uint32(need))
	for _, c := range others[:slack+need] {
		row = binary.BigEndian.AppendUint32(row, c.run)
	}
	return row
}

// NewExcerpts returns an index of the first texts in rows, as many as fit in memory bytes, and at
// least one. rows are those of [Occurrences.Excerpt] in ascending order. The result more reports
// whether there are other texts. They are those from next on.
func NewExcerpts(memory int, rows iter.Seq2[[]byte, error]) (x *Excerpts, next int32, more bool, err error) {
	x = &Excerpts{}
	for row, err := range rows {
		if err != nil {
			return nil, 0, false, err
		}
		if 16*(len(x.texts)+len(x.posts)) >= memory && len(x.texts) > 0 {
			next, more = TextOf(row), true
			break
		}
		for i := 8; i < len(row); i += 4 {
			x.posts = append(x.posts, post{binary.BigEndian.Uint32(row[i:]), int32(len(x.texts))})
		}
		x.texts = append(x.texts, indexed{text: TextOf(row), need: int32(binary.BigEndian.Uint32(row[4:]))})
	}
	x.index()
	return x, next, more, nil
}

func (x *Excerpts) index() {
	slices.SortFunc(x.posts, func(a, b post) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.text, b.text)) })
	width := min(max(bits.Len(uint(max(len(x.posts), 1)-1)), 1), 28)
	x.shift = 32 - width
	x.starts = make([]uint32, 1<<width+1)
	for _, p := range x.posts {
		x.starts[p.run>>x.shift+1]++
	}
	for i := 1; i < len(x.starts); i++ {
		x.starts[i] += x.starts[i-1]
	}
}

// Of yields the index of each text that may be an excerpt of a source: all that are, and some that
// are not. runs are the source's runs. Each text is yielded once, in no particular order. If the
// source is one of the texts, it may be yielded, too.
func (x *Excerpts) Of(runs dedup.Set, yield func(text int32) bool) {
	x.met = x.met[:0]
	for _, run := range runs {
		half := uint32(run >> 32)
		for _, p := range x.posts[x.starts[half>>x.shift]:x.starts[half>>x.shift+1]] {
			if p.run != half {
				continue
			}
			t := &x.texts[p.text]
			if t.found == 0 {
				x.met = append(x.met, p.text)
			}
			t.found++
		}
	}
	open := true
	for _, text := range x.met {
		t := &x.texts[text]
		if open && t.found >= t.need {
			open = yield(t.text)
		}
		t.found = 0
	}
}
