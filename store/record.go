package store

import (
	"maps"
	"time"

	"skink/dedup"
	"skink/frontier"
)

// A RecordKind classifies the result of fetching a URL.
type RecordKind string

const (
	Page     RecordKind = "page"      // the response contains text, so the record has a verdict
	Other    RecordKind = "other"     // the response contains no text, such as an image; Detail may give the reason
	Redirect RecordKind = "redirect"  // the response redirects to another URL, in Location
	Error    RecordKind = "error"     // no response, an error status, or a truncated body; see Problem
	Blocked  RecordKind = "blocked"   // robots.txt forbids the URL
	Skipped  RecordKind = "skipped"   // a file on disk, or a record of an archive, that has no text
	Sitemap  RecordKind = "sitemap"   // a list of URLs for crawlers; Detail gives the number of its URLs
	Later    RecordKind = "postponed" // the URL was not fetched, because URLs of its pattern kept returning duplicates; see Detail
)

// A Record holds everything known about one URL except its text, sketch and links. It is stored as
// JSON: fields may be added, but the names and meanings of fields do not change.
type Record struct {
	ID  dedup.Hash `json:"id"`  // dedup.HashOf(URL), which identifies the page
	URL string     `json:"url"` // canonical form of the URL
	Via string     `json:"via,omitempty"`

	Kind        RecordKind `json:"kind"`
	Problem     string     `json:"problem,omitempty"` // kind of error if Kind is Error, such as "timeout" or "status 404"
	Detail      string     `json:"detail,omitempty"`  // explanation for users, such as the full error message
	FetchedAt   time.Time  `json:"fetched_at,omitzero"`
	Status      int        `json:"status,omitempty"` // HTTP status; 0 means no response, or a file
	Location    string     `json:"location,omitempty"`
	ContentType string     `json:"content_type,omitempty"`
	Took        int64      `json:"took,omitempty"` // milliseconds from the request to the last byte of the response
	Depth       int        `json:"depth,omitempty"`
	Hops        int        `json:"hops,omitempty"`
	Tries       int        `json:"tries,omitempty"`     // number of attempts to fetch the URL before it was given up, if Kind is Error and the error may be temporary
	Size        int64      `json:"size,omitempty"`      // size of the decoded body in bytes
	Truncated   bool       `json:"truncated,omitempty"` // the body was not received completely; such a record has Kind Error and no verdict

	Checked   bool `json:"checked,omitempty"`   // the URL was not crawled: skink only checked whether it exists, because a page of the crawl links to it
	Requisite bool `json:"requisite,omitempty"` // the URL was fetched only for the archive, because an archived page needs the file to be shown correctly
	Sitemap   bool `json:"sitemap,omitempty"`   // the URL was requested as a sitemap, because robots.txt or an index file names it

	CanonicalURL string      `json:"canonical_url,omitempty"` // target of rel=canonical, as an absolute URL
	Canonicals   []string    `json:"canonicals,omitempty"`    // all targets of rel=canonical, as absolute URLs, if the page names more than one; at most [MostCanonicals]
	Alternates   []Alternate `json:"alternates,omitempty"`    // versions of the page in other languages, as it declares them; at most [MostAlternates]
	Lang         string      `json:"lang,omitempty"`
	Title        string      `json:"title,omitempty"`
	H1           []string    `json:"h1,omitempty"`         // text of the <h1> headings, in order; at most [MostHeadings]
	TitleFrom    string      `json:"title_from,omitempty"` // source of Title, if the page has no <title>: "og:title" or "h1"
	Description  string      `json:"description,omitempty"`
	SharedOnly   bool        `json:"shared_only,omitempty"` // Description is that of og:description, because the page has no other
	Author       string      `json:"author,omitempty"`
	PublishedAt  string      `json:"published_at,omitempty"` // time of publication in RFC 3339, or only its date
	ModifiedAt   string      `json:"modified_at,omitempty"`  // time of the last modification in RFC 3339, or only its date
	SiteName     string      `json:"site_name,omitempty"`
	Root         string      `json:"root,omitempty"`       // rule by which the extraction found the main text
	NoIndex      bool        `json:"noindex,omitempty"`    // the page is judged, but is never in the feed
	OtherLang    bool        `json:"other_lang,omitempty"` // the page declares a language other than Lang, the language of its text
	Listed       bool        `json:"listed,omitempty"`     // a sitemap lists the page
	Private      bool        `json:"private,omitempty"`    // the page was requested with a password, cookies or headers of the user, so it may not be public; it is not in the feed
	Signals      string      `json:"signals,omitempty"`    // content signals in the host's robots.txt when the page was fetched, such as "ai-train=no, search=yes"
	Hidden       bool        `json:"hidden,omitempty"`     // robots.txt forbids search engines (Googlebot), but not this crawler, to fetch the page

	Faults  uint64   `json:"faults,omitempty"`  // set of faults in the page's HTML and header; see package extract/markup
	Faulty  []string `json:"faulty,omitempty"`  // examples of these faults
	Anchors []byte   `json:"anchors,omitempty"` // hashes of the names in the page to which fragments of links can lead, two bytes each; only after a crawl for an audit

	DeadEnd string `json:"dead_end,omitempty"` // reason why no link of the page was followed, one of the DeadEnd constants; "" means that links were followed, or there is no special reason

	Rendered     bool   `json:"rendered,omitempty"`      // a browser rendered the page: its text, links and metadata are those of the rendered page, and Size is that of the response
	NeedsScripts string `json:"needs_scripts,omitempty"` // reason why the text of the page needs scripts; see [extract.Document]; "" means that it needs none, or Rendered is set
	RenderError  string `json:"render_error,omitempty"`  // reason why a browser failed to render the page

	Bounds string `json:"bounds,omitempty"` // limits that the page exceeded, as Bound constants separated by commas; the page was read nevertheless

	Words       int               `json:"words,omitempty"`      // number of tokens in the canonical text
	Hash        dedup.Hash        `json:"hash,omitzero"`        // hash of the canonical text, or of the body if Kind is Other
	LeftWords   int               `json:"left_words,omitempty"` // number of tokens of running text that the extraction left out of the main text
	LeftHash    dedup.Hash        `json:"left_hash,omitzero"`   // hash of the running text that the extraction left out
	Verdict     dedup.VerdictKind `json:"verdict,omitempty"`
	Leader      dedup.Hash        `json:"leader,omitzero"`        // id of the leader
	DuplicateOf string            `json:"duplicate_of,omitempty"` // URL of the leader
	Resemblance float64           `json:"resemblance,omitempty"`  // exact resemblance to the leader, 0 to 1
	Containment float64           `json:"containment,omitempty"`  // exact share of the page's runs of three words that the leader contains, if the rule is containment and the page is near
	Found       dedup.Method      `json:"found,omitempty"`        // method by which the leader was found
	Capped      bool              `json:"capped,omitempty"`       // some similar leaders were not compared with the page, because there were too many
	NoText      bool              `json:"no_text,omitempty"`      // the page is a duplicate, and the store does not keep its text

	Archive  Archived `json:"archive,omitzero"`  // location in the web archive of the HTTP response from which this record was made, or of a revisit record that stands for it
	Answered Archived `json:"answered,omitzero"` // location in the web archive of the last visit's HTTP response, if that visit found the page unchanged

	ETag      string    `json:"etag,omitempty"`     // ETag of the last response that had a body, as the server sent it
	Modified  string    `json:"modified,omitempty"` // Last-Modified of the last response that had a body
	Visit     VisitKind `json:"visit,omitempty"`
	VisitedAt time.Time `json:"visited_at,omitzero"` // time of the last visit, if the page has not changed since FetchedAt
	JudgedAt  time.Time `json:"judged_at,omitzero"`  // time at which the page last got a new verdict without a visit, because its leader had changed
	First     time.Time `json:"first,omitzero"`      // time at which the page was first fetched, if that was before FetchedAt
	Since     time.Time `json:"since,omitzero"`      // time at which the page was first seen with its current text, if that was before FetchedAt
	Missed    int       `json:"missed,omitempty"`    // number of failed visits since the last successful one; Problem is the error of the last visit
	Added     string    `json:"added,omitempty"`     // excerpt of the text that the last change added
	Removed   string    `json:"removed,omitempty"`   // excerpt of the text that the last change removed

	Restless []Restless `json:"restless,omitempty"` // short passages that the last visit found changed, such as a date or a counter that changes with every visit

	Earlier []Visit `json:"earlier,omitempty"` // earlier states of the page, the latest first, at most [MostVisits]
}

