package dedup

import (
	"cmp"
	"slices"
)

// These are the defaults of [Rule.Similarity] and [Rule.MinWords].
const (
	DefaultSimilarity = 0.8
	DefaultMinWords   = 50
)

// These constants bound the work for one page. Templates can flood an index: the documentation of
// one API has 1.3 million pairs of pages with a resemblance of .7 to .8.
const (
	MaxPosting = 1000 // maximum number of leaders read for each key of the page; the earliest are read
	MaxMet     = 1000 // maximum number of leaders whose sketches are compared with the page's sketch
	MaxVerify  = 32   // maximum number of candidates whose shingles are compared with the page's shingles

	// MaxVerifyWords limits the total length, in words, of the candidates whose shingles are
	// compared with those of one page. Reading a word from a store and comparing it takes some 40
	// ns. The limit matters only for pages of more than 32,768 words, some 200 KB of text, because
	// shorter ones reach MaxVerify first.
	MaxVerifyWords = 1 << 20
)

// A Rule defines when pages are duplicates. Get one from [NewRule], and then change Shingling, MinWords
// or Contained if the defaults do not fit. The methods are for callers with an index of their own; for an
// [Index], a rule is all that is needed.
type Rule struct {
	Shingling  Shingling // defines how the words are cut into shingles
	Similarity float64   // the minimum resemblance of a near-duplicate to its leader, 0 to 1
	MinWords   int       // a page with fewer words is thin: it is compared only with equal texts
	Scheme     Scheme    // defines how candidates are found; it depends on Similarity

	// Contained is the minimum share, 0 to 1, of a page's three-word runs that its leader must
	// contain. If it is not 0, containment alone decides, and the fields Scheme and Similarity have
	// no effect on which pages are duplicates; see [Rule.Contains].
	Contained float64
}

// NewRule returns a rule with overlapping shingles of ten words. similarity is that of
// Rule.Similarity, at least [MinSimilarity] and at most 1. The scheme is "bands", unless you want to reproduce
// "super" or "mega" of the literature. The errors are those of [ParseScheme].
//
// [DefaultSimilarity] and [DefaultMinWords] suit pages. For lines or sentences, use 1 for minWords, set
// Shingling.K to 2 or 3, and lower the similarity: one changed word changes K shingles.
func NewRule(similarity float64, scheme string, minWords int) (Rule, error) {
	s, err := ParseScheme(scheme, similarity)
	return Rule{Shingling: DefaultShingling(), Similarity: similarity, MinWords: minWords, Scheme: s}, err
}

// Shingles returns the shingles of a text under this rule, in order and with repeats.
func (r Rule) Shingles(t *Text) []uint64 { return r.Shingling.Append(nil, t) }

// Set returns the set of shingles of a text under this rule.
func (r Rule) Set(t *Text) Set { return r.Shingling.Set(t) }

// Short reports whether a text with the given number of tokens is too short to be compared. A text
// without tokens is always too short, because any two empty texts have resemblance 1. With
// [Rule.Contained], so is a text of fewer than six words, because such a text occurs in many
// others.
func (r Rule) Short(tokens int) bool { return tokens < r.minWords() }

func (r Rule) minWords() int {
	if r.Contained > 0 {
		return max(r.MinWords, sampledRun)
	}
	return max(r.MinWords, 1)
}

// containedRun is the number of words in the runs that measure containment. Short runs tolerate a
// changed word, because it breaks three runs instead of ten.
const containedRun = 3

// Contains returns the share of a page's runs of three words that are in a source, and whether this
// share is at least [Rule.Contained]. page and source are the [Runs] of the two pages. Two pages
// may resemble each other even if each has a paragraph of its own. A corpus that drops one of these
// pages loses that paragraph. Containment is exact and one-sided: a page may be dropped in favour
// of a longer page that contains it, but not the other way round.
func (r Rule) Contains(page, source Set) (share float64, ok bool) {
	share = Containment(page, source)
	return share, share >= r.Contained
}

// Source returns the first candidate that contains enough of a page, and the share that it
// contains; see [Rule.Contains]. page contains the page's [Runs]. runsOf returns the runs of a
// candidate, or nil if the candidate no longer exists. Source stops after candidates with a total
// of [MaxVerifyWords] words. If there is no source, ok is false. Source stops at the first error of
// runsOf and returns it.
func (r Rule) Source(page Set, candidates []Candidate, runsOf func(Candidate) (Set, error)) (source Candidate, share float64, ok bool, err error) {
	words := 0
	for _, c := range candidates {
		runs, err := runsOf(c)
		if err != nil {
			return Candidate{}, 0, false, err
		}
		if share, ok := r.Contains(page, runs); ok {
			return c, share, true, nil
		}
		if words += len(runs); words > MaxVerifyWords {
			break
		}
	}
	return Candidate{}, 0, false, nil
}

// Runs returns the set of three-word runs in a text, for [Rule.Contains]. The words come from plain
// canonical text. Runs overwrites t.
func Runs(t *Text, text string) Set {
	t.ReadString(text)
	return t.Set(containedRun)
}

