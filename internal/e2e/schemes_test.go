package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skink/internal/candidates"
)

// TestSchemeFigures computes the table of docs/duplicates.md about what the schemes find of all pairs of a corpus.
func TestSchemeFigures(t *testing.T) {
	var lines strings.Builder
	for _, p := range judgedPairs(t) {
		for _, text := range []string{p.A, p.B} {
			line, err := json.Marshal(map[string]string{"text": text})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, "%s\n", line)
		}
	}
	corpus := filepath.Join(t.TempDir(), "corpus.jsonl")
	if err := os.WriteFile(corpus, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join("docs", "duplicates.md"))
	if err != nil {
		t.Fatal(err)
	}
	result := schemesOf(t, corpus)
	if result.Corpus.Texts != 1920 || len(result.Ways) != 20 {
		t.Errorf("%+v, %d ways", result.Corpus, len(result.Ways))
	}
	for _, w := range result.Ways {
		row := fmt.Sprintf("| %v | %s | %d | %d | %.4f | %.4f | %.4f | %d KB |", w.Similarity, w.Scheme(), w.Pairs, w.Candidates, w.Recall, w.Expected, w.Precision, w.Bytes/1024)
		if t.Log(row); w.Name != "mega" && !strings.Contains(string(doc), row+"\n") {
			t.Errorf("docs/duplicates.md does not show this row: %s", row)
		}
	}
}

// TestSchemesOnLicences compares the pairs of the join with those of another program, as [TestLicences] does, and the
// schemes with their formulas.
func TestSchemesOnLicences(t *testing.T) {
	long(t)
	dir := unpackLicences(t)
	truth := licencePairs(t, filepath.Join(dir, "licences/pairs_w10.tsv.gz"))
	for _, w := range schemesOf(t, filepath.Join(dir, "licences/text")).Ways {
		least, most := 0, 0
		for _, r := range truth {
			if r >= w.Similarity+near {
				least++
			}
			if r >= w.Similarity-near {
				most++
			}
		}
		t.Logf("%+v; the other program has %d to %d pairs", w, least, most)
		if w.Pairs < least || w.Pairs > most {
			t.Errorf("%d pairs at %v, want %d to %d", w.Pairs, w.Similarity, least, most)
		}
		if deviation := 3 * math.Sqrt(.25/float64(w.Pairs)); math.Abs(w.Recall-w.Expected) > deviation {
			t.Errorf("%s finds %.4f at %v, expected %.4f", w.Scheme(), w.Recall, w.Similarity, w.Expected)
		}
	}
}

func schemesOf(t *testing.T, corpus string) (result candidates.Result) {
	t.Helper()
	out, err := exec.Command(buildSkink(t), "tune", "--corpus", "--json", corpus).Output()
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	if err != nil {
		t.Fatal(err)
	}
	return result
}
