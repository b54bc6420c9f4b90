// Package overlay combines a store for new pages with a known store that it only reads. Each lookup
// searches both. Start with [New].
package overlay

import (
	"context"

	"skink/dedup"
	"skink/store"
)

// Known is a read-only store. No process may write to it while an overlay uses it.
type Known interface {
	Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error)
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
}

// A Store stores new pages, and also finds the pages of the known store, which count as earlier
// than the new ones. It lists and counts only the new pages. The two stores may have different
// pages with the same ID. So the overlay returns an ID of the known store in a different form,
// which [Store.Pages] recognizes.
type Store struct {
	store.Store
	known Known
	mask  byte // distinguishes the IDs of this known store from those of other overlays
}

// New combines own with the known store. own is an empty store for the new pages, or an overlay of
// one; its known pages then count as later than those of known.
func New(own store.Store, known Known) *Store {
	s := &Store{own, known, firstMask}
	if inner, ok := own.(*Store); ok {
		s.mask = inner.mask + 1
	}
	return s
}

const firstMask = 0xA5

// Lookup combines the results of both stores. A copy in the known store counts as the earliest.
// Only the store for new pages changes, so Mark and Full in a result come from that store. Unread
// reports whether some leaders in the known store were not read. The leaders from the known store
// come first. Each store contributes at most [dedup.MaxMet].
func (s *Store) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	elsewhere := make([]store.Ask, len(asks))
	for i, ask := range asks {
		ask.ID = dedup.Hash{} // in the known store this ID belongs to a different page
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
			r := s.abroad(*k.Copy)
			f.Copy = &r
			continue
		}
		leaders := make([]store.Leader, 0, len(k.Leaders)+len(f.Leaders))
		for _, l := range k.Leaders {
			l.ID = s.otherForm(l.ID)
			leaders = append(leaders, l)
		}
		f.Leaders, f.Unread = append(leaders, f.Leaders...), k.Capped() || s.mask != firstMask && f.Unread
	}
	return all, nil
}

// Pages returns pages from both stores by ID. IDs of pages in the known store must have the form
// that Lookup returns.
func (s *Store) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	all, err := s.Store.Pages(ctx, ids, want)
	if err != nil {
		return nil, err
	}
	var missing []int
	var there []dedup.Hash
	for i, page := range all {
		if page == nil {
			missing, there = append(missing, i), append(there, s.otherForm(ids[i]))
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
			found.Record = s.abroad(found.Record)
			all[missing[k]] = &found
		}
	}
	return all, nil
}

// abroad returns a copy of a record from the known store, with its IDs in their other form; see
// otherForm.
func (s *Store) abroad(r store.Record) store.Record {
	r.ID = s.otherForm(r.ID)
	if !r.Leader.IsZero() {
		r.Leader = s.otherForm(r.Leader)
	}
	return r
}

// otherForm converts the ID of a page in the known store to its other form, and back. IDs are
// hashes, so in practice no page in the new store has that ID.
func (s *Store) otherForm(id dedup.Hash) dedup.Hash {
	for i := range id {
		id[i] ^= s.mask
	}
	return id
}
