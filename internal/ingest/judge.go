package ingest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/internal/precedence"
	"skink/store"
)

// # How a page is judged
//
// A page is judged by the content of the store at its look-up, within the limits on lists and
// comparisons. The store commits the verdict only if the same look-up would have the same result at
// that time. So verdicts depend only on the order of commits, not on the timing of the pipeline.

// A judge gives verdicts on pages by comparing them with the pages in a store.
type judge struct {
	store   pageStore
	opt     Options
	leaders *leaderCache
	order   atomic.Pointer[precedence.Order] // the order of hosts; nil: the page that arrived first leads
	posting int                              // at most this many leaders are read for one key of a sketch
}

// A judgement is the verdict on a visited page, and what follows from it for other pages.
type judgement struct {
	*visit
	record  store.Record // record to be stored, with the verdict
	basis   store.Basis
	over    takeover     // set if the page replaces a leader
	reelect []dedup.Hash // leaders of clusters in which another page may have to lead now
	wants   dedup.Hash   // a leader that the page may have to replace, but whose lock it does not hold; zero: none
}

// A takeover describes a leader that a page replaces.
type takeover struct {
	leader dedup.Hash // id of the leader; zero: the page replaces none
	text   dedup.Hash // hash of the leader's text

	like dedup.Verdict // verdict that the page would have if it followed the leader; reversed, it becomes that of the leader
}

// changesLeaders reports whether other pages must be judged again because of this judgement.
func (j *judgement) changesLeaders() bool { return !j.over.leader.IsZero() || len(j.reelect) > 0 }

// clusters returns the clusters whose leaders the judgement may change, and that of the page
// itself. It returns nil if the judgement changes no leader.
func (j *judgement) clusters() []dedup.Hash {
	ids := slices.DeleteFunc(append([]dedup.Hash{j.over.leader, j.wants}, j.reelect...), dedup.Hash.IsZero)
	if len(ids) == 0 {
		return nil
	}
	return append(ids, j.draft.ID)
}

// endsLater reports whether the URL may end in the frontier only after other pages were judged
// again.
func (j *judgement) endsLater() bool { return j.leavesMembers() || j.changesLeaders() }

// thin returns a judgement with the verdict thin and no leader. It is final for a page that has no
// words or is too short to compare; for other pages it is replaced.
func (v *visit) thin() *judgement {
	j := &judgement{visit: v, record: v.draft}
	r := &j.record
	r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance, r.Found = dedup.Thin, dedup.Hash{}, "", 0, ""
	r.Capped, r.NoText = false, false
	return j
}

// A judging holds parameters for judging visits.
type judging struct {
	held *right                              // the locks of clusters that the page holds; nil: it may change any leader
	twin func(*visit) (*store.Record, error) // returns an earlier page with the same text if the store may not know it yet; may be nil
}

