package join

import (
	"bytes"
	"io"
	"os"
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

// If a run cannot be written, Sorted yields the error instead of the rows, and Add returns it once another run is full.
// Close removes the file, and does not return the error again.
func TestFailedRun(t *testing.T) {
	file, err := os.Open(os.DevNull) // cannot be written
	if err != nil {
		t.Fatal(err)
	}
	closed := 0
	s := &Sorter{limit: 4, file: file, done: func() error { closed++; return file.Close() }}
	for _, row := range []string{"aaaa", "b"} { // b begins the next run
		if err := s.Add([]byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Size()
	yielded := error(nil)
	for row, err := range s.Sorted() {
		if yielded = err; err == nil || err == io.EOF {
			t.Errorf("Sorted yields the row %q, %v", row, err)
		}
	}
	if yielded == nil {
		t.Error("Sorted yields no error")
	}
	if err := s.Add([]byte("cccc")); err == nil {
		t.Error("Add returns no error")
	}
	for range 2 {
		if err := s.Close(); err != nil || closed != 1 {
			t.Errorf("Close: %v, file closed %d times", err, closed)
		}
	}
}
