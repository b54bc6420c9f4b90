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
// each field. The tag "index" names a type in the variable indexTypes.
type Document struct {
	ID             dedup.Hash        `json:"id" index:"id"`
	URL            string            `json:"url" index:"keyword"`
	RedirectedFrom string            `json:"redirected_from,omitempty" index:"keyword"`
	CanonicalURL   string            `json:"canonical_url,omitempty" index:"keyword"`
	FetchedAt      time.Time         `json:"fetched_at,omitzero" index:"date"`
	Status         int               `json:"status,omitempty" index:"short"`
	ContentType    string            `json:"content_type,omitempty" index:"keyword"`
	Lang           string            `json:"lang,omitempty" index:"id"`
	Title          string            `json:"title,omitempty" index:"text"`
	Description    string            `json:"description,omitempty" index:"text"`
	Author         string            `json:"author,omitempty" index:"name"`
	PublishedAt    string            `json:"published_at,omitempty" index:"date"`
	ModifiedAt     string            `json:"modified_at,omitempty" index:"date"`
	SiteName       string            `json:"site_name,omitempty" index:"name"`
	Text           string            `json:"text,omitempty" index:"text"`
	Words          int               `json:"words,omitempty" index:"integer"`
	Hash           dedup.Hash        `json:"hash,omitzero" index:"id"`
	Verdict        dedup.VerdictKind `json:"verdict,omitempty" index:"id"`
	DuplicateOf    string            `json:"duplicate_of,omitempty" index:"keyword"`
	DuplicateOfID  dedup.Hash        `json:"duplicate_of_id,omitzero" index:"id"`
	Resemblance    float64           `json:"resemblance,omitzero" index:"double"`
	Containment    float64           `json:"containment,omitzero" index:"double"`
	NoIndex        bool              `json:"noindex,omitempty" index:"boolean"`

	Change   store.ChangeKind `json:"change,omitempty" index:"id"`
	Markdown string           `json:"markdown,omitempty" index:"kept"`

	ContentSignals string `json:"content_signals,omitempty" index:"id"`
	Rendered       bool   `json:"rendered,omitempty" index:"boolean"`
	Private        bool   `json:"private,omitempty" index:"boolean"`

	Host     string   `json:"host,omitempty" index:"keyword"`     // "" unless [Options].Fields contains Host
	Depth    *int     `json:"depth,omitempty" index:"integer"`    // nil unless [Options].Fields contains Depth
	Inlinks  *int     `json:"inlinks,omitempty" index:"integer"`  // nil unless [Options].Fields contains Inlinks
	Outlinks []string `json:"outlinks,omitempty" index:"keyword"` // nil unless [Options].Fields contains Outlinks
	Headings []string `json:"headings,omitempty" index:"text"`    // nil unless [Options].Fields contains Headings

	Breadcrumbs []string   `json:"breadcrumbs,omitempty" index:"name"` // nil unless [Options].Fields contains Breadcrumbs
	ContentHash dedup.Hash `json:"content_hash,omitzero" index:"id"`   // zero unless [Options].Fields contains ContentHash

	Fields object `json:"fields,omitempty" index:"object"`

	Segment string `json:"segment,omitempty" index:"keyword"` // "" unless [Options].Fields contains Segment
}

// An object is the text of a JSON object.
type object string

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) { return []byte(o), nil }

// documentOf returns the document of a record, without text and Markdown.
func documentOf(r *store.Record) Document {
	d := Document{
		ID: r.ID, URL: r.URL, RedirectedFrom: r.Via, CanonicalURL: r.CanonicalURL,
		Status: r.Status, ContentType: r.ContentType,
		Lang: r.Lang, Title: r.Title, Description: r.Description,
		Author: r.Author, PublishedAt: r.PublishedAt, ModifiedAt: r.ModifiedAt, SiteName: r.SiteName,
		Words: r.Words, Hash: r.Hash, Verdict: r.Verdict, NoIndex: r.NoIndex, ContentSignals: r.Signals, Private: r.Private,
		Rendered: r.Rendered, Fields: object(r.Fields),
	}
	if !r.FetchedAt.IsZero() {
		d.FetchedAt = r.FetchedAt.UTC()
	}
	if r.Verdict == dedup.Exact || r.Verdict == dedup.Near {
		d.DuplicateOf, d.DuplicateOfID, d.Resemblance = r.DuplicateOf, r.Leader, r.Resemblance
		d.Containment = r.Containment
	}
	return d
}
