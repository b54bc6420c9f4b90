package archive

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/store"
	"skink/warc"
)

// # The end of a file that a process left open
//
// The file is truncated after the last answer of a committed page. The store has the pages that
// were committed with an answer in the file.

// A pages is the part of a store that has the positions of answers.
type pages interface {
	Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error]
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
}

// An answered page was committed with an answer in the open file.
type answered struct {
	at   store.Archived
	item frontier.Item // fetches the page again, without validators
}

// committed returns the pages that were committed with an answer in the file of a mark, in the
// order of their commits.
func committed(ctx context.Context, s pages, m *mark) (all []answered, err error) {
	name, now := m.name(), time.Now().UTC()
	for page, err := range s.Changes(ctx, m.Cursor, store.WantRecord) {
		if err != nil {
			return nil, err
		}
		for _, at := range []store.Archived{page.Record.Archive, page.Record.Answered} {
			if at.File == name {
				r := &page.Record
				all = append(all, answered{at, frontier.Item{URL: r.URL, Via: r.Via, Depth: r.Depth, Hops: r.Hops, Due: now}})
			}
		}
	}
	return all, nil
}

// A tail is a file that a process left open and that must be truncated.
type tail struct {
	store pages
	file  *os.File
	name  string // name once it is closed
}

// end returns the offset at which to truncate the file: after the last answer of the pages in all.
// It is 0 if even the first record is incomplete. gone are the pages whose answers are missing.
func (t *tail) end(ctx context.Context, all []answered) (end int64, gone []answered, err error) {
	info, err := t.file.Stat()
	if err != nil {
		return 0, nil, err
	}
	var last store.Archived
	for _, c := range all {
		switch end := c.at.Offset + c.at.Length; {
		case end > info.Size():
			gone = append(gone, c)
		case end > last.Offset+last.Length:
			last = c.at
		}
	}
	end, err = t.endOf(ctx, last)
	return end, gone, err
}

// index computes the index of the file up to end.
func (t *tail) index(end int64) ([]warc.Entry, error) {
	return warc.IndexOf(io.NewSectionReader(t.file, 0, end), t.name, func(*warc.Damage) {}) // damaged records are not in the index
}

// endOf returns the end of the last record that belongs to a page of the store. last is the last
// answer whose position is in a record of the store. More answers may follow it: those of visits
// that found a page unchanged, which refer to the answer in its record. If no record of the store
// points to an answer in the file, endOf returns the end of the first record, or 0 if even that is
// incomplete.
func (t *tail) endOf(ctx context.Context, last store.Archived) (int64, error) {
	r := warc.NewReader(io.NewSectionReader(t.file, last.Offset, 1<<62))
	end, about := int64(0), ""
	for {
		rec, err := r.Next()
		if err == nil {
			_, err = io.Copy(io.Discard, rec.Block)
		}
		if err != nil {
			if _, damaged := errors.AsType[*warc.Damage](err); !damaged && err != io.EOF {
				return 0, err
			}
			return last.Offset + end, nil
		}
		if about == "" || rec.Header.Get("WARC-Concurrent-To") != about {
			settled := end == 0
			if !settled {
				if settled, err = t.isSettled(ctx, rec, last.Offset+rec.Offset); err != nil {
					return 0, err
				}
			}
			if about = ""; !settled {
				continue
			}
			about = rec.ID()
		}
		end = rec.Offset + rec.Length
	}
}

// isSettled reports whether the store has a record of the open file as the answer of a page.
func (t *tail) isSettled(ctx context.Context, rec *warc.Record, offset int64) (bool, error) {
	if !rec.Header.Has(corpus.PageField) && rec.Type() != warc.Metadata {
		return false, nil
	}
	pages, err := t.store.Pages(ctx, []dedup.Hash{dedup.HashOf([]byte(rec.URI()))}, store.WantRecord)
	if err != nil || pages[0] == nil {
		return false, err
	}
	r := &pages[0].Record
	isHere := func(at store.Archived) bool { return at.File == t.name && at.Offset == offset }
	return isHere(r.Archive) || isHere(r.Answered), nil
}
