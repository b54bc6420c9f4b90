package extract

import (
	"regexp"
	"strings"
	"testing"
)

// parsePage parses a page whose Markdown and HTML can be written.
func parsePage(t *testing.T, body string) *Document {
	t.Helper()
	d, err := Options{Markdown: true}.Parse([]byte(body), "text/html; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestScripts checks that digits of <sup> and <sub> do not continue a number, in text, Markdown and
// headings.
func TestScripts(t *testing.T) {
	markup := regexp.MustCompile(`^# |\]\([^)]*\)|[\\*\[\]]`)
	for _, test := range []struct{ html, want string }{
		{"About 6.02 × 10<sup>23</sup> atoms are in it.", "About 6.02 × 10^23 atoms are in it."},
		{"It is 3 × 10<sup>−9</sup> or 10<sup>-12</sup> or 2<sup><i>16</i></sup> m.", "It is 3 × 10^−9 or 10^-12 or 2^16 m."},
		{"The number 1011<sub>2</sub> is 11<sub>10</sub>.", "The number 1011_2 is 11_10."},
		{"The tower 2<sup>3<sup>4</sup></sup> has <b>10</b><sup>24</sup> steps.", "The tower 2^3^4 has 10^24 steps."},
		{"A <a href=/n>ton is 10<sup>3</sup> kg</a>.", "A ton is 10^3 kg."},
		{"Uranium is <sup>235</sup><sub>92</sub>U.", "Uranium is 235_92U."},
		{"<sup>14</sup>3000 men went; add 1<sup>1</sup>/<sub>2</sub> cups.", "14 3000 men went; add 1^1/2 cups."},
		{"٥<sup>٢</sup> is ٢٥.", "٥^٢ is ٢٥."},

		{"Both H<sub>2</sub>O and x<sup>2</sup> and x<sub>2</sub>.", "Both H2O and x2 and x2."},
		{"The 1<sup>st</sup>, the 2<sup>e</sup>, in 1905<sup>th</sup>.", "The 1st, the 2e, in 1905th."},
		{`In 1905<sup><a href="#n1">1</a></sup> and 1906<a href="#n2"><sup>2</sup></a>, and 1907<sup>[3]</sup>.`, "In 19051 and 19062, and 1907[3]."},
		{"Of 10 <sup>6</sup> and 7<sup> 8</sup> and 9<sup></sup>0.", "Of 10 6 and 7 8 and 90."},
	} {
		d := parsePage(t, "<title>Numbers</title><main><h1>"+test.html+"</h1><p>Words follow here.</main>")
		if want := test.want + "\nWords follow here."; d.Text != want || len(d.H1) != 1 || d.H1[0] != test.want {
			t.Errorf("%s\n got %q, headings %q\nwant %q", test.html, d.Text, d.H1, want)
		}
		md := d.Markdown(MarkdownOptions{})
		if line, _, _ := strings.Cut(md, "\n"); markup.ReplaceAllString(line, "") != markup.ReplaceAllString(test.want, "") {
			t.Errorf("%s: the Markdown is %q", test.html, md)
		}
	}
	d := parsePage(t, "<main><h2>Code</h2><p>Words precede here.<pre>10<sup>6</sup></pre>")
	if want := "Code\nWords precede here.\n106"; d.Text != want {
		t.Errorf("got %q, want %q", d.Text, want)
	}
}
