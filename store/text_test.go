package store_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"skink/store"
)

// UnpackMarked returns a text and its Markdown, and Unpack returns the text alone.
func TestPackMarked(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text, markdown := rapid.String().Draw(r, "text"), rapid.String().Draw(r, "markdown")
		packed := store.PackMarked([]byte(text), []byte(markdown))
		gotText, gotMarkdown, err := store.UnpackMarked(packed)
		if err != nil || string(gotText) != text || string(gotMarkdown) != markdown {
			r.Fatalf("got %q and %q, %v; want %q and %q", gotText, gotMarkdown, err, text, markdown)
		}
		if got, err := store.Unpack(packed); err != nil || string(got) != text {
			r.Fatalf("got %q, %v; want %q", got, err, text)
		}
	})
}

// Unpacking damaged data returns an error and does not panic.
func TestUnpackDamaged(t *testing.T) {
	packed := store.PackMarked([]byte("one two"), []byte("# one two"))
	packed[8] = 200 // the length of the text is now greater than that of the content
	if _, _, err := store.UnpackMarked(packed); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("too long a text: %v", err)
	}
	packed = store.PackMarked([]byte("one two"), []byte("# one two"))
	for n := 1; n < len(packed); n++ {
		if _, _, err := store.UnpackMarked(packed[:n]); n != 12 && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}
