package cli

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"

	"skink/base/harmless"
	"skink/dedup"
	"skink/report"
)

func (c *sideBySide) printText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, s := range []*side{&c.A, &c.B} {
		fmt.Fprintf(t, "%c\t%s\t%s, %s, %s\n", 'A'+i, harmless.Line(s.Name), report.Counted(s.Words, "word"), report.Counted(s.Characters, "character"), report.Counted(s.Shingles, "shingle"))
	}
	for _, r := range c.rows() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.Name, r.Value, r.About)
	}
	err := t.Flush()
	c.printPassages(w)
	return err
}

type row struct{ Name, Value, About string }

func (c *sideBySide) rows() []row {
	number := func(v float64) string { return fmt.Sprintf("%.4f", v) }
	of := func(n int) string { return fmt.Sprint(n) }
	verdict := c.meaning()
	if c.Remark != "" {
		verdict += ": " + c.Remark
	}
	return []row{
		{"resemblance", number(c.Resemblance), "exact value for " + c.shingles() + ": " + report.Counted(c.Common, "shingle") + " in common"},
		{"estimate", number(c.Estimate), fmt.Sprintf("%.0f of %d minima are equal", c.Estimate*dedup.Minima, dedup.Minima)},
		{"containment", number(c.AInB), "share of A's distinct shingles that B contains"},
		{"", number(c.BInA), "share of B's distinct shingles that A contains"},
		{"super-shingles", of(c.Super), fmt.Sprintf("of %d", dedup.SuperShingles)},
		{"mega-shingles", of(c.Mega), fmt.Sprintf("of %d", dedup.MegaShingles)},
		{"verdict", string(c.Verdict), verdict},
	}
}

func (c *sideBySide) meaning() string {
	if share := dedup.Percent(c.rule.Contained); c.rule.Contained > 0 {
		switch c.Verdict {
		case dedup.Unique:
			return "neither contains " + share + " of the other"
		case dedup.Near:
			return "one contains at least " + share + " of the other"
		}
	}
	switch same := dedup.Percent(c.Similarity) + " the same"; c.Verdict {
	case dedup.Unique:
		return "less than " + same
	case dedup.Near:
		return "at least " + same
	case dedup.Exact:
		return "the same words"
	}
	return c.rule.Explain(c.Verdict)
}

func (c *sideBySide) shingles() string {
	noun := "word"
	if c.Unit == dedup.Chars {
		noun = "character"
	}
	return "shingles of " + report.Counted(c.Shingle, noun)
}

// Limits of printPassages: the number of passages, and the length of each in characters.
const (
	shownPassages = 5
	shownText     = 60
)

func (c *sideBySide) printPassages(w io.Writer) {
	if len(c.Passages) > 0 {
		fmt.Fprintf(w, "\n%s in common\n", report.Counted(len(c.Passages), "passage"))
	}
	for i, p := range c.Passages {
		if i == shownPassages {
			fmt.Fprintf(w, "  and %d more: --json lists them, --html shows them\n", len(c.Passages)-i)
			break
		}
		text := report.Clip(harmless.Line(strings.Join(strings.Fields(p.Text), " ")), shownText)
		fmt.Fprintf(w, "  %4d words, at word %d of A and word %d of B: %s\n", p.Words, p.A, p.B, text)
	}
}

//go:embed compare.html
var compareHTML string

var compareTemplate = template.Must(report.Templates().New("compare").Parse(compareHTML))

// printHTML writes one self-contained HTML page with the measures and both texts. The texts are
// side by side, divided into paragraphs, with their differences marked.
func (c *sideBySide) printHTML(w io.Writer) error {
	guard := harmless.HTML(w)
	err := compareTemplate.Execute(guard, struct {
		*sideBySide
		Rows   []row
		Beside report.Sides
	}{c, c.rows(), report.Beside([2]string{c.A.Name, c.B.Name}, [2]string{c.A.text, c.B.text})})
	return keepFirst(err, guard.Flush())
}
