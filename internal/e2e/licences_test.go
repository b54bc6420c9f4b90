package e2e

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestLicences compares skink dedup --pairs with the exact resemblance of all pairs of 2,618
// licence texts, which another program computed by brute force. The texts are not part of the
// project, and without them the test is skipped. SKINK_LONG=full tests four similarities, and
// shingles of ten and of five words.
func TestLicences(t *testing.T) {
	form := long(t)
	dir := unpackLicences(t)
	skink := buildSkink(t)
	words, similarities := []int{10}, []float64{.8, .9}
	if form == full {
		words, similarities = []int{10, 5}, []float64{.5, .7, .8, .9}
	}
	for _, w := range words {
		truth := licencePairs(t, filepath.Join(dir, fmt.Sprintf("licences/pairs_w%d.tsv.gz", w)))
		for _, similarity := range similarities {
			t.Run(fmt.Sprintf("%d words, %v", w, similarity), func(t *testing.T) {
				out, err := exec.Command(skink, "dedup", "--quiet", "--pairs", "--shingle", strconv.Itoa(w),
					"--similarity", strconv.FormatFloat(similarity, 'f', -1, 64), filepath.Join(dir, "licences/text")).Output()
				if err != nil {
					t.Fatal(err)
				}
				measurePairs(t, string(out), truth, similarity)
			})
		}
	}
}

// near is the tolerance for the resemblance of a pair. Within it a pair may be found or not,
// because the two programs split words a little differently.
const near = .03

func measurePairs(t *testing.T, out string, truth map[[2]string]float64, similarity float64) {
	found := map[[2]string]bool{}
	wrong, off := 0, 0.
	for l := range strings.Lines(out) {
		var p struct {
			A, B        string
			Resemblance float64
		}
		if err := json.Unmarshal([]byte(l), &p); err != nil {
			t.Fatal(err)
		}
		key := [2]string{filepath.Base(p.A), filepath.Base(p.B)}
		found[key] = true
		off += math.Abs(p.Resemblance - truth[key])
		if truth[key] < similarity-near {
			wrong++
		}
	}
	want, hit := 0, 0
	for key, r := range truth {
		if r >= similarity+near {
			want++
			if found[key] {
				hit++
			}
		}
	}
	recall, precision, mean := float64(hit)/float64(want), 1-float64(wrong)/float64(len(found)), off/float64(len(found))
	t.Logf("at %v: %d pairs, recall %.4f of %d, precision %.4f, off by %.4f on average", similarity, len(found), recall, want, precision, mean)
	if recall < .98 || precision < .995 || mean > .005 {
		t.Errorf("at %v: recall %.4f, precision %.4f, off by %.4f; want .98, .995, .005", similarity, recall, precision, mean)
	}
}

