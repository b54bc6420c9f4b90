package align

import "strings"

type blocks struct {
	side  Side
	lines []span // byte range of each line in the text
	first []int  // index of the first token of each line, followed by the number of tokens
}

type span struct{ start, end int }

// newBlocks returns the lines of a text up to its n-th token.
func newBlocks(s Side, n int) *blocks {
	if n < s.Tokens.Len() {
		s.Text = s.Text[:s.Tokens.Span(n).Start]
	}
	b := &blocks{side: s}
	token := 0
	for start := 0; start < len(s.Text); {
		end := start + len(s.Text[start:])
		if at := strings.IndexByte(s.Text[start:], '\n'); at >= 0 {
			end = start + at
		}
		if strings.TrimSpace(s.Text[start:end]) != "" {
			b.lines, b.first = append(b.lines, span{start, end}), append(b.first, token)
		}
		for token < n && s.Tokens.Span(token).Start < end {
			token++
		}
		start = end + 1
	}
	b.first = append(b.first, n)
	return b
}

func (b *blocks) size(line int) int { return b.first[line+1] - b.first[line] }

func (b *blocks) starts() []bool {
	starts := make([]bool, b.first[len(b.lines)])
	for _, t := range b.first {
		if t < len(starts) {
			starts[t] = true
		}
	}
	return starts
}

func (b *blocks) lineOf() []int {
	of := make([]int, b.first[len(b.lines)])
	for line := range b.lines {
		for t := b.first[line]; t < b.first[line+1]; t++ {
			of[t] = line
		}
	}
	return of
}

// minLinked is the minimum share of the shorter block's words that both blocks must contain to be
// put into one row.
const minLinked = 0.25

func (m *matching) rows(x, y *blocks) (rows []Row) {
	groups := m.group(x, y)
	i, j := 0, 0
	for i < len(x.lines) || j < len(y.lines) {
		fromI, fromJ := i, j
		switch {
		case i < len(x.lines) && groups.a[i] == 0:
			i++
		case j < len(y.lines) && groups.b[j] == 0:
			j++
		case i == len(x.lines):
			j++
		case j == len(y.lines) || groups.a[i] != groups.b[j]: // a block also gets a row of its own if its link would cross another link
			i++
		default:
			g := groups.a[i]
			for k := i; k < len(x.lines); k++ {
				if groups.a[k] == g {
					i = k + 1
				}
			}
			for k := j; k < len(y.lines); k++ {
				if groups.b[k] == g {
					j = k + 1
				}
			}
		}
		row := Row{}
		for ; fromI < i; fromI++ {
			row.A = append(row.A, m.pieces(x, fromI, m.a))
		}
		for ; fromJ < j; fromJ++ {
			row.B = append(row.B, m.pieces(y, fromJ, m.b))
		}
		row.Kind = kindOf(row)
		rows = append(rows, row)
	}
	return rows
}

// groups contains the group number of each block, or 0 for a block that is not linked. Linked blocks
// are in one group, and each group becomes a row.
type groups struct{ a, b []int }

// group links the blocks of the two texts that share at least minLinked of their words. Groups
// are numbered in text order.
func (m *matching) group(x, y *blocks) groups {
	g := groups{make([]int, len(x.lines)), make([]int, len(y.lines))}
	shared := map[[2]int]int{}
	of := y.lineOf()
	for line := range x.lines {
		for t := x.first[line]; t < x.first[line+1]; t++ {
			if m.a[t].kind == Same {
				shared[[2]int{line, of[m.a[t].other]}]++
			}
		}
	}
	next := 0
	for i := range x.lines {
		for j := range y.lines {
			n := shared[[2]int{i, j}]
			if n == 0 || float64(n) < minLinked*float64(min(x.size(i), y.size(j))) {
				continue
			}
			switch {
			case g.a[i] > 0:
				g.b[j] = g.a[i]
			case g.b[j] > 0:
				g.a[i] = g.b[j]
			default:
				next++
				g.a[i], g.b[j] = next, next
			}
		}
	}
	return g
}

// pieces cuts a line into pieces of words with the same relation to the other text. Text between
// two words belongs to the first one.
func (m *matching) pieces(b *blocks, line int, of []position) (cut Block) {
	at, last := b.lines[line], b.first[line+1]
	if b.first[line] == last {
		return Block{{Text: b.side.Text[at.start:at.end], Kind: Same}}
	}
	start := at.start
	for t := b.first[line]; t < last; {
		now := of[t]
		for t < last && of[t].kind == now.kind && of[t].move == now.move {
			t++
		}
		end := at.end
		if t < last {
			end = b.side.Tokens.Span(t).Start
		}
		cut = append(cut, Piece{b.side.Text[start:end], now.kind, now.move})
		start = end
	}
	return cut
}

func kindOf(r Row) Relation {
	only := map[Relation]bool{}
	for _, side := range [][]Block{r.A, r.B} {
		for _, b := range side {
			for _, p := range b {
				only[p.Kind] = true
			}
		}
	}
	switch {
	case len(only) == 1 && only[Same]: // a line without words may be in one text only
		return Same
	case len(only) == 1 && only[Moved]:
		return Moved
	case len(r.A) > 0 && len(r.B) > 0:
		return Changed
	case len(r.A) > 0:
		return Removed
	}
	return Added
}