// ItemKind returns the kind of the frontier item that fetches the URL of the record again.
func (r *Record) ItemKind() frontier.ItemKind {
	switch {
	case r.Checked:
		return frontier.Check
	case r.Requisite:
		return frontier.Requisite
	case r.Kind == Sitemap:
		return frontier.Sitemap
	}
	return frontier.Page
}

// An Alternate is the version of a page in another language, as the page declares it.
type Alternate struct {
	Lang string `json:"lang"` // value of hreflang: a language, a language and a region, or x-default
	URL  string `json:"url"`  // absolute URL
}

// These constants limit the lists in a [Record] that a page fills. They keep records small, because
// records are read often.
const (
	MostHeadings   = 8   // maximum length of Record.H1
	MostCanonicals = 8   // maximum length of Record.Canonicals
	MostAlternates = 128 // maximum length of Record.Alternates; the largest sites have slightly fewer languages
)

// An Archived is the location of a record in a web archive.
type Archived struct {
	File   string `json:"file"`             // name of the archive file, without a folder
	Offset int64  `json:"offset"`           // position of the record in the file, in bytes
	Length int64  `json:"length"`           // length of the record in the file, in bytes
	Digest string `json:"digest,omitempty"` // WARC-Payload-Digest of the record
}

// These are the reasons why no link of a page was followed; see [Record.DeadEnd].
const (
	DeadEndNoFollow = "nofollow" // the page has links, and asks crawlers to follow none
	DeadEndScripts  = "scripts"  // the page has no links, but it has scripts, which may add links in a browser
)

