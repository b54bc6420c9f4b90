package ingest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/store"
	"skink/store/precedence"
)

// # How a page is judged
//
// A page is judged by the content of the store at the time of its lookup. The number of leaders
// listed for each key and the number of comparisons are limited. The store commits the verdict only
// if the same lookup would have the same result at the time of the commit. So verdicts depend only
// on the order of commits, not on the timing of the pipeline.

type judge struct {
	store   pageStore
	opt     Options
	leaders *leaderCache
	order   atomic.Pointer[precedence.Order] // order of hosts; nil means that the first page to arrive leads
	posting int                              // maximum number of leaders read for one key of a sketch
}

type judgement struct {
	*visit
	record  store.Record
	basis   store.Basis
	over    takeover     // set if the page replaces a leader
	reelect []dedup.Hash // leaders of clusters that may need another leader
	wants   dedup.Hash   // a leader that the page may have to replace, but whose cluster it has not locked; zero means none
}

type takeover struct {
	leader dedup.Hash // id of the leader; zero means none
	text   dedup.Hash

	like dedup.Verdict // verdict on the page as a duplicate of the leader; the leader gets the same verdict as a duplicate of the page
}

func (j *judgement) changesLeaders() bool { return !j.over.leader.IsZero() || len(j.reelect) > 0 }

// clusters returns nil if the judgement changes no leader.
func (j *judgement) clusters() []dedup.Hash {
	ids := slices.DeleteFunc(append([]dedup.Hash{j.over.leader, j.wants}, j.reelect...), dedup.Hash.IsZero)
	if len(ids) == 0 {
		return nil
	}
	return append(ids, j.draft.ID)
}

// endsLater reports whether other pages must be judged again before the URL may be given its final
// state in the frontier.
func (j *judgement) endsLater() bool { return j.leavesMembers() || j.changesLeaders() }

// thin returns a judgement with the verdict thin and no leader. The verdict is final only for a
// page that has no words, or that is too short to be compared and has no copy.
func (v *visit) thin() *judgement {
	j := &judgement{visit: v, record: v.draft}
	j.record.Judged = store.Judged{Verdict: dedup.Thin}
	return j
}

type judging struct {
	held  *right                    // locks of clusters that the page holds; nil means that the page may change any leader
	first map[dedup.Hash]dedup.Hash // ids of earlier pages that a lookup in the store would miss, by the hash of their text; may be nil
}

