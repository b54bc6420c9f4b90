package view

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"skink/report"
	"skink/report/audit"
	"skink/store"
)

// # Other similarities
//
// To count the clusters at another similarity, all pages must be compared with each other, which
// takes minutes for a large store. The comparison runs in the background after a user starts it
// with a form. Its result is kept until the next comparison.

// An Alike contains the clusters that the pages of a store would form at similarities other than
// the crawl's.
type Alike struct {
	Steps  []Step        // result for each similarity, sorted by similarity
	Nearly *audit.Nearly // pages that are almost duplicates at the crawl's similarity

	// Near returns pairs of pages whose resemblance is close to similarity: at most n pairs at or
	// just above it, and at most n just below it. It may be called concurrently.
	Near func(ctx context.Context, s store.Reader, similarity float64, n int) (above, below []Pair, err error)
}

// A Step contains the numbers of clusters and pages at one similarity, 0 to 1.
type Step = audit.Step

// A Pair is two pages and their resemblance.
type Pair = audit.LikePair

// compareAll compares all pages with each other, and returns when the comparison has ended. It
// returns at once if a comparison is already running.
func (v *View) compareAll() {
	v.comparison.renew(v.life, func(ctx context.Context) (*Alike, error) {
		v.compared.Store(0)
		tell := func(share float64) { v.compared.Store(int64(100 * share)) }
		return borrowed(ctx, v.opt.Store, func(s store.Reader) (*Alike, error) { return v.opt.Alike(ctx, s, tell) })
	})
}

type alikeView struct {
	state
	Done         int64 // percentage of the running comparison that is complete
	Steps        []Step
	Chart        chart
	Similarity   float64
	Least        float64
	Chosen       *Step
	Above, Below []Pair
}

// comparedUnasked is the maximum number of records of a store whose pages are compared without a form.
const comparedUnasked = 2000

// pairsShown is the maximum number of page pairs shown on each side of the chosen similarity.
const pairsShown = 8

func (v *View) alikePage(ctx context.Context, r *http.Request) (*screen, error) {
	l := v.comparison.now()
	if v.opt.Alike != nil && v.index.progress().All <= comparedUnasked {
		l = wanted(v, &v.comparison, v.compareAll)
	}
	s := &alikeView{state: l.state, Done: v.compared.Load(), Similarity: v.opt.Rule.Similarity}
	if at, err := strconv.ParseFloat(r.URL.Query().Get("at"), 64); err == nil && at >= 0 && at <= 1 {
		s.Similarity = at
	}
	var err error
	if l.result != nil && len(l.result.Steps) > 0 {
		s.show(l.result)
		err = v.opt.Store.Read(ctx, func(from store.Reader) (err error) {
			s.Above, s.Below, err = l.result.Near(ctx, from, s.Similarity, pairsShown)
			return err
		})
	}
	return &screen{name: "alike", title: "Similarity", again: l.Making, Content: s}, err
}

func (s *alikeView) show(a *Alike) {
	s.Steps, s.Least = a.Steps, a.Steps[0].Similarity
	s.Similarity = max(s.Similarity, s.Least)
	position := func(similarity float64) float64 { return (similarity - s.Least) / max(1-s.Least, 1e-9) }
	most := 4 // so that the labels of the axis are whole numbers
	var at, clusters, pages []float64
	for _, step := range a.Steps {
		most = max(most, step.Pages) // at least step.Clusters, because a cluster has at least two pages
		at, clusters, pages = append(at, position(step.Similarity)), append(clusters, float64(step.Clusters)), append(pages, float64(step.Pages))
	}
	top := roundUp(float64(most))
	s.Chart = chart{
		Label:  "Clusters, and pages in clusters, by similarity. The table below has the numbers.",
		Curves: []curve{newCurve("pages in clusters", "second", at, pages, top), newCurve("clusters", "first", at, clusters, top)},
		Y:      [3]string{report.Grouped(int64(top)), report.Grouped(int64(top / 2)), "0"},
		X:      [3]string{fmt.Sprintf("%.2f", s.Least), fmt.Sprintf("%.2f", (s.Least+1)/2), "1.00"},
		Unit:   "similarity",
		Mark:   fmt.Sprintf("%.1f", 600*position(s.Similarity)),
	}
	for i := range s.Steps {
		if s.Steps[i].Similarity <= s.Similarity+1e-9 {
			s.Chosen = &s.Steps[i]
		}
	}
}

func (v *View) recompare(*http.Request) (next string) {
	v.beside.Go(v.compareAll)
	return "/similarity"
}

// A chart is the data for a line chart. Both axes are labeled at their ends and in the middle, and
// the vertical axis begins at 0.
type chart struct {
	Label  string // description for screen readers
	Curves []curve
	Y      [3]string // labels of the vertical axis, top to bottom
	X      [3]string // labels of the horizontal axis, left to right
	Unit   string    // what the horizontal axis measures; "" if its labels say so
	Mark   string    // position of a vertical line, 0 to 600; "" if there is none
}

type curve struct {
	Name   string // description of the values, with their unit
	Class  string // CSS class
	Points string // points of an SVG polyline in an area of 600 by 100 units
}

// newCurve returns a curve through values at the given positions, each between 0 and 1. top is the
// value at the top of the chart.
func newCurve(name, class string, positions, values []float64, top float64) curve {
	var points strings.Builder
	for i, v := range values {
		if i > 0 {
			points.WriteByte(' ')
		}
		fmt.Fprintf(&points, "%.1f,%.1f", 600*positions[i], 100-100*v/top)
	}
	return curve{name, class, points.String()}
}

// roundUp returns a round number for the top of a chart. Half of it is also a round number. The
// result is at least 1. It may be up to 1% less than highest, because rates are not exact.
func roundUp(highest float64) float64 {
	if highest <= 1 {
		return 1
	}
	ten := math.Pow(10, math.Floor(math.Log10(highest)))
	for _, n := range []float64{1, 2, 3, 4, 6, 8} {
		if 1.01*n*ten >= highest {
			return n * ten
		}
	}
	return 10 * ten
}
