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
// Each page is two records: a conversion record with its main text, and a concurrent metadata
// record. The metadata is JSON with all other fields of the page's line, such as the verdict.

// A textArchive writes documents as WET.
type textArchive struct {
	to    *warc.Writer
	begun bool
}

// newTextArchive begins an archive, with one gzip member a record or not packed at all.
func newTextArchive(w io.Writer, packed bool) *textArchive {
	return &textArchive{to: warc.NewWriter(w, warc.Options{Plain: !packed})}
}

func (a *textArchive) write(d *Document) error {
	if err := a.begin(); err != nil {
		return err
	}
	date := d.FetchedAt
	if date.IsZero() { // a file on disk has no date of a fetch
		date = time.Unix(0, 0)
	}
	url := oneLine.Replace(strings.TrimSpace(warc.URIOf(d.URL)))
	lang := d.Lang
	if strings.ContainsFunc(lang, notInLang) {
		lang = ""
	}
	text := warc.NewText(url, date, d.Text, "", lang)
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

// oneLine makes the name of a file fit for a header.
var oneLine = strings.NewReplacer("\r", "%0D", "\n", "%0A", "\x00", "%00")

// notInLang reports whether no language tag contains r. Pages declare any string as their language.
func notInLang(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// begin writes the warcinfo, if there is a page.
func (a *textArchive) begin() error {
	if a.begun {
		return nil
	}
	a.begun = true
	info, err := warc.NewInfo("", time.Now(), warc.Header{
		{Name: "software", Value: "skink"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "description", Value: "main texts of pages, with their verdicts"},
	})
	if err != nil {
		return err
	}
	return a.to.Write(info)
}
