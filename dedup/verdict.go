package dedup

import (
	"fmt"
	"math"
	"strconv"
)

// A VerdictKind is what was decided about a page.
type VerdictKind string

const (
	Unique VerdictKind = "unique" // resembles no leader enough, and so leads
	Exact  VerdictKind = "exact"  // the canonical text of its leader
	Near   VerdictKind = "near"   // resembles its leader at least as much as was asked for
	Thin   VerdictKind = "thin"   // too short to compare, unless it is a copy
)

// A Method is how a leader was found.
type Method string

const (
	ByText  Method = "text"  // equal canonical text
	ByBands Method = "bands" // an equal band of minima
	BySuper Method = "super" // two equal super-shingles of six
	ByMega  Method = "mega"  // an equal mega-shingle of fifteen
	ByPairs Method = "pairs" // the search over all pages, after the crawl
)

// Explain returns the meaning of a verdict by this rule, in words for a reader who does not know
// shingles, to be printed after the verdict: "near: at least 80 % the same as another page".
// Similarity is the share of the word sequences of either page that both have.
func (r Rule) Explain(k VerdictKind) string {
	same := fmt.Sprintf("at least %s the same", Percent(r.Similarity))
	switch k {
	case Unique:
		return "no earlier page is " + same
	case Exact:
		return "the same words as another page"
	case Near:
		return same + " as another page"
	case Thin:
		if r.MinWords <= 1 {
			return "no words to compare"
		}
		return fmt.Sprintf("fewer than %d words, too few to compare", r.MinWords)
	}
	return ""
}

// Percent formats a share for people: "80 %", "87.5 %".
func Percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e4)/100, 'f', -1, 64) + " %"
}
