package document

import (
	"os"
	"testing"

	"skink/dedup"
)

// Printed pages from right to left have the words of their HTML in the same order: with ligatures,
// vowel marks, numbers, brackets, quotation marks, URLs and Latin names between them. Chromium and
// LibreOffice printed them. pdftotext finds .60 to .81 of the words, because it splits ligatures. The
// rest are the words whose order cannot be seen on paper.
func TestRightToLeft(t *testing.T) {
	for _, name := range []string{"ar", "fa", "he", "mixed"} {
		samePrinted(t, "testdata/rtl/"+name+".html", "testdata/rtl/"+name+".pdf")
		if name != "mixed" {
			samePrinted(t, "testdata/rtl/"+name+".html", "testdata/rtl/"+name+".office.pdf")
		}
	}
}

// The columns of a page are read one after the other, whether TeX, LibreOffice or Chromium set them.
// Chromium also breaks words at the ends of lines. pdftotext finds .63 of the words of Chromium's file
// in their order.
func TestColumns(t *testing.T) {
	for _, by := range []string{"tex", "office", "chromium"} {
		samePrinted(t, "testdata/columns/mill.html", "testdata/columns/"+by+".pdf")
	}
}

// samePrinted checks that a PDF file has 97 % of the words of a page in their order.
func samePrinted(t *testing.T, page, print string) {
	t.Helper()
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	printed, err := os.ReadFile(print)
	if err != nil {
		t.Fatal(err)
	}
	want := sequence(parse(t, html, "text/html").Text)
	got := sequence(parse(t, printed, "application/pdf").Text)
	if inOrder := common(want, got); inOrder*100 < 97*len(want) {
		t.Errorf("%s: %d of %d words are in order, want 97 %%", print, inOrder, len(want))
	}
}

func sequence(text string) []uint64 {
	var canon dedup.Text
	canon.Read([]byte(text))
	return canon.Numbers()
}

// common returns the length of the longest common subsequence.
func common(a, b []uint64) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		before := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			before = above
		}
	}
	return row[len(b)]
}
