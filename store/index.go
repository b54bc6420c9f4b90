package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"skink/dedup"
	"skink/frontier"
)

// An Index finds the pages with which a page must be compared, and stores verdicts. Several
// goroutines may use it at once.
type Index interface {
	// Lookup returns for each Ask the stored pages with which that page must be compared, in the
	// order of asks.
	Lookup(ctx context.Context, asks []Ask) ([]Found, error)

	// Commit writes entries in their order and returns the outcome of each. It stops at the first
	// entry that it refuses as stale: that entry and all entries after it are [Stale], and none of
	// them is written. The caller looks a stale entry up and judges it again. Calls that run at the
	// same time take effect one after another, in an order that Commit chooses.
	Commit(ctx context.Context, entries []*Entry) ([]Outcome, error)
}

// An Ask is the input of [Index.Lookup] for one page that is to be judged.
type Ask struct {
	ID     dedup.Hash   // the page's id, which excludes its own earlier visits from the result; the zero value means that nothing is excluded
	Hashes []dedup.Hash // hashes of the page's text; an earlier page with one of them is its copy
	Keys   []uint64     // index keys of the page's sketch
	Meet   int          // number of Keys that a leader must share with the page to be found; 0 means 1
	Limit  int          // maximum number of leaders that are read for one key; if there are more, the earliest are read
}

// Found is the result of an Ask. If it has a copy, the store did not look for leaders. There are at
// most [dedup.MaxMet] leaders, chosen by [dedup.Met]. A store that combines two stores (package
// overlay) may return that many from each.
type Found struct {
	Mark     Mark
	Copy     *Record  // the earliest page that has one of the hashes; nil means that there is none
	Followed *Record  // the leader of Copy; nil means that Copy has no leader, or the leader is not in the store
	Leaders  []Leader // leaders that share enough keys with the page, in the order of their commits
	Full     []bool   // Full[i] means that more than Ask.Limit leaders have the key Ask.Keys[i], so some were not read
	Unread   bool     // the known store of an overlay has leaders that were not read; Full does not include their keys
}

// Basis returns the conditions under which a verdict is still valid when it is committed. The
// receiver f is the result of ask, on which the verdict is based. If f has a copy, the basis has no
// hashes or keys, because no later commit can be an earlier copy. Keys that are full are left out,
// because a look-up reads no later leaders under them.
func (f *Found) Basis(ask Ask) Basis {
	b := Basis{Mark: f.Mark}
	if f.Copy != nil {
		return b
	}
	b.Hashes = ask.Hashes
	if !slices.Contains(f.Full, true) {
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

// Capped reports whether a key had more leaders than were read, in this store or in the known store
// of an overlay.
func (f *Found) Capped() bool {
	return f.Unread || slices.Contains(f.Full, true)
}

// A Leader is a page that has index keys in common with the page of an [Ask]. A crash may have
// prevented its record from being written, so the caller must check that the page has a record.
type Leader struct {
	ID     dedup.Hash // id of the page
	Hash   dedup.Hash // hash of the page's canonical text; ID and Hash together identify one visit
	Sketch dedup.Sketch
	Shared int // number of Ask.Keys that the page has
}

// A Mark records which commits a look-up saw. Its bytes are opaque: only the store that made the
// mark can read it. A store never returns an empty mark.
type Mark string

// MarkAt returns a mark for a store that numbers its commits. The argument place is the number of
// the last commit that a look-up saw.
func MarkAt(place uint64) Mark {
	return Mark(binary.LittleEndian.AppendUint64(make([]byte, 0, 8), place))
}

// Place returns the number that was passed to [MarkAt], or 0 for the empty mark.
func (m Mark) Place() uint64 {
	if len(m) != 8 {
		return 0
	}
	return binary.LittleEndian.Uint64([]byte(m))
}

// A Basis is the condition under which a verdict is still valid: no page with one of these text
// hashes or index keys was committed after the mark, and the page's leader was not visited again.
type Basis struct {
	Mark   Mark
	Hashes []dedup.Hash
	Keys   []uint64
}

// An Entry is the input of [Index.Commit] for one URL whose fetch is finished: all data that the
// store keeps about the URL.
type Entry struct {
	Record Record
	Claim  frontier.Claim // the worker's claim on the host of Record.URL; the zero value means that the URL was fetched without a claim
	State  frontier.State // the final state of Record.URL in the frontier; Unknown means that the URL was never in the frontier
	Basis  Basis          // basis of the record's verdict; the zero value means that no later commit can change the verdict

	// Revisit means that the entry replaces the stored data of its page: record, text, sketch and
	// postings. Without Revisit and Touch, a page that has a record keeps it.
	Revisit bool

	// Touch means that the page was visited and has not changed. The record replaces the stored
	// record, and has the same verdict and leader. If the entry has links, they replace the stored
	// links. Everything else stays: the page's position in the order of commits, its text, sketch
	// and postings. [Reader.Changes] does not yield the page again. If the page has no record yet,
	// Touch makes no difference.
	Touch bool

	// Replaces names the record that a Revisit or a Touch was made from, by its [Record.Began]. If
	// the store has another record of the page, or none, the entry is stale. If Replaces is zero,
	// the entry replaces any record.
	Replaces time.Time

	Text   []byte          // main text as [Pack] made it; nil means that no text is kept
	Sketch *dedup.Sketch   // sketch of the main text; nil means that the text has no words
	Hash   dedup.Hash      // text hash under which look-ups find the page; the zero value means that look-ups for a text do not find it
	Keys   []uint64        // index keys under which look-ups find the page; only a leader has any
	Out    []byte          // the page's links as [PackLinks] made them, with its URL; nil means that none are kept
	Links  []frontier.Item // URLs of the crawl to which the page leads, by links, redirects or otherwise; they are queued
	Beyond []string        // URLs outside the crawl to which the page leads
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
	Stale   Outcome = iota // the entry was not written: its verdict may no longer hold, or an earlier entry of the call was stale
	Written                // the entry was written, and readers see its record
	Kept                   // the page already had a record, which stays; only the entry's links and the URL's state were written
	Lost                   // the entry was not written: the claim on its host has ended, and another worker will fetch the URL
)
