// Package align compares two texts side by side. It shows which words are in both, only in the
// first, only in the second, or in both in different places. It does no I/O and keeps no state.
//
//	var a, b dedup.Text
//	a.Locate()
//	...
//	rows, words := align.Texts(align.Side{Text: left, Tokens: &a}, align.Side{Text: right, Tokens: &b})
//
// # Method
//
// First, [dedup.Passages] finds the long runs of words that both texts contain. Among the runs that
// are in the same order in both texts, the chain with the most words becomes the common part. It is
// a longest increasing subsequence, weighted by words. Between two runs of the chain, words are
// compared one by one for a longest common subsequence. A run outside the chain counts as moved,
// unless its words were already matched one by one.
//
// Then the blocks (lines) of the two texts are paired. Two blocks are in one row if they share at
// least a quarter of the words of the shorter one.
//
// Known weaknesses: a block whose words were shuffled counts as removed and added. If thousands of
// short runs repeat, the chain is chosen from the longest only, and a better one may exist.
package align

import (
	"iter"
	"slices"
	"strings"

	"skink/dedup"
)

// A Side is one of the two texts to compare. Its tokens must have positions in the text; see
// [dedup.Text.Locate]. If the end of a text was cut off, the last words of the other text may be
// there, so they are left out unless both texts have them.
type Side struct {
	Text   string
	Tokens *dedup.Text
	Cut    bool
}

// A Relation says how a piece of a text relates to the other text, or how the two sides of a row
// relate to each other.
type Relation string

const (
	Same    Relation = "same"    // the piece is in both texts
	Removed Relation = "removed" // the piece is only in the first text
	Added   Relation = "added"   // the piece is only in the second text
	Moved   Relation = "moved"   // the piece is in both texts, but in different places
	Changed Relation = "changed" // the row has words that are in both texts, and words that are only in one
)

// A Piece is a sequence of words in a block that have the same relation to the other text.
type Piece struct {
	Text string
	Kind Relation
	Move int // number of the move, from 1, the same in both texts; 0 if the piece has not moved
}

// A Block is a line of a text.
type Block []Piece

// A Row contains the blocks of both texts that are shown side by side. A or B may be empty.
type Row struct {
	Kind Relation
	A, B []Block
}

// Counts are the numbers of equal, removed, added and moved words in two texts. MovedA counts the
// moved words of the first text, and MovedB those of the second.
type Counts struct{ Same, Removed, Added, MovedA, MovedB int }

// minRun is the minimum length, in words, of a run that is searched for in the entire other text.
const minRun = 5

// These constants limit the work: maxRuns is the maximum number of runs considered for the chain,
// maxGap is the maximum number of pairs of words compared between two runs of the chain, and
// maxPairs is the maximum number of such pairs in total.
const (
	maxRuns  = 2000
	maxGap   = 1 << 20
	maxPairs = 16 << 20
)

// Texts aligns two texts, and counts the words in each kind of row.
func Texts(a, b Side) (rows []Row, words Counts) {
	m, x, y := aligned(a, b)
	rows = m.rows(x, y)
	words = Counts{Same: count(m.a, Same), MovedA: count(m.a, Moved), MovedB: count(m.b, Moved)}
	words.Removed = len(m.a) - words.Same - words.MovedA
	words.Added = len(m.b) - words.Same - words.MovedB
	return rows, words
}

func aligned(a, b Side) (m *matching, x, y *blocks) {
	m = match(a, b)
	x, y = newBlocks(a, len(m.a)), newBlocks(b, len(m.b))
	slide(m.a, m.b, m.x, x.starts())
	slide(m.b, m.a, m.y, y.starts())
	m.moved()
	return m, x, y
}

// A Difference is a run of words in the first text, and the words that replace it in the second.
// Either may be empty.
type Difference struct{ Removed, Added string }

// Differences yields the differences of two texts in order.
func Differences(a, b Side) iter.Seq[Difference] {
	return func(yield func(Difference) bool) {
		m, _, _ := aligned(a, b)
		for i, j := 0, 0; i < len(m.a) || j < len(m.b); i, j = i+1, j+1 {
			fromI, fromJ := i, j
			for i < len(m.a) && m.a[i].kind != Same {
				i++
			}
			for j < len(m.b) && m.b[j].kind != Same {
				j++
			}
			d := Difference{a.unlike(m.a[:i], fromI), b.unlike(m.b[:j], fromJ)}
			if d != (Difference{}) && !yield(d) {
				return
			}
		}
	}
}

// unlike returns the words from index i on that have not moved.
func (s Side) unlike(of []position, i int) string {
	var parts []string
	for ; i < len(of); i++ {
		start := i
		for i < len(of) && of[i].kind != Moved {
			i++
		}
		if i > start {
			parts = append(parts, s.Text[s.Tokens.Span(start).Start:s.Tokens.Span(i-1).End])
		}
	}
	return strings.Join(parts, " … ")
}

func count(all []position, kind Relation) (n int) {
	for _, p := range all {
		if p.kind == kind {
			n++
		}
	}
	return n
}

type position struct {
	kind  Relation
	other int
	move  int
}

type matching struct {
	a, b  []position
	x, y  []uint64
	runs  []dedup.Passage // runs of at least minRun tokens that are in both texts, longest first
	pairs int             // number of pairs of tokens that may still be compared
}

