package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skink/dedup"
)

// TestRivalFigures computes the table of docs/duplicates.md about measures of the literature.
func TestRivalFigures(t *testing.T) {
	out, _ := run(t, "tune", "--unit", "word", "--shingle", "3,10", "--json",
		"--measure", "resemblance,containment,super,mega,simhash,winnowing,cosine,i-match,spotsigs", filepath.Join("testdata", "judged.jsonl.zst"))
	var result struct{ Tried []dedup.Tuned }
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join("docs", "duplicates.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Tried) != 15 {
		t.Errorf("%d combinations, want 15", len(result.Tried))
	}
	for _, tried := range result.Tried {
		shingle := "–"
		if tried.Shingle > 0 {
			shingle = fmt.Sprintf("%d words", tried.Shingle)
		}
		q := tried.CrossValidated
		row := fmt.Sprintf("| `%s` | %s | %.3f | %.3f to %.3f | %.3f |", tried.Measure, shingle, q.F1, q.F1I[0], q.F1I[1], tried.AUC)
		if t.Log(row); !strings.Contains(string(doc), row+"\n") {
			t.Errorf("docs/duplicates.md does not show this row: %s", row)
		}
	}
}
