package session

import (
	"context"

	"skink/store"
)

// A Follower receives the pages of a store while a crawl runs. The zero value receives none.
type Follower struct {
	After store.Cursor // the position after which Page gets the changes; "" means the beginning of the store

	// Page gets each change of the store with its text, in the order of the store. Calls do not
	// overlap. If Page returns an error, the crawl ends.
	Page func(context.Context, *store.Change) error
}

// A follower passes the changes of a store to a [Follower]. It implements [feed.Consumer].
type follower struct {
	Follower
	s   store.Reader
	err error // error of Page, which is not called again
}

func (f *follower) CatchUp(ctx context.Context) error {
	if f.err != nil {
		return nil // it was returned before
	}
	for change, err := range f.s.Changes(ctx, f.After, store.WantText) {
		if err != nil {
			return err
		}
		if f.err = f.Page(ctx, change); f.err != nil {
			return f.err
		}
		f.After = change.Cursor
	}
	return nil
}

func (f *follower) Close(ctx context.Context) error { return f.CatchUp(ctx) }
