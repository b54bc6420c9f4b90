// Package against judges new pages against a store that is known, without writing to it. What is
// new goes into a store of its own, and is compared with both. Start with [New].
package against

import (
	"context"

	"skink/dedup"
	"skink/store"
)

// Known is a store that is looked into, and not written to. Nobody else may write to it meanwhile.
type Known interface {
	Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error)
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
}

// A Store takes in new pages, and finds those of the known store too, which come first. It lists
// and counts the new ones only. The page of one name may be another in each store, so an id of the
// known store is given out in another form, by which [Store.Pages] knows it again.
type Store struct {
	store.Store
	known Known
}

// New joins an empty store, which takes in what is new, with the one that is known.
func New(own store.Store, known Known) *Store { return &Store{own, known} }

// Lookup answers with what both stores have. A copy in the known one is the earliest. The mark is
// that of the store that is written to: the other does not change.
func (s *Store) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	elsewhere := make([]store.Ask, len(asks))
	for i, ask := range asks {
		ask.ID = dedup.Hash{} // the page of that name is a page like others there
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
		f.Leaders = append(leaders, f.Leaders...)
	}
	return all, nil
}

// Pages are those of either store.
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

// abroad is a record of the known store as it is given out.
func abroad(r store.Record) store.Record {
	r.ID = otherForm(r.ID)
	if !r.Leader.IsZero() {
		r.Leader = otherForm(r.Leader)
	}
	return r
}

// otherForm turns the id of a page of the known store into the form that is given out, and back.
// Ids are hashes, so no other page has it.
func otherForm(id dedup.Hash) dedup.Hash {
	for i := range id {
		id[i] ^= 0xA5
	}
	return id
}
