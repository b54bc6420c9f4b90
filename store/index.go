package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"skink/dedup"
	"skink/frontier"
)

// An Index finds the pages that a page has to be compared with, and takes in
// what was decided. It is for any number of callers at once.
type Index interface {
	// Lookup answers one question for each of several pages, in their order.
	Lookup(ctx context.Context, asks []Ask) ([]Found, error)

	// Commit writes entries in their order, and says of each what became of it.
	// It stops at the first that it refuses as stale: that one and those after it
	// are [Stale], and nothing of them is written. A stale entry is to be looked
	// up and judged again. Calls that run at the same time are in some order.
	Commit(ctx context.Context, entries []*Entry) ([]Outcome, error)
}

// An Ask is what a page needs to know to be judged.
type Ask struct {
	ID     dedup.Hash   // of the page, whose own earlier visits are not found; zero: it has none
	Hashes []dedup.Hash // text hashes under which an earlier copy may be posted
	Keys   []uint64     // of its sketch, under which leaders may be posted
	Meet   int          // keys that a leader must share to be found; 0 is 1
	Limit  int          // leaders read under one key, the earliest first
}

// Found is the answer to an Ask. If there is a copy, nobody looked for leaders.
type Found struct {
	Mark    Mark
	Copy    *Record  // the earliest page posted under one of the hashes; nil: there is none
	Leaders []Leader // those met, in the order of their commits
	Full    []bool   // by key: more leaders than the limit are posted there
}

// Basis is what a verdict rests on that was reached by the answer to ask. A copy
// stays the earliest whatever comes. Under a key that is full nothing more is read.
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

// Capped says whether a key had more leaders than were read.
func (f *Found) Capped() bool {
	for _, full := range f.Full {
		if full {
			return true
		}
	}
	return false
}

// A Leader is a page that was met under keys of a sketch. Whether it has a record
// must still be asked: after a crash some have none.
type Leader struct {
	ID     dedup.Hash // of the page
	Hash   dedup.Hash // of its canonical text: with ID it names one visit
	Sketch dedup.Sketch
}

// A Mark says what a look-up saw. It is opaque bytes, which mean something to the store
// that gave them only; one that was given is not empty.
type Mark string

// MarkAt is the mark of a store that has one order of commits: the last place in it that
// a look-up saw.
func MarkAt(place uint64) Mark {
	return Mark(binary.LittleEndian.AppendUint64(make([]byte, 0, 8), place))
}

// Place is what [MarkAt] was given, 0 for the empty mark.
func (m Mark) Place() uint64 {
	if len(m) != 8 {
		return 0
	}
	return binary.LittleEndian.Uint64([]byte(m))
}

// A Basis is what a verdict rests on: it holds as long as nothing was posted
// under these hashes and keys since, and as long as its leader is what it was.
type Basis struct {
	Mark   Mark
	Hashes []dedup.Hash
	Keys   []uint64
}

// An Entry is everything that is to be known about one URL that has ended.
type Entry struct {
	Record Record
	Claim  frontier.Claim // of the host of Record.URL; zero: nobody had to hold it
	State  frontier.State // how the frontier ends Record.URL; Unknown: it never was in the frontier
	Basis  Basis          // of the record's verdict; zero: it rests on nothing

	// Revisit says that the entry takes the place of what is known of its page:
	// record, text, sketch and postings. An entry that is none leaves a record
	// that is there as it is.
	Revisit bool

	// Touch says that the page was visited and is what it was: the record takes the
	// place of the one that is there, with the same verdict and leader, and all else
	// stays: the page's place in the order, its text, sketch and postings. It is no
	// change. A page without a record gets one as from any other entry.
	Touch bool

	// Replaces is when the record began that a Revisit or a Touch was made from, see
	// [Record.Began]. If another is there, or none, the entry is stale. Zero: whatever
	// is there gives way.
	Replaces time.Time

	Text   []byte          // main text as [Pack] made it; nil: none is kept
	Sketch *dedup.Sketch   // nil: the page has no tokens
	Hash   dedup.Hash      // under which copies find the page; zero: it leads no copies
	Keys   []uint64        // under which look-ups find the page; leaders only
	Links  []frontier.Item // what it led to
	Beyond []string        // what it led to outside the crawl
}

// Valid says what is wrong with entries that no store takes.
func Valid(entries []*Entry) error {
	for _, e := range entries {
		if e.State != frontier.Unknown && !e.State.Ends() {
			return fmt.Errorf("commit %s: state %d is not an end", e.Record.URL, e.State)
		}
	}
	return nil
}

// An Outcome is what became of an entry.
type Outcome uint8

const (
	Stale   Outcome = iota // not written: its verdict may no longer hold, or an entry before it was refused
	Written                // its record is known from now on
	Kept                   // the page had a record, which stays; its links and its end were written
	Lost                   // not written: its claim has ended, and another worker will fetch its URL
)
