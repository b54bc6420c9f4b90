package ingest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"skink/dedup"
	"skink/store"
	"skink/store/precedence"
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
// leader are judged again (see members.go). The URL of the new leader stays pending until that is
// done, so a crawl that is killed in between resumes there.
//
// The page that would lead without canonical URLs passes the lead to the page of the cluster that
// its canonical URL names. So all members of a cluster are listed before its leader changes. This
// is rarely needed: a page that neither precedes the leader nor is named by it changes nothing.
//
// In one process, only one page at a time can change the leader of a cluster; see electing.go. A
// page is first judged without any locks. This shows which clusters it needs. If it needs any, it
// waits for their locks and is judged again. It also needs the lock of the cluster that it will
// lead, because later copies may try to replace it.
//
// Members that are judged again, and pages of another process, may change the same leader at the
// same time. In that case the store refuses the commit that comes second, or the old leader is a
// duplicate of the other page by then. The page is then judged again. So of two such pages, the
// page that is committed second is compared with the first.
//
// The canonical URL of a page may name one of the leaders that the page was compared with. If the
// page resembles this leader enough, it becomes a duplicate of this leader, even if it resembles
// another leader more.

type elections struct {
	*judge
	locks   *electing
	counts  *counts
	lessons *lessons
}

// follow must be called after a judgement is stored. It replaces the leaders of clusters as the
// judgement requires. It calls checkLeader if the page was not modified but its leader has changed.
func (e *elections) follow(ctx context.Context, j *judgement) error {
	for _, leader := range j.reelect {
		if err := e.reelect(ctx, leader); err != nil {
			return err
		}
	}
	switch {
	case !j.over.leader.IsZero():
		return e.depose(ctx, j)
	case j.kind == touched && j.record.NoText && j.record.Follows():
		return e.checkLeader(ctx, j)
	}
	return nil
}

// checkLeader queues the page for another fetch if its leader has changed since the page was
// judged. It does so only if the text is not kept, because the stored page cannot be judged again
// without its text.
func (e *elections) checkLeader(ctx context.Context, j *judgement) error {
	leader, err := e.store.record(ctx, j.record.Leader)
	if err != nil || leader != nil && !leader.Began().After(j.before.Began()) {
		return err
	}
	return e.store.fetchAgain(ctx, &j.record)
}

// remade returns a visit made from the stored content of a page, so that the page can be judged
// again without fetching it.
func (e *elections) remade(c *store.Content) *visit {
	got, before := e.opt.reread(c), c.Record
	return &visit{reading: got, kind: changed, draft: got.seen, before: &before}
}

// settle judges a stored page again and writes the result. It repeats this as long as the store
// refuses the result as stale. It returns nil if the page is gone, or if decide returns nil.
func (e *elections) settle(ctx context.Context, id dedup.Hash, decide func(*visit) (*judgement, error)) (*judgement, error) {
	for {
		c, err := e.store.content(ctx, id)
		if err != nil || c == nil || c.Record.Kind != store.Page || !c.Kept {
			return nil, err
		}
		j, err := decide(e.remade(c))
		if err != nil || j == nil || j.sameVerdict() {
			return j, err
		}
		j = j.again()
		if written, err := e.rewrite(ctx, j); err != nil || written == 1 {
			return j, err
		}
	}
}

// depose replaces a leader with the page of j: it writes the old leader as a member of the new
// cluster, and judges the members of the old leader again. The page of j may resemble other leaders
// too, so it is also judged again.
func (e *elections) depose(ctx context.Context, j *judgement) error {
	still := false // the old leader still leads, because the page of j does not
	_, err := e.settle(ctx, j.over.leader, func(old *visit) (*judgement, error) {
		if old.draft.Follows() || old.draft.Hash != j.over.text {
			return nil, nil // another page replaced the old leader before a crash, or the old leader has been visited in the meantime
		}
		yielded, err := e.yield(ctx, old, j)
		still = yielded == nil
		return yielded, err
	})
	if err == nil && !still {
		err = e.judgeMembers(ctx, j.over.leader)
	}
	if err != nil {
		return err
	}
	return e.judgeAgain(ctx, j.record.ID)
}

// yield returns a judgement that turns old, the leader of a cluster, into a duplicate of the page
// of j. It returns nil if that page no longer leads a cluster, or if it is withheld more than old,
// which a visit in the meantime may have made public.
func (e *elections) yield(ctx context.Context, old *visit, j *judgement) (*judgement, error) {
	found, err := e.store.Lookup(ctx, []store.Ask{{ID: old.draft.ID}})
	if err != nil {
		return nil, err
	}
	now, err := e.store.record(ctx, j.record.ID)
	if err != nil || now == nil || now.Kind != store.Page || now.Follows() || now.Hash != j.record.Hash || precedence.Withheld(now) > precedence.Withheld(&old.draft) {
		return nil, err
	}
	yielded := old.thin()
	v := j.over.like
	v.DuplicateOf = now.URL
	yielded.follow(v, now.ID)
	yielded.basis = store.Basis{Mark: found[0].Mark}
	yielded.record.NoText = e.opt.SkipDuplicates
	return yielded, nil
}

func (e *elections) judgeAgain(ctx context.Context, id dedup.Hash) error {
	j, err := e.settle(ctx, id, func(v *visit) (*judgement, error) { return e.verdict(ctx, v, judging{}) })
	if err != nil || j == nil {
		return err
	}
	if j.record.Follows() && !j.before.Follows() {
		if err := e.judgeMembers(ctx, id); err != nil {
			return err
		}
	}
	return e.follow(ctx, j)
}

