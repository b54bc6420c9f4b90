package store_test

import (
	"encoding/json"
	"errors"
	"testing"

	"skink/store"
)

// Unpacking a packed page returns the original page, and unpacking a damaged page is an error.
func TestUnpack(t *testing.T) {
	record := []byte(`{"url":"https://example.com/","kind":"page"}`)
	for _, tt := range []struct {
		name   string
		packed store.Packed
		text   string
		kept   bool
		known  bool
		err    error
	}{
		{"nothing", store.Packed{}, "", false, false, nil},
		{"a record", store.Packed{Record: record}, "", false, true, nil},
		{"a text", store.Packed{Record: record, Text: store.Pack([]byte("one two")), Kept: true}, "one two", true, true, nil},
		{"an empty text", store.Packed{Record: record, Text: store.Pack(nil), Kept: true}, "", true, true, nil},
		{"half a record", store.Packed{Record: record[:9]}, "", false, false, store.ErrCorrupt},
		{"half a text", store.Packed{Record: record, Text: store.Pack([]byte("one two"))[:5], Kept: true}, "", false, false, store.ErrCorrupt},
	} {
		c, err := tt.packed.Unpack()
		if !errors.Is(err, tt.err) || (c != nil) != tt.known {
			t.Errorf("%s: %+v, %v", tt.name, c, err)
			continue
		}
		if c != nil && (c.Text != tt.text || c.Kept != tt.kept || c.Record.URL != "https://example.com/") {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
}

func TestUnpackRecord(t *testing.T) {
	want := store.Record{URL: "https://example.com/?a=<b>&c", Kind: store.Error, Fetch: store.Fetch{Problem: "status 404"}, History: store.History{Earlier: []store.Visit{{Words: 3}}}}
	packed, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.UnpackRecord(packed)
	if err != nil || got.URL != want.URL || got.Problem != want.Problem || len(got.Earlier) != 1 {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
