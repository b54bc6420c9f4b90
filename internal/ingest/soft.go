package ingest

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Soft 404 pages
//
// [Pipeline.soft404] decides whether a page is a soft 404: the answer of its host for a URL that
// cannot exist. Package learn chooses that URL, and decides when its answer counts. A soft 404 is
// recorded as an error: it is not judged, leads no other page and is not exported. Its links are
// followed.
//
// An answer counts only when several pages have its text, so the first of these are stored as
// pages. Later they are fetched again, and found to be errors.
//
// These pages are never soft 404s: a seed, the target of a seed's redirect, the home page of a
// host, and the page that the answer names as its canonical URL. Many hosts answer with one of
// these.

// soft404 reports whether a subject is a soft 404, and returns its host's answer for a URL that
// cannot exist. says reports whether its text is that of the answer, which may not count yet.
func (p *Pipeline) soft404(ctx context.Context, s *subject) (soft learn.Soft, says, is bool, err error) {
	r := &s.record
	if p.opt.Learn == nil || r.Kind != store.Page {
		return soft, false, false, nil
	}
	soft, ok, err := p.opt.Learn.Soft(ctx, r.URL)
	if err != nil || !ok || isExempt(r, &soft) {
		return soft, false, false, err
	}
	if s.heldAgainst == soft.Probe { // compared when it was read
		return soft, s.saysMissing, s.saysMissing && soft.HoldsFor(r.URL), nil
	}
	says, err = p.saysMissing(ctx, &soft, r, s.plainText)
	s.heldAgainst, s.saysMissing = soft.Probe, says
	return soft, says, says && soft.HoldsFor(r.URL), err
}

// isExempt reports whether a page is never a soft 404.
func isExempt(r *store.Record, soft *learn.Soft) bool {
	return r.Depth == 0 || frontier.IsRoot(r.URL) || r.URL == soft.Real
}

// soften turns the record of a soft 404 into that of an error.
func (p *Pipeline) soften(ctx context.Context, s *subject, page *crawler.Page) error {
	soft, _, is, err := p.soft404(ctx, s)
	if err != nil || !is {
		return err
	}
	*s = subject{record: recordOf(page), claim: s.claim, item: s.item, share: s.share, links: s.links, beyond: s.beyond}
	r := &s.record
	r.Kind, r.Problem, r.Detail = store.Error, string(crawler.ProblemSoft), "its host says the same of "+soft.Probe
	r.ETag, r.Modified = "", "" // these are not validators of a future page at the URL
	return nil
}

// resoften is called when a subject is stored as a page. If it has the text of the answer, it may
// be the page that makes the answer count, or the answer may have arrived after it was read.
func (p *Pipeline) resoften(ctx context.Context, s *subject) error {
	if s.known || s.touch {
		return nil
	}
	soft, says, _, err := p.soft404(ctx, s)
	if err != nil || !says {
		return err
	}
	p.alone(s)
	return p.putBack(ctx, &soft, &s.record)
}

