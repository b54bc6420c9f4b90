package ingest

import (
	"context"
	"fmt"
	"slices"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// commit judges a visit and writes the result to the store. If the store refuses the verdict
// because another page was committed in the meantime, commit judges the page again. A refusal means
// that another commit succeeded, so the pipeline as a whole makes progress. The page is also judged
// again if commit had to wait for the locks of more clusters.
//
// Usually the same commit writes the record and the final state of the URL in the frontier. If other
// pages must be judged again because of this page, the final state is written after that.
func (p *Pipeline) commit(ctx context.Context, v *visit, writeTo EntryWriter) error {
	defer p.lessons.begin()()
	held := &right{locks: p.elections.locks}
	defer held.release()
	if len(v.listed) > 0 {
		held.takeAll()
		if err := p.list(ctx, v.listed); err != nil {
			return err
		}
	}
	j := &judgement{visit: v, record: v.draft}
	if v.kind == recorded {
		held.takeAll()
		if err := p.elections.resume(ctx, v.before); err != nil {
			return err
		}
	}
	if v.kind != recorded || !v.leavesMembers() {
		var err error
		if j, err = p.write(ctx, v, held, writeTo); err != nil {
			return err
		}
		if err := p.elections.follow(ctx, j); err != nil {
			return err
		}
	}
	if r := &j.record; r.Kind == store.Page && !r.Listed && p.listing.has(r.ID) { // a sitemap that lists the page has been read in the meantime
		held.takeAll()
		if err := p.elections.markListed(ctx, []dedup.Hash{r.ID}); err != nil {
			return err
		}
	}
	if j.leavesMembers() {
		held.take(j.record.ID)
		if err := p.elections.judgeMembers(ctx, j.record.ID); err != nil {
			return err
		}
	}
	if j.endsLater() {
		if err := p.store.end(ctx, &store.Entry{Record: j.record, Claim: j.claim, State: j.state}); err != nil {
			return err
		}
	}
	return p.soft.meanwhile(ctx, j, held)
}

// list records that a sitemap lists the given URLs. Listed pages are preferred as leaders, so a
// stored page may replace its leader. The caller holds the locks of all clusters until the sitemap
// is stored: then an archive has the sitemap before all pages whose verdicts it changes.
func (p *Pipeline) list(ctx context.Context, urls []string) error {
	for part := range slices.Chunk(urls, listedAtOnce) {
		ids := make([]dedup.Hash, len(part))
		for i, url := range part {
			ids[i] = dedup.HashOf([]byte(url))
		}
		if err := p.listing.add(ctx, p.store, ids); err != nil {
			return err
		}
		if err := p.elections.markListed(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}

// write judges a visit and writes the result. It repeats this as long as the store refuses the
// result as stale. Then it updates the counts and the book of evidence, and returns the judgement
// that was written.
func (p *Pipeline) write(ctx context.Context, v *visit, held *right, writeTo EntryWriter) (*judgement, error) {
	for {
		j, err := p.judge.verdict(ctx, v, judging{held: held})
		if err != nil {
			return nil, err
		}
		if ids := j.clusters(); !held.covers(ids...) { // another page may have changed the leaders since the lookup
			held.take(ids...)
			continue
		}
		if !j.changesLeaders() && v.kind != recorded && len(v.listed) == 0 { // the store refuses the verdict if another page makes it wrong
			held.release()
		}
		e := j.entry(&p.opt.Rule)
		if j.endsLater() {
			e.State = frontier.Unknown
		}
		switch outcome, err := writeTo(ctx, e); {
		case err != nil:
			return nil, fmt.Errorf("write to the store: %w", err)
		case outcome == store.Lost:
			return nil, frontier.ErrLost
		case outcome == store.Written:
			return j, p.written(ctx, j)
		case outcome != store.Stale: // the store already has the record of this visit
			return j, nil
		}
		if v, err = p.visitAgain(ctx, v); err != nil {
			return nil, err
		}
	}
}

// written counts a judgement that is in the store, calls OnStored unless an earlier attempt has stored the
// visit, and adds the evidence of the judgement to the book of evidence.
func (p *Pipeline) written(ctx context.Context, j *judgement) error {
	p.counts.add(j)
	p.counts.miss(&j.seen, j.missed)
	if p.opt.OnStored != nil && j.kind != recorded {
		p.opt.OnStored(&j.record)
	}
	if j.kind == touched || p.opt.Learn == nil {
		return nil
	}
	links := each(j.links, func(i *frontier.Item) (string, bool) { return i.URL, i.Kind == frontier.Page })
	return p.lessons.learn(ctx, &j.record, j.said, links)
}

// writer returns the function that commits a visit. Usually it also archives the response. If the
// page was stored before the program crashed, its response is already in the archive, and is not
// archived again. The same is true of a requisite that a browser loaded for a page. Brief pages without a
// change are committed together, because a transaction costs more than their updates. An archive does the
// same.
func (p *Pipeline) writer(v *visit, page *crawler.Page) EntryWriter {
	if p.opt.Archive != nil && v.kind != recorded && (page.Raw != nil || page.Problem != "") {
		return p.opt.Archive(page)
	}
	if page.Brief && v.kind == touched {
		return p.touches.Ask
	}
	return p.store.commit
}

// entry returns the entry of a judgement for the store. If the text of a duplicate is not kept, its
// entry contains little more than the record. If such a page is too short to be compared, its links
// are kept and followed: it may be a list of links, and another page with the same few words may be
// another list.
func (j *judgement) entry(rule *dedup.Rule) *store.Entry {
	e := &store.Entry{
		Record: j.record, Claim: j.claim, State: j.state, Basis: j.basis,
		Text: j.text, Sketch: j.sketch, Hash: j.hash, Out: j.out, Links: j.links, Beyond: j.beyond,
	}
	if j.before != nil && j.kind != recorded {
		e.Touch, e.Revisit, e.Replaces = j.kind == touched, j.kind != touched, j.before.Updated()
	}
	switch j.record.Verdict {
	case dedup.Unique:
		e.Keys = asideKeys(j.keys, j.aside)
	case dedup.Exact, dedup.Near:
		if !j.record.NoText {
			break
		}
		e.Text = nil
		if !rule.Short(j.tokens) && !leadsOn(&j.record) {
			e.Links, e.Beyond, e.Out = nil, nil, nil
		}
	}
	return e
}

// leadsOn reports whether the links of a duplicate are followed even though its text is not kept.
// The leader is assumed to have the same links only if both pages are on one host. On another host,
// the links of a copy lead to copies of other pages. Links of seeds, of their redirect targets and
// of home pages are always followed, because they lead to the pages of a site.
func leadsOn(r *store.Record) bool {
	return r.Depth == 0 || frontier.IsRoot(r.URL) || store.HostOf(r.URL) != store.HostOf(r.DuplicateOf)
}
