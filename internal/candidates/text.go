package candidates

import (
	"fmt"
	"io"
	"text/tabwriter"

	"skink/report"
)

// WriteText writes two tables: the ways to find pairs, and the share of the pairs that each scheme finds. rest is the end of the
// line about the texts.
func (r *Result) WriteText(w io.Writer, rest string) error {
	n := func(n int) string { return report.Grouped(n) }
	fmt.Fprintf(w, "%s; equal to earlier texts: %s; thin: %s%s\n\n", report.Counted(r.Corpus.Texts, "text"), n(r.Corpus.Copies), n(r.Corpus.Thin), rest)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "similarity\tcandidates of\tpairs\tcandidates\tpairs found\trecall\texpected\tprecision\tindex\tCPU\t")
	for _, way := range r.Ways {
		fmt.Fprintf(table, "%v\t%s\t%s\t%s\t%s\t%.4f\t%.4f\t%.4f\t%s\t%.2f s\t\n", way.Similarity, way.Scheme(), n(way.Pairs), n(way.Candidates),
			n(way.Found), way.Recall, way.Expected, way.Precision, report.Bytes(int64(way.Bytes)), way.Seconds)
	}
	fmt.Fprint(table, "\nresemblance from\tpairs\t")
	for _, s := range r.Bins[0].Schemes {
		fmt.Fprintf(table, "%s %d\t", s.Name, s.Rows)
	}
	fmt.Fprintln(table)
	for _, b := range r.Bins {
		fmt.Fprintf(table, "%.2f\t%s\t", b.From, n(b.Pairs))
		for _, s := range b.Schemes {
			if b.Pairs > 0 {
				fmt.Fprintf(table, "%.3f (%.3f)\t", s.Found, s.Expected)
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
