package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"skink/dedup"
	"skink/internal/harmless"
	"skink/store"
)

// The form is JSON Lines: UTF-8, one object a line, each line ended by \n. Names
// and order are those of this struct and do not change; new ones may be added at
// the end. What a page has not is left out.
type line struct {
	ID           dedup.Hash `json:"id"`                      // hash of the URL that answered
	URL          string     `json:"url"`                     // as it was linked: where a chain of redirects began
	FinalURL     string     `json:"final_url,omitempty"`     // where the chain ended, if there was one
	CanonicalURL string     `json:"canonical_url,omitempty"` // what rel=canonical says
	FetchedAt    time.Time  `json:"fetched_at,omitzero"`     // RFC 3339, UTC
	Status       int        `json:"status,omitempty"`
	ContentType  string     `json:"content_type,omitempty"`
	Lang         string     `json:"lang,omitempty"`
	Title        string     `json:"title,omitempty"`
	Description  string     `json:"description,omitempty"`
	Text         string     `json:"text,omitempty"`  // main text, a block a line
	Words        int        `json:"words,omitempty"` // tokens of the canonical text
	Hash         dedup.Hash `json:"hash,omitzero"`   // of the canonical text
	Verdict      dedup.Kind `json:"verdict,omitempty"`
	DuplicateOf  string     `json:"duplicate_of,omitempty"` // URL of the leader
	Resemblance  float64    `json:"resemblance,omitzero"`   // exact, to the leader; of exact and near
	NoIndex      bool       `json:"noindex,omitempty"`      // the page asks to be left out of indexes

	Change store.ChangeKind `json:"change,omitempty"` // in a feed of changes: new, changed or gone
}

// Append appends the line of one page to dst, its \n included. A string that is
// not UTF-8 gets U+FFFD where it is not. On an error dst is as it was.
func Append(dst []byte, r *store.Record, text string) ([]byte, error) {
	l := lineOf(r)
	l.Text = text
	return appendLine(dst, &l)
}

// lineOf is the line of a record without its text.
func lineOf(r *store.Record) line {
	l := line{
		ID: r.ID, URL: r.URL, CanonicalURL: r.CanonicalURL,
		Status: r.Status, ContentType: r.ContentType,
		Lang: r.Lang, Title: r.Title, Description: r.Description,
		Words: r.Words, Hash: r.Hash, Verdict: r.Verdict, NoIndex: r.NoIndex,
	}
	if r.Via != "" {
		l.URL, l.FinalURL = r.Via, r.URL
	}
	if !r.FetchedAt.IsZero() {
		l.FetchedAt = r.FetchedAt.UTC()
	}
	if r.Verdict == dedup.Exact || r.Verdict == dedup.Near {
		l.DuplicateOf, l.Resemblance = r.DuplicateOf, r.Resemblance
	}
	return l
}

func appendLine(dst []byte, l *line) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return dst, fmt.Errorf("feed line of %s: %w", l.URL, err)
	}
	return harmless.AppendJSON(b.Bytes(), len(dst)), nil
}
