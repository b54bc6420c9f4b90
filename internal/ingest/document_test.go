package ingest

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"skink/crawler"
	"skink/document"
	"skink/frontier"
	"skink/store"
)

// With a reader of documents, a PDF is judged like a page. If the PDF has no text, its record has
// the reason. Without a reader, the PDF is recorded as a file.
func TestDocument(t *testing.T) {
	for _, test := range []struct {
		file   string
		read   bool
		kind   store.RecordKind
		title  string
		detail string
	}{
		{"tides.pdf", true, store.Page, "Reading a tide table", ""},
		{"encrypted.pdf", true, store.Other, "", "no text can be read from this PDF: the file is encrypted, and needs a password"},
		{"tides.pdf", false, store.Other, "", ""},
	} {
		body, err := os.ReadFile(filepath.Join("../../testdata/documents", test.file))
		if err != nil {
			t.Fatal(err)
		}
		s := store.NewMemory()
		opt := testOptions(t)
		if test.read {
			opt.Documents = document.NewReader(document.Options{})
		}
		p := start(t, s, opt)
		url := "http://example.org/" + test.file
		page := &crawler.Page{Item: frontier.Item{URL: url}, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: body}
		if err := p.Handle(t.Context(), page, new(crawler.Leads)); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		r := content(t, s, url).Record
		if r.Kind != test.kind || r.Title != test.title || r.Detail != test.detail {
			t.Errorf("%s, read: %v: %s, title %q, detail %q", test.file, test.read, r.Kind, r.Title, r.Detail)
		}
	}
}
