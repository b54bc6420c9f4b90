package dedup

import (
	"fmt"
	"math"
	"strconv"
)

// A VerdictKind is the kind of a verdict on a page.
type VerdictKind string

const (
	Unique VerdictKind = "unique" // the page duplicates no earlier page, so later pages are compared with it
	Exact  VerdictKind = "exact"  // the page has the same canonical text as its leader
	Near   VerdictKind = "near"   // the page's resemblance to its leader is at least Rule.Similarity; with Rule.Contained, the leader contains enough of the page
	Thin   VerdictKind = "thin"   // the page has fewer words than Rule.MinWords; a copy of an earlier page is Exact even if it is short
)

// A Method says how a leader was found.
type Method string

const (
	ByText  Method = "text"  // page and leader have the same canonical text
	ByBands Method = "bands" // the sketches of page and leader have at least one band of minima in common
	BySuper Method = "super" // page and leader have at least two of the six super-shingles in common
	ByMega  Method = "mega"  // page and leader have at least one of the fifteen mega-shingles in common
	ByRuns  Method = "runs"  // the leader has enough of the page's sampled runs of six words
	ByPairs Method = "pairs" // page and leader were found by the search for all similar pairs after the crawl
)

// Explain returns the meaning of a verdict under this rule, in words for people who do not know
// what shingles are. It is printed after the verdict, as in "near: at least 80% the same as another
// page". The percentage is the share of all word sequences of the two pages that occur in both.
func (r Rule) Explain(k VerdictKind) string {
	switch k {
	case Unique:
		if r.Contained > 0 {
			return fmt.Sprintf("no earlier page contains %s of this page", Percent(r.Contained))
		}
		return fmt.Sprintf("less than %s the same as any earlier page", Percent(r.Similarity))
	case Exact:
		return "the same words as another page"
	case Near:
		if r.Contained > 0 {
			return fmt.Sprintf("another page contains at least %s of this page", Percent(r.Contained))
		}
		return fmt.Sprintf("at least %s the same as another page", Percent(r.Similarity))
	case Thin:
		if r.minWords() == 1 {
			return "no words to compare"
		}
		return fmt.Sprintf("fewer than %d words, too few to compare", r.minWords())
	}
	return ""
}

// Percent formats a share as a percentage, such as "80%" or "87.5%".
func Percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e4)/100, 'f', -1, 64) + "%"
}
