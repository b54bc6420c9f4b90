// Package candidates measures how the indexes of crawls find the similar pairs of a corpus. A join finds all pairs.
// The candidates of an index are compared with them: how many of the pairs are candidates, how many of the candidates
// are pairs, and what both cost.
package candidates

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"skink/dedup"
	"skink/internal/join"
)

// binWidth is the width of the classes of resemblance in a [Result].
const binWidth = .05

// maxPairs limits the pairs of a corpus. Each takes 16 bytes. More than these are copies of a template, which
// say nothing about an index.
const maxPairs = 50_000_000

// A Result compares the candidates of each index with all similar pairs of a corpus. The JSON field names are stable.
type Result struct {
	Corpus Corpus `json:"corpus"`
	Ways   []Way  `json:"candidates"` // by similarity, the join first
	Bins   []Bin  `json:"bins"`       // in ascending order
}

// A Way is one way to find the pairs whose resemblance is at least a similarity.
type Way struct {
	Name       string  `json:"name"` // "join", which finds all pairs, or the name of a [dedup.Scheme]
	Rows       int     `json:"rows,omitempty"`
	Similarity float64 `json:"similarity"`
	Pairs      int     `json:"pairs"`      // in the corpus
	Candidates int     `json:"candidates"` // pairs that must be compared
	Found      int     `json:"found"`      // candidates that are pairs
	Recall     float64 `json:"recall"`     // Found / Pairs, or 1 if there are no pairs
	Expected   float64 `json:"expected_recall"`
	Precision  float64 `json:"precision"` // Found / Candidates, or 1 if there are no candidates
	Bytes      int     `json:"index_bytes"`
	Seconds    float64 `json:"seconds"` // on one CPU, from the shingles to the candidates; with the join, to the pairs
}

// Scheme returns the name, with the number of minima in a band.
func (w Way) Scheme() string {
	if w.Rows == 0 {
		return w.Name
	}
	return fmt.Sprintf("%s, %d minima", w.Name, w.Rows)
}

// A Bin has the pairs whose resemblance is at least From, and less than that of the next bin.
type Bin struct {
	From    float64 `json:"from"`
	Pairs   int     `json:"pairs"`
	Schemes []Share `json:"schemes"`
}

// A Share is the share of the pairs of a bin that a scheme finds, as counted, and as its formula predicts from
// the resemblance of each pair. Both are 1 if the bin has no pairs.
type Share struct {
	Name     string  `json:"name"`
	Rows     int     `json:"rows"`
	Found    float64 `json:"found"`
	Expected float64 `json:"expected"`
}

// A pair is two texts of which b is the later one.
type pair struct {
	a, b        int32
	resemblance float64
}

func (p pair) compare(q pair) int { return cmp.Or(cmp.Compare(p.b, q.b), cmp.Compare(p.a, q.a)) }

// Measure compares the candidates of the schemes for each of the similarities with all pairs. similarities are in ascending
// order, and at least [dedup.MinSimilarity]. The error is that of ctx, or of temporary files, or there are too many pairs.
func (c *Corpus) Measure(ctx context.Context, similarities []float64) (*Result, error) {
	r := &Result{Corpus: *c}
	var all []pair
	measured := map[dedup.Scheme]*found{}
	for i, t := range similarities {
		way, pairs, err := c.join(ctx, t)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = pairs
		}
		r.Ways = append(r.Ways, way)
		for _, name := range []string{"bands", "super", "mega"} {
			scheme, err := dedup.ParseScheme(name, t)
			if err != nil {
				return nil, err
			}
			if measured[scheme] == nil {
				if measured[scheme], err = c.find(ctx, scheme, all); err != nil {
					return nil, err
				}
			}
			r.Ways = append(r.Ways, measured[scheme].at(t, all))
		}
	}
	r.Bins = bins(similarities[0], all, measured)
	return r, nil
}

