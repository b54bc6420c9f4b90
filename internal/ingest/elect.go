package ingest

import (
	"bytes"
	"context"
	"slices"

	"skink/dedup"
	"skink/internal/precedence"
	"skink/store"
)

// # Who leads
//
// A page is judged when it comes, so the page that came first leads at first. Package precedence says
// which page should lead. A page takes the lead of the cluster that it was found to belong to if it
// goes before the page that leads it. So the leader follows from the pages, and not from the order
// in which they came.
//
// A leader changes in three steps. The new leader is written first. Then the old one is written as
// a page that follows it: both resemble each other as much as they did before. Last, the members of
// the old one are judged again (see settle.go). The URL in hand stays pending until that is done, so
// that a crawl that is killed in between goes on with it.
//
// The page that would lead without canonical URLs gives the lead to the page of the cluster that it
// names. So a cluster is looked at as a whole before its leader changes. That is a
// list of its members, and it is seldom made: a page that neither goes before the leader nor is
// named by it changes nothing.
//
// Elections of one process are held one at a time, see electing.go. A page that is judged without the
// right to change who leads only learns that it needs that right. When it has it, it is judged again. A page of another process may have taken the lead
// of the same page meanwhile. Then the old leader follows that page, and the subject is judged again.
// So after both have been committed, the second of them sees the first.
//
// A page that names one of the leaders that it met, and resembles it enough, follows that one even
// if it resembles another more.

// SetOrder replaces the order of hosts, by which pages that come from now on take the lead.
func (p *Pipeline) SetOrder(o *precedence.Order) { p.order.Store(o) }

// elects says whether pages take the lead from others. Files do not.
func (p *Pipeline) elects() bool { return p.order.Load() != nil }

func (p *Pipeline) standing(r *store.Record) precedence.Standing {
	return precedence.Of(r, p.order.Load())
}

// A takeover is a leader whose place a subject takes.
type takeover struct {
	leader dedup.Hash // its id; zero: there is none
	text   dedup.Hash // of the leader

	like dedup.Verdict // of the subject, if it followed the leader: the leader gets it
}

// alone makes a subject the only one that changes who leads, until it is committed.
func (p *Pipeline) alone(s *subject) {
	if !s.alone {
		standing := p.standing(&s.record)
		p.electing.lock(&standing)
		s.alone = true
	}
}

// among lets others change who leads.
func (p *Pipeline) among(s *subject) {
	if s.alone {
		s.alone = false
		p.electing.unlock()
	}
}

// contest gives a subject the lead of the cluster that it was found to belong to, if it is the page
// that should have it. l is the page that leads the cluster; nil: it is to be read. text is that of
// the leader when the subject was compared with it: a leader that has another text by now was
// visited, and the subject will be refused as stale. A subject that only asks learns whether that may be so.
func (p *Pipeline) contest(ctx context.Context, s *subject, l *store.Record, text dedup.Hash) (err error) {
	r := &s.record
	if !p.elects() || !r.Follows() || l != nil && !p.mayChange(r, l) {
		return nil
	}
	if s.asks && l != nil {
		s.wants = true
		return nil
	}
	if l, err = p.recordOf(ctx, r.Leader); err != nil || l == nil || l.Kind != store.Page || l.Hash != text || l.Follows() || !p.mayChange(r, l) {
		return err
	}
	if s.asks {
		s.wants = true
		return nil
	}
	leads, err := p.bestOf(ctx, l, r)
	switch {
	case err != nil || leads == l.URL:
		return err
	case leads == r.URL:
		like := dedup.Verdict{Kind: r.Verdict, Resemblance: r.Resemblance, Method: r.Found}
		p.lead(s, takeover{l.ID, l.Hash, like})
	default: // it gives another member the lead, when it is one itself
		s.reelect = append(s.reelect, l.ID)
	}
	return nil
}