// putBack records that stored pages have the text of the answer to their pattern's probe. It puts
// those for which the answer counts back into the frontier: if these pages make it count, all pages
// found with that text. The caller holds electing: the URL of a page that takes the lead ends after
// its record is written, and that end would undo what putBack does in between.
func (p *Pipeline) putBack(ctx context.Context, soft *learn.Soft, said ...*store.Record) error {
	var urls []string
	for _, r := range said {
		urls = append(urls, r.URL)
	}
	back, err := p.opt.Learn.Said(ctx, soft.From, urls)
	if err != nil {
		return err
	}
	var leaders []*store.Record
	for _, url := range back {
		r, err := p.store.record(ctx, dedup.HashOf([]byte(url)))
		switch {
		case err != nil:
			return err
		case r == nil || r.Kind != store.Page:
			continue
		case !r.Follows():
			leaders = append(leaders, r)
			continue
		}
		if err := p.store.fetchAgain(ctx, r); err != nil {
			return err
		}
	}
	for _, r := range leaders { // last, so that they have no members left when they become errors
		if err := p.store.fetchAgain(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// mostMembers bounds the members of one leader that are compared with an answer. The others are
// compared at their next visit.
const mostMembers = 64

// examine finds the stored pages of a pattern that have the text of its probe's answer: it compares
// suspects, and the members of those that lead.
func (p *Pipeline) examine(ctx context.Context, soft *learn.Soft, suspects []string) error {
	var said []*store.Record
	done := map[dedup.Hash]bool{}
	look := func(id dedup.Hash) (*store.Record, error) {
		c, err := p.store.content(ctx, id)
		if err != nil || c == nil || done[id] {
			return nil, err
		}
		done[id] = true
		says, err := p.storedSays(ctx, soft, c)
		if says {
			said = append(said, &c.Record)
		}
		return &c.Record, err
	}
	for _, url := range suspects {
		r, err := look(dedup.HashOf([]byte(url)))
		if err != nil {
			return err
		}
		if r == nil || r.Follows() {
			continue
		}
		members, err := p.membersIn(ctx, r.ID, soft.From)
		if err != nil {
			return err
		}
		for _, id := range members {
			if _, err := look(id); err != nil {
				return err
			}
		}
	}
	return p.putBack(ctx, soft, said...)
}

// membersIn returns the members of a leader that have the pattern of a URL.
func (p *Pipeline) membersIn(ctx context.Context, leader dedup.Hash, url string) (ids []dedup.Hash, err error) {
	for r, err := range p.store.Members(ctx, []dedup.Hash{leader}) {
		if err != nil {
			return nil, err
		}
		if len(ids) < mostMembers && learn.SamePattern(r.URL, url) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// storedSays reports whether a stored page has the text of the answer to a probe. For an exact
// duplicate without a kept text it compares that of the leader. It returns false for a near
// duplicate without one.
func (p *Pipeline) storedSays(ctx context.Context, soft *learn.Soft, c *store.Content) (bool, error) {
	r := &c.Record
	if r.Kind != store.Page || isExempt(r, soft) || !learn.SamePattern(r.URL, soft.From) {
		return false, nil
	}
	if !c.Kept && r.Verdict == dedup.Exact {
		leader, err := p.store.content(ctx, r.Leader)
		if err != nil || leader == nil {
			return false, err
		}
		c = leader
	}
	if !c.Kept {
		return false, nil
	}
	return p.saysMissing(ctx, soft, r, func() (string, error) { return c.Text, nil })
}

// recallSoft does the work of resoften for a page that the last process stored before it was
// killed.
func (p *Pipeline) recallSoft(ctx context.Context, r *store.Record) error {
	soft, ok, err := p.opt.Learn.Soft(ctx, r.URL)
	if err != nil || !ok || r.Kind != store.Page {
		return err
	}
	c, err := p.store.content(ctx, r.ID)
	if err != nil || c == nil {
		return err
	}
	if says, err := p.storedSays(ctx, &soft, c); err != nil || !says {
		return err
	}
	return p.putBack(ctx, &soft, &c.Record)
}

// Probe implements [crawler.Prober].
func (p *Pipeline) Probe(ctx context.Context, url string) (string, error) {
	if p.opt.Learn == nil {
		return "", nil
	}
	return p.opt.Learn.Probe(ctx, url)
}

// Probed implements [crawler.Prober].
func (p *Pipeline) Probed(ctx context.Context, page *crawler.Page) error {
	soft := learn.Soft{Probe: page.Item.URL, Status: page.Status}
	if page.Problem == "" && page.Status == http.StatusOK {
		s := &subject{item: page.Item}
		defer s.release()
		s.record = recordOf(page)
		if err := p.readInto(ctx, s, page, new(crawler.Leads)); err != nil {
			return err
		}
		isDefault, err := p.isDefault(ctx, s)
		if err != nil {
			return err
		}
		if s.record.Kind == store.Page && !isDefault {
			if soft.Text, err = s.plainText(); err != nil {
				return err
			}
			soft.Title, soft.Words, soft.Real = s.record.Title, titleWords(s.record.Title, soft.Probe), s.record.CanonicalURL
		}
	}
	known, suspects, err := p.opt.Learn.Probed(ctx, soft)
	if err != nil {
		return fmt.Errorf("take in the answer at a URL that cannot exist: %w", err)
	}
	if !known.Says() {
		return nil
	}
	p.electing.lock(nil)
	defer p.electing.unlock()
	return p.examine(ctx, &known, suspects)
}

// isDefault reports whether the answer to a probe is the page without the replaced parameters. Then
// the server ignores unknown values, and the answer is not an error.
func (p *Pipeline) isDefault(ctx context.Context, s *subject) (bool, error) {
	defaults, err := p.opt.Learn.Defaults(ctx, s.record.URL)
	if err != nil || slices.Contains(defaults, s.record.CanonicalURL) {
		return err == nil, err
	}
	for _, url := range defaults {
		r, err := p.store.record(ctx, dedup.HashOf([]byte(url)))
		if err != nil || r != nil && r.Kind == store.Page && r.Hash == s.record.Hash {
			return err == nil, err
		}
	}
	return false, nil
}