// Met returns, in ascending order, the numbers of the leaders whose sketches are compared with a
// page's sketch. shared is the number of keys that each leader shares with the page. Leaders that
// share fewer than meet keys are left out. If more than [MaxMet] leaders remain, Met returns those
// that share the most keys, or the earliest if there is a tie. The more keys two pages share, the
// more they are expected to resemble each other. Keys are a sample, so a leader that is left out
// may still resemble the page most. Then the verdict differs from what a comparison with all
// leaders would give: it names another leader, or the page is unique. Such a page is counted as
// capped. [Rule.Shortlist] can err in the same way.
func Met(shared map[uint64]int, meet int) []uint64 {
	var having [Minima + 1]int // having[k] is the number of leaders that share k keys with the page
	for _, n := range shared {
		having[min(n, Minima)]++
	}
	least, room := Minima+1, MaxMet // leaders that share at least this many keys are all returned; room is the maximum number of others
	for least > max(meet, 1) && having[least-1] <= room {
		least--
		room -= having[least]
	}
	met := make([]uint64, 0, MaxMet-room)
	var next []uint64 // leaders that share least-1 keys, of which only some are returned
	for num, n := range shared {
		switch n = min(n, Minima); {
		case n >= least:
			met = append(met, num)
		case n == least-1 && n >= meet && room > 0:
			next = append(next, num)
		}
	}
	slices.Sort(next)
	met = append(met, next[:min(len(next), room)]...)
	slices.Sort(met)
	return met
}

// A Candidate is a leader that may resemble a page.
type Candidate struct {
	Num      uint64  // earlier leaders have lower numbers
	Name     string  // URL or other name, which becomes Verdict.DuplicateOf
	Estimate float64 // resemblance to the page as estimated from the sketches, 0 to 1; with [Rule.Contained], the number of looked-up keys that the leader has
	Set      Set     // shingles, which only Judge needs
}

// Shortlist selects, in place, the candidates that are worth an exact comparison with a page of the
// given number of words. These are the best candidates whose estimate is at least the similarity
// minus three standard errors. Ties go to the earliest. Texts that resemble each other are about
// equally long, so the length of the page tells how many candidates have [MaxVerifyWords] words in
// total. The result has at most that many candidates, but at least one and at most [MaxVerify]. It
// may lack the page's best leader, if the estimate for that leader is too low or many others have
// better estimates. With [Rule.Contained], no estimate is too low, and the length of the page says
// nothing about the candidates. Then the caller must stop after [MaxVerifyWords] words.
func (r Rule) Shortlist(all []Candidate, words int) []Candidate {
	least := r.Similarity - 3*standardError(r.Similarity)
	most := min(max(MaxVerifyWords/max(words, 1), 1), MaxVerify)
	if r.Contained > 0 {
		least, most = 0, MaxVerify
	}
	before := func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Estimate, a.Estimate), cmp.Compare(a.Num, b.Num))
	}
	short := all[:0] // best first
	for _, c := range all {
		if c.Estimate < least || len(short) == most && before(c, short[most-1]) > 0 {
			continue
		}
		if len(short) == most {
			short = short[:most-1]
		}
		at, _ := slices.BinarySearchFunc(short, c, before)
		short = slices.Insert(short, at, c)
	}
	return short
}

// A Verdict is the result of judging a page.
type Verdict struct {
	Kind        VerdictKind
	Leader      uint64  // number of the leader that the page duplicates; 0 if none
	DuplicateOf string  // name of this leader; "" if none
	Resemblance float64 // exact resemblance to the leader, 0 to 1
	Method      Method  // how the leader was found
	Containment float64 // with [Rule.Contained]: share of the page's runs of three words that are in the leader; 0 if the page is not near
}

// Judge compares a page exactly with its candidates. If the page is near, the verdict names the
// most similar candidate, or the earliest of several equally similar ones. Otherwise the page is
// unique. Judge is fastest if the most similar candidates come first, as [Rule.Shortlist] returns
// them.
func (r Rule) Judge(page Set, candidates []Candidate) Verdict {
	best := Verdict{Kind: Unique}
	for _, c := range candidates {
		if got, ok := Resembles(page, c.Set, max(r.Similarity, best.Resemblance)); ok {
			best = better(best, Verdict{Kind: Near, Leader: c.Num, DuplicateOf: c.Name, Resemblance: got, Method: r.Scheme.Method()})
		}
	}
	return best
}

// better returns the verdict with the more similar leader, or the earlier leader if both are
// equally similar.
func better(a, b Verdict) Verdict {
	switch {
	case a.Leader == 0:
		return b
	case b.Leader == 0:
		return a
	case b.Resemblance > a.Resemblance, b.Resemblance == a.Resemblance && b.Leader < a.Leader:
		return b
	}
	return a
}

// Copy returns the verdict on a page with the same canonical text as an earlier page. num and name
// are those of the earlier page, and first is its verdict. If the earlier page is a leader or thin,
// the copy is exact. Otherwise the copy gets the verdict of the earlier page.
func Copy(num uint64, name string, first Verdict) Verdict {
	if first.Kind == Exact || first.Kind == Near {
		return first
	}
	return Verdict{Kind: Exact, Leader: num, DuplicateOf: name, Resemblance: 1, Method: ByText}
}
