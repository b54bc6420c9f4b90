package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # What was learned, and a process that is killed
//
// What was learned follows from the records, in the order of their commits. It is written every now
// and then, and with it the cursor up to which it has them. A pipeline that is opened on a store
// takes in the records behind that cursor. So a kill loses nothing that was learned. A page may be
// counted twice if its record came while the lessons were being written.

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
func (p *Pipeline) recall(ctx context.Context, tally *store.Tally) error {
	if p.opt.Learn == nil || p.opt.Shared { // in a shared store, the holder of a host reads what the holder before it wrote
		return nil
	}
	cursor, err := p.store.Meta(ctx, learnedName)
	if err != nil {
		return err
	}
	for page, err := range p.store.Changes(ctx, store.Cursor(cursor), store.WantRecord) {
		if err != nil {
			return fmt.Errorf("take in what was learned: %w", err)
		}
		if v, ok := lessonOf(&page.Record); ok {
			if err := p.opt.Learn.Replay(ctx, page.Record.URL, v); err != nil {
				return err
			}
		}
	}
	if tally.Later == 0 {
		return nil
	}
	for page, err := range p.store.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return fmt.Errorf("take in what was put last: %w", err)
		}
		if r := &page.Record; r.Kind == store.Later && learn.OfPattern(r.Detail) {
			if err := p.opt.Learn.Recall(ctx, r.URL); err != nil {
				return err
			}
		}
	}
	return nil
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
	if err := b.Sync(ctx); err != nil {
		return err
	}
	return p.store.SetMeta(ctx, learnedName, []byte(cursor))
}

// learn tells the book of a page that was judged.
func (p *Pipeline) learn(ctx context.Context, s *subject, outcome store.Outcome) error {
	v, ok := lessonOf(&s.record)
	if p.opt.Learn == nil || outcome != store.Written || s.touch || !ok {
		return nil
	}
	v.Links = s.linkSum
	return p.opt.Learn.Judged(ctx, s.record.URL, v)
}

// lessonOf is what the book is to learn from a page. A page without words teaches nothing: all such
// pages are alike.
func lessonOf(r *store.Record) (v learn.Verdict, ok bool) {
	if isSoft(r) {
		return learn.Verdict{Soft: true}, true
	}
	if r.Kind != store.Page || r.Words == 0 {
		return v, false
	}
	v.Group, v.Thin = r.ID, r.Verdict == dedup.Thin
	v.Changed = r.Visit == store.Altered
	if r.Follows() {
		v.Group, v.Leader, v.Exact = r.Leader, r.DuplicateOf, r.Resemblance == 1
	}
	return v, true
}

func itemURLs(items []frontier.Item) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range items {
			if items[i].Kind == frontier.Page && !yield(items[i].URL) {
				return
			}
		}
	}
}
