package report

import (
	"context"

	"skink/dedup"
	"skink/internal/precedence"
	"skink/store"
)

// A next finds, among the pages given to add, the one that goes first in the order of package
// precedence.
type next struct {
	order *precedence.Order
	page  *precedence.Standing // the first page so far; nil: add was not called
}

func (n *next) add(r *store.Record) {
	s := precedence.Of(r, n.order)
	if n.page != nil {
		if d, _ := precedence.Compare(&s, n.page); d > 0 {
			return
		}
	}
	n.page = &s
}

// whyLeads returns why leader leads its cluster: the first criterion of package precedence by which
// it goes before all members. It adds a note for a noindex page, which may lead only noindex pages,
// and for a thin page, which may lead only exact copies.
func (b *batch) whyLeads(ctx context.Context, leader *store.Record) (string, error) {
	if b.src.why != nil {
		return b.src.why(leader), nil
	}
	first, err := b.firstOf(ctx, leader.ID)
	if err != nil || first.page == nil {
		return "", err
	}
	its := precedence.Of(leader, first.order)
	why := string(precedence.Why(&its, first.page))
	switch {
	case leader.NoIndex:
		why += ", noindex: leads other noindex pages only"
	case leader.Verdict == dedup.Thin:
		why += ", thin: leads exact copies only"
	}
	return why, nil
}

// firstOf returns which member of the leader's cluster goes first in the order of package
// precedence. For a large cluster it reads all members again, because a batch does not hold them.
func (b *batch) firstOf(ctx context.Context, leader dedup.Hash) (*next, error) {
	if !b.large {
		if err := b.read(ctx); err != nil {
			return nil, err
		}
		if b.first[leader] == nil {
			return &next{order: b.order}, nil
		}
		return b.first[leader], nil
	}
	first := &next{order: b.order}
	for r, err := range b.src.s.Members(ctx, b.leaders) {
		if err != nil {
			return nil, err
		}
		first.add(r)
	}
	return first, nil
}
