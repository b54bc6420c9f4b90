package feed

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"skink/warc"
)

// # WET
//
// In a WET archive each page has two records. A conversion record contains the main text. A
// metadata record, which refers to the first, contains, as JSON, all other fields of the page's
// [Document], such as the verdict.

type textArchive struct{ to *warc.Writer }

// newTextArchive writes the warcinfo record that describes the archive, and returns a WET writer. If
// packed is true, each record is a gzip member of its own; otherwise nothing is compressed.
func newTextArchive(w io.Writer, packed bool) (*textArchive, error) {
	a := &textArchive{warc.NewWriter(w, warc.Options{Plain: !packed})}
	info, err := warc.NewInfo("", time.Now(), warc.Header{
		{Name: "software", Value: "skink"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "description", Value: "main texts of pages, with their verdicts"},
	})
	if err != nil {
		return a, err
	}
	return a, a.to.Write(info)
}

func (a *textArchive) write(d *Document) error {
	date := d.FetchedAt
	if date.IsZero() { // a file on disk was not fetched, so it has no date
		date = time.Unix(0, 0)
	}
	url := oneLine.Replace(strings.TrimSpace(warc.URIOf(d.URL)))
	lang := d.Lang
	if strings.ContainsFunc(lang, notInLang) {
		lang = ""
	}
	text := warc.NewText(url, date, d.Text, lang)
	if d.Private {
		text.Header.Add(warc.PrivateField, "yes")
	}
	if err := a.to.Write(text); err != nil {
		return err
	}
	rest := *d
	rest.Text = ""
	said, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	about := warc.New(warc.Metadata, url, date, "application/json", said)
	about.Header.Add("WARC-Concurrent-To", text.ID())
	return a.to.Write(about)
}

// oneLine replaces the characters that must not occur in a record header, but may occur in a file
// name.
var oneLine = strings.NewReplacer("\r", "%0D", "\n", "%0A", "\x00", "%00")

// notInLang reports whether r is not allowed in a language tag. It is needed because pages may
// declare any string as their language.
func notInLang(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
