// Package overlay lays a store for new pages over a known store that it does not write to. Each
// lookup searches both. Start with [New].
package overlay

import (
	"context"

	"skink/dedup"
	"skink/store"
)

// Known is a store that is only read. No other process may write to it meanwhile.
type Known interface {
	Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error)
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
}

// A Store stores new pages, and also finds those of the known store, which count as earlier. It
// lists and counts only the new ones. The two stores may have different pages with one name. So ids
// of the known store are returned in another form, which [Store.Pages] recognizes.
type Store struct {
	store.Store
	known Known
}

// New combines own, an empty store for the new pages, with the known store.
func New(own store.Store, known Known) *Store { return &Store{own, known} }

// Lookup returns the results of both stores. A copy in the known one is the earliest. The mark is
// that of the store for new pages: the other does not change. So Full is about the keys of that store,
// and Unread about those of the known one. The leaders are up to [dedup.MaxMet] of each store, those of
// the known one first.
func (s *Store) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	elsewhere := make([]store.Ask, len(asks))
	for i, ask := range asks {
		ask.ID = dedup.Hash{} // a page of that name in the known store is another page
		elsewhere[i] = ask
	}
	known, err := s.known.Lookup(ctx, elsewhere)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.Lookup(ctx, asks)
	if err != nil {
		return nil, err
	}
	for i, k := range known {
		f := &all[i]
		if k.Copy != nil {
			r := abroad(*k.Copy)
			f.Copy = &r
			continue
		}
		leaders := make([]store.Leader, 0, len(k.Leaders)+len(f.Leaders))
		for _, l := range k.Leaders {
			l.ID = otherForm(l.ID)
			leaders = append(leaders, l)
		}
		f.Leaders, f.Unread = append(leaders, f.Leaders...), k.Capped()
	}
	return all, nil
}

// Pages returns pages of either store.
func (s *Store) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	all, err := s.Store.Pages(ctx, ids, want)
	if err != nil {
		return nil, err
	}
	var missing []int
	var there []dedup.Hash
	for i, page := range all {
		if page == nil {
			missing, there = append(missing, i), append(there, otherForm(ids[i]))
		}
	}
	if len(missing) == 0 {
		return all, nil
	}
	known, err := s.known.Pages(ctx, there, want)
	if err != nil {
		return nil, err
	}
	for k, page := range known {
		if page != nil {
			found := *page
			found.Record = abroad(found.Record)
			all[missing[k]] = &found
		}
	}
	return all, nil
}

// abroad returns a record of the known store with its ids in the other form.
func abroad(r store.Record) store.Record {
	r.ID = otherForm(r.ID)
	if !r.Leader.IsZero() {
		r.Leader = otherForm(r.Leader)
	}
	return r
}

// otherForm converts the id of a page of the known store into its other form, and back. Ids are
// hashes, so no other page has that id.
func otherForm(id dedup.Hash) dedup.Hash {
	for i := range id {
		id[i] ^= 0xA5
	}
	return id
}
