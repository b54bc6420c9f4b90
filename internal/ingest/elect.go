package ingest

import (
	"bytes"
	"context"
	"slices"

	"skink/dedup"
	"skink/internal/precedence"
	"skink/store"
)

// # Which page leads a cluster
//
// A page is judged when it arrives, so at first the page that arrived first leads its cluster.
// Package precedence defines which page should lead. A page takes the lead of its cluster if it
// precedes the current leader. So the leader depends on the pages, not on the order in which they
// arrived.
//
// A leader is replaced in three steps. First the new leader is written. Then the old one is written
// as a page that follows it, with the same resemblance as before. Last, the members of the old
// leader are judged again (see settle.go). The URL of the new leader stays pending until that is
// done, so a crawl that is killed in between resumes there.
//
// The page that would lead without canonical URLs passes the lead to the page of the cluster that
// its canonical URL names. So all members of a cluster are listed before its leader changes. That
// is rare: a page that neither precedes the leader nor is named by it changes nothing.
//
// One process runs one election at a time, see electing.go. A page is first judged without the
// right to change leaders, which only shows whether it needs that right. If it does, it waits for
// the right and is judged again. A page of another process may have replaced the same leader
// meanwhile. Then the old leader follows that page, and the subject is judged again. So of two such
// pages, the one that is committed second sees the first.
//
// A page whose canonical URL names one of the leaders that it was compared with, and that resembles
// it enough, follows that leader even if it resembles another more.

// SetOrder replaces the order of hosts that decides which page leads. It applies to pages that
// arrive from now on.
func (p *Pipeline) SetOrder(o *precedence.Order) { p.order.Store(o) }

// elects reports whether pages take the lead from others. Files do not.
func (p *Pipeline) elects() bool { return p.order.Load() != nil }

func (p *Pipeline) standing(r *store.Record) precedence.Standing {
	return precedence.Of(r, p.order.Load())
}

// A takeover describes a leader that a subject replaces.
type takeover struct {
	leader dedup.Hash // its id; zero: none
	text   dedup.Hash // of the leader

	like dedup.Verdict // of the subject, if it followed the leader; the leader then gets this verdict
}

// alone acquires the right to change leaders for a subject. It keeps the right until it is
// committed.
func (p *Pipeline) alone(s *subject) {
	if !s.alone {
		standing := p.standing(&s.record)
		p.electing.lock(&standing)
		s.alone = true
	}
}

// among releases the right to change leaders.
func (p *Pipeline) among(s *subject) {
	if s.alone {
		s.alone = false
		p.electing.unlock()
	}
}

// contest gives a subject the lead of its cluster, if it is the page that should lead. l is the
// current leader; if nil, contest reads it. text is that of the leader when the subject was
// compared with it: if the leader has another text by now, it was visited, and the store will
// refuse the subject as stale. A subject without the right to change leaders only learns whether it
// needs the right.
func (p *Pipeline) contest(ctx context.Context, s *subject, l *store.Record, text dedup.Hash) (err error) {
	r := &s.record
	if !p.elects() || !r.Follows() || l != nil && !p.mayChange(r, l) {
		return nil
	}
	if s.asks && l != nil {
		s.wants = true
		return nil
	}
	if l, err = p.store.record(ctx, r.Leader); err != nil || l == nil || l.Kind != store.Page || l.Hash != text || l.Follows() || !p.mayChange(r, l) {
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
	default: // it names another member, which gets the lead after this subject is committed
		s.reelect = append(s.reelect, l.ID)
	}
	return nil
}

// mayChange reports whether a page that joins a cluster may change its leader.
func (p *Pipeline) mayChange(r, leader *store.Record) bool {
	mine, its := p.standing(r), p.standing(leader)
	if precedence.Yields(&mine, &its) {
		return false
	}
	before, _ := precedence.Compare(&mine, &its)
	return before < 0 || precedence.Yields(&its, &mine)
}

// bestOf returns the URL of the page that should lead a cluster. came is a page that joins it, or
// nil.
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

// lead makes a subject replace another page as leader.
func (p *Pipeline) lead(s *subject, over takeover) {
	basis := s.basis
	s.unjudged()
	s.basis, s.over = basis, over
	if !p.opt.Rule.Short(s.tokens) {
		s.record.Verdict = dedup.Unique
	}
}

// depose makes the page that a subject replaced follow the subject, and judges the members of that
// page again. The subject may resemble other leaders too, so it is also judged again.
func (p *Pipeline) depose(ctx context.Context, s *subject) error {
	for {
		c, err := p.store.content(ctx, s.over.leader)
		if err != nil {
			return err
		}
		if c == nil || c.Record.Kind != store.Page || c.Record.Follows() || c.Record.Hash != s.over.text || !c.Kept {
			break // done before a crash, or the page was visited meanwhile
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

// yield writes a page that led as one that follows a subject. It reports whether the subject leads.
func (p *Pipeline) yield(ctx context.Context, old, s *subject) (leads bool, err error) {
	found, err := p.store.Lookup(ctx, []store.Ask{{ID: old.record.ID}})
	if err != nil {
		return false, err
	}
	now, err := p.store.record(ctx, s.record.ID)
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

// judgeAgain judges a stored page again.
func (p *Pipeline) judgeAgain(ctx context.Context, id dedup.Hash) error {
	for {
		c, err := p.store.content(ctx, id)
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

// rewrite commits stored pages that were judged again and whose verdicts have changed. It returns
// how many of the subjects, counted from the first, have a verdict that holds.
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

// reelect gives the lead of a cluster to the member that should lead now.
func (p *Pipeline) reelect(ctx context.Context, leader dedup.Hash) error {
	for {
		l, err := p.store.record(ctx, leader)
		if err != nil || l == nil || l.Kind != store.Page || l.Follows() {
			return err
		}
		leads, err := p.bestOf(ctx, l, nil)
		if err != nil || leads == l.URL {
			return err
		}
		c, err := p.store.content(ctx, dedup.HashOf([]byte(leads)))
		switch {
		case err != nil || c == nil || c.Record.Leader != leader || !c.Record.Follows():
			return err
		case !c.Kept:
			return p.store.fetchAgain(ctx, &c.Record) // it takes the lead when it is judged
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

// leavesElected reports whether a visited page that has changed may have passed the lead to its
// leader: it would have led, and its canonical URL named that page.
func (p *Pipeline) leavesElected(ctx context.Context, before *store.Record) (bool, error) {
	if !p.elects() || !before.Follows() || before.CanonicalURL != before.DuplicateOf {
		return false, nil
	}
	l, err := p.store.record(ctx, before.Leader)
	if err != nil || l == nil {
		return false, err
	}
	was, its := p.standing(before), p.standing(l)
	d, _ := precedence.Compare(&was, &its)
	return d < 0, nil
}

// goOnElecting finishes a change of leader that a killed crawl began.
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
	var members []dedup.Hash // some of these led, and have members left
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
