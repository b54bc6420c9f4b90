package ingest

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/store"
)

// # How a page is judged
//
// A page is judged by the content of the store at its look-up, within the limits on lists and
// comparisons. The store commits the verdict only if the same look-up would have the same result at
// that time. So verdicts depend only on the order of commits, not on the timing of the pipeline.

// judge gives a verdict to each subject that needs one, with one look-up for all. Each is judged by
// the content of the store, not by the other subjects.
func (p *Pipeline) judge(ctx context.Context, all ...*subject) error {
	noTwin := func(*subject) (*store.Record, error) { return nil, nil }
	return p.judgeBy(ctx, noTwin, all...)
}

// judgeBy is like judge. twin returns a copy of a subject to use if the store names none that can
// be trusted; it may be nil.
func (p *Pipeline) judgeBy(ctx context.Context, twin func(*subject) (*store.Record, error), all ...*subject) error {
	var asking []*subject
	var asks []store.Ask
	for _, s := range all {
		if !s.wanted() {
			continue
		}
		s.unjudged()
		if s.tokens > 0 {
			asking, asks = append(asking, s), append(asks, p.ask(s))
		}
	}
	if len(asks) == 0 {
		return nil
	}
	found, err := p.store.Lookup(ctx, asks)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx) // the store combines reads that are made at the same time
	group.SetLimit(mostSettled)
	for i, s := range asking {
		group.Go(func() error {
			if err := p.decide(ctx, s, asks[i], &found[i], twin); err != nil {
				return fmt.Errorf("judge %s: %w", s.record.URL, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// leads reports whether a page follows the subject, in whatever version.
func (s *subject) leads(r *store.Record) bool { return r.Follows() && r.Leader == s.record.ID }

// unjudged removes a subject's verdict.
func (s *subject) unjudged() {
	r := &s.record
	r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance, r.Found = dedup.Thin, dedup.Hash{}, "", 0, ""
	r.Capped, r.NoText = false, false
	s.basis, s.over, s.reelect, s.wants = store.Basis{}, takeover{}, nil, false
}

// decide gives a subject the verdict that follows from the result of its look-up. It calls twin
// after the last look-up, because the store checks a verdict against the commits since then.
func (p *Pipeline) decide(ctx context.Context, s *subject, ask store.Ask, found *store.Found, twin func(*subject) (*store.Record, error)) error {
	r := &s.record
	leader := found.Followed
	trusted, err := p.trusts(ctx, s, found.Copy, leader)
	var ahead *store.Record
	if err == nil && !trusted {
		ahead, err = p.ahead(ctx, s, leader)
	}
	if err == nil && !trusted {
		ask.Hashes = nil // look for leaders by the sketch only
		err = p.askAgain(ctx, ask, found)
	}
	if err != nil {
		return err
	}
	if found.Copy == nil {
		c, err := twin(s)
		if c == nil {
			c = ahead
		}
		if leader = nil; err == nil && c != nil && c.Follows() {
			leader, err = p.store.record(ctx, c.Leader)
		}
		if err == nil {
			trusted, err = p.trusts(ctx, s, c, leader)
		}
		if err != nil {
			return err
		}
		if trusted {
			found.Copy = c
		}
	}
	s.basis = found.Basis(ask)
	switch {
	case found.Copy != nil:
		s.copyOf(found.Copy)
		if !found.Copy.Follows() {
			leader = found.Copy
		}
		if leader != nil {
			if err := p.contest(ctx, s, leader, leader.Hash); err != nil {
				return err
			}
		}
	case !p.opt.Rule.Short(s.tokens):
		r.Capped = found.Capped() || len(found.Leaders) >= dedup.MaxMet
		if err := p.compare(ctx, s, found.Leaders); err != nil {
			return err
		}
	}
	r.NoText = p.opt.SkipDuplicates && (r.Verdict == dedup.Exact || r.Verdict == dedup.Near)
	return nil
}

// trusts reports whether a subject can take over the verdict of a copy, which may follow a leader.
// It cannot if the copy follows the subject itself. It cannot either if the leader no longer leads,
// no longer resembles the copy as the verdict says, or has noindex while the subject has not. Such
// a copy is about to be judged again.
func (p *Pipeline) trusts(ctx context.Context, s *subject, c, leader *store.Record) (bool, error) {
	switch {
	case c == nil || !c.Follows():
		return true, nil
	case s.leads(c) || leader == nil || leader.Kind != store.Page || leader.Follows():
		return false, nil
	case leader.NoIndex && !s.record.NoIndex:
		return false, nil
	case len(leader.Earlier) == 0:
		return true, nil
	case c.Verdict == dedup.Exact || leader.Hash == c.Hash:
		return c.Verdict == dedup.Exact && leader.Hash == c.Hash, nil
	}
	held, err := p.leaders.get(ctx, []store.Leader{{ID: leader.ID, Hash: leader.Hash}})
	if err != nil || held[0] == nil {
		return false, err
	}
	return dedup.Resemblance(s.shingleSet(), held[0].set) == c.Resemblance, nil
}

// ahead returns the page that replaced the leader of a copy, while the members of that leader are
// not judged again yet. It returns nil if there is none, or if it is not a copy of the subject.
// Pages too short to be compared would not find it by their sketch.
func (p *Pipeline) ahead(ctx context.Context, s *subject, leader *store.Record) (*store.Record, error) {
	if leader == nil || leader.Kind != store.Page || !leader.Follows() {
		return nil, nil
	}
	r, err := p.store.record(ctx, leader.Leader)
	if err != nil || r == nil || r.ID == s.record.ID || r.Kind != store.Page || r.Follows() || r.Hash != s.record.Hash || r.NoIndex && !s.record.NoIndex {
		return nil, err
	}
	return r, nil
}

// askAgain repeats a look-up and replaces its result.
func (p *Pipeline) askAgain(ctx context.Context, ask store.Ask, found *store.Found) error {
	all, err := p.store.Lookup(ctx, []store.Ask{ask})
	if err == nil {
		*found = all[0]
	}
	return err
}

// ask returns the look-up of a subject. A subject too short to be compared looks only for copies.
func (p *Pipeline) ask(s *subject) store.Ask {
	ask := store.Ask{ID: s.record.ID, Hashes: s.hashes(), Meet: p.opt.Rule.Scheme.Meet(), Limit: p.posting}
	if !p.opt.Rule.Short(s.tokens) {
		ask.Keys = s.keys
	}
	return ask
}

// copyOf gives a subject the verdict of a copy of first.
func (s *subject) copyOf(first *store.Record) {
	const itself, itsLeader = 1, 2
	v := dedup.Copy(itself, first.URL, dedup.Verdict{
		Kind: first.Verdict, Leader: itsLeader, DuplicateOf: first.DuplicateOf, Resemblance: first.Resemblance, Method: first.Found,
	})
	if v.Leader == itself {
		s.follow(v, first.ID)
	} else {
		s.follow(v, first.Leader)
	}
}

// follow sets a verdict and its leader.
func (s *subject) follow(v dedup.Verdict, leader dedup.Hash) {
	r := &s.record
	r.Verdict, r.Found, r.Resemblance, r.Leader, r.DuplicateOf = v.Kind, v.Method, v.Resemblance, leader, v.DuplicateOf
}

// compare judges a subject by the leaders met in the look-up. A leader's number is its index there,
// so the earlier of two equals wins.
func (p *Pipeline) compare(ctx context.Context, s *subject, met []store.Leader) error {
	candidates := make([]dedup.Candidate, len(met))
	for i := range met {
		candidates[i] = dedup.Candidate{Num: uint64(i + 1), Estimate: dedup.Estimate(s.sketch, &met[i].Sketch)}
	}
	short, err := p.withSets(ctx, met, p.opt.Rule.Shortlist(candidates))
	if err != nil {
		return err
	}
	var set dedup.Set
	if len(short) > 0 {
		set = s.shingleSet()
	}
	for {
		v := p.prefer(s, set, short, p.opt.Rule.Judge(set, short))
		if v.Leader == 0 {
			s.record.Verdict = v.Kind
			return nil
		}
		leader := &met[v.Leader-1]
		loses, err := p.loses(ctx, s, leader.ID)
		if err != nil {
			return err
		}
		if loses {
			short = slices.DeleteFunc(short, func(c dedup.Candidate) bool { return c.Num == v.Leader })
			continue
		}
		if leader.Hash == s.record.Hash { // the look-up had no text hashes
			v.Kind, v.Method = dedup.Exact, dedup.ByText
		}
		s.follow(v, leader.ID)
		return p.contest(ctx, s, nil, leader.Hash)
	}
}

// prefer returns the verdict that a subject follows the candidate at its canonical URL, if that is
// similar enough; else v.
func (p *Pipeline) prefer(s *subject, set dedup.Set, short []dedup.Candidate, v dedup.Verdict) dedup.Verdict {
	if named := s.record.CanonicalURL; !p.elects() || named == "" || named == s.record.URL {
		return v
	}
	for i := range short {
		if short[i].Name != s.record.CanonicalURL {
			continue
		}
		if named := p.opt.Rule.Judge(set, short[i:i+1]); named.Leader != 0 {
			return named
		}
	}
	return v
}

// loses reports whether words would be lost if a subject were dropped in favor of a leader.
func (p *Pipeline) loses(ctx context.Context, s *subject, leader dedup.Hash) (bool, error) {
	if p.opt.Rule.Contained == 0 {
		return false, nil
	}
	pages, err := p.store.Pages(ctx, []dedup.Hash{leader}, store.WantText)
	if err != nil {
		return false, err
	}
	if pages[0] == nil || !pages[0].Kept {
		return true, nil
	}
	text, err := s.plainText()
	if err != nil {
		return false, err
	}
	return p.opt.Rule.Loses(text, pages[0].Text), nil
}

// withSets adds URLs and shingles to candidates. It skips candidates without a record: after a
// crash there may be postings of pages that were never committed.
func (p *Pipeline) withSets(ctx context.Context, met []store.Leader, candidates []dedup.Candidate) (short []dedup.Candidate, err error) {
	visits := make([]store.Leader, len(candidates))
	for i, c := range candidates {
		visits[i] = met[c.Num-1]
	}
	leaders, err := p.leaders.get(ctx, visits)
	if err != nil {
		return nil, err
	}
	for i, l := range leaders {
		if l != nil {
			c := candidates[i]
			c.Name, c.Set = l.url, l.set
			short = append(short, c)
		}
	}
	return short, nil
}
