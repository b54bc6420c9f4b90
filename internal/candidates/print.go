package candidates

import (
	_ "embed"
	"fmt"
	"io"
	"text/tabwriter"
	"text/template"

	"skink/report"
)

//go:embed chart.svg
var chartText string

var chart = template.Must(template.New("").Funcs(template.FuncMap{
	"colour": func(line int) string { return colours[line%len(colours)] },
	"ends":   func(points []point) []point { return []point{points[0], points[len(points)-1]} },
}).Parse(chartText))

// colours are those of Okabe and Ito ("Color Universal Design", 2008), without yellow. Readers with any colour vision
// can tell them apart.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"}

type line struct {
	Name             string
	Points, Expected []point
}

// A point is in the square from 0 to 1, with its origin at the bottom left.
type point struct {
	X, Y float64
	Of   float64 // similarity
}

// String returns the point in a plot of 380 by 300 units, with its origin at the top left.
func (p point) String() string { return fmt.Sprintf("%.1f,%.1f", 380*p.X, 300-300*p.Y) }

// WriteSVG writes two plots: the share of the pairs that each scheme finds, by resemblance, and the recall and precision
// of the candidates at each similarity. "mega" is left out, because it finds what "super" finds.
func (r *Result) WriteSVG(w io.Writer) error {
	least := r.Bins[0].From
	return chart.Execute(w, map[string]any{"Least": least, "Middle": (1 + least) / 2, "Shares": r.shares(least), "Operating": r.operating()})
}

func (r *Result) shares(least float64) (lines []*line) {
	for i, s := range r.Bins[0].Schemes {
		if s.Name == "mega" {
			continue
		}
		l := &line{Name: fmt.Sprintf("%s, %d minima", s.Name, s.Rows)}
		for n, b := range r.Bins {
			to := 1.
			if n+1 < len(r.Bins) {
				to = r.Bins[n+1].From
			}
			if middle := ((b.From+to)/2 - least) / (1 - least); b.Pairs > 0 {
				l.Points = append(l.Points, point{X: middle, Y: b.Schemes[i].Found})
				l.Expected = append(l.Expected, point{X: middle, Y: b.Schemes[i].Expected})
			}
		}
		lines = append(lines, l)
	}
	return lines
}

func (r *Result) operating() (lines []*line) {
	of := map[string]*line{}
	for _, w := range r.Ways {
		if w.Name == "mega" {
			continue
		}
		if of[w.Name] == nil {
			of[w.Name] = &line{Name: w.Name}
			lines = append(lines, of[w.Name])
		}
		of[w.Name].Points = append(of[w.Name].Points, point{w.Recall, w.Precision, w.Similarity})
	}
	return lines
}

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
