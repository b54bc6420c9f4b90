package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"skink/dedup"
)

type judgedPair struct {
	A         string `json:"a_text"`
	B         string `json:"b_text"`
	Duplicate bool   `json:"duplicate"`
	Kind      string `json:"kind"`
	Source    string `json:"source"`
}

// judgedKinds are the kinds of pairs in testdata/judged.jsonl.zst, with their labels.
var judgedKinds = []struct {
	name      string
	duplicate bool
}{
	{"words corrected", true},
	{"passage replaced", true},
	{"passage added", true},
	{"paragraphs reordered", true},
	{"other frame", true},
	{"versions", true},
	{"rewritten", false},
	{"excerpt", false},
	{"quotation", false},
	{"same boilerplate", false},
	{"same form", false},
	{"translation", false},
}

func judgedPairs(t *testing.T) (pairs []judgedPair) {
	t.Helper()
	f, err := os.Open("testdata/judged.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for dec := json.NewDecoder(bufio.NewReader(z)); dec.More(); {
		var p judgedPair
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

func scoreOf(p judgedPair, words int) float64 {
	var a, b dedup.Text
	a.ReadString(p.A)
	b.ReadString(p.B)
	return dedup.Compare(&a, &b, dedup.Shingling{Unit: dedup.Words, K: words}).Resemblance
}

// TestJudgedPairs checks the set of judged pairs: the labels follow from the kinds, no pair occurs
// twice, the resemblances of five-word shingles cover the range, and no text has an address of a
// person.
func TestJudgedPairs(t *testing.T) {
	labels, kinds, strata := map[string]bool{}, map[string]int{}, [10]int{}
	for _, k := range judgedKinds {
		labels[k.name] = k.duplicate
	}
	seen := map[[2]string]bool{}
	address := regexp.MustCompile(`\S@\S+\.\S|(?i)mailto:`)
	for i, p := range judgedPairs(t) {
		label, known := labels[p.Kind]
		if !known || label != p.Duplicate || p.Source == "" {
			t.Errorf("pair %d: kind %q, label %v, source %q", i+1, p.Kind, p.Duplicate, p.Source)
		}
		if p.A == p.B || seen[[2]string{p.A, p.B}] || seen[[2]string{p.B, p.A}] {
			t.Errorf("pair %d: equal texts, or an equal pair before", i+1)
		}
		seen[[2]string{p.A, p.B}] = true
		for _, text := range []string{p.A, p.B} {
			if n := len(strings.Fields(text)); n < 50 || n > 600 {
				t.Errorf("pair %d, %s: %d words", i+1, p.Kind, n)
			}
			if found := address.FindString(text); found != "" {
				t.Errorf("pair %d, %s: the text has an address: %s", i+1, p.Kind, found)
			}
		}
		kinds[p.Kind]++
		strata[min(int(10*scoreOf(p, 5)), 9)]++
	}
	if len(seen) < 1000 {
		t.Errorf("%d pairs, want at least 1,000", len(seen))
	}
	for name := range labels {
		if kinds[name] < 30 {
			t.Errorf("%s: %d pairs, want at least 30", name, kinds[name])
		}
	}
	for i, n := range strata {
		if n < 30 {
			t.Errorf("resemblance of at least .%d: %d pairs, want at least 30", i, n)
		}
	}
	t.Log(kinds, strata)
}

// TestJudgedFigures computes the table by kind in docs/duplicates.md: the share of pairs with a
// resemblance of at least 0.8, for shingles of different lengths.
func TestJudgedFigures(t *testing.T) {
	lengths := []int{3, 5, 8, 10}
	found, total := map[string][4]int{}, map[string]int{}
	var right, declared [4]int
	duplicates := 0
	for _, p := range judgedPairs(t) {
		total[p.Kind]++
		if p.Duplicate {
			duplicates++
		}
		n := found[p.Kind]
		for i, k := range lengths {
			if scoreOf(p, k) < .8 {
				continue
			}
			n[i]++
			declared[i]++
			if p.Duplicate {
				right[i]++
			}
		}
		found[p.Kind] = n
	}
	var rows []string
	row := func(name, label string, value func(i int) float64) {
		line := fmt.Sprintf("| %s | %s |", name, label)
		for i := range lengths {
			line += fmt.Sprintf(" %.3f |", value(i))
		}
		rows = append(rows, line)
	}
	for _, k := range judgedKinds {
		row(k.name, map[bool]string{true: "yes", false: "no"}[k.duplicate], func(i int) float64 { return float64(found[k.name][i]) / float64(total[k.name]) })
	}
	recall := func(i int) float64 { return float64(right[i]) / float64(duplicates) }
	precision := func(i int) float64 { return float64(right[i]) / float64(declared[i]) }
	row("all: recall", "", recall)
	row("all: precision", "", precision)
	doc, err := os.ReadFile(filepath.Join("docs", "duplicates.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Log(r)
		if !strings.Contains(string(doc), r+"\n") {
			t.Errorf("docs/duplicates.md does not show this row: %s", r)
		}
	}
}

// TestSiteFigures computes the figures of docs/duplicates.md about the changed articles of the
// invented site.
func TestSiteFigures(t *testing.T) {
	out, err := exec.Command("go", "run", "./internal/tools/labelpairs", "testdata/site").Output()
	if err != nil {
		t.Fatal(err)
	}
	duplicates, found := 0, map[int]int{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p judgedPair
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.Duplicate {
			duplicates++
		}
		for _, k := range []int{3, 5, 8, 10} {
			switch near := scoreOf(p, k) >= .8; {
			case near && !p.Duplicate:
				t.Errorf("%s: different texts are duplicates with shingles of %d words", p.Kind, k)
			case near:
				found[k]++
			}
		}
	}
	for k, want := range map[int]int{5: 87, 10: 72} {
		if got := math.Round(100 * float64(found[k]) / float64(duplicates)); got != float64(want) {
			t.Errorf("shingles of %d words find %v%% of the duplicates; the page says %d%%", k, got, want)
		}
	}
}
