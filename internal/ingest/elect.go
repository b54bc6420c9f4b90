package ingest

import (
	"context"

	"skink/dedup"
	"skink/store"
)

// # Who leads by rel=canonical
//
// A page that came first leads, unless it says itself that another should: if a leader names a page
// as its canonical URL that resembles it enough to follow it, that page leads in its place,
// whichever came first. What a page names is believed only if it is a true duplicate, and only if
// it names no third page itself, for then somebody would have to follow a chain, and chains may be
// circles. A page that must not be indexed never takes the lead from one that may. Pages too short
// to compare keep the order in which they came.
//
// The new leader is written first. Then the old one is judged again and follows it, and last the
// members of the old one are judged again, as when a leader changes (see settle.go). The URL in
// hand stays pending until that is done, so that a crawl that is killed in between goes on with it.
//
// A page that names one of the leaders that it met, and resembles it enough, follows that one even
// if it resembles another more.

// namesAnother says whether a page wants to be known under another URL than its own.
func namesAnother(r *store.Record) bool { return r.CanonicalURL != "" && r.CanonicalURL != r.URL }

// yields says whether a leader gives its place to a page that resembles it.
func yields(leader, to *store.Record) bool {
	return leader.CanonicalURL == to.URL && !namesAnother(to) && (leader.NoIndex || !to.NoIndex)
}

// takeLead gives a subject the lead of the cluster that it was found to belong to, if the page that
// leads it says so. canonical is what that page named when it was last seen.
func (p *Pipeline) takeLead(ctx context.Context, s *subject, canonical string) error {
	r := &s.record
	if !p.opt.Canonicals || canonical != r.URL || p.opt.Rule.Short(s.tokens) {
		return nil
	}
	l, err := p.recordOf(ctx, r.Leader)
	if err != nil || l == nil || l.Follows() || !yields(l, r) {
		return err
	}
	basis := s.basis
	s.unjudged()
	s.basis, s.over = basis, l.ID
	r.Verdict, r.Elected = dedup.Unique, true
	return nil
}

// canonicalOf is what the leader of a page names, if the page may take its place. copied is the
// copy whose verdict the page took over, leader the page that it follows; nil: it leads itself.
func (p *Pipeline) canonicalOf(s *subject, copied, leader *store.Record) string {
	switch {
	case !p.opt.Canonicals || namesAnother(&s.record):
		return ""
	case !copied.Follows():
		return copied.CanonicalURL
	case leader == nil:
		return ""
	}
	return leader.CanonicalURL
}

// depose judges a leader again that gave its place to another, and then its members.
func (p *Pipeline) depose(ctx context.Context, id dedup.Hash) error {
	for {
		c, err := p.content(ctx, id)
		if err != nil {
			return err
		}
		if c == nil || c.Record.Kind != store.Page || c.Record.Follows() || !c.Kept {
			break // it was done before a crash, or the page was visited meanwhile
		}
		s := p.remade(c)
		if err := p.judge(ctx, s); err != nil {
			return err
		}
		written, err := p.rewrite(ctx, s)
		if err != nil {
			return err
		}
		if written {
			break
		}
	}
	return p.settle(ctx, id)
}

// rewrite commits a subject of a page that is stored and was judged again. If its verdict is what
// it was, nothing is written. It says whether that verdict holds.
func (p *Pipeline) rewrite(ctx context.Context, s *subject) (done bool, err error) {
	if sameVerdict(&s.record, s.before) {
		return true, nil
	}
	if s.before.Verdict != s.record.Verdict {
		s.record.Succeeds(s.before, nil, 1)
	}
	s.record.JudgedAt = after(s.before.Began())
	outcomes, err := p.store.Commit(ctx, []*store.Entry{p.entry(s)})
	if err != nil || outcomes[0] != store.Written {
		return false, err
	}
	p.counts.rejudged(s)
	return true, nil
}

// yieldTo lets a leader that was visited again give its place to the page that it names by now.
func (p *Pipeline) yieldTo(ctx context.Context, l *store.Record) error {
	if !p.opt.Canonicals || l.Kind != store.Page || l.Follows() || !namesAnother(l) {
		return nil
	}
	for {
		c, err := p.content(ctx, dedup.HashOf([]byte(l.CanonicalURL)))
		switch {
		case err != nil || c == nil || c.Record.Kind != store.Page || !yields(l, &c.Record):
			return err
		case c.Record.Elected: // it was, before a crash
			return p.depose(ctx, l.ID)
		case c.Record.Leader != l.ID:
			return nil
		case !c.Kept:
			return p.fetchAgain(ctx, &c.Record) // and takes the lead then
		}
		s := p.remade(c)
		if p.opt.Rule.Short(s.tokens) {
			return nil
		}
		s.unjudged()
		s.record.Verdict, s.record.Elected = dedup.Unique, true
		written, err := p.rewrite(ctx, s)
		if err != nil {
			return err
		}
		if written {
			return p.depose(ctx, l.ID)
		}
	}
}

// goOnElecting ends what a crawl that was killed left between two leaders.
func (p *Pipeline) goOnElecting(ctx context.Context, known *store.Record) error {
	if !p.opt.Canonicals || known.Kind != store.Page {
		return nil
	}
	if !known.Elected {
		return p.yieldTo(ctx, known)
	}
	c, err := p.content(ctx, known.ID)
	if err != nil || c == nil || !c.Kept {
		return err
	}
	s := p.remade(c)
	ask := p.ask(s)
	ask.Hashes = nil
	found, err := p.store.Lookup(ctx, []store.Ask{ask})
	if err != nil {
		return err
	}
	var over []dedup.Hash
	for _, l := range found[0].Leaders {
		r, err := p.recordOf(ctx, l.ID)
		if err != nil {
			return err
		}
		if r != nil && yields(r, known) {
			over = append(over, l.ID)
		}
	}
	for r, err := range p.store.Members(ctx, []dedup.Hash{known.ID}) {
		if err != nil {
			return err
		}
		if yields(r, known) {
			over = append(over, r.ID)
		}
	}
	for _, id := range over {
		if err := p.depose(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