// mayChange says whether a page that comes to a cluster may change who leads it.
func (p *Pipeline) mayChange(r, leader *store.Record) bool {
	mine, its := p.standing(r), p.standing(leader)
	if precedence.Yields(&mine, &its) {
		return false
	}
	before, _ := precedence.Compare(&mine, &its)
	return before < 0 || precedence.Yields(&its, &mine)
}

// bestOf returns the URL of the page that should lead a cluster, with a page that came to it; nil:
// none did.
func (p *Pipeline) bestOf(ctx context.Context, leader, came *store.Record) (string, error) {
	pages := []precedence.Standing{p.standing(leader)}
	if came != nil {
		pages = append(pages, p.standing(came))
	}
	for m, err := range p.store.Members(ctx, []dedup.Hash{leader.ID}) {
		if err != nil {
			return "", err
		}
		if came == nil || m.ID != came.ID {
			pages = append(pages, p.standing(m))
		}
	}
	return pages[precedence.Leader(pages)].URL, nil
}

// lead makes a subject lead in the place of another page.
func (p *Pipeline) lead(s *subject, over takeover) {
	basis := s.basis
	s.unjudged()
	s.basis, s.over = basis, over
	if !p.opt.Rule.Short(s.tokens) {
		s.record.Verdict = dedup.Unique
	}
}

// depose lets the page whose place a subject took follow it, and judges the members of that page
// again. The subject may resemble other leaders, too, so it is judged again itself.
func (p *Pipeline) depose(ctx context.Context, s *subject) error {
	for {
		c, err := p.content(ctx, s.over.leader)
		if err != nil {
			return err
		}
		if c == nil || c.Record.Kind != store.Page || c.Record.Follows() || c.Record.Hash != s.over.text || !c.Kept {
			break // it was done before a crash, or the page was visited meanwhile
		}
		old := p.remade(c)
		switch leads, err := p.yield(ctx, old, s); {
		case err != nil:
			return err
		case !leads:
			return p.judgeAgain(ctx, s.record.ID)
		}
		written, err := p.rewrite(ctx, old)
		if err != nil {
			return err
		}
		if written == 1 {
			break
		}
	}
	if err := p.settle(ctx, s.over.leader); err != nil {
		return err
	}
	return p.judgeAgain(ctx, s.record.ID)
}

// yield gives a page that led the verdict that it follows a subject. It says whether that leads.
func (p *Pipeline) yield(ctx context.Context, old, s *subject) (leads bool, err error) {
	found, err := p.store.Lookup(ctx, []store.Ask{{ID: old.record.ID}})
	if err != nil {
		return false, err
	}
	now, err := p.recordOf(ctx, s.record.ID)
	if err != nil || now == nil || now.Kind != store.Page || now.Follows() || now.Hash != s.record.Hash {
		return false, err
	}
	old.unjudged()
	v := s.over.like
	v.DuplicateOf = now.URL
	old.follow(v, now.ID)
	old.basis = store.Basis{Mark: found[0].Mark}
	old.record.NoText = p.opt.SkipDuplicates
	return true, nil
}

// judgeAgain gives a stored page the verdict that it deserves now.
func (p *Pipeline) judgeAgain(ctx context.Context, id dedup.Hash) error {
	for {
		c, err := p.content(ctx, id)
		if err != nil || c == nil || c.Record.Kind != store.Page || !c.Kept {
			return err
		}
		s := p.remade(c)
		if err := p.judge(ctx, s); err != nil {
			return err
		}
		written, err := p.rewrite(ctx, s)
		if err != nil {
			return err
		}
		if written == 0 {
			continue
		}
		if s.record.Follows() && !c.Record.Follows() {
			if err := p.settle(ctx, id); err != nil {
				return err
			}
		}
		return p.afterwards(ctx, s)
	}
}

