package report

import (
	"cmp"
	"context"

	"skink/dedup"
	"skink/store"
	"skink/store/precedence"
)

// A next finds the added page that comes first in the order of package precedence.
type next struct {
	order *precedence.Order
	text  dedup.Hash           // only pages with this text are added; zero means any text
	page  *precedence.Standing // first of the added pages; nil before the first call to add
}

func (n *next) add(r *store.Record) {
	if !n.text.IsZero() && r.Hash != n.text {
		return
	}
	s := precedence.Of(r, n.order)
	if n.page != nil {
		if d, _ := precedence.Compare(&s, n.page); d > 0 {
			return
		}
	}
	n.page = &s
}

// whyLeads returns why a page leads its cluster: the first criterion of package precedence that
// distinguishes it from the next member.
func (b *batch) whyLeads(ctx context.Context, leader *store.Record) (string, error) {
	if b.src.why != nil {
		return b.src.why.WhyLeads(ctx, leader)
	}
	err := b.read(ctx)
	return cmp.Or(b.first[leader.ID], b.nextOf(leader.ID)).why(leader, b.set.Contained > 0), err
}

// why returns why a page leads those that were added. contained says whether the rule is containment.
func (n *next) why(leader *store.Record, contained bool) string {
	switch {
	case n.page == nil && contained:
		return "contains the other pages"
	case n.page == nil:
		return ""
	}
	its := precedence.Of(leader, n.order)
	why := string(precedence.Why(&its, n.page))
	switch {
	case leader.NoIndex:
		why += ", noindex: leads only other noindex pages"
	case leader.Verdict == dedup.Thin:
		why += ", thin: leads only exact duplicates"
	}
	return why
}

// WhyLeads returns a function that says why a page leads the others, which must be all other pages of its
// cluster. contained says whether the rule is containment.
func WhyLeads(ctx context.Context, s store.Reader, contained bool) (func(leader *store.Record, others []*store.Record) (string, error), error) {
	if e, is := s.(explainer); is {
		return func(leader *store.Record, _ []*store.Record) (string, error) { return e.WhyLeads(ctx, leader) }, nil
	}
	order, err := precedence.Read(ctx, s)
	return func(leader *store.Record, others []*store.Record) (string, error) {
		n := newNext(order, leader, contained)
		for _, r := range others {
			n.add(r)
		}
		return n.why(leader, contained), nil
	}, err
}

// newNext returns an empty next for the members of a leader's cluster. If the rule is containment,
// the next accepts only members with the leader's text, because other members never lead.
func newNext(order *precedence.Order, leader *store.Record, contained bool) *next {
	n := &next{order: order}
	if leader != nil && contained {
		n.text = leader.Hash
	}
	return n
}

func (b *batch) nextOf(leader dedup.Hash) *next {
	return newNext(b.order, b.records[leader], b.set.Contained > 0)
}
