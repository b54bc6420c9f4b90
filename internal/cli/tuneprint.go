package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"skink/dedup"
	"skink/report"
)

// A tuning is the output of skink tune. The JSON field names are stable.
type tuning struct {
	Pairs          int            `json:"pairs"`
	Duplicates     int            `json:"duplicates"`
	Recommendation recommendation `json:"recommendation"`
	Tried          []dedup.Tuned  `json:"tried"` // all combinations with their best thresholds, best combination first
}

type recommendation struct {
	dedup.Way
	dedup.Choice
	dedup.Quality // quality of the decisions at the threshold, over all pairs
	dedup.Confidence
}

// comparedBy is the measure that crawls use.
const comparedBy = "resemblance"

// recommended returns the best combination with the measure that crawls use. If none with that
// measure was tried, it returns the best of all.
func (t *tuning) recommended() dedup.Tuned {
	i := slices.IndexFunc(t.Tried, func(way dedup.Tuned) bool { return way.Measure == comparedBy })
	return t.Tried[max(i, 0)]
}

// shownWays is the number of combinations in the text output.
const shownWays = 20

func (t *tuning) print(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s of them duplicates\n", report.Counted(t.Pairs, "pair"), report.Grouped(t.Duplicates))
	t.printRecommendation(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nform\tunit\tshingle\tmeasure\tthreshold (same F1)\tprecision\trecall\tF1\tcross-validated: precision\trecall\tF1")
	for _, c := range t.Tried[:min(len(t.Tried), shownWays)] {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s (%s–%s)\t%s\t%s\n", c.Form, c.Unit, c.Shingle, c.Measure, hundredths(c.Threshold), hundredths(c.Tied[0]), hundredths(c.Tied[1]), columns(c.Quality), columns(c.CrossValidated))
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
		fmt.Fprintf(w, "recommended: --form %s --unit %s --shingle %d --similarity %v\n", r.Form, r.Unit, r.Shingle, r.Threshold)
	} else {
		name = r.Measure
		fmt.Fprintf(w, "best: --form %s --unit %s --shingle %d; pages with a %s of at least %v are duplicates; crawls compare pages by resemblance only\n", r.Form, r.Unit, r.Shingle, r.Measure, r.Threshold)
	}
	if r.Tied[0] < r.Tied[1] {
		fmt.Fprintf(w, "On these pairs, every %s from %v to %v has the same F1. %v is the middle of this range.\n", name, r.Tied[0], r.Tied[1], r.Threshold)
	}
	if best := t.Tried[0]; best.CrossValidated.F1 > r.CrossValidated.F1 {
		fmt.Fprintf(w, "A measure that crawls do not use is better on these pairs: %s with --form %s --unit %s --shingle %d has an F1 of %.3f.\n", best.Measure, best.Form, best.Unit, best.Shingle, best.CrossValidated.F1)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\nrecommendation\tvalue\t95%% confidence interval\n")
	fmt.Fprintf(table, "%s\t%s\t%s to %s\n", name, hundredths(r.Threshold), hundredths(r.ThresholdI[0]), hundredths(r.ThresholdI[1]))
	for _, row := range []struct {
		name  string
		value float64
		in    dedup.Interval
	}{
		{"precision, cross-validated", r.CrossValidated.Precision, r.CrossValidated.PrecisionI},
		{"recall, cross-validated", r.CrossValidated.Recall, r.CrossValidated.RecallI},
		{"F1, cross-validated", r.CrossValidated.F1, r.CrossValidated.F1I},
	} {
		fmt.Fprintf(table, "%s\t%.3f\t%.3f to %.3f\n", row.name, row.value, row.in[0], row.in[1])
	}
	_ = table.Flush() // writing the table of all ways, which follows, returns any error from w
	drawn := report.Counted(r.Units, "pair")
	if r.Shared > 0 {
		drawn = fmt.Sprintf("%s that occur in several pairs", report.Counted(r.Shared, "page"))
		if others := r.Units - r.Shared; others > 0 {
			drawn += fmt.Sprintf(" and %s of other pages", report.Counted(others, "pair"))
		}
	}
	fmt.Fprintf(w, "The intervals are from %s bootstrap samples of %s.\n", report.Grouped(dedup.Resamples), drawn)
}
