package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"skink/dedup"
	"skink/internal/chart"
)

// A point is one row of --curve: the probability that each scheme finds two pages with the given
// resemblance.
type point struct {
	Resemblance float64            `json:"resemblance"`
	Found       map[string]float64 `json:"found"` // probability from 0 to 1, by scheme
}

// runCurve prints, for each resemblance, the probability that each scheme finds two pages with that
// resemblance.
func (f *tuneFlags) runCurve(ctx context.Context, con Console) error {
	w := con.Out
	similarity := dedup.DefaultSimilarity
	if f.flags.Changed("similarity") {
		similarity = f.similarities.values[0]
	}
	var schemes []dedup.Scheme
	for _, name := range []string{"bands", "super", "mega"} {
		s, err := dedup.ParseScheme(name, similarity)
		if err != nil {
			return usageError{Err: err}
		}
		schemes = append(schemes, s)
	}
	if to := con.files.Of("--svg"); to != nil {
		if err := to.Write(ctx, schemesChart(schemes, similarity).WriteSVG); err != nil {
			return err
		}
	}
	var points []point
	for i := 0; i <= 20; i++ {
		p := point{float64(i) / 20, map[string]float64{}}
		for _, s := range schemes {
			p.Found[s.Name] = s.Probability(p.Resemblance)
		}
		points = append(points, p)
	}
	if f.json {
		return writeJSON(w, points)
	}
	for _, s := range schemes {
		fmt.Fprintln(w, s)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nresemblance\tbands\tsuper\tmega\t")
	for _, p := range points {
		bar := strings.Repeat("█", int(40*p.Found["bands"]+.5))
		fmt.Fprintf(table, "%.2f\t%.4f\t%.4f\t%.4f\t%s\n", p.Resemblance, p.Found["bands"], p.Found["super"], p.Found["mega"], bar)
	}
	return table.Flush()
}

func schemesChart(schemes []dedup.Scheme, similarity float64) chart.Chart {
	c := chart.Chart{
		Title:    "Probability that each scheme finds a pair",
		Subtitle: fmt.Sprintf("The bands are chosen for a similarity of %v.", similarity),
		X:        "resemblance of the two pages (0 to 1)",
		Y:        "probability (0 to 1)",
		Mark:     chart.Mark{Name: fmt.Sprintf("similarity: %v", similarity), X: similarity},
	}
	var found []string
	for _, s := range schemes {
		line := chart.Line{Name: s.Name}
		for i := 0; i <= 100; i++ {
			j := float64(i) / 100
			line.Points = append(line.Points, chart.Point{X: j, Y: s.Probability(j)})
		}
		c.Lines = append(c.Lines, line)
		found = append(found, fmt.Sprintf("%s %.4f", s.Name, s.Probability(similarity)))
	}
	c.Description = fmt.Sprintf("The probability that each scheme finds a pair of pages of a given resemblance. At a resemblance of %v, it is: %s.",
		similarity, strings.Join(found, ", "))
	return c
}
