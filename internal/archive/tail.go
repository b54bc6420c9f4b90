package archive

import (
	"context"
	"errors"
	"io"
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
// A killed process may have written responses whose pages were not committed to the store. So its
// open file is truncated after the last response for a committed page. The store knows the
// committed pages and the positions of their responses.

// An answeredPage is a committed page whose response should be in the open file.
type answeredPage struct {
	at   store.Archived
	item frontier.Item // item for fetching the whole page again; has no ETag, so the server cannot respond with 304 (Not Modified)
}

// committed returns the committed pages whose responses should be in the open file that m names, in
// the order of their commits.
func committed(ctx context.Context, s store.Reader, m *mark) (all []answeredPage, err error) {
	name, now := m.name(), time.Now().UTC()
	for page, err := range s.Changes(ctx, m.Cursor, store.WantRecord) {
		if err != nil {
			return nil, err
		}
		for _, at := range []store.Archived{page.Record.Archive, page.Record.Answered} {
			if at.File == name {
				r := &page.Record
				all = append(all, answeredPage{at, store.Revisit(r, now, false)})
			}
		}
	}
	return all, nil
}

// A tail is an archive file that a killed process left open and that must be truncated.
type tail struct {
	store store.Reader
	file  *os.File
	name  string // name that the file will have once it is closed
}

// close completes the file that m names, and closes it. The results are those of [Adopt]. unlock is nil if
// the file is not locked.
func (t *tail) close(ctx context.Context, m *mark, unlock func(), requeue requeue) (closed bool, lost int, err error) {
	defer t.file.Close()
	if unlock != nil {
		defer unlock()
	}
	all, err := committed(ctx, t.store, m)
	if err != nil {
		return false, 0, err
	}
	end, entries, lost, err := t.settle(ctx, all, requeue)
	switch {
	case err != nil:
		return false, lost, err
	case end == 0: // not even its first record, the warcinfo, is complete
		return false, lost, os.Remove(t.file.Name())
	}
	err = finish(t.file, t.name, end, entries)
	return err == nil, lost, err
}

// settle returns the offset at which to truncate the file: just after the last response for the given
// pages and the POST responses that it has moved there, or 0 if not even the first record is complete. It also returns the index of the records
// before it. The pages whose responses are not in the file are passed to requeue, and lost is their
// number. If requeue is nil, settle returns [ErrLacking] for such pages.
func (t *tail) settle(ctx context.Context, all []answeredPage, requeue requeue) (end int64, entries []warc.Entry, lost int, err error) {
	info, err := t.file.Stat()
	if err != nil {
		return 0, nil, 0, err
	}
	var gone []answeredPage
	var last store.Archived
	for _, c := range all {
		switch end := c.at.Offset + c.at.Length; {
		case end > info.Size():
			gone = append(gone, c)
		case end > last.Offset+last.Length:
			last = c.at
		}
	}
	if end, err = t.endOf(ctx, last); err == nil && end > 0 {
		end, err = t.movePosted(ctx, end)
	}
	if err != nil {
		return 0, nil, len(gone), err
	}
	switch {
	case len(gone) > 0 && requeue == nil:
		return 0, nil, len(gone), ErrLacking
	case len(gone) > 0:
		if err := fetchAgain(ctx, requeue, gone); err != nil {
			return 0, nil, len(gone), err
		}
	}
	entries, err = warc.IndexOf(io.NewSectionReader(t.file, 0, end), t.name, func(*warc.Damage) {}) // skips damaged records
	return end, entries, len(gone), err
}

// endOf returns the offset after the last record that belongs to a committed page. It begins at
// last, the last response that end has found. If last is the zero value, it begins at the first
// record of the file, which is always kept. Later responses may belong to pages that a visit found
// unchanged, so endOf asks the store about each. It stops at the first damaged or incomplete
// record, and returns 0 if that is the first record of the file.
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
