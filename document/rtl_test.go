package document

import (
	"os"
	"testing"

	"skink/dedup"
)

// Printed pages from right to left have the words of their HTML in the same order: with ligatures,
// vowel marks, numbers, brackets, quotation marks, URLs and Latin names between them. pdftotext
// finds .66 to .81 of the words, because it splits ligatures. The rest are the words whose order
// cannot be seen on paper.
func TestRightToLeft(t *testing.T) {
	for _, name := range []string{"ar", "fa", "he", "mixed"} {
		html, err := os.ReadFile("testdata/rtl/" + name + ".html")
		if err != nil {
			t.Fatal(err)
		}
		printed, err := os.ReadFile("testdata/rtl/" + name + ".pdf")
		if err != nil {
			t.Fatal(err)
		}
		want := sequence(parse(t, html, "text/html").Text)
		got := sequence(parse(t, printed, "application/pdf").Text)
		if inOrder := common(want, got); inOrder*100 < 97*len(want) {
			t.Errorf("%s: %d of %d words are in order, want 97 %%", name, inOrder, len(want))
		}
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
