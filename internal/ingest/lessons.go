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

// # What was learned, and a process that is killed
//
// Evidence follows from the records, in the order of their commits. It is written every writeEvery,
// and with it a cursor: the book knows of all pages before the cursor. A pipeline that is opened on a
// store takes in the records behind the cursor. Pages that the book knows already teach it nothing,
// because a URL teaches once. So a kill loses no evidence.
//
// A shared store has no such cursor, because the records of all hosts follow one another. If a worker
// is killed there, the next holder of a host lacks the evidence of the last writeEvery.

// NewBook opens what a store knows of sites.
func NewBook(s store.Meta) *learn.Book { return learn.NewBook(keeper{s}) }

// A keeper is a store that keeps a book.
type keeper struct{ store store.Meta }

func (k keeper) Meta(ctx context.Context, name string) ([]byte, error) {
	return k.store.Meta(ctx, name)
}

func (k keeper) Swap(ctx context.Context, name string, old, value []byte) (bool, error) {
	switch err := k.store.SwapMeta(ctx, name, old, value); {
	case errors.Is(err, store.ErrChanged):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}

// learnedName is where a store keeps that cursor.
const learnedName = "learned"

// recall brings the book in step with the store.
func (p *Pipeline) recall(ctx context.Context) error {
	if p.opt.Learn == nil || p.opt.Shared { // in a shared store, the holder of a host reads what the holder before it wrote
		return nil
	}
	cursor, err := p.store.Meta(ctx, learnedName)
	if err != nil {
		return err
	}
	for page, err := range p.store.Changes(ctx, store.Cursor(cursor), store.WantText|store.WantLinks) {
		if err != nil {
			return fmt.Errorf("take in what was learned: %w", err)
		}
		r := &page.Record
		if v, ok := lessonOf(r, p.said(r, page.Text), linked(page.Links)); ok {
			if err := p.opt.Learn.Judged(ctx, r.URL, v); err != nil {
				return err
			}
			if err := p.recallSoft(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// said is what the book compares of a stored page.
func (p *Pipeline) said(r *store.Record, text string) learn.Text {
	canon := p.texts.Get().(*dedup.Text)
	defer giveBack(&p.texts, canon)
	p.opt.Rule.Read(canon, text, r.Lang)
	return learn.TextOf(text, canon.Numbers())
}

// A lesson is on its way from the commit of a page to the book.
type lessons struct {
	mu  sync.Mutex
	now *sync.WaitGroup // guarded by mu: lessons that began since the last turn
}

// begin says that a page is about to be committed. The function that it returns says that the book
// knows of the page.
func (l *lessons) begin() (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		l.now = new(sync.WaitGroup)
	}
	l.now.Add(1)
	return l.now.Done
}

// turn waits until the book knows of all pages that were committed before the call.
func (l *lessons) turn() {
	l.mu.Lock()
	before := l.now
	l.now = nil
	l.mu.Unlock()
	if before != nil {
		before.Wait()
	}
}

// keepLearned writes what was learned since the last time.
func (p *Pipeline) keepLearned(ctx context.Context) error {
	b := p.opt.Learn
	if b == nil || !b.Dirty() {
		return nil
	}
	if p.opt.Shared { // nobody recalls
		return b.Sync(ctx)
	}
	cursor, err := p.store.End(ctx)
	if err != nil {
		return err
	}
	p.lessons.turn()
	if err := b.Sync(ctx); err != nil {
		return err
	}
	return p.store.SetMeta(ctx, learnedName, []byte(cursor))
}

// learn tells the book of a page that was judged.
func (p *Pipeline) learn(ctx context.Context, s *subject, outcome store.Outcome) error {
	if p.opt.Learn == nil || outcome != store.Written || s.touch {
		return nil
	}
	v, ok := lessonOf(&s.record, s.said, itemURLs(s.links))
	if !ok {
		return nil
	}
	return p.opt.Learn.Judged(ctx, s.record.URL, v)
}

// relearn tells the book of a stored page that follows another leader now. Copies that came while the
// lead changed hands would otherwise be remembered for different leaders.
func (p *Pipeline) relearn(ctx context.Context, r *store.Record) error {
	if p.opt.Learn == nil || r.Kind != store.Page || !r.Follows() {
		return nil
	}
	return p.opt.Learn.Follows(ctx, r.URL, r.DuplicateOf)
}

// itemURLs yields the URLs of pages to be fetched.
func itemURLs(items []frontier.Item) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range items {
			if items[i].Kind == frontier.Page && !yield(items[i].URL) {
				return
			}
		}
	}
}

// linked yields the URLs of links that a crawl follows.
func linked(links []store.Link) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range links {
			if !links[i].Kind.Asset() && !yield(links[i].URL) {
				return
			}
		}
	}
}

// lessonOf is what the book is to learn from a page with a text and links.
func lessonOf(r *store.Record, text learn.Text, links iter.Seq[string]) (v learn.Verdict, ok bool) {
	v.At = r.FetchedAt
	switch {
	case isSoft(r):
		v.Soft = true
		return v, true
	case r.Kind == store.Other && !r.Hash.IsZero():
		v.File, v.Text = true, learn.Body(r.Hash)
		return v, true
	case r.Kind != store.Page:
		return v, false
	}
	v.Group, v.Text, v.Thin = r.ID, text, r.Verdict == dedup.Thin
	if v.Thin || r.Words < dedup.DefaultMinWords {
		v.Links = learn.LinksOf(r.URL, links)
	}
	v.Changed, v.Title = r.Visit == store.Altered, func() uint64 { return titleWords(r.Title, r.URL) }
	if r.Follows() {
		v.Group, v.Leader, v.Exact = r.Leader, r.DuplicateOf, r.Resemblance == 1
	}
	return v, true
}
