package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"skink/dedup"
	"skink/frontier"
)

// An Index finds the pages with which a page must be compared, and stores verdicts. Several
// goroutines may use it at once.
type Index interface {
	// Lookup answers one question for each of several pages, in their order.
	Lookup(ctx context.Context, asks []Ask) ([]Found, error)

	// Commit writes entries in their order and returns the outcome of each. It stops at the first
	// entry that it refuses as stale: that entry and all entries after it are [Stale], and nothing
	// of them is written. The caller looks a stale entry up and judges it again. Calls that run at
	// the same time take effect one after another, in an order that Commit chooses.
	Commit(ctx context.Context, entries []*Entry) ([]Outcome, error)
}

// An Ask holds what a look-up needs of a page.
type Ask struct {
	ID     dedup.Hash   // of the page; its own earlier visits are not found; zero: the page has no id
	Hashes []dedup.Hash // text hashes under which an earlier copy may be posted
	Keys   []uint64     // of the page's sketch; leaders may be posted under them
	Meet   int          // keys that a leader must share to be found; 0 is 1
	Limit  int          // leaders read under one key, the earliest first
}

// Found is the answer to an Ask. If it has a copy, the store did not look for leaders. It has no more
// than [dedup.MaxMet] leaders, which [dedup.Met] picks.
type Found struct {
	Mark     Mark
	Copy     *Record  // the earliest page posted under one of the hashes; nil: there is none
	Followed *Record  // the leader that the copy follows; nil: it follows none, or that page is not in the store
	Leaders  []Leader // leaders that share enough keys with the page, in the order of their commits
	Full     []bool   // by key: more leaders than the limit are posted there
}

// Basis returns the basis of a verdict that was reached with f, the answer to ask. It has no hashes
// and keys if there is a copy, because no later commit can be earlier than that copy. It leaves out
// the keys that are full, because a look-up reads no later leaders under them.
func (f *Found) Basis(ask Ask) Basis {
	b := Basis{Mark: f.Mark}
	if f.Copy != nil {
		return b
	}
	b.Hashes = ask.Hashes
	if !f.Capped() {
		b.Keys = ask.Keys
		return b
	}
	for i, key := range ask.Keys {
		if !f.Full[i] {
			b.Keys = append(b.Keys, key)
		}
	}
	return b
}

// Capped reports whether a key had more leaders than were read.
func (f *Found) Capped() bool {
	for _, full := range f.Full {
		if full {
			return true
		}
	}
	return false
}

// A Leader is a page that was found under keys of a sketch. It may have no record, because a crash
// came before the record was written, so the caller must ask for the record.
type Leader struct {
	ID     dedup.Hash // of the page
	Hash   dedup.Hash // of its canonical text; ID and Hash together name one visit
	Sketch dedup.Sketch
}

// A Mark records which commits a look-up saw. Its bytes are opaque: only the store that made the
// mark can read it. A store never returns an empty mark.
type Mark string

// MarkAt returns the mark of a store that has one order of commits. place is the last place in that
// order that a look-up saw.
func MarkAt(place uint64) Mark {
	return Mark(binary.LittleEndian.AppendUint64(make([]byte, 0, 8), place))
}

// Place returns the place that [MarkAt] was given, or 0 for the empty mark.
func (m Mark) Place() uint64 {
	if len(m) != 8 {
		return 0
	}
	return binary.LittleEndian.Uint64([]byte(m))
}

// A Basis is what a verdict depends on. The verdict holds while nothing was posted under these
// hashes and keys after the mark, and while its leader was not visited again.
type Basis struct {
	Mark   Mark
	Hashes []dedup.Hash
	Keys   []uint64
}

// An Entry is everything that a store keeps about one URL that has ended.
type Entry struct {
	Record Record
	Claim  frontier.Claim // of the host of Record.URL; zero: no claim was needed
	State  frontier.State // how the frontier ends Record.URL; Unknown: the URL never was in the frontier
	Basis  Basis          // of the record's verdict; zero: it rests on nothing

	// Revisit says that the entry replaces what is known of its page: record, text, sketch and
	// postings. Without Revisit and Touch, a page that has a record keeps it.
	Revisit bool

	// Touch says that the page was visited and has not changed. The record replaces the one that is
	// there, and has the same verdict and leader. The links replace those that are there, if the
	// entry has any. Everything else stays: the page's place in the order, its text, sketch and
	// postings. [Reader.Changes] does not yield the page again. A page without a record gets one as
	// from any other entry.
	Touch bool

	// Replaces names the record that a Revisit or a Touch was made from, by its [Record.Began]. If
	// the store has another record of the page, or none, the entry is stale. Zero: the entry
	// replaces any record.
	Replaces time.Time

	Text   []byte          // main text as [Pack] made it; nil: no text is kept
	Sketch *dedup.Sketch   // nil: the page has no tokens
	Hash   dedup.Hash      // under which copies find the page; zero: the page leads no copies
	Keys   []uint64        // under which look-ups find the page; leaders only
	Out    []byte          // the page's links as [PackLinks] made them, with its URL; nil: none are kept
	Links  []frontier.Item // URLs that the page leads to, by links or otherwise
	Beyond []string        // URLs outside the crawl that the page leads to
}

// Valid returns an error for entries that every store refuses.
func Valid(entries []*Entry) error {
	for _, e := range entries {
		if e.State != frontier.Unknown && !e.State.Ends() {
			return fmt.Errorf("commit %s: state %d is not a final state", e.Record.URL, e.State)
		}
	}
	return nil
}

// An Outcome is the result of one entry.
type Outcome uint8

const (
	Stale   Outcome = iota // not written: its verdict may no longer hold, or an earlier entry of the call was stale
	Written                // its record can be read from now on
	Kept                   // the page had a record, which stays; the entry's links and end were written
	Lost                   // not written: its claim has ended, and another worker will fetch its URL
)
