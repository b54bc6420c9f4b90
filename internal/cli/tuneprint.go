package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"skink/dedup"
	"skink/report"
)

// A tuning is the output of skink tune. The JSON field names are stable.
type tuning struct {
	Pairs          int            `json:"pairs"`
	Duplicates     int            `json:"duplicates"`
	TestedOn       string         `json:"tested_on,omitempty"` // file of the test pairs
	Recommendation recommendation `json:"recommendation"`
	Rival          *contest       `json:"rival,omitempty"` // best combination, if its cross-validated F1 is higher than that of the recommendation; with --measure, the best with another measure
	Tried          []dedup.Tuned  `json:"tried"`           // all combinations with their best thresholds, best combination first
}

type recommendation struct {
	dedup.Way
	dedup.Choice
	dedup.Quality                // quality of the decisions at the threshold, over all pairs
	Tested        *dedup.Quality `json:"test,omitempty"`
	dedup.Confidence
}

// A contest compares a combination with the recommendation.
type contest struct {
	dedup.Way
	F1         float64          `json:"cross_validated_f1"`
	Difference dedup.Difference `json:"difference"` // first are all combinations but estimates; with --measure, those with another measure
}

// comparedBy is the measure that crawls use.
const comparedBy = "resemblance"

// first returns the best combination for which is returns true, or nil.
func (t *tuning) first(is func(dedup.Way) bool) *dedup.Tuned {
	for i := range t.Tried {
		if is(t.Tried[i].Way) {
			return &t.Tried[i]
		}
	}
	return nil
}

// recommended returns the best combination with the measure that crawls use. But if it is not clearly better than the
// default, recommended returns the default, and if it is not clearly better than shingles of all words, the best of those.
// If none with that measure was tried, it returns the best of all. differ compares the combinations for which first and
// second return true.
func (t *tuning) recommended(differ func(first, second func(dedup.Way) bool) dedup.Difference) *dedup.Tuned {
	crawled := func(w dedup.Way) bool { return w.Measure == comparedBy }
	words := func(w dedup.Way) bool { return crawled(w) && w.Unit == dedup.Words }
	usual := func(w dedup.Way) bool { return words(w) && w.Shingle == dedup.DefaultShingle }
	for _, simpler := range []func(dedup.Way) bool{usual, words} {
		if s := t.first(simpler); s != nil {
			if d := differ(crawled, simpler); !d.Clear() {
				return s
			}
		}
	}
	return cmp.Or(t.first(crawled), &t.Tried[0])
}

func isNoEstimate(w dedup.Way) bool { return w.Measure != "estimate" }

// shownWays is the number of combinations in the text output.
const shownWays = 20

func (t *tuning) print(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s of them duplicates\n", report.Counted(t.Pairs, "pair"), report.Grouped(t.Duplicates))
	t.printRecommendation(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\ncombination\tthreshold (same F1)\tprecision\trecall\tF1\tcross-validated: precision\trecall\tF1\tAUC")
	for _, c := range t.Tried[:min(len(t.Tried), shownWays)] {
		fmt.Fprintf(table, "%s\t%s (%s–%s)\t%s\t%s\t%.3f\n", c.Way, hundredths(c.Threshold), hundredths(c.Tied[0]), hundredths(c.Tied[1]), columns(c.Quality), columns(c.CrossValidated), c.AUC)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if n := len(t.Tried) - shownWays; n > 0 {
		fmt.Fprintf(w, "and %s more combinations: use --json to print all of them\n", report.Grouped(n))
	}
	return nil
}

// columns returns the table columns for a quality: precision, recall and F1, each followed by its
// 95% confidence interval.
func columns(q dedup.Quality) string {
	return fmt.Sprintf("%.3f (%.3f–%.3f)\t%.3f (%.3f–%.3f)\t%.3f (%.3f–%.3f)", q.Precision, q.PrecisionI[0], q.PrecisionI[1],
		q.Recall, q.RecallI[0], q.RecallI[1], q.F1, q.F1I[0], q.F1I[1])
}

// hundredths formats a threshold with two decimals, or with all its decimals if it has more.
func hundredths(v float64) string {
	if s := strconv.FormatFloat(v, 'f', -1, 64); len(s) > len("0.00") {
		return s
	}
	return fmt.Sprintf("%.2f", v)
}

func (t *tuning) printRecommendation(w io.Writer) {
	r := t.Recommendation
	name := "similarity"
	if r.Measure == comparedBy {
		fmt.Fprintf(w, "recommended: --unit %s --shingle %d --similarity %v\n", r.Unit, r.Shingle, r.Threshold)
	} else {
		name = r.Measure
		fmt.Fprintf(w, "best: %s; pages with a score of at least %v are duplicates; crawls compare pages by resemblance only\n", r.Way, r.Threshold)
	}
	if r.Tied[0] < r.Tied[1] {
		fmt.Fprintf(w, "On these pairs, every %s from %v to %v has the same F1. %v is the middle of this range.\n", name, r.Tied[0], r.Tied[1], r.Threshold)
	}
	if rival := t.Rival; rival != nil {
		d := rival.Difference
		is := "No measure is clearly better"
		if d.Clear() {
			is = "A measure that crawls do not use is better"
		}
		fmt.Fprintf(w, "%s on these pairs: %s has an F1 of %.3f. On pairs that did not choose it, the gain is %.3f (95%% interval: %.3f to %.3f).\n", is, rival.Way, rival.F1, d.F1, d.F1I[0], d.F1I[1])
		fmt.Fprintf(w, "It alone is right about %s, and the recommendation alone about %s (McNemar's test: p = %.3g).\n", report.Counted(d.FirstRight, "pair"), report.Counted(d.SecondRight, "pair"), d.McNemar)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\nrecommendation\tvalue\t95%% confidence interval\n")
	fmt.Fprintf(table, "%s\t%s\t%s to %s\n", name, hundredths(r.Threshold), hundredths(r.ThresholdI[0]), hundredths(r.ThresholdI[1]))
	rows := func(q *dedup.Quality, on string) {
		fmt.Fprintf(table, "precision%s\t%.3f\t%.3f to %.3f\n", on, q.Precision, q.PrecisionI[0], q.PrecisionI[1])
		fmt.Fprintf(table, "recall%s\t%.3f\t%.3f to %.3f\n", on, q.Recall, q.RecallI[0], q.RecallI[1])
		fmt.Fprintf(table, "F1%s\t%.3f\t%.3f to %.3f\n", on, q.F1, q.F1I[0], q.F1I[1])
	}
	if rows(&r.CrossValidated, ", cross-validated"); r.Tested != nil {
		rows(r.Tested, " on "+t.TestedOn)
	}
	_ = table.Flush() // writing the table of all ways, which follows, returns any error from w
	fmt.Fprintf(w, "The intervals are from %s bootstrap samples of %s: pairs, and pages that are in several pairs.\n", report.Grouped(dedup.Resamples), report.Counted(r.Units, "unit"))
}
