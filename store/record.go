package store

import (
	"encoding/json"
	"maps"
	"time"

	"skink/dedup"
	"skink/frontier"
)

// A RecordKind classifies the result of fetching a URL.
type RecordKind string

const (
	Page     RecordKind = "page"      // a response with text, which has a verdict
	Other    RecordKind = "other"     // a response without text, such as an image; Detail may give the reason
	Redirect RecordKind = "redirect"  // a redirect to another URL, which is in Location
	Error    RecordKind = "error"     // no response, an error status, or a truncated body; see Problem
	Blocked  RecordKind = "blocked"   // forbidden by robots.txt, or answered with a captcha; see Problem
	Skipped  RecordKind = "skipped"   // a file on disk or an archive record without text
	Sitemap  RecordKind = "sitemap"   // a list of URLs for crawlers; Detail gives their number
	Outside  RecordKind = "outside"   // queued, but not fetched, because the crawl excludes it now; Detail names the rule
	Later    RecordKind = "postponed" // not fetched, because URLs of this pattern kept returning duplicates; see Detail
)

// A Record holds everything that is known about a URL except for its text, sketch and links. The
// fields before Fetch describe the page: if one of them changes, the page has changed. A store
// on a server contains it as JSON, so the names and meanings of fields must not change.
type Record struct {
	ID  dedup.Hash `json:"id"`  // dedup.HashOf(URL), which identifies the page
	URL string     `json:"url"` // in canonical form
	Via string     `json:"via,omitempty"`

	Kind        RecordKind `json:"kind"`
	Status      int        `json:"status,omitempty"` // HTTP status; 0 means no response, or a file
	Location    string     `json:"location,omitempty"`
	ContentType string     `json:"content_type,omitempty"`
	Truncated   bool       `json:"truncated,omitempty"` // whether the body is incomplete; if so, Kind is Error and there is no verdict

	Checked   bool `json:"checked,omitempty"`   // whether the URL was not crawled, but only checked for existence because a crawled page links to it
	Requisite bool `json:"requisite,omitempty"` // whether the URL was fetched only for the archive, because an archived page cannot be shown correctly without it
	Sitemap   bool `json:"sitemap,omitempty"`   // whether the URL was fetched as a sitemap, because robots.txt or an index file names it

	CanonicalURL string          `json:"canonical_url,omitempty"` // absolute URL of rel=canonical
	Canonicals   []string        `json:"canonicals,omitempty"`    // absolute URLs of all rel=canonical if there are several; at most [MaxCanonicals]
	Alternates   []Alternate     `json:"alternates,omitempty"`    // versions in other languages that the page declares; at most [MaxAlternates]
	Lang         string          `json:"lang,omitempty"`
	Title        string          `json:"title,omitempty"`
	H1           []string        `json:"h1,omitempty"`         // text of each <h1> heading, in order; at most [MaxHeadings]
	TitleFrom    string          `json:"title_from,omitempty"` // source of Title if the page has no <title>: "og:title" or "h1"
	Description  string          `json:"description,omitempty"`
	SharedOnly   bool            `json:"shared_only,omitempty"` // whether Description comes from og:description, because the page has no other
	Author       string          `json:"author,omitempty"`
	PublishedAt  string          `json:"published_at,omitempty"` // publication time in RFC 3339, or only the date
	ModifiedAt   string          `json:"modified_at,omitempty"`  // last modification time in RFC 3339, or only the date
	SiteName     string          `json:"site_name,omitempty"`
	Fields       json.RawMessage `json:"fields,omitempty"`      // an object with the fields that the user's selectors name: strings, or lists of strings
	Breadcrumbs  []string        `json:"breadcrumbs,omitempty"` // names of the pages above this one, top level first; at most [MaxHeadings]
	Root         string          `json:"root,omitempty"`        // rule by which the main text was found
	NoIndex      bool            `json:"noindex,omitempty"`     // whether the page has noindex; such a page is judged, but is never in the feed
	OtherLang    bool            `json:"other_lang,omitempty"`  // whether the page declares a language other than Lang, the language of its text
	Private      bool            `json:"private,omitempty"`     // whether the page was requested with the user's password, cookies or headers; such a page might not be public, and is not in the feed
	Signals      string          `json:"signals,omitempty"`     // content signals in the host's robots.txt at the time of the fetch, such as "ai-train=no, search=yes"

	DeadEnd string `json:"dead_end,omitempty"` // why no link of the page was followed: one of the DeadEnd constants; "" if links were followed, or if there is no special reason

	Rendered     bool   `json:"rendered,omitempty"`      // whether a browser rendered the page; if so, its text, links and metadata are from the rendered page, but Size is from the response
	NeedsScripts string `json:"needs_scripts,omitempty"` // why the text needs scripts; see [extract.Document]; "" if it needs none, or if Rendered is set

	Bounds string `json:"bounds,omitempty"` // limits that the page exceeded, as comma-separated Bound constants; the page was processed anyway

	Fetch
	Judged
	History
}

