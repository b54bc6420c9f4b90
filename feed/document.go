package feed

import (
	_ "embed"
	"time"

	"skink/dedup"
	"skink/store"
)

// Schema describes the fields of a [Document], in Markdown.
//
//go:embed SCHEMA.md
var Schema string

// A Document is a page as an index receives it. The names of the fields and their order never
// change, but new fields may be added at the end. Empty fields are left out. SCHEMA.md describes
// each field.
type Document struct {
	ID             dedup.Hash        `json:"id"`
	URL            string            `json:"url"`
	RedirectedFrom string            `json:"redirected_from,omitempty"`
	CanonicalURL   string            `json:"canonical_url,omitempty"`
	FetchedAt      time.Time         `json:"fetched_at,omitzero"`
	Status         int               `json:"status,omitempty"`
	ContentType    string            `json:"content_type,omitempty"`
	Lang           string            `json:"lang,omitempty"`
	Title          string            `json:"title,omitempty"`
	Description    string            `json:"description,omitempty"`
	Author         string            `json:"author,omitempty"`
	PublishedAt    string            `json:"published_at,omitempty"`
	ModifiedAt     string            `json:"modified_at,omitempty"`
	SiteName       string            `json:"site_name,omitempty"`
	Text           string            `json:"text,omitempty"`
	Words          int               `json:"words,omitempty"`
	Hash           dedup.Hash        `json:"hash,omitzero"`
	Verdict        dedup.VerdictKind `json:"verdict,omitempty"`
	DuplicateOf    string            `json:"duplicate_of,omitempty"`
	DuplicateOfID  dedup.Hash        `json:"duplicate_of_id,omitzero"`
	Resemblance    float64           `json:"resemblance,omitzero"`
	NoIndex        bool              `json:"noindex,omitempty"`

	Change   store.ChangeKind `json:"change,omitempty"`
	Markdown string           `json:"markdown,omitempty"`

	Boilerplate  int `json:"boilerplate,omitempty"`
	RemovedWords int `json:"removed_words,omitempty"`

	ContentSignals string `json:"content_signals,omitempty"`
	Rendered       bool   `json:"rendered,omitempty"`
	Private        bool   `json:"private,omitempty"`

	Depth    *int     `json:"depth,omitempty"`    // nil unless [Options].Fields contains Depth
	Inlinks  *int     `json:"inlinks,omitempty"`  // nil unless [Options].Fields contains Inlinks
	Outlinks []string `json:"outlinks,omitempty"` // nil unless [Options].Fields contains Outlinks
	Headings []string `json:"headings,omitempty"` // nil unless [Options].Fields contains Headings
}

// documentOf returns the document of a record, without text and Markdown.
func documentOf(r *store.Record) Document {
	d := Document{
		ID: r.ID, URL: r.URL, RedirectedFrom: r.Via, CanonicalURL: r.CanonicalURL,
		Status: r.Status, ContentType: r.ContentType,
		Lang: r.Lang, Title: r.Title, Description: r.Description,
		Author: r.Author, PublishedAt: r.PublishedAt, ModifiedAt: r.ModifiedAt, SiteName: r.SiteName,
		Words: r.Words, Hash: r.Hash, Verdict: r.Verdict, NoIndex: r.NoIndex, ContentSignals: r.Signals, Private: r.Private,
		Rendered: r.Rendered,
	}
	if !r.FetchedAt.IsZero() {
		d.FetchedAt = r.FetchedAt.UTC()
	}
	if r.Verdict == dedup.Exact || r.Verdict == dedup.Near {
		d.DuplicateOf, d.DuplicateOfID, d.Resemblance = r.DuplicateOf, r.Leader, r.Resemblance
	}
	return d
}
