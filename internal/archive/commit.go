package archive

import (
	"cmp"
	"context"
	"sync"

	"skink/crawler"
	"skink/internal/ingest"
	"skink/internal/replay"
	"skink/store"
	"skink/warc"
)

// # In step with the store
//
// A page's answer is written before the page is committed, with its place in the record, so that
// no page of the store is without its answer. A crash between the two leaves an answer that the
// store does not know of, and the page will be fetched again. So that the old answer can go, the
// answers of pages stand in the order of their commits: all that is behind the answer of the last
// page that was committed is cut off when the crawl goes on.
//
// One page cannot be written and committed after the other, for a commit of many costs little more
// than that of one. So pages that come while others are being committed wait in a line, and whoever
// is first takes all of them: their answers are written at once, and their entries committed in
// the same order. The store refuses an entry whose verdict is stale, and stops there. That answer
// is taken out again, and those after it are written anew in its place and committed, while the
// stale one goes back to be judged.
//
// What a crash costs beside: answers that are no pages (of a robots.txt, of a URL that was tried
// again) behind the last page. The crawl asks for a robots.txt again when it goes on.

// A line is the pages that wait to be committed.
type line struct {
	mu      sync.Mutex
	waiting []*call // guarded by mu
}

// A call is a page that is to be committed. The archive's lock guards its answer.
type call struct {
	entry *store.Entry
	packed
	kept bool // the record stays what it was before the visit, or what it was is not known

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

// Answer returns what commits a page's entry together with the page's answer.
func (a *Archive) Answer(page *crawler.Page) ingest.Commit {
	var answer packed
	var failed error
	if page.Raw != nil {
		answer, failed = a.answer(page.Raw, replay.IsPage, "")
	}
	return func(ctx context.Context, e *store.Entry) (store.Outcome, error) {
		all, err := answer, failed
		if isFound(page, &e.Record) && a.idAt(e.Record.Archive) == "" { // a power cut took it, or somebody
			e.Record.Archive, e.Record.Answered = store.Archived{}, store.Archived{}
		}
		if profile := repeats(answer, page, &e.Record); profile != "" && err == nil {
			all, err = a.revisit(page.Raw, profile, &e.Record)
		} else if err == nil {
			switch r := &e.Record; {
			case page.Raw == nil || page.Problem != "":
			case r.Visit == store.Failed: // there was an answer, and it is not taken for the page
				all, err = a.answer(page.Raw, replay.NotPage, "")
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

// isKept says whether an entry leaves the record what it was before the visit.
func isKept(e *store.Record) bool { return e.Archive != store.Archived{} }

// isFound says whether an answer brought a page that is what its record says, so that it can stand
// in for the answer that the record was made from.
func isFound(page *crawler.Page, e *store.Record) bool {
	return isKept(e) && e.Visit == store.Same && page.Raw != nil && !page.NotModified && page.Problem == ""
}

// repeats is the profile of the revisit that an answer is; "": it is none.
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

// commit commits a page, together with those that wait.
func (a *Archive) commit(ctx context.Context, c *call) (store.Outcome, error) {
	a.line.join(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !c.served {
		a.serve(context.WithoutCancel(ctx), a.line.take())
	}
	return c.outcome, c.err
}

// serve commits pages. An error is one for all of them that are left.
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

// together commits pages up to the first that is stale, or until the file is full, and returns
// how many were served.
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