// A Fetch is the part of a [Record] that describes the last fetch. Two fetches of one page may differ
// in it. If Hash differs, the text has changed.
type Fetch struct {
	frontier.Validators
	Problem     string     `json:"problem,omitempty"` // kind of error, if Kind is Error, such as "timeout" or "status 404"
	Detail      string     `json:"detail,omitempty"`  // explanation for users, such as the full error message
	FetchedAt   time.Time  `json:"fetched_at,omitzero"`
	Took        int64      `json:"took,omitempty"` // milliseconds from the request to the last byte of the response
	Depth       int        `json:"depth,omitempty"`
	Hops        int        `json:"hops,omitempty"`
	From        string     `json:"from,omitempty"`         // see [frontier.Item]
	Tries       int        `json:"tries,omitempty"`        // number of failed attempts to fetch the URL, if Kind is Error and the error may be temporary
	Size        int64      `json:"size,omitempty"`         // size of the decoded body, in bytes
	Words       int        `json:"words,omitempty"`        // tokens in the canonical text
	Hash        dedup.Hash `json:"hash,omitzero"`          // hash of the canonical text, or of the body if Kind is Other
	LeftWords   int        `json:"left_words,omitempty"`   // tokens of running text that the extraction left out of the main text
	LeftHash    dedup.Hash `json:"left_hash,omitzero"`     // hash of this running text
	RenderError string     `json:"render_error,omitempty"` // why a browser failed to render the page at the last visit; its text is then that of an earlier visit if Rendered is set, and otherwise that of the response
	Source      Source     `json:"source,omitzero"`        // what the page was before a browser rendered it; empty if Rendered is not set
	Hidden      bool       `json:"hidden,omitempty"`       // whether robots.txt bars search engines (Googlebot), but not this crawler, from fetching the page
	Faults      uint64     `json:"faults,omitempty"`       // set of faults in the HTML and header; see package extract/markup
	Faulty      []string   `json:"faulty,omitempty"`       // examples of these faults
	Anchors     []byte     `json:"anchors,omitempty"`      // hashes of possible targets of fragments in the page, two bytes each; only after a crawl for an audit
	Selectors   string     `json:"selectors,omitempty"`    // identifies the selectors with which the page was read; "" if there were none
	Archive     Archived   `json:"archive,omitzero"`       // where the web archive has the HTTP response for this record, or a revisit record in its place
}

// A Source describes the HTML that the server sent for a rendered page.
type Source struct {
	Read         bool   `json:"read"` // whether the HTML was read; false in a zero Source
	Title        string `json:"title,omitempty"`
	CanonicalURL string `json:"canonical_url,omitempty"`
	NoIndex      bool   `json:"noindex,omitempty"`
	NoFollow     bool   `json:"nofollow,omitempty"`
	Headings     int    `json:"headings,omitempty"` // number of <h1> headings, at most [MaxHeadings]
	Links        int    `json:"links,omitempty"`
	Words        int    `json:"words,omitempty"`       // tokens in the canonical text
	LinksAfter   int    `json:"links_after,omitempty"` // number of links of the rendered page
}

// A Judged is the part of a [Record] that results from the comparison of the page with others.
type Judged struct {
	Verdict     dedup.VerdictKind `json:"verdict,omitempty"`
	Leader      dedup.Hash        `json:"leader,omitzero"`        // page id of the leader
	DuplicateOf string            `json:"duplicate_of,omitempty"` // URL of the leader
	Resemblance float64           `json:"resemblance,omitempty"`  // exact resemblance to the leader, 0 to 1
	Containment float64           `json:"containment,omitempty"`  // exact share of the page's three-word runs that the leader contains, if the rule is containment and the page is near
	Found       dedup.Method      `json:"found,omitempty"`        // how the leader was found
	Capped      bool              `json:"capped,omitempty"`       // whether some similar leaders were not compared with the page, because there were too many
	NoText      bool              `json:"no_text,omitempty"`      // whether the text is not kept because the page is a duplicate
}