// join finds all pairs in ascending order of [pair.compare].
func (c *Corpus) join(ctx context.Context, t float64) (w Way, all []pair, err error) {
	began := time.Now()
	w = Way{Name: "join", Similarity: t, Recall: 1, Expected: 1}
	m := join.Matcher{Source: c, Shingles: c.shingles, Least: t, Room: c.room, From: func(int32) float64 { return t }}
	m.Try = func(int32) { w.Candidates++ }
	m.Take = func(a, b int32, resemblance float64) error {
		if len(all) == maxPairs {
			return fmt.Errorf("more than %d pairs of texts have a resemblance of at least %v: use a larger --similarity, or a sample of the corpus", maxPairs, t)
		}
		all = append(all, pair{min(a, b), max(a, b), resemblance})
		return nil
	}
	err = m.Run(ctx, 0)
	w.Seconds = time.Since(began).Seconds()
	w.Pairs, w.Found, w.Bytes = len(all), len(all), m.Bytes
	w.Precision = share(float64(w.Found), w.Candidates)
	slices.SortFunc(all, pair.compare)
	return w, all, err
}

// found is what a scheme finds of all pairs of a corpus.
type found struct {
	scheme     dedup.Scheme
	candidates int
	has        []bool // whether each of the pairs is a candidate
	keys       int
	spent      time.Duration
}

// keyBytes is the size of a key and of the number of its text.
const keyBytes = 8 + 4

// find looks up the keys of each text among those of earlier texts, as an index does.
func (c *Corpus) find(ctx context.Context, s dedup.Scheme, all []pair) (*found, error) {
	began := time.Now()
	f := &found{scheme: s, has: make([]bool, len(all))}
	var keys []uint64
	var met []int32
	postings := map[uint64][]int32{}
	shared := make([]uint8, len(c.sets))
	for b := range c.sets {
		sketch := dedup.NewSketch(c.sets[b])
		keys = s.Keys(keys[:0], &sketch)
		met = met[:0]
		for _, key := range keys {
			list := postings[key]
			for _, a := range list[:min(len(list), dedup.MaxPosting)] {
				if shared[a]++; int(shared[a]) == s.Meet() {
					met = append(met, a)
				}
			}
			postings[key] = append(list, int32(b))
		}
		for _, key := range keys {
			list := postings[key]
			for _, a := range list[:min(len(list), dedup.MaxPosting)] {
				shared[a] = 0
			}
		}
		f.candidates += len(met)
		f.keys += len(keys)
		for _, a := range met {
			if at, ok := slices.BinarySearchFunc(all, pair{a: a, b: int32(b)}, pair.compare); ok {
				f.has[at] = true
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	f.spent = time.Since(began)
	return f, nil
}

func (f *found) at(t float64, all []pair) Way {
	w := Way{Name: f.scheme.Name, Rows: f.scheme.Rows, Similarity: t, Candidates: f.candidates, Bytes: keyBytes * f.keys, Seconds: f.spent.Seconds()}
	expected := 0.
	for i, p := range all {
		if p.resemblance >= t {
			w.Pairs++
			expected += f.scheme.Probability(p.resemblance)
			if f.has[i] {
				w.Found++
			}
		}
	}
	w.Recall, w.Precision = share(float64(w.Found), w.Pairs), share(float64(w.Found), w.Candidates)
	w.Expected = share(expected, w.Pairs)
	return w
}

func share(part float64, all int) float64 {
	if all == 0 {
		return 1
	}
	return part / float64(all)
}

// bins divides the pairs by their resemblance, from the one in which least is.
func bins(least float64, all []pair, measured map[dedup.Scheme]*found) []Bin {
	first := binOf(least)
	divided := make([][]int, binOf(1)+1-first) // indexes in all
	for i, p := range all {
		divided[binOf(p.resemblance)-first] = append(divided[binOf(p.resemblance)-first], i)
	}
	schemes := slices.SortedFunc(maps.Keys(measured), func(a, b dedup.Scheme) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Rows, b.Rows))
	})
	var bins []Bin
	for n, pairs := range divided {
		bin := Bin{From: max(least, math.Round(float64(first+n)*binWidth*100)/100), Pairs: len(pairs)}
		for _, s := range schemes {
			got, expected := 0., 0.
			for _, i := range pairs {
				expected += s.Probability(all[i].resemblance)
				if measured[s].has[i] {
					got++
				}
			}
			bin.Schemes = append(bin.Schemes, Share{s.Name, s.Rows, share(got, len(pairs)), share(expected, len(pairs))})
		}
		bins = append(bins, bin)
	}
	return bins
}

// binOf returns the number of the class of a resemblance. 1 is in the last class below it.
func binOf(resemblance float64) int { return int(min(resemblance, 1-binWidth/2)/binWidth + 1e-9) }
