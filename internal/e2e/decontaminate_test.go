package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/dedup"
)

// TestLicencesDecontaminated takes passages of a quarter of the licences as a benchmark, and compares the
// licences that skink dedup finds with those that share a string of words with a passage.
func TestLicencesDecontaminated(t *testing.T) {
	long(t)
	dir := unpackLicences(t)
	texts, lines := licenceLines(t, filepath.Join(dir, "licences/text"))
	words := map[string][]string{}
	var canon dedup.Text
	for name, text := range texts {
		canon.Read([]byte(text))
		for i := range canon.Len() {
			words[name] = append(words[name], canon.Token(i))
		}
	}
	const n = 13
	found := map[string]map[string]bool{} // ids of the passages by their runs
	var benchmark strings.Builder
	items := 0
	for i, name := range slices.Sorted(maps.Keys(words)) {
		if i%4 != 0 {
			continue
		}
		all := words[name]
		from := i * 7919 % len(all)
		passage := all[from:min(from+i%60+1, len(all))]
		items++
		line, err := json.Marshal(map[string]string{"id": name, "text": strings.Join(passage, ", ")})
		if err != nil {
			t.Fatal(err)
		}
		benchmark.Write(append(line, '\n'))
		length := n
		if len(passage) < n {
			length = max(8, len(passage))
		}
		for k := 0; k+length <= len(passage); k++ {
			run := strings.Join(passage[k:k+length], " ")
			if found[run] == nil {
				found[run] = map[string]bool{}
			}
			found[run][name] = true
		}
	}
	corpus, test := filepath.Join(dir, "licences.jsonl"), filepath.Join(dir, "test.jsonl")
	for name, content := range map[string]string{corpus: strings.Join(lines, ""), test: benchmark.String()} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	marked, counts := filepath.Join(dir, "marked.jsonl"), filepath.Join(dir, "counts.csv")
	out, err := exec.Command(buildSkink(t), "dedup", "--out", os.DevNull, "--decontaminate", test, "--on-contaminated", "mark", "--annotate",
		"--unique", marked, "--duplicates", marked, "--statistics", counts, corpus).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(marked)
	if err != nil {
		t.Fatal(err)
	}
	want, hits := map[string]int64{}, 0
	for line := range strings.Lines(string(content)) {
		var l struct {
			ID           string
			Contaminated []string `json:"skink_contaminated"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		has := map[string]bool{}
		for length := 8; length <= n; length++ {
			for k := 0; k+length <= len(words[l.ID]); k++ {
				maps.Copy(has, found[strings.Join(words[l.ID][k:k+length], " ")])
			}
		}
		if ids := slices.Sorted(maps.Keys(has)); !slices.Equal(slices.Sorted(slices.Values(l.Contaminated)), ids) {
			t.Errorf("%s has runs of %q, want %q", l.ID, l.Contaminated, ids)
		}
		for id := range has {
			want[id]++
		}
		if len(has) > 0 {
			hits++
		}
	}
	table, err := os.ReadFile(counts)
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, ",")
		if cells[0] != "benchmark" {
			continue
		}
		if listed++; cells[4] != fmt.Sprint(want[cells[1]]) && cells[2] != "too short" {
			t.Errorf("%s licences have a run of %s, want %d", cells[4], cells[1], want[cells[1]])
		}
	}
	if listed != items {
		t.Errorf("the statistics have %d passages, want %d", listed, items)
	}
	cut := filepath.Join(dir, "cut.jsonl")
	skink := buildSkink(t)
	for _, args := range [][]string{{"--on-contaminated", "cut", "--unique", cut, "--duplicates", cut, corpus}, {cut}} {
		out, err := exec.Command(skink, append([]string{"dedup", "--out", os.DevNull, "--decontaminate", test}, args...)...).CombinedOutput()
		if err != nil || args[0] == cut && !strings.Contains(string(out), "contaminated: 0 of 2,") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	summary := fmt.Sprintf("contaminated: %d,%03d of 2,618 records", hits/1000, hits%1000)
	t.Logf("%s, %d passages", summary, items)
	if !strings.Contains(string(out), summary) || hits < 1000 {
		t.Errorf("the summary is %q, want %q", out, summary)
	}
}