// These are the bounds that a page can exceed; see [Record.Bounds].
const (
	BoundTree  = "tree"  // the element tree would take too much memory; all text between tags counts as the main text
	BoundDepth = "depth" // the elements are nested too deeply; the main text is chosen as for BoundTree
	BoundLinks = "links" // the links are too many or too long; the links after the limit were ignored
	BoundList  = "list"  // the sitemap is too long or damaged, so it was not read to the end
)

// End returns the final state of the record's URL in the frontier.
func (r *Record) End() frontier.State {
	switch {
	case r.Kind == Redirect:
		return frontier.Redirected
	case r.Kind == Blocked, r.Kind == Later:
		return frontier.Blocked
	case r.Kind == Error && r.Tries > 0:
		return frontier.GivenUp
	case r.Kind == Error:
		return frontier.Failed
	}
	return frontier.Fetched
}

// Fed reports whether the record belongs in the feed of deduplicated content.
func (r *Record) Fed() bool {
	return r.Kind == Page && !r.NoIndex && (r.Verdict == dedup.Unique || r.Verdict == dedup.Thin)
}

// Follows reports whether the page duplicates another page, its leader.
func (r *Record) Follows() bool { return !r.Leader.IsZero() && r.Leader != r.ID }

// A Tally counts records. Pages = Unique + Exact + Near + Thin.
type Tally struct {
	Unique    int64 `json:"unique"`
	Exact     int64 `json:"exact"`
	Near      int64 `json:"near"`
	Thin      int64 `json:"thin"`
	Other     int64 `json:"other"`
	Redirects int64 `json:"redirects"`
	Errors    int64 `json:"errors"`
	Blocked   int64 `json:"blocked"`
	Skipped   int64 `json:"skipped"` // number of files that have no text
	Sitemaps  int64 `json:"sitemaps,omitempty"`
	Later     int64 `json:"postponed,omitempty"`    // number of URLs that were not fetched, because URLs of the same pattern kept returning duplicates
	Unkept    int64 `json:"unkept"`                 // number of duplicates whose text was not kept
	Capped    int64 `json:"capped"`                 // number of pages that were not compared with all similar leaders, because there were too many
	Scripts   int64 `json:"need_scripts,omitempty"` // number of pages whose text needs scripts that were not run
	Rendered  int64 `json:"rendered,omitempty"`     // number of pages that a browser rendered
	Bytes     int64 `json:"bytes"`                  // total size of the decoded bodies of all records

	Problems map[string]int64 `json:"problems,omitempty"` // number of errors of each kind
	GivenUp  map[string]int64 `json:"given_up,omitempty"` // number of errors of each kind after which a URL was retried and finally given up
}

