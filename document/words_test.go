package document

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skink/dedup"
)

// minWords is the least share of the words found by pdftotext that PDFium must find too. In the
// files of the test it is 0.99 or more.
const minWords = 0.98

// TestWords compares the words of PDF files with those that pdftotext finds. The files are those of
// Debian packages that were unpacked into the folder SKINK_DOCS. Dropped lines, such as page
// headers, may be only a small part.
func TestWords(t *testing.T) {
	root := os.Getenv("SKINK_DOCS")
	if root == "" {
		t.Skip("SKINK_DOCS does not name a folder with unpacked documentation packages")
	}
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("there is no pdftotext: install poppler-utils")
	}
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".pdf") {
			return err
		}
		files++
		t.Run(filepath.Base(name), func(t *testing.T) { compareWords(t, name) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("no PDF in SKINK_DOCS %s: unpack the packages that .ci/run names there with dpkg -x", root)
	}
}

func compareWords(t *testing.T, name string) {
	body, err := os.ReadFile(name)
	if err == nil && strings.HasSuffix(name, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	reader.once.Do(reader.start)
	began := time.Now()
	file, err := reader.engine.Read(t.Context(), body, MaxText(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	cmd := exec.Command("pdftotext", "-", "-")
	cmd.Stdin = bytes.NewReader(body)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := wordsOf(string(out))
	raw, kept := wordsOf(strings.Join(file.Pages, "\n")), wordsOf(pdfDocument(file).Text)
	t.Logf("%d pages, %v a page: of %d words PDFium finds %.3f; %.3f are in the text", len(file.Pages), took/time.Duration(len(file.Pages)), total(want), share(want, raw), share(want, kept))
	if got := share(want, raw); got < minWords {
		t.Errorf("PDFium finds %.3f of the words, want %.2f", got, minWords)
	}
	if got := share(want, kept); got < 0.9 {
		t.Errorf("the text has %.3f of the words, want 0.9", got)
	}
}

// wordsOf counts the words of a text.
func wordsOf(text string) map[uint64]int {
	var canon dedup.Text
	canon.Read([]byte(text))
	counts := map[uint64]int{}
	for _, n := range canon.Numbers() {
		counts[n]++
	}
	return counts
}

func total(words map[uint64]int) (n int) {
	for _, c := range words {
		n += c
	}
	return n
}

// share returns the share of the words of a that are also in b, 0 to 1.
func share(a, b map[uint64]int) float64 {
	both := 0
	for word, n := range a {
		both += min(n, b[word])
	}
	return float64(both) / float64(max(total(a), 1))
}