// A History is the part of a [Record] that is learned from several visits to the page.
type History struct {
	Visit     VisitKind  `json:"visit,omitempty"`
	VisitedAt time.Time  `json:"visited_at,omitzero"` // last visit, if the page has not changed since FetchedAt
	JudgedAt  time.Time  `json:"judged_at,omitzero"`  // when the page last got a new verdict without a visit, because its leader had changed
	First     time.Time  `json:"first,omitzero"`      // first fetch, if before FetchedAt
	Since     time.Time  `json:"since,omitzero"`      // when the page was first seen with its current text, if before FetchedAt
	Listed    bool       `json:"listed,omitempty"`    // whether a sitemap lists the page
	Missed    int        `json:"missed,omitempty"`    // number of failed visits since the last successful one; Problem is the error of the last visit
	Added     string     `json:"added,omitempty"`     // excerpt of the text added by the last change
	Removed   string     `json:"removed,omitempty"`   // excerpt of the text removed by the last change
	Restless  []Restless `json:"restless,omitempty"`  // lines in which the last visit found only times, counters or tokens changed
	Earlier   []Visit    `json:"earlier,omitempty"`   // earlier states of the page, latest first; at most [MaxVisits]
	Answered  Archived   `json:"answered,omitzero"`   // where the web archive has the response to the last visit, if that visit found the page unchanged
}

// ItemKind returns the kind of frontier item with which to fetch the URL again.
func (r *Record) ItemKind() frontier.ItemKind {
	switch {
	case r.Checked:
		return frontier.Check
	case r.Requisite:
		return frontier.Requisite
	case r.Sitemap, r.Kind == Sitemap: // a sitemap stays one when it fails
		return frontier.Sitemap
	}
	return frontier.Page
}

// An Alternate is a version of a page in another language, as declared by the page.
type Alternate struct {
	Lang string `json:"lang"` // value of hreflang: a language, a language and a region, or x-default
	URL  string `json:"url"`  // absolute URL
}

// These constants limit lists in a [Record]. Records are read often, so they must stay small.
const (
	MaxHeadings   = 8   // of Record.H1
	MaxCanonicals = 8   // of Record.Canonicals
	MaxAlternates = 128 // of Record.Alternates; the largest sites have slightly fewer languages than this
	MaxVisits     = 16  // of History.Earlier
)

// An Archived is the location of a record in a web archive.
type Archived struct {
	File   string `json:"file"`             // name of the archive file, without its folder
	Offset int64  `json:"offset"`           // position of the record in the file, in bytes
	Length int64  `json:"length"`           // length of the record in the file, in bytes
	Digest string `json:"digest,omitempty"` // WARC-Payload-Digest of the record
}

// These are the values of [Record.DeadEnd]: reasons why no link of a page was followed.
const (
	DeadEndNoFollow = "nofollow" // the page asks crawlers not to follow its links
	DeadEndScripts  = "scripts"  // the page has no links to its own host, but has scripts, which may add links in a browser
)

// These are the limits that a page can exceed; see [Record.Bounds].
const (
	BoundTree  = "tree"  // the element tree would take too much memory; all text between tags counts as the main text
	BoundDepth = "depth" // the elements are nested too deeply; all text between tags counts as the main text
	BoundLinks = "links" // there are too many links, or they are too long; the links beyond the limit were ignored
	BoundList  = "list"  // the sitemap is too long or damaged, and was not read to the end
)

// End returns the final state of the record's URL in the frontier.
func (r *Record) End() frontier.State {
	switch {
	case r.Kind == Redirect:
		return frontier.Redirected
	case r.Kind == Blocked:
		return frontier.Blocked
	case r.Kind == Later:
		return frontier.Postponed
	case r.Kind == Outside:
		return frontier.Outside
	case r.Kind == Error && r.Tries > 0:
		return frontier.GivenUp
	case r.Kind == Error:
		return frontier.Failed
	}
	return frontier.Fetched
}

// NoFollow reports whether the page asked the crawler not to follow its links.
func (r *Record) NoFollow() bool { return r.DeadEnd == DeadEndNoFollow }

// IsCaptcha reports whether the server asked for a proof that the visitor is human, and showed no page.
func (r *Record) IsCaptcha() bool { return r.Kind == Blocked && r.Problem == "captcha" }

// Fed reports whether the record belongs in the feed of deduplicated content.
func (r *Record) Fed() bool {
	return r.Kind == Page && !r.NoIndex && (r.Verdict == dedup.Unique || r.Verdict == dedup.Thin)
}

// Follows reports whether the page duplicates another page, its leader.
func (r *Record) Follows() bool { return !r.Leader.IsZero() && r.Leader != r.ID }

// Cluster returns the id of the leader of r's cluster, which may be r itself.
func (r *Record) Cluster() dedup.Hash {
	if r.Follows() {
		return r.Leader
	}
	return r.ID
}

