package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"skink/dedup"
	"skink/internal/precedence"
	"skink/store"
)

// # When a leader changes
//
// If a page that led others has other words now, or is gone, its members follow a text that no
// longer exists. Each of them is judged again by its kept text, in the order of package precedence.
// So the new leader is the page that would have led without the old one. Members without a kept
// text are put back into the frontier, to be fetched and judged.
//
// The leader's URL stays pending until its members are settled: its new record is written first,
// its end last. So if a crawl is killed in between, the next run finds the URL pending and the
// record written, and settles the members.
//
// While members are settled, other pages may be judged to be copies of a member that is not settled
// yet. They take over its verdict only if the leader still resembles them as that verdict says, see
// [Pipeline.trusts]. The store commits it only if the leader has not changed meanwhile. So no page
// follows an old version of a leader. Pages that resemble the new version may follow it before the
// members are settled: the members are listed again until there are no new ones.

// unsettles reports whether a subject may have members that must be judged again.
func (s *subject) unsettles() bool {
	b := s.before
	switch {
	case b == nil || s.touch || s.carried:
		return false
	case s.known: // the record was written before a crash, perhaps before the members were settled
		return len(b.Earlier) > 0 && b.Earlier[0].Words > 0
	}
	return b.Kind == store.Page && b.Words > 0 && !b.Follows()
}

// A settling is the state of judging the members of a leader again.
type settling struct {
	leader dedup.Hash
	done   map[dedup.Hash]time.Time // settled members, with the times of their new records
	first  map[wording]dedup.Hash   // by text, the first settled member
}

// A wording is equal for pages that are copies of each other. Pages with noindex lead only other
// such pages, so their wordings differ from those of public pages.
type wording struct {
	hash    dedup.Hash
	noIndex bool
}

func newSettling(leader dedup.Hash) *settling {
	return &settling{leader, map[dedup.Hash]time.Time{}, map[wording]dedup.Hash{}}
}

// mostSettled is how many members are judged with one look-up.
const mostSettled = 64

// settle judges the members of a leader again. Several are judged at once if that cannot change
// their verdicts: see [Pipeline.judgeMembers].
func (p *Pipeline) settle(ctx context.Context, leader dedup.Hash) error {
	st := newSettling(leader)
	for {
		members, err := p.unsettled(ctx, st)
		if err != nil || len(members) == 0 {
			return err
		}
		for len(members) > 0 {
			n, err := p.judgeMembers(ctx, st, members[:min(len(members), mostSettled)])
			if err != nil {
				return fmt.Errorf("judge members again: %w", err)
			}
			members = members[n:]
		}
	}
}

// A member is a page that followed the leader, with its position in the order.
type member struct {
	id       dedup.Hash
	standing precedence.Standing
}

// unsettled returns the members that were not judged yet, in the order in which to judge them.
func (p *Pipeline) unsettled(ctx context.Context, st *settling) (members []member, err error) {
	for r, err := range p.store.Members(ctx, []dedup.Hash{st.leader}) {
		if err != nil {
			return nil, err
		}
		if !st.has(r) {
			members = append(members, member{r.ID, p.standing(r)})
		}
	}
	slices.SortFunc(members, func(a, b member) int {
		d, _ := precedence.Compare(&a.standing, &b.standing)
		return d
	})
	return members, nil
}

// judgeMembers judges members of a leader that changed, with the same results as one after another.
// It returns how many are done: those after a member that leads, or changes a leader, must be
// judged again, because they may resemble it.
func (p *Pipeline) judgeMembers(ctx context.Context, st *settling, members []member) (done int, err error) {
	ids := make([]dedup.Hash, len(members))
	for i, m := range members {
		ids[i] = m.id
	}
	contents, err := p.store.Pages(ctx, ids, store.WantText|store.WantSketch|store.WantLinks)
	if err != nil {
		return 0, err
	}
	subjects := make([]*subject, len(members)) // nil: not judged
	var judged []*subject
	for i, c := range contents {
		switch {
		case c == nil || c.Record.Leader != st.leader || !c.Record.Follows(): // it was visited meanwhile
		case !c.Kept:
			st.settled(&c.Record)
			if err := p.store.fetchAgain(ctx, &c.Record); err != nil {
				return 0, err
			}
		default:
			subjects[i] = p.remade(c)
			judged = append(judged, subjects[i])
		}
	}
	if err := p.judgeBy(ctx, func(s *subject) (*store.Record, error) { return p.twin(ctx, st, s) }, judged...); err != nil {
		return 0, err
	}
	var changed []*subject
	for _, s := range subjects {
		done++
		if s == nil {
			continue
		}
		if sameVerdict(&s.record, s.before) {
			st.settled(s.before)
			continue
		}
		changed = append(changed, s)
		if !s.record.Follows() || s.changesLeaders() {
			break
		}
	}
	written, err := p.rewrite(ctx, changed...)
	for _, s := range changed[:written] {
		st.settled(&s.record)
		if err == nil {
			err = p.afterwards(ctx, s)
		}
	}
	if err != nil || written == len(changed) {
		return done, err
	}
	return slices.Index(subjects, changed[written]), nil
}

// after returns the current time, or a time just after t if the clock has not passed t yet.
func after(t time.Time) time.Time {
	if now := time.Now().UTC(); now.After(t) {
		return now
	}
	return t.Add(1)
}

// settled records that a member is done, and whether it is the first with its text.
func (st *settling) settled(r *store.Record) {
	st.done[r.ID] = r.Began()
	w := wording{r.Hash, r.NoIndex}
	if _, ok := st.first[w]; !ok && !r.NoText {
		st.first[w] = r.ID
	}
}

// has reports whether a record is that of a settled member. A member that was visited meanwhile has
// another record.
func (st *settling) has(r *store.Record) bool {
	at, ok := st.done[r.ID]
	return ok && at.Equal(r.Began())
}

// remade returns the subject of a stored page.
func (p *Pipeline) remade(c *store.Content) *subject {
	before := c.Record
	s := &subject{record: c.Record, before: &before}
	p.sketch(s, c.Text)
	s.pack(c.Text, c.Markdown)
	if len(c.Links) > 0 {
		s.out = store.PackLinks(c.Record.URL, c.Links)
	}
	return s
}

// twin returns the current record of the first settled copy of a subject, or nil if there is none.
// Without it, pages too short to be compared would not find each other while the copy that the
// store names is not judged yet.
func (p *Pipeline) twin(ctx context.Context, st *settling, s *subject) (*store.Record, error) {
	for _, noIndex := range []bool{false, true} {
		id, ok := st.first[wording{s.record.Hash, noIndex}]
		if !ok || noIndex && !s.record.NoIndex {
			continue
		}
		r, err := p.store.record(ctx, id)
		if err != nil {
			return nil, err
		}
		if r != nil && r.ID != s.record.ID && r.Kind == store.Page && r.Hash == s.record.Hash && r.NoIndex == noIndex {
			return r, nil
		}
	}
	return nil, nil
}