func (d *judge) verdict(ctx context.Context, v *visit, how judging) (*judgement, error) {
	all, err := d.verdicts(ctx, []*visit{v}, how)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// verdicts judges several visits with one lookup. Each visit is compared with pages in the store,
// but not with the other visits. If a visit needs no verdict, for example because it failed, its
// record does not change.
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
		group, ctx := errgroup.WithContext(ctx) // the store combines concurrent reads
		group.SetLimit(maxAtOnce)
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

const maxAtOnce = 64

// leads reports whether r is the record of a duplicate of the visited page or of an earlier version
// of it.
func (v *visit) leads(r *store.Record) bool { return r.Follows() && r.Leader == v.draft.ID }

// decide returns the verdict that follows from the result of a lookup. A page takes over the verdict
// of an equal page, or is compared with the leaders that the lookup found. If the page should lead
// instead of the leader that it then has, it takes the lead; see contest.
func (d *judge) decide(ctx context.Context, v *visit, ask store.Ask, found *store.Found, how judging) (*judgement, error) {
	c, leader, err := d.copied(ctx, v, &ask, found, how)
	if err != nil {
		return nil, err
	}
	found.Copy = c
	j := v.thin()
	j.basis = found.Basis(ask)
	if c == nil && ask.Hashes == nil && d.opt.Rule.Contained > 0 {
		j.basis.Hashes = v.hashes // another page with the same text may lead by now, in the index of another degree
	}
	switch {
	case c != nil:
		j.copyOf(c)
		j, err = d.contest(ctx, j, leader, leader.Hash, how)
	case !d.opt.Rule.Short(v.tokens):
		j.record.Capped = found.Capped() || len(found.Leaders) >= dedup.MaxMet
		if d.opt.Rule.Contained > 0 {
			j, err = d.compareRuns(ctx, j, found.Leaders, how)
		} else {
			j, err = d.compare(ctx, j, found.Leaders, how)
		}
	}
	if err != nil {
		return nil, err
	}
	r := &j.record
	r.NoText = d.opt.SkipDuplicates && (r.Verdict == dedup.Exact || r.Verdict == dedup.Near)
	return j, nil
}

// copied returns the equal page whose verdict a page takes over, and the leader of that page, which
// may be the page itself. If the copy that the lookup found cannot be trusted, copied asks again, so
// that ask and found are those of a lookup without hashes. It returns nil if there is no page that
// can be trusted:
//
//	the lookup found              the page takes over the verdict of
//	a copy that can be trusted    that copy
//	a copy that cannot            an equal page that the lookup would miss, or that askAgain names
//	no copy                       an equal page that the lookup would miss
func (d *judge) copied(ctx context.Context, v *visit, ask *store.Ask, found *store.Found, how judging) (c, leader *store.Record, err error) {
	equals := []dedup.Hash{how.first[v.draft.Hash]}
	if c = found.Copy; c != nil {
		leader = found.Followed
		if trusted, err := d.trusts(ctx, v, c, leader); err != nil || trusted {
			return c, cmp.Or(leader, c), err
		}
		more, err := d.askAgain(ctx, v, ask, found)
		if err != nil {
			return nil, nil, err
		}
		equals = append(equals, more...)
	}
	for _, id := range equals { // after the last lookup, because the store checks a verdict only against later commits
		if c, err = d.equal(ctx, v, id); err != nil {
			return nil, nil, err
		}
		if c == nil {
			continue
		}
		leader = nil
		if c.Follows() {
			if leader, err = d.store.record(ctx, c.Leader); err != nil {
				return nil, nil, err
			}
		}
		if trusted, err := d.trusts(ctx, v, c, leader); err != nil || trusted {
			return c, cmp.Or(leader, c), err
		}
	}
	return nil, nil, nil
}

// equal returns the record of another page if it has the text of the visited page, which may follow
// it. Otherwise equal returns nil.
func (d *judge) equal(ctx context.Context, v *visit, id dedup.Hash) (*store.Record, error) {
	if id.IsZero() || id == v.draft.ID {
		return nil, nil
	}
	r, err := d.store.record(ctx, id)
	if err != nil || r == nil || r.Kind != store.Page || r.Hash != v.draft.Hash || d.bars(&v.draft, r) {
		return nil, err
	}
	return r, nil
}

// trusts reports whether a page may take over the verdict of the copy c, which may be a duplicate
// of a leader:
//
//	the copy                                                  trusted
//	leads                                                     yes
//	follows the page itself, or a page that no longer leads   no, the copy is about to be judged again
//	follows a leader that the page must not follow            no
//	follows a leader that has not changed                     yes
//	follows a leader that has changed                         if the verdict on the copy is still right
func (d *judge) trusts(ctx context.Context, v *visit, c, leader *store.Record) (bool, error) {
	switch {
	case !c.Follows():
		return true, nil
	case v.leads(c) || leader == nil || leader.Kind != store.Page || leader.Follows() || d.bars(&v.draft, leader):
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
	same := dedup.Resemblance(v.shingles.asSet(), held[0].set) == c.Resemblance
	if !same || d.opt.Rule.Contained == 0 {
		return same, nil
	}
	runs, err := v.runs()
	return dedup.Containment(runs, held[0].runs) == c.Containment, err
}

// askAgain repeats a lookup without hashes. It returns the ids of pages that may have the same text:
// the page that has replaced the leader of the copy, while the members of the old leader are still
// waiting to be judged again, and a leader that is withheld more than the page, so that it has
// another index. The first is needed for pages that are too short to be compared, because a lookup
// by sketch does not find their leader.
func (d *judge) askAgain(ctx context.Context, v *visit, ask *store.Ask, found *store.Found) (equals []dedup.Hash, err error) {
	if l := found.Followed; l != nil && l.Kind == store.Page {
		equals = append(equals, l.Leader)
	}
	ask.Hashes = nil
	asks := []store.Ask{*ask}
	if above := v.keysAbove(&d.opt.Rule); d.elects() && len(ask.Keys) > 0 && len(above) > 0 {
		asks = append(asks, store.Ask{ID: ask.ID, Keys: above, Limit: ask.Limit})
	}
	all, err := d.store.Lookup(ctx, asks)
	if err != nil {
		return nil, err
	}
	*found = all[0]
	for _, f := range all[1:] {
		for _, l := range f.Leaders {
			if l.Hash == v.draft.Hash {
				equals = append(equals, l.ID)
			}
		}
	}
	return equals, nil
}

// ask returns the lookup for a visit. If the page is too short to be compared, the lookup finds
// only pages with the same text.
func (d *judge) ask(v *visit) store.Ask {
	ask := store.Ask{ID: v.draft.ID, Hashes: v.hashes, Limit: d.posting}
	if !d.opt.Rule.Short(v.tokens) {
		ask.Keys, ask.Meet = v.askedKeys(&d.opt.Rule)
	}
	return ask
}

// copyOf sets the verdict on a page whose text equals that of first.
func (j *judgement) copyOf(first *store.Record) {
	const itself, itsLeader = 1, 2
	v := dedup.Copy(itself, first.URL, dedup.Verdict{
		Kind: first.Verdict, Leader: itsLeader, DuplicateOf: first.DuplicateOf, Resemblance: first.Resemblance, Method: first.Found, Containment: first.Containment,
	})
	if v.Leader == itself {
		j.follow(v, first.ID)
	} else {
		j.follow(v, first.Leader)
	}
}

func (j *judgement) follow(v dedup.Verdict, leader dedup.Hash) {
	r := &j.record
	r.Verdict, r.Found, r.Resemblance, r.Containment, r.Leader, r.DuplicateOf = v.Kind, v.Method, v.Resemblance, v.Containment, leader, v.DuplicateOf
}

// compare compares a page with the leaders in met, which a lookup found, and sets the verdict on
// the page. Candidates are numbered by their position in met, so of two leaders with the same
// resemblance, the earlier one wins.
func (d *judge) compare(ctx context.Context, j *judgement, met []store.Leader, how judging) (*judgement, error) {
	candidates := make([]dedup.Candidate, len(met))
	for i := range met {
		candidates[i] = dedup.Candidate{Num: uint64(i + 1), Estimate: dedup.Estimate(j.sketch, &met[i].Sketch)}
	}
	short, err := d.withSets(ctx, met, d.opt.Rule.Shortlist(candidates, j.tokens))
	if err != nil {
		return nil, err
	}
	var set dedup.Set
	if len(short) > 0 {
		set = j.shingles.asSet()
	}
	v := d.prefer(j, set, short, d.opt.Rule.Judge(set, short))
	if v.Leader == 0 {
		j.record.Verdict = v.Kind
		return j, nil
	}
	return d.join(ctx, j, v, &met[v.Leader-1], how)
}

func (d *judge) join(ctx context.Context, j *judgement, v dedup.Verdict, leader *store.Leader, how judging) (*judgement, error) {
	if leader.Hash == j.record.Hash { // the lookup was by keys only, so it may also find a page with the same text
		v.Kind, v.Method, v.Containment = dedup.Exact, dedup.ByText, 0
	}
	j.follow(v, leader.ID)
	return d.contest(ctx, j, nil, leader.Hash, how)
}

// compareRuns is like compare, but for the rule containment. The page becomes a duplicate of the
// first leader that contains enough of it. The leaders that share the most requested keys come
// first; ties are in commit order. A leader at the canonical URL of the page precedes them all. The
// texts of leaders may be long, so they are read one by one, up to [dedup.MaxVerifyWords].
func (d *judge) compareRuns(ctx context.Context, j *judgement, met []store.Leader, how judging) (*judgement, error) {
	j.record.Verdict = dedup.Unique
	if len(met) == 0 {
		return j, nil
	}
	named := dedup.HashOf([]byte(j.record.CanonicalURL))
	candidates := make([]dedup.Candidate, len(met))
	for i := range met {
		candidates[i] = dedup.Candidate{Num: uint64(i + 1), Estimate: float64(met[i].Shared)}
		if d.elects() && met[i].ID == named {
			candidates[i].Estimate = math.Inf(1)
		}
	}
	runs, err := j.runs()
	if err != nil {
		return nil, err
	}
	var l *leader
	runsOf := func(c dedup.Candidate) (dedup.Set, error) {
		leaders, err := d.leaders.get(ctx, met[c.Num-1:c.Num])
		if err != nil || leaders[0] == nil { // a leader may be missing; see withSets
			return nil, err
		}
		l = leaders[0]
		return l.runs, nil
	}
	c, share, ok, err := d.opt.Rule.Source(runs, d.opt.Rule.Shortlist(candidates, j.tokens), runsOf)
	if err != nil || !ok {
		return j, err
	}
	v := dedup.Verdict{Kind: dedup.Near, DuplicateOf: l.url, Resemblance: dedup.Resemblance(j.shingles.asSet(), l.set), Method: dedup.ByRuns, Containment: share}
	return d.join(ctx, j, v, &met[c.Num-1], how)
}

// prefer returns a verdict that makes the page a duplicate of the leader at its canonical URL, if
// that leader is among the candidates and resembles the page enough. Otherwise it returns v.
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

// withSets adds URLs and shingles to candidates. It skips candidates without a record: after a
// crash, the index may have entries for pages that were never committed.
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

// elects reports whether a page may replace a leader. Files never do.
func (d *judge) elects() bool { return d.order.Load() != nil }

func (d *judge) standing(r *store.Record) precedence.Standing {
	return precedence.Of(r, d.order.Load())
}

// contest makes a judged page the leader of its cluster if the page should lead it. The argument l
// is the record of the current leader; if it is nil, contest reads the record. The argument text is
// the hash of the leader's text when the page was compared with it. If the leader has a different
// text now, it has been visited since, and the store will refuse the page as stale. If the page
// does not hold the lock of the cluster, contest only sets j.wants.
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
		return d.lead(j.visit, j.basis, r, l), nil
	case leads != l.URL: // another member must become the leader once this page is committed
		j.reelect = append(j.reelect, l.ID)
	}
	return j, nil
}

