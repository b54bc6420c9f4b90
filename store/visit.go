package store

import (
	"encoding/binary"
	"time"

	"skink/dedup"
	"skink/frontier"
)

// A VisitKind says what the last visit of a page found.
type VisitKind string

const (
	FirstVisit  VisitKind = ""             // it was not known, or never had been had
	NotModified VisitKind = "not modified" // the server says so
	Same        VisitKind = "same"         // its text has the same words
	Altered     VisitKind = "changed"      // its text has other words, or it is something else than it was
	Vanished    VisitKind = "gone"         // it was a page, or a file, and is no longer there
	Failed      VisitKind = "failed"       // it could not be had, and is taken for what it was
)

// String is "new" for a first visit.
func (k VisitKind) String() string {
	if k == FirstVisit {
		return "new"
	}
	return string(k)
}

// A Visit is what is remembered of what a page was before.
type Visit struct {
	At          time.Time  `json:"at"` // when it was fetched, or judged again
	Words       int        `json:"words,omitempty"`
	Hash        dedup.Hash `json:"hash,omitzero"`         // of the canonical text
	Sketch      []byte     `json:"sketch,omitempty"`      // the 84 minima, 4 bytes each, little-endian
	Resemblance float64    `json:"resemblance,omitempty"` // exact, to the visit after it
	Verdict     dedup.Kind `json:"verdict,omitempty"`     // "": it was no page
	NoIndex     bool       `json:"noindex,omitempty"`
}

// Fed says whether the page belonged in the feed of deduplicated content.
func (v *Visit) Fed() bool {
	return !v.NoIndex && (v.Verdict == dedup.Unique || v.Verdict == dedup.Thin)
}

// MostVisits is how many earlier visits a record keeps.
const MostVisits = 16

// Visited is when the page was last asked for.
func (r *Record) Visited() time.Time { return latest(r.FetchedAt, r.VisitedAt) }

// Began is when the page became what the record says: when it was fetched, or judged again.
// No two records of a page that took each other's place have the same, but those that only
// touched it.
func (r *Record) Began() time.Time { return latest(r.FetchedAt, r.JudgedAt) }

// FirstFetched is when the page was first fetched.
func (r *Record) FirstFetched() time.Time {
	if r.First.IsZero() {
		return r.FetchedAt
	}
	return r.First
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Answers says whether the record was written by the visit that an item asks for: then it
// is kept, for the visit is a replay after a crash. A record that was there before the
// item was due gives way to the visit.
func (r *Record) Answers(it *frontier.Item) bool {
	return it.Due.IsZero() || !r.Visited().Before(it.Due)
}

// Succeeds makes a record the successor of the one that was there before: it remembers what
// the page was. resemblance is that of both texts; the sketch is that of the earlier one,
// nil if it has none. Of two records with one text the earlier sketch is left out.
func (r *Record) Succeeds(before *Record, sketch *dedup.Sketch, resemblance float64) {
	v := Visit{
		At: before.Began(), Words: before.Words, Hash: before.Hash, Resemblance: resemblance,
		Verdict: before.Verdict, NoIndex: before.NoIndex,
	}
	if sketch != nil && before.Hash != r.Hash {
		v.Sketch = make([]byte, 0, 4*len(sketch))
		for _, minimum := range sketch {
			v.Sketch = binary.LittleEndian.AppendUint32(v.Sketch, minimum)
		}
	}
	r.Earlier = append([]Visit{v}, before.Earlier[:min(len(before.Earlier), MostVisits-1)]...)
	r.First = before.FirstFetched()
}
