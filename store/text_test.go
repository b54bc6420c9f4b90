package store_test

import (
	"errors"
	"slices"
	"testing"

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
		packed := store.PackMarked([]byte(text), []byte(markdown), headings)
		gotText, gotMarkdown, gotHeadings, err := store.UnpackMarked(packed)
		if err != nil || string(gotText) != text || string(gotMarkdown) != markdown || !slices.Equal(gotHeadings, headings) {
			r.Fatalf("got %q, %q and %v, %v; want %q, %q and %v", gotText, gotMarkdown, gotHeadings, err, text, markdown, headings)
		}
		if got, err := store.Unpack(packed); err != nil || string(got) != text {
			r.Fatalf("got %q, %v; want %q", got, err, text)
		}
	})
}

// Damage at any position causes an error, and never a panic.
func TestUnpackDamaged(t *testing.T) {
	whole := func() []byte {
		return store.PackMarked([]byte("one two"), []byte("# one two"), []store.Heading{{Level: 1, ID: "one"}})
	}
	packed := whole()
	packed[8] = 200 // the stated length of the text exceeds the data
	if _, _, _, err := store.UnpackMarked(packed); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("too long a text: %v", err)
	}
	packed = whole()
	packed[12]++ // change the offset of the headings, so that they begin too late
	if _, _, _, err := store.UnpackMarked(packed); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("too long a Markdown: %v", err)
	}
	packed = whole()
	for n := 1; n < len(packed); n++ {
		if _, _, _, err := store.UnpackMarked(packed[:n]); n != 16 && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}
