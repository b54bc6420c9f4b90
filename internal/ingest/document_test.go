package ingest

import (
	"archive/zip"
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"skink/crawler"
	"skink/document"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/tools/storetest"
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
		{"incomplete.epub", true, store.Page, "Tides", "2 chapters are missing from the file, or cannot be read"},
	} {
		body, err := os.ReadFile(filepath.Join("../../testdata/documents", test.file))
		if test.file == "incomplete.epub" {
			body, err = incomplete(), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		s := storetest.NewMemory()
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

// incomplete returns a book that has one of three chapters.
func incomplete() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"META-INF/container.xml", `<container><rootfile full-path="b.opf"/></container>`},
		{"b.opf", `<package><metadata><title>Tides</title></metadata><manifest><item id="1" href="One.html#a" media-type="text/html"/>
			<item id="2" href="two.html" media-type="text/html"/></manifest><spine><itemref idref="1"/><itemref idref="2"/><itemref idref="3"/></spine></package>`},
		{"one.html", "<p>The tide comes in twice a day."},
	} {
		w, _ := z.Create(part[0])
		_, _ = w.Write([]byte(part[1]))
	}
	_ = z.Close()
	return b.Bytes()
}

// The language of plain text is not detected if the store is temporary. The language of HTML is always detected, because a page that declares a wrong language
// ranks lower among its copies.
func TestLanguageOfFiles(t *testing.T) {
	const german = "Der Hund läuft über die Straße, und die Katze ist in dem Haus, in dem sie seit einem Jahr mit uns auf dem Land wohnt."
	for _, test := range []struct {
		name      string
		temporary bool
		kind      string
		want      string
	}{
		{"kept", false, "text/plain", "de"},
		{"temporary", true, "text/plain", ""},
		{"temporary page", true, "text/html", "de"},
	} {
		opt := testOptions(t)
		opt.Temporary = test.temporary
		f := &file{from: &corpus.Record{Input: "a", Raw: []byte("<html lang=en><p>" + german), Type: test.kind}}
		if test.kind == "text/plain" {
			f.from.Raw = []byte(german)
		}
		f.read(t.Context(), &opt)
		if got := f.reading.seen.Lang; got != test.want {
			t.Errorf("%s: language %q, want %q", test.name, got, test.want)
		}
	}
}
