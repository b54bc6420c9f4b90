package corpus

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestTabReader checks two properties with random rows. Rows that package csv has written are read
// as they were. Rows whose cells are not quoted are read with all their characters, if no cell ends
// with a quotation mark.
func TestTabReader(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	cell := func(characters string) string {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteByte(characters[rng.IntN(len(characters))])
		}
		return b.String()
	}
	for range 2000 {
		var quoted, plain [][]string
		for range 1 + rng.IntN(5) {
			var q, p []string
			for range 2 + rng.IntN(3) {
				q = append(q, cell("ab \t\n\""))
				p = append(p, cell("ab \"")+".")
			}
			quoted, plain = append(quoted, q), append(plain, p)
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma = '\t'
		if err := w.WriteAll(quoted); err != nil {
			t.Fatal(err)
		}
		checkRows(t, b.String(), quoted)
		b.Reset()
		for _, row := range plain {
			b.WriteString(strings.Join(row, "\t") + "\n")
		}
		checkRows(t, b.String(), plain)
	}
}

// checkRows reads a sheet. The rows of the sheet must be want, and together they must have the text
// of the sheet.
func checkRows(t *testing.T, sheet string, want [][]string) {
	t.Helper()
	r := &tabReader{from: bufio.NewReader(strings.NewReader(sheet)), most: 1000}
	var got [][]string
	raw, first := "", 1
	for {
		cells, line, err := r.row()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%q: %v", sheet, err)
		}
		if line != first {
			t.Fatalf("%q: row %d begins on line %d, want %d", sheet, len(got)+1, line, first)
		}
		first += strings.Count(r.raw, "\n") + 1
		raw += r.raw + "\n"
		got = append(got, cells)
	}
	if !slices.EqualFunc(got, want, slices.Equal) || raw != sheet {
		t.Fatalf("got  %q\nwant %q\nraw %q of %q", got, want, raw, sheet)
	}
}
