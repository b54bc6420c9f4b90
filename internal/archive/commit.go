package archive

import (
	"cmp"
	"context"
	"sync"

	"skink/crawler"
	"skink/internal/corpus"
	"skink/internal/ingest"
	"skink/store"
	"skink/warc"
)

// # Consistency with the store
//
// A page's answer is written before the page is committed, and its record has the position of the
// answer. So each page in the store has its answer. A crash between the two leaves an answer that
// is not in the store, and the page will be fetched again. The answers of pages are written in the
// order of their commits. So on a resume, everything after the answer of the last committed page
// can be cut off.
//
// Pages are written and committed in groups, because committing many costs little more than
// committing one. Pages that arrive during a commit wait in a queue. The first waiting call then
// takes the whole queue: it writes the answers at once, and commits the entries in the same order.
// The store refuses an entry with a stale verdict, and stops there. Its answer is removed, the
// later answers are written again at its position and committed, and the stale page is judged
// again.
//
// A crash also loses the answers after the last page that are not pages: those for robots.txt, and
// those of URLs that were tried again. The crawl requests robots.txt again when it resumes.

// A line is the queue of pages that wait to be committed.
type line struct {
	mu      sync.Mutex
	waiting []*call // guarded by mu
}

// A call is a page to commit. The archive's lock guards its answer.
type call struct {
	entry *store.Entry
	packed
	kept bool // the visit does not change the record, or the earlier record is unknown

	outcome store.Outcome
	served  bool
	err     error
}

func (l *line) join(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, c)
}

func (l *line) take() []*call {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.waiting
	l.waiting = nil
	return all
}

// Answer returns a function that commits a page's entry together with the page's answer.
func (a *Archive) Answer(page *crawler.Page) ingest.EntryWriter {
	var answer packed
	var failed error
	if page.Raw != nil {
		answer, failed = a.answer(page.Raw, corpus.IsPage, "")
	}
	return func(ctx context.Context, e *store.Entry) (store.Outcome, error) {
		all, err := answer, failed
		if isFound(page, &e.Record) && a.idAt(e.Record.Archive) == "" { // lost in a power cut, or deleted
			e.Record.Archive, e.Record.Answered = store.Archived{}, store.Archived{}
		}
		if profile := repeats(answer, page, &e.Record); profile != "" && err == nil {
			all, err = a.revisit(page.Raw, profile, &e.Record)
		} else if err == nil {
			switch r := &e.Record; {
			case page.Raw == nil || page.Problem != "":
			case r.Visit == store.Failed: // there was an answer, but it does not count as the page
				all, err = a.answer(page.Raw, corpus.NotPage, "")
			case crawler.Problem(r.Problem).Answered():
				all, err = a.answer(page.Raw, r.Problem, r.Detail)
			}
			if err == nil {
				all, err = a.with(all, page, &e.Record)
			}
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return store.Stale, err
		}
		return a.commit(ctx, &call{entry: e, packed: all, kept: isKept(&e.Record) || page.NotModified})
	}
}

// isKept reports whether an entry leaves the record unchanged.
func isKept(e *store.Record) bool { return e.Archive != store.Archived{} }

// isFound reports whether an answer has the page that the record describes, so that it can replace
// the answer that the record was made from.
func isFound(page *crawler.Page, e *store.Record) bool {
	return isKept(e) && e.Visit == store.Same && page.Raw != nil && !page.NotModified && page.Problem == ""
}

// repeats returns the profile of the revisit record for an answer, or "" if it needs a response
// record.
func repeats(answer packed, page *crawler.Page, r *store.Record) string {
	switch {
	case page.Raw == nil || !isKept(r):
		return ""
	case page.NotModified:
		return warc.ProfileNotModified
	case answer.digest == r.Archive.Digest && page.Problem == "" && page.Location == "":
		return warc.ProfileIdentical
	}
	return ""
}

// commit commits a page, together with those in the queue.
func (a *Archive) commit(ctx context.Context, c *call) (store.Outcome, error) {
	a.line.join(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !c.served {
		a.serve(context.WithoutCancel(ctx), a.line.take())
	}
	return c.outcome, c.err
}

// serve commits pages. An error is passed to all that remain.
func (a *Archive) serve(ctx context.Context, calls []*call) {
	for len(calls) > 0 && a.failed == nil {
		done, err := a.together(ctx, calls)
		a.fail(err)
		calls = calls[done:]
	}
	for _, c := range calls {
		c.served, c.err = true, a.failed
	}
}

// together commits pages up to the first stale one, or until the file is full, and returns how many
// were served.
func (a *Archive) together(ctx context.Context, calls []*call) (served int, err error) {
	if a.full() {
		if err := a.next(ctx); err != nil {
			return 0, err
		}
	}
	name, end := a.mark.name(), a.at
	var records []byte
	var entries []*store.Entry
	for _, c := range calls {
		if len(entries) > 0 && end >= a.size() {
			break
		}
		place := store.Archived{File: name, Offset: end, Length: c.length, Digest: c.digest}
		if r := &c.entry.Record; c.kept {
			r.Answered = place
		} else {
			r.Archive = place
		}
		entries = append(entries, c.entry)
		records = append(records, c.records...)
		end += int64(len(c.records))
	}
	if err := a.write(records); err != nil {
		return 0, err
	}
	outcomes, err := a.store.Commit(ctx, entries)
	if err != nil {
		return 0, err
	}
	for i, outcome := range outcomes {
		c := calls[i]
		c.served, c.outcome = true, outcome
		if outcome == store.Stale {
			return i + 1, a.file.Truncate(a.at)
		}
		a.wrote(c.packed)
	}
	return len(entries), nil
}