// A Tally counts records. Pages returns the sum of Unique, Exact, Near and Thin.
type Tally struct {
	Unique     int64 `json:"unique"`
	Exact      int64 `json:"exact"`
	Near       int64 `json:"near"`
	Thin       int64 `json:"thin"`
	Other      int64 `json:"other"`
	Redirects  int64 `json:"redirects"`
	Errors     int64 `json:"errors"`
	Skipped    int64 `json:"skipped"`                // files without text
	Unkept     int64 `json:"unkept"`                 // duplicates whose text is not kept
	Capped     int64 `json:"capped"`                 // pages that were not compared with all similar leaders, because there were too many
	Scripts    int64 `json:"need_scripts,omitempty"` // pages whose text needs scripts that were not run
	Unrendered int64 `json:"unrendered,omitempty"`   // pages that the browser failed to render at the last visit; not counted in Scripts
	Blocked    int64 `json:"blocked"`
	Sitemaps   int64 `json:"sitemaps,omitempty"`
	Later      int64 `json:"postponed,omitempty"` // URLs that were not fetched, because their pattern kept returning duplicates
	Captchas   int64 `json:"captchas,omitempty"`  // blocked URLs that were answered with a captcha
	Rendered   int64 `json:"rendered,omitempty"`  // pages that a browser rendered
	Bytes      int64 `json:"bytes"`               // total size of all decoded bodies

	Problems map[string]int64 `json:"problems,omitempty"` // errors by kind
	GivenUp  map[string]int64 `json:"given_up,omitempty"` // errors by kind, for URLs that were given up after several attempts
}

// Records returns the total number of records.
func (t *Tally) Records() int64 {
	return t.Pages() + t.Other + t.Redirects + t.Errors + t.Blocked + t.Skipped + t.Sitemaps + t.Later
}

// Clone returns a deep copy of t.
func (t *Tally) Clone() Tally {
	c := *t
	c.Problems, c.GivenUp = maps.Clone(t.Problems), maps.Clone(t.GivenUp)
	return c
}

// Failed returns the number of errors, by kind, after which the URL was not retried.
func (t Tally) Failed() map[string]int64 {
	failed := map[string]int64{}
	for kind, n := range t.Problems {
		if n -= t.GivenUp[kind]; n > 0 {
			failed[kind] = n
		}
	}
	return failed
}

// Pages returns the number of judged pages.
func (t *Tally) Pages() int64 { return t.Unique + t.Exact + t.Near + t.Thin }

// Add adds one record to the counts.
func (t *Tally) Add(r *Record) { t.count(r, 1) }

// Remove subtracts one record, which must have been added before.
func (t *Tally) Remove(r *Record) { t.count(r, -1) }

func (t *Tally) count(r *Record, n int64) {
	t.Bytes += n * r.Size
	page := r.Kind == Page
	for _, c := range [...]struct {
		number *int64
		counts bool
	}{
		{&t.Other, r.Kind == Other},
		{&t.Redirects, r.Kind == Redirect},
		{&t.Blocked, r.Kind == Blocked},
		{&t.Captchas, r.IsCaptcha()},
		{&t.Skipped, r.Kind == Skipped},
		{&t.Sitemaps, r.Kind == Sitemap},
		{&t.Later, r.Kind == Later},
		{&t.Errors, r.Kind == Error},
		{&t.Unique, page && r.Verdict == dedup.Unique},
		{&t.Exact, page && r.Verdict == dedup.Exact},
		{&t.Near, page && r.Verdict == dedup.Near},
		{&t.Thin, page && r.Verdict == dedup.Thin},
		{&t.Unkept, page && r.NoText},
		{&t.Capped, page && r.Capped},
		{&t.Unrendered, page && r.RenderError != ""},
		{&t.Scripts, page && r.RenderError == "" && r.NeedsScripts != ""},
		{&t.Rendered, page && r.Rendered},
	} {
		if c.counts {
			*c.number += n
		}
	}
	if r.Kind == Error {
		countKind(&t.Problems, r.Problem, n)
		if r.End() == frontier.GivenUp {
			countKind(&t.GivenUp, r.Problem, n)
		}
	}
}

// countKind adds n to the count of a problem. It deletes a count of 0, and sets an empty map to
// nil, so that Remove undoes Add exactly.
func countKind(byKind *map[string]int64, kind string, n int64) {
	if *byKind == nil {
		*byKind = map[string]int64{}
	}
	(*byKind)[kind] += n
	if (*byKind)[kind] == 0 {
		delete(*byKind, kind)
	}
	if len(*byKind) == 0 {
		*byKind = nil
	}
}

// Doubtful reports whether text that the extraction left out makes the verdict doubtful. It returns
// true if the omitted running text of the page differs from that of its leader, and at least one of
// the two has more than minWords words. It returns false for a nil leader.
func (r *Record) Doubtful(leader *Record, minWords int) bool {
	return leader != nil && r.Follows() && r.LeftHash != leader.LeftHash && max(r.LeftWords, leader.LeftWords) > minWords
}
