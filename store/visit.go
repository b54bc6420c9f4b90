package store

import (
	"math/bits"
	"time"

	"skink/dedup"
	"skink/frontier"
)

// A VisitKind is the result of the last visit to a page.
type VisitKind string

const (
	FirstVisit  VisitKind = ""             // page unknown, or never fetched before
	NotModified VisitKind = "not modified" // the server reported that the page has not changed
	Same        VisitKind = "same"         // same words as before
	Altered     VisitKind = "changed"      // the words of the text or Record.Kind have changed
	Vanished    VisitKind = "gone"         // page or file no longer exists
	Failed      VisitKind = "failed"       // the visit failed, so the record of the previous visit remains
)

// String returns the kind, or "new" for a first visit.
func (k VisitKind) String() string {
	if k == FirstVisit {
		return "new"
	}
	return string(k)
}

// A Visit is an earlier state of a page.
type Visit struct {
	At          time.Time         `json:"at"`                  // when the page was fetched or judged again
	FetchedAt   time.Time         `json:"fetched_at,omitzero"` // when the page was fetched, if not At
	Since       time.Time         `json:"since,omitzero"`      // when the page was first seen with the text of this state, if before At
	Words       int               `json:"words,omitempty"`
	Hash        dedup.Hash        `json:"hash,omitzero"`         // hash of the canonical text
	Sketch      []byte            `json:"sketch,omitempty"`      // the 84 minima, 4 bytes each, little-endian
	Resemblance float64           `json:"resemblance,omitempty"` // exact resemblance between this text and that of the next visit, 0 to 1
	Verdict     dedup.VerdictKind `json:"verdict,omitempty"`     // "" means that no page was found
	NoIndex     bool              `json:"noindex,omitempty"`
}

// Fetched returns when the page was fetched.
func (v *Visit) Fetched() time.Time {
	if v.FetchedAt.IsZero() {
		return v.At
	}
	return v.FetchedAt
}

// Minima returns the sketch of the visit's text, or nil if it was not kept.
func (v *Visit) Minima() *dedup.Sketch {
	s, _ := dedup.SketchOf(v.Sketch)
	return s
}

// A Restless is a line of a page in which a visit found only times, counters or tokens changed.
type Restless struct {
	Line   dedup.Hash `json:"line"`             // hash of the line without these words; it identifies the line
	Now    dedup.Hash `json:"now"`              // hash of the line at the last visit
	Visits int        `json:"visits,omitempty"` // number of successive visits that found the line changed
	Text   string     `json:"text"`             // excerpt of the line at the last visit
}

// Fed reports whether the page belonged in the feed of deduplicated content at that visit.
func (v *Visit) Fed() bool {
	return !v.NoIndex && (v.Verdict == dedup.Unique || v.Verdict == dedup.Thin)
}

// Visited returns the time of the last visit to the page.
func (r *Record) Visited() time.Time { return frontier.Latest(r.FetchedAt, r.VisitedAt) }

// Began returns the time at which the current state of the page began: when it was fetched or, if
// later, judged again. It stays the same if a visit finds the page unchanged (see [Entry.Touch]); any
// other visit changes it.
func (r *Record) Began() time.Time { return frontier.Latest(r.FetchedAt, r.JudgedAt) }

// Updated returns when the record was last changed: when the page was fetched, judged again or visited.
func (r *Record) Updated() time.Time { return frontier.Latest(r.Began(), r.VisitedAt) }

// FirstFetched returns when the page was first fetched.
func (r *Record) FirstFetched() time.Time {
	if r.First.IsZero() {
		return r.FetchedAt
	}
	return r.First
}

// Seen returns when the page was first seen with its current text, or with an earlier text that
// differs from it only in small ways.
func (r *Record) Seen() time.Time {
	if r.Since.IsZero() {
		return r.FetchedAt
	}
	return r.Since
}

// since returns when a page was first seen with its current text, given its earlier visits. It
// returns the zero time if none of them found that text.
func since(text dedup.Hash, earlier []Visit) time.Time {
	for i := len(earlier) - 1; i >= 0; i-- {
		v := &earlier[i]
		switch {
		case text.IsZero() || v.Hash != text:
			continue
		case v.Since.IsZero():
			return v.At
		}
		return v.Since
	}
	return time.Time{}
}

// Answers reports whether the record is from the visit that the item asks for. It returns false if r is
// nil. If it returns true, the current visit is a replay after a crash, and the record is kept. A record from before the item was due is
// replaced. So is a record that only says that the crawl excluded the URL.
func (r *Record) Answers(it *frontier.Item) bool {
	return r != nil && r.Kind != Outside && (it.Due.IsZero() || !r.Visited().Before(it.Due))
}

// afterPages is the priority of requisites that are visited again, which puts them after the
// pages of their host. ReplayWeb.page shows a page with the first capture of a file after the page's
// own. If a crawl fetched the file first, that would be the file of the next crawl.
const afterPages = 2

// Revisit returns the item to visit the URL of a record again. due is the time at which the visit was
// requested. If conditional is true, the item has the validators of the record.
func Revisit(r *Record, due time.Time, conditional bool) frontier.Item {
	it := frontier.Item{URL: r.URL, From: r.From, Via: r.Via, Depth: r.Depth, Hops: r.Hops, Kind: r.ItemKind(), Due: due, Priority: -r.haste()}
	if it.Kind == frontier.Requisite {
		it.Priority = afterPages
	}
	if conditional {
		it.Validators = r.Validators
	}
	return it
}

// Changes returns the number of changes to the page's text, as far as r remembers its visits, and the time of the
// earliest visit after which the text changed.
func (r *Record) Changes() (n int, since time.Time) {
	hash := r.Hash
	for _, v := range r.Earlier {
		if v.Hash != hash {
			n, since, hash = n+1, v.At, v.Hash
		}
	}
	return n, since
}

// haste is how many priorities the page comes before pages that have never changed: one more each time the mean time
// between its changes is halved. It depends only on what a visit without a change leaves as it is.
func (r *Record) haste() int {
	n, since := r.Changes()
	if n == 0 || r.Follows() {
		return 0
	}
	return min(bits.Len64(uint64(64*24*time.Hour*time.Duration(n)/max(r.Began().Sub(since), 1))), frontier.SeedPriority-1)
}

// Succeeds adds history to r, the record of a new visit. before is the page's previous record,
// whose state becomes the first element of r.Earlier. sketch is the sketch of its text, or nil; it
// is not kept if both records have the same text. resemblance is the resemblance of the two texts.
func (r *Record) Succeeds(before *Record, sketch *dedup.Sketch, resemblance float64) {
	v := Visit{
		At: before.Began(), Words: before.Words, Hash: before.Hash, Resemblance: resemblance,
		Verdict: before.Verdict, NoIndex: before.NoIndex,
	}
	if !before.FetchedAt.Equal(v.At) {
		v.FetchedAt = before.FetchedAt
	}
	if seen := before.Seen(); seen.Before(v.At) {
		v.Since = seen
	}
	if sketch != nil && before.Hash != r.Hash {
		v.Sketch = sketch.Append(make([]byte, 0, dedup.SketchSize))
	}
	r.Earlier = append([]Visit{v}, before.Earlier[:min(len(before.Earlier), MaxVisits-1)]...)
	r.First = before.FirstFetched()
	r.Since = since(r.Hash, r.Earlier)
}
