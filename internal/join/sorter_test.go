package join

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However many rows fit in memory, Sorted yields all rows in order, and does so again.
func TestSorter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 1, 9)).Draw(t, "rows")
		s := &Sorter{limit: rapid.IntRange(1, 60).Draw(t, "limit")}
		for _, row := range rows {
			if err := s.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(rows, bytes.Compare)
		for range 2 {
			var got [][]byte
			for row, err := range s.Sorted() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, bytes.Clone(row))
			}
			if !slices.EqualFunc(got, rows, bytes.Equal) {
				t.Fatalf("got %q, want %q", got, rows)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Rows must be in the order of their texts, whatever bytes the texts contain.
func TestAppendText(t *testing.T) {
	text := rapid.StringMatching("[\x00\x01ab\U000000FF]{0,4}")
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		x, y := append(AppendText(nil, a), "z"...), append(AppendText(nil, b), "a"...)
		if got, rest := CutText(x); got != a || string(rest) != "z" {
			t.Fatalf("%q is read as %q, and then %q", a, got, rest)
		}
		if got := bytes.Compare(x, y); a != b && got != strings.Compare(a, b) {
			t.Fatalf("%q and %q: %d", a, b, got)
		}
	})
}