func (j *judgement) sameVerdict() bool {
	a, b := &j.record, j.before
	return a.Verdict == b.Verdict && a.Leader == b.Leader && a.DuplicateOf == b.DuplicateOf && a.Resemblance == b.Resemblance && a.Containment == b.Containment
}

// again returns the judgement to store for a page whose verdict has changed because it was judged again.
// If the kind of the verdict has changed, the new record becomes the successor of the stored one.
func (j *judgement) again() *judgement {
	next := *j
	if j.before.Verdict != j.record.Verdict {
		next.record.Succeeds(j.before, nil, 1)
	}
	next.record.JudgedAt = after(j.before.Began())
	return &next
}

// after returns the current time, or a nanosecond after t if that is later.
func after(t time.Time) time.Time {
	if now := time.Now().UTC(); now.After(t) {
		return now
	}
	return t.Add(1)
}

// rewrite commits stored pages whose verdicts have changed because they were judged again. It stops at
// the first page that the store refuses as stale, and returns the number of pages before it.
func (e *elections) rewrite(ctx context.Context, all ...*judgement) (done int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	entries := make([]*store.Entry, len(all))
	for i, j := range all {
		entries[i] = j.entry(&e.opt.Rule)
	}
	outcomes, err := e.store.Commit(ctx, entries)
	if err != nil {
		return 0, err
	}
	for n, j := range all {
		if outcomes[n] != store.Written {
			return n, nil
		}
		e.counts.mu.Lock()
		e.counts.replace(j)
		e.counts.mu.Unlock()
		if err := e.lessons.follows(ctx, &j.record); err != nil {
			return n, err
		}
	}
	return len(all), nil
}

// reelect finds the page that should lead the cluster of the given leader, and makes it the leader.
// It repeats this if another visit changes the elected page in the meantime, because that visit does
// not elect again.
func (e *elections) reelect(ctx context.Context, leader dedup.Hash) error {
	for {
		l, err := e.store.record(ctx, leader)
		if err != nil || l == nil || l.Kind != store.Page || l.Follows() {
			return err
		}
		leads, err := e.bestOf(ctx, l, nil)
		if err != nil || leads == l.URL {
			return err
		}
		c, err := e.store.content(ctx, dedup.HashOf([]byte(leads)))
		switch {
		case err != nil || c == nil:
			return err
		case c.Record.Leader != leader || !c.Record.Follows():
			continue // the page was visited in the meantime
		case !c.Kept:
			return e.store.fetchAgain(ctx, &c.Record) // the page becomes the leader once it is fetched and judged
		}
		v := e.remade(c)
		if trusted, err := e.trusts(ctx, v, v.before, l); err != nil || !trusted {
			return err // if not trusted, the leader was visited: its members are about to be judged again, and then elect
		}
		j := e.lead(v, store.Basis{}, v.before, l).again()
		written, err := e.rewrite(ctx, j)
		if err == nil && written == 1 {
			err = e.depose(ctx, j)
		}
		if err != nil {
			return err
		}
	}
}

// resume completes the replacement of a leader that a killed process left incomplete. The argument
// known is the stored record of the page that caused the replacement. By now, this page may lead
// the cluster, or follow the old or the new leader.
func (e *elections) resume(ctx context.Context, known *store.Record) error {
	if !e.elects() || known.Kind != store.Page {
		return nil
	}
	if !known.Follows() {
		if err := e.judgeAgain(ctx, known.ID); err != nil {
			return err
		}
	}
	leader, err := e.store.record(ctx, known.Cluster())
	if err != nil || leader == nil {
		return err
	}
	return e.gather(ctx, leader.Cluster()) // another page may lead now
}

// gather judges again the pages that still follow a member of the given leader's cluster, because
// that member used to lead them. Then it elects the leader of the cluster.
func (e *elections) gather(ctx context.Context, leader dedup.Hash) error {
	var members []dedup.Hash
	for r, err := range e.store.Members(ctx, []dedup.Hash{leader}) {
		if err != nil {
			return err
		}
		members = append(members, r.ID)
	}
	var led []dedup.Hash
	for r, err := range e.store.Members(ctx, members) {
		if err != nil {
			return err
		}
		led = append(led, r.Leader)
	}
	slices.SortFunc(led, func(a, b dedup.Hash) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range slices.Compact(led) {
		if err := e.judgeMembers(ctx, id); err != nil {
			return err
		}
	}
	return e.reelect(ctx, leader)
}

// markListed marks the records of pages as listed in a sitemap. The caller must hold the locks of
// all clusters.
func (e *elections) markListed(ctx context.Context, ids []dedup.Hash) error {
	pages, err := e.store.Pages(ctx, ids, store.WantRecord)
	if err != nil {
		return err
	}
	var leaders []dedup.Hash
	for _, page := range pages {
		if page == nil || page.Record.Kind != store.Page || page.Record.Listed {
			continue
		}
		r := page.Record
		r.Listed = true
		touch := &store.Entry{Record: r, Touch: true, Replaces: r.Updated()}
		if _, err := e.store.Commit(ctx, []*store.Entry{touch}); err != nil { // a stale entry need not be written again, because the page is being visited
			return fmt.Errorf("store the entries of a sitemap: %w", err)
		}
		if e.elects() && r.Follows() && !slices.Contains(leaders, r.Leader) {
			leaders = append(leaders, r.Leader)
		}
	}
	for _, leader := range leaders {
		if err := e.reelect(ctx, leader); err != nil {
			return err
		}
	}
	return nil
}