// licencePairs returns the resemblances that the other program has computed. The key has the names
// of two files in alphabetical order.
func licencePairs(t *testing.T, name string) map[[2]string]float64 {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	truth := map[[2]string]float64{}
	lines := bufio.NewScanner(z)
	lines.Scan() // skip the heading
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		r, err := strconv.ParseFloat(c[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		a, b := filepath.Base(c[0]), filepath.Base(c[1])
		truth[[2]string{min(a, b), max(a, b)}] = r
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return truth
}

// TestLicencesKept checks which licences skink dedup keeps and drops. Each kept line must be
// unchanged, and the lines must be in their original order. Each dropped licence must resemble a
// kept one enough, by the resemblances of the other program. Candidates that were not verified, or
// connected components, would drop more. With --rule containment, the runs of three words of a
// dropped licence must be in the kept one. The test counts them by brute force.
func TestLicencesKept(t *testing.T) {
	long(t)
	dir := unpackLicences(t)
	texts, lines := licenceLines(t, filepath.Join(dir, "licences/text"))
	corpus := filepath.Join(dir, "licences.jsonl")
	if err := os.WriteFile(corpus, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	truth := licencePairs(t, filepath.Join(dir, "licences/pairs_w10.tsv.gz"))
	skink := buildSkink(t)
	for _, flags := range [][]string{nil, {"--keep", "longest"}, {"--rule", "containment"}, {"--rule", "containment", "--keep", "longest"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			kept, dropped := filepath.Join(dir, "kept.jsonl"), filepath.Join(dir, "dropped.jsonl")
			args := append([]string{"dedup", "--quiet", "--out", os.DevNull, "--unique", kept, "--duplicates", dropped}, append(flags, corpus)...)
			if out, err := exec.Command(skink, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			isKept := checkKept(t, kept, lines)
			lost, n := 0., 0
			for id, leader := range droppedFor(t, dropped) {
				n++
				key := [2]string{min(id, leader), max(id, leader)}
				if r := truth[key]; !slices.Contains(flags, "containment") && r < .8-near && !sameWords(texts[id], texts[leader]) {
					t.Errorf("%s is dropped for %s, which it resembles by %.3f", id, leader, r)
				}
				if !isKept[leader] {
					t.Errorf("%s is dropped for %s, which is not kept", id, leader)
				}
				loses := 1 - containment(texts[id], texts[leader])
				lost = max(lost, loses)
				if slices.Contains(flags, "containment") && loses > .05+near {
					t.Errorf("%s is dropped for %s, and %.1f%% of it is lost", id, leader, 100*loses)
				}
			}
			t.Logf("%d kept, %d dropped; the most that is lost of one: %.1f%%", len(isKept), n, 100*lost)
			if len(isKept)+n != len(lines) {
				t.Errorf("%d kept and %d dropped of %d", len(isKept), n, len(lines))
			}
		})
	}
}

// licenceLines returns the licences by name, and as JSON lines.
func licenceLines(t *testing.T, dir string) (texts map[string]string, lines []string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(map[string]string{"id": f.Name(), "licence": string(text)[:1], "text": string(text)})
		if err != nil {
			t.Fatal(err)
		}
		texts[f.Name()] = string(text)
		lines = append(lines, string(line)+"\n")
	}
	return texts, lines
}

// checkKept checks that the kept lines are among the original lines in the same order. It returns
// their ids.
func checkKept(t *testing.T, name string, lines []string) map[string]bool {
	out, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	next := 0
	for line := range strings.Lines(string(out)) {
		at := slices.Index(lines[next:], line)
		if at < 0 {
			t.Fatalf("a line that is kept is not in the corpus after the one before it: %.80s", line)
		}
		next += at + 1
		var l struct{ ID string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		kept[l.ID] = true
	}
	return kept
}

// droppedFor maps each dropped line to the line of which it is a duplicate.
func droppedFor(t *testing.T, name string) map[string]string {
	out, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var l struct {
			ID string
			Of string `json:"skink_duplicate_of"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		all[l.ID] = l.Of
	}
	return all
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

func sameWords(a, b string) bool { return slices.Equal(wordsOf(a), wordsOf(b)) }

// containment returns the share of the runs of three words of page that are also in kept.
func containment(page, kept string) float64 {
	runs := func(text string) map[[3]string]bool {
		words, all := wordsOf(text), map[[3]string]bool{}
		for i := range max(len(words)-2, 0) {
			all[[3]string(words[i:i+3])] = true
		}
		return all
	}
	of, in := runs(page), runs(kept)
	n := 0
	for run := range of {
		if in[run] {
			n++
		}
	}
	return float64(n) / float64(max(len(of), 1))
}

// unpackLicences unpacks the licences into a folder, and returns the folder. It skips the test if
// the licences are missing, or if SKINK_LONG is not set.
func unpackLicences(t *testing.T) (dir string) {
	t.Helper()
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("SKINK_LONG is not set")
	}
	const archive = "../shared/data/licences.tar.xz"
	if _, err := os.Stat(archive); err != nil {
		t.Skip("no licences to measure with")
	}
	dir = t.TempDir()
	if out, err := exec.Command("tar", "-xf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("tar: %v\n%s", err, out)
	}
	return dir
}