// Records returns the number of records that were counted.
func (t *Tally) Records() int64 {
	return t.Pages() + t.Other + t.Redirects + t.Errors + t.Blocked + t.Skipped + t.Sitemaps + t.Later
}

// Clone returns a tally that shares nothing with t.
func (t *Tally) Clone() Tally {
	c := *t
	c.Problems, c.GivenUp = maps.Clone(t.Problems), maps.Clone(t.GivenUp)
	return c
}

// Failed returns the number of errors that were not retried, by kind.
func (t *Tally) Failed() map[string]int64 {
	failed := map[string]int64{}
	for kind, n := range t.Problems {
		if n -= t.GivenUp[kind]; n > 0 {
			failed[kind] = n
		}
	}
	return failed
}

// Pages returns the number of pages that were judged.
func (t *Tally) Pages() int64 { return t.Unique + t.Exact + t.Near + t.Thin }

// Add adds one record to the counts.
func (t *Tally) Add(r *Record) { t.count(r, 1) }

// Remove subtracts one record, which must have been added, from the counts.
func (t *Tally) Remove(r *Record) { t.count(r, -1) }

func (t *Tally) count(r *Record, n int64) {
	t.Bytes += n * r.Size
	switch r.Kind {
	case Other:
		t.Other += n
	case Redirect:
		t.Redirects += n
	case Blocked:
		t.Blocked += n
	case Skipped:
		t.Skipped += n
	case Sitemap:
		t.Sitemaps += n
	case Later:
		t.Later += n
	case Error:
		t.countError(r, n)
	case Page:
		t.countPage(r, n)
	}
}

func (t *Tally) countError(r *Record, n int64) {
	t.Errors += n
	countKind(&t.Problems, r.Problem, n)
	if r.End() == frontier.GivenUp {
		countKind(&t.GivenUp, r.Problem, n)
	}
}

// countKind adds n to the count of a kind of problem. A count of 0 is deleted, and an empty map
// becomes nil, so that Add and then Remove leave a tally as it was.
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

func (t *Tally) countPage(r *Record, n int64) {
	switch r.Verdict {
	case dedup.Unique:
		t.Unique += n
	case dedup.Exact:
		t.Exact += n
	case dedup.Near:
		t.Near += n
	case dedup.Thin:
		t.Thin += n
	}
	if r.NoText {
		t.Unkept += n
	}
	if r.Capped {
		t.Capped += n
	}
	if r.NeedsScripts != "" {
		t.Scripts += n
	}
	if r.Rendered {
		t.Rendered += n
	}
}

// Doubtful reports whether text that the extraction left out makes a verdict doubtful. It returns
// true if the running text that was left out of the page differs from that of its leader, and more
// than minWords words were left out of one of them. It returns false for a nil leader.
func (r *Record) Doubtful(leader *Record, minWords int) bool {
	return leader != nil && r.Follows() && r.LeftHash != leader.LeftHash && max(r.LeftWords, leader.LeftWords) > minWords
}