// verdict judges one visit by the current content of the store.
func (d *judge) verdict(ctx context.Context, v *visit, how judging) (*judgement, error) {
	all, err := d.verdicts(ctx, []*visit{v}, how)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// verdicts judges several visits with one look-up. Each is judged by the content of the store, and
// not compared with the other visits. A visit that needs no verdict, such as a failed one, keeps
// its record as it is.
func (d *judge) verdicts(ctx context.Context, visits []*visit, how judging) ([]*judgement, error) {
	all := make([]*judgement, len(visits))
	var asking []int
	var asks []store.Ask
	for i, v := range visits {
		switch {
		case !v.wanted():
			all[i] = &judgement{visit: v, record: v.draft}
		case v.tokens == 0:
			all[i] = v.thin()
		default:
			asking, asks = append(asking, i), append(asks, d.ask(v))
		}
	}
	if len(asks) > 0 {
		found, err := d.store.Lookup(ctx, asks)
		if err != nil {
			return nil, err
		}
		group, ctx := errgroup.WithContext(ctx) // the store combines reads that are made at the same time
		group.SetLimit(mostAtOnce)
		for k, i := range asking {
			group.Go(func() (err error) {
				if all[i], err = d.decide(ctx, visits[i], asks[k], &found[k], how); err != nil {
					return fmt.Errorf("judge %s: %w", visits[i].draft.URL, err)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
	}
	for _, j := range all {
		if err := d.passesOn(ctx, j); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// mostAtOnce is how many pages are judged with one look-up when the members of a leader are judged
// again.
const mostAtOnce = 64

// leads reports whether the record r follows the visited page, in its present or an earlier
// version.
func (v *visit) leads(r *store.Record) bool { return r.Follows() && r.Leader == v.draft.ID }

// decide returns the verdict that follows from the result of a look-up. If it must look again, it
// calls how.twin after the last look-up, because the store checks a verdict only against commits
// since then.
func (d *judge) decide(ctx context.Context, v *visit, ask store.Ask, found *store.Found, how judging) (*judgement, error) {
	leader := found.Followed
	trusted, err := d.trusts(ctx, v, found.Copy, leader)
	var ahead *store.Record
	if err == nil && !trusted {
		ahead, err = d.ahead(ctx, v, leader)
	}
	if err == nil && !trusted {
		ask.Hashes = nil // look for leaders by the sketch only
		err = d.askAgain(ctx, ask, found)
	}
	if err != nil {
		return nil, err
	}
	if found.Copy == nil {
		c := ahead
		if how.twin != nil {
			var twin *store.Record
			if twin, err = how.twin(v); twin != nil {
				c = twin
			}
		}
		if leader = nil; err == nil && c != nil && c.Follows() {
			leader, err = d.store.record(ctx, c.Leader)
		}
		if err == nil {
			trusted, err = d.trusts(ctx, v, c, leader)
		}
		if err != nil {
			return nil, err
		}
		if trusted {
			found.Copy = c
		}
	}
	j := v.thin()
	j.basis = found.Basis(ask)
	switch {
	case found.Copy != nil:
		j.copyOf(found.Copy)
		if !found.Copy.Follows() {
			leader = found.Copy
		}
		if leader != nil {
			j, err = d.contest(ctx, j, leader, leader.Hash, how)
		}
	case !d.opt.Rule.Short(v.tokens):
		j.record.Capped = found.Capped() || len(found.Leaders) >= dedup.MaxMet
		j, err = d.compare(ctx, j, found.Leaders, how)
	}
	if err != nil {
		return nil, err
	}
	r := &j.record
	r.NoText = d.opt.SkipDuplicates && (r.Verdict == dedup.Exact || r.Verdict == dedup.Near)
	return j, nil
}

// trusts reports whether a page may take over the verdict of the copy c, which may follow a leader.
// It may not if c is about to be judged again: because c follows the page itself, or because the
// leader no longer leads, no longer resembles c as the verdict says, or has noindex while the page
// has not.
func (d *judge) trusts(ctx context.Context, v *visit, c, leader *store.Record) (bool, error) {
	switch {
	case c == nil || !c.Follows():
		return true, nil
	case v.leads(c) || leader == nil || leader.Kind != store.Page || leader.Follows():
		return false, nil
	case leader.NoIndex && !v.draft.NoIndex:
		return false, nil
	case len(leader.Earlier) == 0:
		return true, nil
	case c.Verdict == dedup.Exact || leader.Hash == c.Hash:
		return c.Verdict == dedup.Exact && leader.Hash == c.Hash, nil
	}
	held, err := d.leaders.get(ctx, []store.Leader{{ID: leader.ID, Hash: leader.Hash}})
	if err != nil || held[0] == nil {
		return false, err
	}
	return dedup.Resemblance(v.shingles.asSet(), held[0].set) == c.Resemblance, nil
}

// ahead returns the page that has replaced the leader of a copy, during the time in which the
// members of the old leader still wait to be judged again. It returns nil if there is no such page,
// or if that page is not a copy of the visited one. It is needed for pages that are too short to be
// compared, because the sketch does not find their leader.
func (d *judge) ahead(ctx context.Context, v *visit, leader *store.Record) (*store.Record, error) {
	if leader == nil || leader.Kind != store.Page || !leader.Follows() {
		return nil, nil
	}
	r, err := d.store.record(ctx, leader.Leader)
	if err != nil || r == nil || r.ID == v.draft.ID || r.Kind != store.Page || r.Follows() || r.Hash != v.draft.Hash || r.NoIndex && !v.draft.NoIndex {
		return nil, err
	}
	return r, nil
}

// askAgain repeats a look-up in the store and writes the result to found.
func (d *judge) askAgain(ctx context.Context, ask store.Ask, found *store.Found) error {
	all, err := d.store.Lookup(ctx, []store.Ask{ask})
	if err == nil {
		*found = all[0]
	}
	return err
}

// ask returns the look-up for a visit. For a page too short to be compared it asks only for pages
// with the same text.
func (d *judge) ask(v *visit) store.Ask {
	ask := store.Ask{ID: v.draft.ID, Hashes: v.hashes(), Meet: d.opt.Rule.Scheme.Meet(), Limit: d.posting}
	if !d.opt.Rule.Short(v.tokens) {
		ask.Keys = v.keys
	}
	return ask
}

// copyOf sets the verdict of a page that has the same text as the page first.
func (j *judgement) copyOf(first *store.Record) {
	const itself, itsLeader = 1, 2
	v := dedup.Copy(itself, first.URL, dedup.Verdict{
		Kind: first.Verdict, Leader: itsLeader, DuplicateOf: first.DuplicateOf, Resemblance: first.Resemblance, Method: first.Found,
	})
	if v.Leader == itself {
		j.follow(v, first.ID)
	} else {
		j.follow(v, first.Leader)
	}
}

// follow writes a verdict, and the id of the leader that it names, to the record.
func (j *judgement) follow(v dedup.Verdict, leader dedup.Hash) {
	r := &j.record
	r.Verdict, r.Found, r.Resemblance, r.Leader, r.DuplicateOf = v.Kind, v.Method, v.Resemblance, leader, v.DuplicateOf
}

// compare compares a page with the leaders that a look-up found, and sets its verdict. Candidates
// are numbered by their position in met, so of two that resemble the page equally the earlier one
// wins.
func (d *judge) compare(ctx context.Context, j *judgement, met []store.Leader, how judging) (*judgement, error) {
	candidates := make([]dedup.Candidate, len(met))
	for i := range met {
		candidates[i] = dedup.Candidate{Num: uint64(i + 1), Estimate: dedup.Estimate(j.sketch, &met[i].Sketch)}
	}
	short, err := d.withSets(ctx, met, d.opt.Rule.Shortlist(candidates, j.tokens))
	if err != nil {
		return nil, err
	}
	var set, runs dedup.Set
	if len(short) > 0 {
		set = j.shingles.asSet()
	}
	for {
		v := d.prefer(j, set, short, d.opt.Rule.Judge(set, short))
		if v.Leader == 0 {
			j.record.Verdict = v.Kind
			return j, nil
		}
		leader := &met[v.Leader-1]
		if runs == nil && d.opt.Rule.Contained > 0 {
			text, err := j.plainText()
			if err != nil {
				return nil, err
			}
			runs = runsIn(text)
		}
		loses, err := d.loses(ctx, runs, leader.ID)
		if err != nil {
			return nil, err
		}
		if loses {
			short = slices.DeleteFunc(short, func(c dedup.Candidate) bool { return c.Num == v.Leader })
			continue
		}
		if leader.Hash == j.record.Hash { // the look-up asked only for sketches, so a page with the same text is found here
			v.Kind, v.Method = dedup.Exact, dedup.ByText
		}
		j.follow(v, leader.ID)
		return d.contest(ctx, j, nil, leader.Hash, how)
	}
}

// prefer returns the verdict that the page follows the leader at its canonical URL, if that leader
// is among the candidates in short and resembles the page enough. Otherwise it returns v.
func (d *judge) prefer(j *judgement, set dedup.Set, short []dedup.Candidate, v dedup.Verdict) dedup.Verdict {
	if named := j.record.CanonicalURL; !d.elects() || named == "" || named == j.record.URL {
		return v
	}
	for i := range short {
		if short[i].Name != j.record.CanonicalURL {
			continue
		}
		if named := d.opt.Rule.Judge(set, short[i:i+1]); named.Leader != 0 {
			return named
		}
	}
	return v
}

// loses reports whether a page has too many words that a leader lacks, so that keeping only the
// leader would lose content. runs are the page's runs of words. It returns false if the rule does
// not ask for this check.
func (d *judge) loses(ctx context.Context, runs dedup.Set, leader dedup.Hash) (bool, error) {
	if d.opt.Rule.Contained == 0 {
		return false, nil
	}
	page, err := d.store.page(ctx, leader, store.WantText)
	if err != nil {
		return false, err
	}
	if page == nil || !page.Kept {
		return true, nil
	}
	return d.opt.Rule.Loses(runs, runsIn(page.Text)), nil
}

func runsIn(text string) dedup.Set {
	canon := texts.Get().(*dedup.Text)
	defer giveBack(&texts, canon)
	return dedup.Runs(canon, text)
}

// withSets adds URLs and shingles to candidates. It skips candidates without a record: after a
// crash there may be postings of pages that were never committed.
func (d *judge) withSets(ctx context.Context, met []store.Leader, candidates []dedup.Candidate) (short []dedup.Candidate, err error) {
	visits := make([]store.Leader, len(candidates))
	for i, c := range candidates {
		visits[i] = met[c.Num-1]
	}
	leaders, err := d.leaders.get(ctx, visits)
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

// elects reports whether pages take the lead from others. Files do not.
func (d *judge) elects() bool { return d.order.Load() != nil }

func (d *judge) standing(r *store.Record) precedence.Standing {
	return precedence.Of(r, d.order.Load())
}

// contest gives a judged page the lead of its cluster, if it is the page that should lead. l is the
// current leader; if nil, contest reads it. text is that of the leader when the page was compared
// with it: if the leader has another text by now, it was visited, and the store will refuse the
// page as stale. A page that is judged without the right to change this leader only learns that it
// wants it.
func (d *judge) contest(ctx context.Context, j *judgement, l *store.Record, text dedup.Hash, how judging) (_ *judgement, err error) {
	r := &j.record
	if !d.elects() || !r.Follows() || l != nil && !d.mayChange(r, l) {
		return j, nil
	}
	covered := how.held.covers(r.Leader)
	if covered || l == nil {
		if l, err = d.store.record(ctx, r.Leader); err != nil || l == nil || l.Kind != store.Page || l.Hash != text || l.Follows() || !d.mayChange(r, l) {
			return j, err
		}
	}
	if !covered {
		j.wants = r.Leader
		return j, nil
	}
	switch leads, err := d.bestOf(ctx, l, r); {
	case err != nil:
		return nil, err
	case leads == r.URL:
		like := dedup.Verdict{Kind: r.Verdict, Resemblance: r.Resemblance, Method: r.Found}
		return d.lead(j.visit, j.basis, takeover{l.ID, l.Hash, like}), nil
	case leads != l.URL: // it names another member, which gets the lead after this page is committed
		j.reelect = append(j.reelect, l.ID)
	}
	return j, nil
}

// mayChange reports whether a page that joins a cluster may change its leader.
func (d *judge) mayChange(r, leader *store.Record) bool {
	mine, its := d.standing(r), d.standing(leader)
	if precedence.Yields(&mine, &its) {
		return false
	}
	before, _ := precedence.Compare(&mine, &its)
	return before < 0 || precedence.Yields(&its, &mine)
}

// bestOf returns the URL of the page that should lead a cluster. came is a page that joins it, or
// nil.
func (d *judge) bestOf(ctx context.Context, leader, came *store.Record) (string, error) {
	pages := []precedence.Standing{d.standing(leader)}
	if came != nil {
		pages = append(pages, d.standing(came))
	}
	for m, err := range d.store.Members(ctx, []dedup.Hash{leader.ID}) {
		if err != nil {
			return "", err
		}
		if came == nil || m.ID != came.ID {
			pages = append(pages, d.standing(m))
		}
	}
	return pages[precedence.Leader(pages)].URL, nil
}

// lead returns the judgement of a page that replaces another one as leader.
func (d *judge) lead(v *visit, basis store.Basis, over takeover) *judgement {
	j := v.thin()
	j.basis, j.over = basis, over
	if !d.opt.Rule.Short(v.tokens) {
		j.record.Verdict = dedup.Unique
	}
	return j
}

// passesOn notes the cluster in which another page may have to lead because of what the visit
// found: the page names another canonical URL, or it would have led and had passed the lead to its
// leader.
func (d *judge) passesOn(ctx context.Context, j *judgement) error {
	switch b := j.before; {
	case !d.elects():
	case j.renamed && j.draft.Follows():
		j.reelect = append(j.reelect, j.draft.Leader)
	case j.renamed:
		j.reelect = append(j.reelect, j.draft.ID)
	case j.passedOn:
		l, err := d.store.record(ctx, b.Leader)
		if err != nil || l == nil {
			return err
		}
		was, its := d.standing(b), d.standing(l)
		if before, _ := precedence.Compare(&was, &its); before < 0 {
			j.reelect = append(j.reelect, l.ID)
		}
	}
	return nil
}
