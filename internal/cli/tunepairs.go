package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"skink/dedup"
	"skink/extract"
	"skink/internal/corpus"
	"skink/report"
)

// A labelled is one line of the input file: two pages, each as a path or a text, and whether they
// are duplicates.
type labelled struct {
	APath     *string `json:"a_path"`
	AText     *string `json:"a_text"`
	BPath     *string `json:"b_path"`
	BText     *string `json:"b_text"`
	Duplicate *bool   `json:"duplicate"`
}

type labelledPair struct {
	A, B      *extract.Document
	Duplicate bool
	fields    map[string]json.RawMessage // of the line
}

const (
	minPairs    = 10       // with fewer pairs, the confidence intervals would be too wide to be useful
	minLabels   = 2        // minimum number of pairs with each label, because cross-validation leaves out every pair once
	maxPairLine = 64 << 20 // in bytes
)

func readLabelled(con Console, name string) ([]labelledPair, error) {
	in, dir, shown := con.In, ".", name
	if name == "-" {
		shown = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("tune: %w", plainError(name, err))
		}
		defer f.Close()
		in, dir = f, filepath.Dir(name)
	}
	unpacked, err := corpus.Unpack(in, name)
	if err != nil {
		return nil, fmt.Errorf("tune: read %s: %w", shown, err)
	}
	defer unpacked.Close()
	var pairs []labelledPair
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, maxPairLine)
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		p, err := readPair(con, line, dir)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", shown, n, err)
		}
		pairs = append(pairs, p)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s, line %d: the line is longer than %s: write one pair on each line", shown, n, report.Bytes(maxPairLine))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s, line %d: the compressed file is truncated: copy it again", shown, n)
	case err != nil:
		return nil, fmt.Errorf("tune: %w", plainError(name, err))
	}
	return pairs, enough(shown, pairs)
}

func enough(name string, pairs []labelledPair) error {
	duplicates := duplicatesOf(pairs)
	if others := len(pairs) - duplicates; len(pairs) < minPairs || min(duplicates, others) < minLabels {
		return fmt.Errorf("%s has %s, %s of them duplicates: label at least %d pairs, preferably hundreds, with at least %d duplicates and %d others; write one per line, such as %s",
			name, report.Counted(len(pairs), "labeled pair"), report.Grouped(duplicates), minPairs, minLabels, minLabels, examplePair)
	}
	return nil
}

func duplicatesOf(pairs []labelledPair) (n int) {
	for _, p := range pairs {
		if p.Duplicate {
			n++
		}
	}
	return n
}

const examplePair = `{"a_text":"…","b_text":"…","duplicate":true}, or with a_path and b_path`

func readPair(con Console, raw []byte, dir string) (p labelledPair, err error) {
	var l labelled
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &l); {
	case errors.As(err, &kind):
		return p, fmt.Errorf("%s is a JSON %s: write %s", cmp.Or(kind.Field, "the line"), kind.Value, examplePair)
	case err != nil:
		return p, fmt.Errorf("the line is not a JSON object: %w: write %s", err, examplePair)
	case l.Duplicate == nil:
		return p, fmt.Errorf(`the label is missing: add "duplicate":true or "duplicate":false, as in %s`, examplePair)
	}
	p.Duplicate = *l.Duplicate
	if err := json.Unmarshal(raw, &p.fields); err != nil {
		return p, err
	}
	if p.A, err = readSide(con, "a", l.APath, l.AText, dir); err != nil {
		return p, err
	}
	p.B, err = readSide(con, "b", l.BPath, l.BText, dir)
	return p, err
}

func readSide(con Console, side string, path, text *string, dir string) (*extract.Document, error) {
	switch {
	case path != nil && text == nil:
		name := *path
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		body, err := readInput(con, name)
		if err != nil {
			return nil, err
		}
		return pageOf(context.Background(), nil, extract.Options{}, name, body, corpus.TypeOf(name))
	case text != nil && path == nil:
		return extract.Parse([]byte(*text), "text/plain; charset=utf-8")
	}
	return nil, fmt.Errorf(`give either "%s_path" or "%s_text"`, side, side)
}

// pagesOf numbers the pages of pairs. Pages with the same text have the same number.
func pagesOf(pairs []labelledPair) []dedup.Pages {
	numbers := map[string]int{}
	number := func(d *extract.Document) int {
		n, ok := numbers[d.Text]
		if !ok {
			n = len(numbers)
			numbers[d.Text] = n
		}
		return n
	}
	pages := make([]dedup.Pages, len(pairs))
	for i, p := range pairs {
		pages[i] = dedup.Pages{number(p.A), number(p.B)}
	}
	return pages
}
