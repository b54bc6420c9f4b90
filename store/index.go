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

// An Index finds the pages with which a page must be compared, and stores verdicts. It is safe for
// concurrent use.
//
// # The order of writing
//
// All data of pages enters a store through Commit. Commit may be interrupted at any moment, so it
// writes in a fixed order: text, sketch, out-links, postings, record, and lastly the final state of
// the URL in the frontier. This last write is the commit point. A back end may group these writes
// in transactions, but need not. After a crash a reader must tolerate the following:
//
//   - a posting whose page has no record: ignored;
//   - a text or a sketch without a record: never read;
//   - a record whose URL is still pending: the page is fetched again, and its second commit keeps
//     the existing record ([Kept]).
//
// The contract guarantees neither a snapshot across several calls nor numbers without gaps. Only an
// embedded store could guarantee these.
type Index interface {
	// Lookup returns, for each Ask in order, the stored pages with which the page of that Ask must be
	// compared.
	Lookup(ctx context.Context, asks []Ask) ([]Found, error)

	// Commit writes entries in order, and returns the outcome of each. It stops at the first entry
	// that it refuses as stale: that entry and all entries after it are [Stale], and none of them
	// is written. The caller must look up and judge a stale entry again. Concurrent calls take
	// effect one after another, in any order.
	Commit(ctx context.Context, entries []*Entry) ([]Outcome, error)
}

// An Ask is the input of [Index.Lookup] for one page to be judged.
type Ask struct {
	ID     dedup.Hash   // id of the page, whose earlier visits are left out of the result; zero means that nothing is left out
	Hashes []dedup.Hash // hashes of the page's text; an earlier page with one of them is its copy
	Keys   []uint64     // index keys of the page's sketch
	Meet   int          // minimum number of Keys that a leader must share with the page; 0 means 1
	Limit  int          // maximum number of leaders to read for one key; the earliest are read
}

// Found is the result of an Ask. If it has a copy, the store did not look for leaders. There are at
// most [dedup.MaxMet] leaders, chosen by [dedup.Met]. A store that combines two stores (package
// overlay) may return up to that many from each.
type Found struct {
	Mark     Mark
	Copy     *Record  // earliest page with one of the hashes; nil if there is none
	Followed *Record  // leader of Copy; nil if Copy has no leader, or if the leader is not in the store
	Leaders  []Leader // leaders that share enough keys with the page, in the order of their commits
	Full     []bool   // Full[i] is true if more than Ask.Limit leaders have the key Ask.Keys[i], so some were not read
	Unread   bool     // whether an overlay left some leaders of its known store unread; Full does not include their keys
}

// Basis returns the condition under which a verdict based on f is still valid when it is committed.
// ask is the Ask that produced f. If f has a copy, the basis has no hashes or keys, because no
// later commit can be an earlier copy. Keys that are full are left out, because a lookup does not
// read later leaders with these keys.
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

// Capped reports whether any key had more leaders than were read, in this store or in the known
// store of an overlay.
func (f *Found) Capped() bool {
	return f.Unread || slices.Contains(f.Full, true)
}

// A Leader is a page that shares index keys with the page of an [Ask]. After a crash its record may
// be missing, so the caller must check that it has one.
type Leader struct {
	ID     dedup.Hash
	Hash   dedup.Hash // hash of the page's canonical text; ID and Hash together identify one visit
	Sketch dedup.Sketch
	Shared int // number of Ask.Keys that the leader has
}

// A Mark records which commits a lookup saw. It is opaque to all but the store that created it. A
// store never returns an empty mark.
type Mark string

// MarkAt returns a mark for a store that numbers its commits. place is the number of the last
// commit that the lookup saw.
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

// A Basis is the condition under which a verdict is still valid: since Mark, no page with any of
// these text hashes or index keys has been committed, and the page's leader has not been visited
// again.
type Basis struct {
	Mark   Mark
	Hashes []dedup.Hash
	Keys   []uint64
}

// An Entry is the input of [Index.Commit] for one URL that has been fetched: all data that the
// store keeps about it.
type Entry struct {
	Record Record
	Claim  frontier.Claim // claim of the worker on the host of Record.URL; the zero value means that the URL was fetched without a claim
	State  frontier.State // final state of Record.URL in the frontier; Unknown means that it was never in the frontier
	Basis  Basis          // basis of the record's verdict; the zero value means that no later commit can change the verdict

	// Revisit means that the entry replaces the stored record, text, sketch and postings of its
	// page. If neither Revisit nor Touch is set, a page that has a record keeps it.
	Revisit bool

	// Touch means that the page was visited and has not changed. The record replaces the stored
	// record, and has the same verdict and leader. If the entry has links, they replace the stored
	// links. The page's place in the order of commits, its text, sketch and postings stay the same.
	// [Reader.Changes] does not yield the page again. If the page has no record yet, Touch has no
	// effect.
	Touch bool

	// Replaces is the [Record.Updated] of the record on which a Revisit or a Touch is based. If the
	// store has a different record of the page, or none, the entry is stale. Zero means any record.
	Replaces time.Time

	Text   []byte          // main text, packed by [Pack]; nil means that no text is kept
	Sketch *dedup.Sketch   // sketch of the main text; nil means that the text has no words
	Hash   dedup.Hash      // text hash under which lookups find the page; zero means that they do not find it by its text
	Keys   []uint64        // index keys under which lookups find the page; only a leader has any
	Out    []byte          // links of the page and its URL, packed by [PackLinks]; nil means that none are kept
	Links  []frontier.Item // URLs within the crawl to which the page leads, through links, redirects or otherwise; they are queued
	Beyond []string        // URLs outside the crawl to which the page leads; see [frontier.Leave]

	Named map[string][]byte // named values that are set if the record is written; see [Meta]
}

// Valid returns an error for entries that every store must refuse, because the store could not find
// their pages again.
func Valid(entries []*Entry) error {
	for _, e := range entries {
		switch {
		case e.Record.URL == "":
			return fmt.Errorf("commit a record: it has no URL")
		case e.Record.ID != dedup.HashOf([]byte(e.Record.URL)):
			return fmt.Errorf("commit %s: the id %s is not that of the URL: set it to dedup.HashOf(URL)", e.Record.URL, e.Record.ID)
		}
		if e.State == frontier.Pending || e.State > frontier.Postponed {
			return fmt.Errorf("commit %s: state %d is not a final state", e.Record.URL, e.State)
		}
	}
	return nil
}

// An Outcome is the result of one entry.
type Outcome uint8

const (
	Stale   Outcome = iota // not written: the verdict may no longer hold, or an earlier entry of the call was stale
	Written                // written, and visible to readers
	Kept                   // the page already had a record, which was kept; only the entry's links and the URL's state were written
	Lost                   // not written: the claim on the host has ended, and another worker will fetch the URL
)
