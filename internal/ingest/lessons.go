package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Learned evidence after a crash
//
// A [learn.Book] holds the evidence about all hosts. The evidence depends only on the records, in
// the order of their commits. It is written to the store every writeEvery, together with a cursor,
// but the evidence about a large host less often. The stored evidence includes all records before
// the cursor. A pipeline that opens a store adds
// the records after the cursor. Records that are already in the book change nothing, because each
// URL counts only once. So no evidence is lost when the process is killed.
//
// In a store shared by several workers, the evidence about each claimed host has a cursor of its
// own; see [learn.Book.Enter]. The worker that claims the host of a killed worker adds the records
// after it.
//
// A probe that was requested but not answered is requested again; see [Pipeline.Probe].

// NewBook returns the book of evidence about sites in a store.
func NewBook(s store.Meta) *learn.Book { return learn.NewBook(keeper{s}) }

type keeper struct{ store.MetaSwapper }

func (k keeper) Swap(ctx context.Context, name string, old, value []byte) (bool, error) {
	err := k.SwapMeta(ctx, name, old, value)
	if errors.Is(err, store.ErrChanged) {
		return false, nil
	}
	return err == nil, err
}

const learnedName = "learned"

type lessons struct {
	store  pageStore
	book   *learn.Book // nil if the crawl does not learn
	shared bool        // other workers also write to the store

	mu  sync.Mutex
	now *sync.WaitGroup // guarded by mu: counts the commits begun since the last call to await that are not done yet
}

func (l *lessons) recall(ctx context.Context, soft *softPages) error {
	if l.book == nil || l.shared { // in a shared store, see enter
		return nil
	}
	cursor, err := l.store.Meta(ctx, learnedName)
	if err != nil {
		return err
	}
	return l.replay(ctx, string(cursor), "", soft)
}

// enter completes the evidence about the host of a URL if its last worker was killed.
func (l *lessons) enter(ctx context.Context, url string, soft *softPages) error {
	if l.book == nil || !l.shared {
		return nil
	}
	host := frontier.HostOf(url)
	end := func() (string, error) {
		cursor, err := l.store.End(ctx)
		return string(cursor), err
	}
	return l.book.Enter(ctx, host, end, func(since string) error { return l.replay(ctx, since, host, soft) })
}

// replay adds the records after a cursor to the book, and compares their pages with the responses
// to probes. If host is not "", it skips the records of other hosts.
func (l *lessons) replay(ctx context.Context, since, host string, soft *softPages) error {
	for change, err := range l.store.Changes(ctx, store.Cursor(since), store.WantRecord) {
		if err != nil {
			return fmt.Errorf("store the learned patterns: %w", err)
		}
		if host != "" && frontier.HostOf(change.Record.URL) != host {
			continue
		}
		page, err := l.store.page(ctx, change.Record.ID, store.WantText|store.WantLinks)
		if err != nil {
			return err
		}
		if page == nil {
			continue
		}
		r := &page.Record
		links := each(page.Links, func(l *store.Link) (string, bool) { return l.URL, !l.Kind.Asset() })
		if err := l.learn(ctx, r, said(page.Text), links); err != nil {
			return err
		}
		if err := soft.recall(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// said returns the hashes that the book compares, for the text of a stored page.
func said(text string) learn.Text {
	canon, done := canonical(text)
	defer done()
	return learn.TextOf(text, canon.Numbers())
}

// begin must be called before a page is committed. Call done once the page is in the book.
func (l *lessons) begin() (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		l.now = new(sync.WaitGroup)
	}
	l.now.Add(1)
	return l.now.Done
}

// await waits until all pages that have been committed are in the book.
func (l *lessons) await() {
	l.mu.Lock()
	before := l.now
	l.now = nil
	l.mu.Unlock()
	if before != nil {
		before.Wait()
	}
}

// keep writes the evidence, but may leave out the last verdicts on large hosts unless all is set.
func (l *lessons) keep(ctx context.Context, all bool) error {
	if l.book == nil {
		return nil
	}
	cursor, err := l.store.End(ctx)
	if err != nil {
		return err
	}
	l.await()
	since, err := l.book.Sync(ctx, string(cursor), all)
	if err != nil || l.shared {
		return err
	}
	return l.store.SetMeta(ctx, learnedName, []byte(since))
}

// learn adds a record to the book. The book needs the hashes of its text and its links, too.
func (l *lessons) learn(ctx context.Context, r *store.Record, said learn.Text, links iter.Seq[string]) error {
	v, ok := lessonOf(r, said, links)
	if !ok {
		return nil
	}
	return l.book.Judged(ctx, r.URL, v)
}

// follows records in the book that a stored page now has another leader. Otherwise, copies that
// arrive while a leader is being replaced would be counted as copies of different leaders.
func (l *lessons) follows(ctx context.Context, r *store.Record) error {
	if l.book == nil || r.Kind != store.Page || !r.Follows() {
		return nil
	}
	return l.book.Judged(ctx, r.URL, learn.Verdict{Leader: r.DuplicateOf, At: r.FetchedAt})
}

// lessonOf returns the verdict on a page in the form that the book needs. It returns false if the
// page provides no evidence.
func lessonOf(r *store.Record, text learn.Text, links iter.Seq[string]) (v learn.Verdict, ok bool) {
	v.At = r.FetchedAt
	switch {
	case isSoft(r):
		v.Soft = true
		return v, true
	case r.Requisite:
		return v, false
	case r.Kind == store.Other && !r.Hash.IsZero():
		v.File, v.Text = true, learn.Body(r.Hash)
		return v, true
	case r.Kind != store.Page:
		return v, false
	}
	v.Text, v.Thin = text, r.Verdict == dedup.Thin
	if v.Thin || r.Words < dedup.DefaultMinWords {
		v.Links = learn.LinksOf(r.URL, links)
	}
	v.Changed, v.Title = r.Visit == store.Altered, func() uint64 { return titleWords(r.Title, r.URL) }
	if r.Follows() {
		v.Leader, v.Exact = r.DuplicateOf, r.Resemblance == 1
	}
	return v, true
}