// rewrite commits subjects of pages that are stored and were judged again, if their verdicts are not
// what they were. It returns how many verdicts hold, from the first on.
func (p *Pipeline) rewrite(ctx context.Context, all ...*subject) (done int, err error) {
	var entries []*store.Entry
	for _, s := range all {
		if sameVerdict(&s.record, s.before) {
			continue
		}
		if s.before.Verdict != s.record.Verdict {
			s.record.Succeeds(s.before, nil, 1)
		}
		s.record.JudgedAt = after(s.before.Began())
		entries = append(entries, p.entry(s))
	}
	var outcomes []store.Outcome
	if entries != nil {
		if outcomes, err = p.store.Commit(ctx, entries); err != nil {
			return 0, err
		}
	}
	for n, s := range all {
		if sameVerdict(&s.record, s.before) {
			continue
		}
		if outcomes[0] != store.Written {
			return n, nil
		}
		outcomes = outcomes[1:]
		p.counts.rejudged(s)
		if err := p.relearn(ctx, &s.record); err != nil {
			return n, err
		}
	}
	return len(all), nil
}

// reelect gives the lead of a cluster to the member that should have it by now.
func (p *Pipeline) reelect(ctx context.Context, leader dedup.Hash) error {
	for {
		l, err := p.recordOf(ctx, leader)
		if err != nil || l == nil || l.Kind != store.Page || l.Follows() {
			return err
		}
		leads, err := p.bestOf(ctx, l, nil)
		if err != nil || leads == l.URL {
			return err
		}
		c, err := p.content(ctx, dedup.HashOf([]byte(leads)))
		switch {
		case err != nil || c == nil || c.Record.Leader != leader || !c.Record.Follows():
			return err
		case !c.Kept:
			return p.fetchAgain(ctx, &c.Record) // and takes the lead then
		}
		s := p.remade(c)
		b := s.before
		if trusted, err := p.trusts(ctx, s, b, l); err != nil || !trusted {
			return err // the leader was visited, and its members are about to be judged again
		}
		p.lead(s, takeover{leader, l.Hash, dedup.Verdict{Kind: b.Verdict, Resemblance: b.Resemblance, Method: b.Found}})
		written, err := p.rewrite(ctx, s)
		if err != nil {
			return err
		}
		if written == 1 {
			return p.depose(ctx, s)
		}
	}
}

// leavesElected says whether a page that was visited, and is no longer what it was, may have given
// its leader the lead: it would have led, and named that page.
func (p *Pipeline) leavesElected(ctx context.Context, before *store.Record) (bool, error) {
	if !p.elects() || !before.Follows() || before.CanonicalURL != before.DuplicateOf {
		return false, nil
	}
	l, err := p.recordOf(ctx, before.Leader)
	if err != nil || l == nil {
		return false, err
	}
	was, its := p.standing(before), p.standing(l)
	d, _ := precedence.Compare(&was, &its)
	return d < 0, nil
}

// goOnElecting ends what a crawl that was killed left between two leaders.
func (p *Pipeline) goOnElecting(ctx context.Context, known *store.Record) error {
	if !p.elects() || known.Kind != store.Page {
		return nil
	}
	if known.Follows() {
		return p.reelect(ctx, known.Leader)
	}
	if err := p.judgeAgain(ctx, known.ID); err != nil {
		return err
	}
	var members []dedup.Hash // of which some led, and have members left
	for r, err := range p.store.Members(ctx, []dedup.Hash{known.ID}) {
		if err != nil {
			return err
		}
		members = append(members, r.ID)
	}
	if len(members) == 0 {
		return p.reelect(ctx, known.ID)
	}
	var led []dedup.Hash
	for r, err := range p.store.Members(ctx, members) {
		if err != nil {
			return err
		}
		led = append(led, r.Leader)
	}
	slices.SortFunc(led, func(a, b dedup.Hash) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range slices.Compact(led) {
		if err := p.settle(ctx, id); err != nil {
			return err
		}
	}
	return p.reelect(ctx, known.ID)
}
