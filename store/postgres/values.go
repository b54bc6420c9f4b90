package postgres

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"skink/dedup"
	"skink/store"
)

func ids(hashes []dedup.Hash) []id {
	all := make([]id, len(hashes))
	for i, h := range hashes {
		all[i] = h
	}
	return all
}

// orNull returns a hash as an argument of a statement. The zero hash becomes nil, which means NULL.
func orNull(h dedup.Hash) *id {
	if h.IsZero() {
		return nil
	}
	return (*id)(&h)
}

func packSketch(s *dedup.Sketch) []byte {
	if s == nil {
		return nil
	}
	return s.Append(make([]byte, 0, dedup.SketchSize))
}

func unpackSketch(b []byte) (*dedup.Sketch, error) {
	s, ok := dedup.SketchOf(b)
	if !ok {
		return nil, fmt.Errorf("%w: invalid sketch of %d bytes", store.ErrCorrupt, len(b))
	}
	return s, nil
}

// plain returns a packed text as plain text for the column text. It also returns the rest, if any,
// for the column packed: the Markdown and the headings with an empty text, or the whole packed text
// if it has bytes that PostgreSQL does not allow in a text.
func plain(packed []byte) (text *string, rest []byte) {
	if packed == nil {
		return nil, nil
	}
	b, markdown, headings, err := store.UnpackMarked(packed)
	s := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
	switch {
	case err != nil || s != string(b):
		rest = packed
	case len(markdown) > 0 || len(headings) > 0:
		rest = store.PackMarked(nil, markdown, headings)
	}
	return &s, rest
}

// whole is the inverse of plain.
func whole(text *string, rest []byte) ([]byte, error) {
	switch {
	case text == nil:
		return rest, nil
	case rest == nil:
		return store.Pack([]byte(*text)), nil
	}
	b, markdown, headings, err := store.UnpackMarked(rest)
	if err != nil || len(b) > 0 || *text == "" {
		return rest, err
	}
	return store.PackMarked([]byte(*text), markdown, headings), nil
}

// targets returns the IDs of the pages that an entry links to, without duplicates, as the text of
// an SQL array. It returns nil if links are not stored.
func targets(e *store.Entry) *string {
	links, err := store.UnpackLinks(e.Record.URL, e.Out)
	if len(e.Out) == 0 || err != nil {
		return nil
	}
	array, seen := []byte{'{'}, map[string]bool{}
	for i := range links {
		if url := links[i].URL; !seen[url] {
			if seen[url] = true; len(seen) > 1 {
				array = append(array, ',')
			}
			hash := dedup.HashOf([]byte(url)) // the ID of a page is the hash of its URL
			array = hex.AppendEncode(array, hash[:])
		}
	}
	s := string(append(array, '}'))
	return &s
}

// sums converts a tally to the counters in the table counter, with names such as "unique" and
// "problems timeout".
func sums(t store.Tally) (map[string]int64, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		return nil, err
	}
	flat := map[string]int64{}
	for name, v := range fields {
		switch v := v.(type) {
		case float64:
			flat[name] = int64(v)
		case map[string]any:
			for key, n := range v {
				flat[name+" "+key] = int64(n.(float64))
			}
		}
	}
	return flat, nil
}

// changedCounts returns the counters that are not zero as one slice for each column.
func changedCounts(counts map[string]int64) (names []string, ns []int64) {
	names, ns = []string{}, []int64{}
	for name, n := range counts {
		if n != 0 {
			names, ns = append(names, name), append(ns, n)
		}
	}
	return names, ns
}

// tallyOf is the inverse of sums.
func tallyOf(flat map[string]int64) (t store.Tally, err error) {
	fields := map[string]any{}
	for name, n := range flat {
		field, key, of := strings.Cut(name, " ")
		if !of {
			fields[name] = n
			continue
		}
		m, _ := fields[field].(map[string]int64)
		if m == nil {
			m = map[string]int64{}
			fields[field] = m
		}
		m[key] = n
	}
	b, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	return t, err
}