func match(a, b Side) *matching {
	m := &matching{x: a.Tokens.Shingles(nil, 1), y: b.Tokens.Shingles(nil, 1), pairs: maxPairs}
	m.a, m.b = make([]position, a.Tokens.Len()), make([]position, b.Tokens.Len())
	for i := range m.a {
		m.a[i].kind = Removed
	}
	for j := range m.b {
		m.b[j].kind = Added
	}
	m.runs = dedup.Passages(a.Tokens, b.Tokens, minRun)
	m.runs = m.runs[:min(len(m.runs), maxRuns)]
	i, j := 0, 0
	for _, r := range chain(m.runs) {
		m.between(i, r.A, j, r.B)
		m.same(r.A, r.B, r.Tokens)
		i, j = r.A+r.Tokens, r.B+r.Tokens
	}
	m.between(i, len(m.a), j, len(m.b))
	if a.Cut || b.Cut {
		endA, endB := i, j
		for _, r := range m.runs {
			endA, endB = max(endA, r.A+r.Tokens), max(endB, r.B+r.Tokens)
		}
		m.a, m.b = m.a[:endA], m.b[:endB]
	}
	return m
}

// chain selects runs that are in the same order in both texts. Their total number of words is as
// large as possible. A run that begins within the run before it loses the words that both have: an
// inserted copy of the last words would otherwise cost the whole rest of the text.
func chain(runs []dedup.Passage) []dedup.Passage {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(p, q dedup.Passage) int { return p.A - q.A })
	weight, before := make([]int, len(sorted)), make([]int, len(sorted))
	best := -1
	for i, r := range sorted {
		weight[i], before[i] = r.Tokens, -1
		for j, q := range sorted[:i] {
			if w := weight[j] + r.Tokens - overlap(q, r); q.B <= r.B && overlap(q, r) < r.Tokens && w > weight[i] {
				weight[i], before[i] = w, j
			}
		}
		if best < 0 || weight[i] > weight[best] {
			best = i
		}
	}
	var kept []dedup.Passage
	for ; best >= 0; best = before[best] {
		r := sorted[best]
		if at := before[best]; at >= 0 {
			n := overlap(sorted[at], r)
			r = dedup.Passage{A: r.A + n, B: r.B + n, Tokens: r.Tokens - n}
		}
		kept = append(kept, r)
	}
	slices.Reverse(kept)
	return kept
}

// overlap returns how many words of r, which begins after q, are also in q.
func overlap(q, r dedup.Passage) int { return max(q.A+q.Tokens-r.A, q.B+q.Tokens-r.B, 0) }

// same records that n tokens from index i of the first text equal those from index j of the second.
func (m *matching) same(i, j, n int) {
	for k := range n {
		m.a[i+k] = position{kind: Same, other: j + k}
		m.b[j+k] = position{kind: Same, other: i + k}
	}
}

// If the texts share less than minShared of the shorter side of a gap, no words of the gap are
// marked as equal, because any two sentences share words such as "the".
const minShared = 0.35

// between compares the tokens from i to iEnd of the first text with those from j to jEnd of the
// second, one by one. It trims equal tokens at both ends, and finds a longest common subsequence of
// the rest.
func (m *matching) between(i, iEnd, j, jEnd int) {
	head, tail := ends(m.x[i:iEnd], m.y[j:jEnd])
	m.same(i, j, head)
	m.same(iEnd-tail, jEnd-tail, tail)
	i, j, iEnd, jEnd = i+head, j+head, iEnd-tail, jEnd-tail
	rows, cols := iEnd-i, jEnd-j
	if rows == 0 || cols == 0 || rows*cols > min(maxGap, m.pairs) {
		return
	}
	m.pairs -= rows * cols
	matches, shared := common(m.x[i:iEnd], m.y[j:jEnd]), 0
	for _, at := range matches {
		if at >= 0 {
			shared++
		}
	}
	if float64(shared) < minShared*float64(min(rows, cols)) {
		return
	}
	for k, at := range matches {
		if at >= 0 {
			m.same(i+k, j+at, 1)
		}
	}
}

// slide moves a run that only one text contains to the beginning of a line, if the alignment stays
// correct. Otherwise a new paragraph before another one with the same first word would seem to
// begin at its second word. The argument side is for the text with the run, and other for the other
// text.
func slide(side, other []position, tokens []uint64, starts []bool) {
	for s := 0; s < len(side); s++ {
		if side[s].kind == Same {
			continue
		}
		e := s
		for e < len(side) && side[e].kind != Same {
			e++
		}
		from, to := s, e
		for !starts[from] && from > 0 && side[from-1].kind == Same && tokens[from-1] == tokens[to-1] {
			from, to = from-1, to-1
		}
		if from < s && starts[from] && (e == len(side) || side[e].other == side[s-1].other+1) {
			for k := s - 1; k >= from; k-- { // the words before the run become part of the run, and the equal words at its end are matched instead
				at := k + e - s
				side[at], side[k] = side[k], side[at]
				other[side[at].other].other = at
			}
		}
		s = e
	}
}

// moved marks as moved the parts of common runs that have not been matched in another way.
func (m *matching) moved() {
	move := 0
	for _, r := range m.runs {
		for k := 0; k < r.Tokens; {
			n := 0
			for k+n < r.Tokens && m.a[r.A+k+n].kind == Removed && m.b[r.B+k+n].kind == Added {
				n++
			}
			if n >= minRun {
				move++
				for t := range n {
					m.a[r.A+k+t] = position{Moved, r.B + k + t, move}
					m.b[r.B+k+t] = position{Moved, r.A + k + t, move}
				}
			}
			k += n + 1
		}
	}
}
