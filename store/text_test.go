package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/klauspost/compress/s2"
	"pgregory.net/rapid"

	"skink/store"
)

// A text that was packed with its Markdown and headings can be unpacked with them, or alone.
func TestPackMarked(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text, markdown := rapid.String().Draw(r, "text"), rapid.String().Draw(r, "markdown")
		var headings []store.Heading
		line := 0
		for range rapid.IntRange(0, 4).Draw(r, "headings") {
			line += rapid.IntRange(0, 1000).Draw(r, "lines")
			headings = append(headings, store.Heading{Line: line, Level: rapid.IntRange(1, 6).Draw(r, "level"), ID: rapid.String().Draw(r, "id")})
		}
		for _, packed := range [][]byte{store.PackMarked([]byte(text), []byte(markdown), headings), store.PackFast(text, []byte(markdown), headings)} {
			gotText, gotMarkdown, gotHeadings, err := store.UnpackMarked(packed)
			if err != nil || string(gotText) != text || string(gotMarkdown) != markdown || !slices.Equal(gotHeadings, headings) {
				r.Fatalf("got %q, %q and %v, %v; want %q, %q and %v", gotText, gotMarkdown, gotHeadings, err, text, markdown, headings)
			}
			if got, err := store.Unpack(packed); err != nil || string(got) != text {
				r.Fatalf("got %q, %v; want %q", got, err, text)
			}
		}
	})
}

// Damage at any position causes an error, and never a panic.
func TestUnpackDamaged(t *testing.T) {
	headings := []store.Heading{{Level: 1, ID: "one"}}
	for name, whole := range map[string]func() []byte{
		"zstd": func() []byte { return store.PackMarked([]byte("one two"), []byte("# one two"), headings) },
		"s2":   func() []byte { return store.PackFast("one two", []byte("# one two"), headings) },
	} {
		packed := whole()
		for n := 1; n < len(packed); n++ {
			if _, _, _, err := store.UnpackMarked(packed[:n]); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s: cut to %d bytes: %v", name, n, err)
			}
		}
	}
}

// A text whose stated lengths exceed the data is damaged.
func TestUnpackTooShort(t *testing.T) {
	for _, all := range [][]byte{{200, 1, 0, 'a'}, {1, 9, 'a', 'b'}, {1}, {1, 0, 'a', 3}} {
		packed := append([]byte{0}, s2.Encode(nil, all)...)
		if _, _, _, err := store.UnpackMarked(packed); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%v: %v, want %v", all, err, store.ErrCorrupt)
		}
	}
}