// canLead reports whether a page of a cluster could replace its leader. With the rule containment,
// only a page with the same text can, because the leader contains text that the other pages lack.
func (d *judge) canLead(r, leader *store.Record) bool {
	return d.opt.Rule.Contained == 0 || r.Hash == leader.Hash
}

// bars reports whether a page must not follow a leader because the leader is withheld more;
// see [precedence.Withheld]. If the page can take the lead instead, it is not barred.
func (d *judge) bars(r, leader *store.Record) bool {
	return precedence.Withheld(leader) > precedence.Withheld(r) && !(d.elects() && d.canLead(r, leader))
}

// mayChange reports whether a page that joins a cluster may change its leader.
func (d *judge) mayChange(r, leader *store.Record) bool {
	if !d.canLead(r, leader) {
		return false
	}
	mine, its := d.standing(r), d.standing(leader)
	if precedence.Yields(&mine, &its) {
		return false
	}
	before, _ := precedence.Compare(&mine, &its)
	return before < 0 || precedence.Yields(&its, &mine)
}

// bestOf returns the URL of the page that should lead a cluster. The argument came is the record of
// a page that is joining the cluster, or nil.
func (d *judge) bestOf(ctx context.Context, leader, came *store.Record) (string, error) {
	pages := []precedence.Standing{d.standing(leader)}
	if came != nil {
		pages = append(pages, d.standing(came))
	}
	for m, err := range d.store.Members(ctx, []dedup.Hash{leader.ID}) {
		if err != nil {
			return "", err
		}
		if d.canLead(m, leader) && (came == nil || m.ID != came.ID) {
			pages = append(pages, d.standing(m))
		}
	}
	return pages[precedence.Leader(pages)].URL, nil
}

