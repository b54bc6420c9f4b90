package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLicences holds skink dedup --pairs against the exact resemblance of all
// pairs of 2,618 licence texts, which another program counted by brute force. The
// texts are not part of the project: they are measured with where ../shared has
// them. With SKINK_LONG=full at four similarities, for shingles of ten words and of
// five.
func TestLicences(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("SKINK_LONG is not set")
	}
	const archive = "../shared/data/licences.tar.xz"
	if _, err := os.Stat(archive); err != nil {
		t.Skip("no licences to measure with")
	}
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("tar: %v\n%s", err, out)
	}
	skink := buildSkink(t)
	words, similarities := []int{10}, []float64{.8, .9}
	if os.Getenv("SKINK_LONG") == "full" {
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

// near is how close to the similarity a pair neither has to be found nor must not
// be: the two programs differ a little in what a word is.
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

// licencePairs reads the resemblances, by the names of two files in order.
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
	lines.Scan() // the heading
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