// lead returns a judgement that makes a page the leader instead of l. The argument r is the record of
// the page as a duplicate of l.
func (d *judge) lead(v *visit, basis store.Basis, r, l *store.Record) *judgement {
	j := v.thin()
	j.basis, j.over = basis, takeover{l.ID, l.Hash, dedup.Verdict{Kind: r.Verdict, Resemblance: r.Resemblance, Method: r.Found}}
	if !d.opt.Rule.Short(v.tokens) {
		j.record.Verdict = dedup.Unique
	}
	return j
}

// passesOn adds the page's cluster to j.reelect if it may need another leader now. There are two
// cases: the canonical URL of the page has changed, or the page precedes the leader whose cluster it
// has left. That page led only because of the page's canonical URL, or until the page was fetched.
func (d *judge) passesOn(ctx context.Context, j *judgement) error {
	switch b := j.before; {
	case !d.elects():
	case j.renamed && j.draft.Follows():
		j.reelect = append(j.reelect, j.draft.Leader)
	case j.renamed:
		j.reelect = append(j.reelect, j.draft.ID)
	case j.followed:
		l, err := d.store.record(ctx, b.Leader)
		if err != nil || l == nil {
			return err
		}
		was, its := d.standing(b), d.standing(l)
		if before, _ := precedence.Compare(&was, &its); before < 0 && d.canLead(b, l) {
			j.reelect = append(j.reelect, l.ID)
		}
	}
	return nil
}
