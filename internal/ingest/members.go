package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"skink/dedup"
	"skink/store"
	"skink/store/precedence"
)

// # When a leader changes
//
// If the leader of a cluster has different words now, or is gone, the other pages of the cluster
// (its members) are duplicates of a text that no longer exists. So each member with a kept text is
// judged again, in the order of package precedence. The new leader is then the page that would have
// led without the old one. Members without a kept text are put back into the frontier, to be
// fetched and judged.
//
// The leader's new record is written before its members are judged, but its URL stays pending until
// all of them are. If a crawl is killed in between, the next run finds the URL pending and the
// record written, and judges the members.
//
// Meanwhile, new pages may be copies of a member that is still waiting. A new page takes over the
// verdict of such a member only if it resembles the leader as much as that verdict says; see
// [judge.trusts]. The store commits the verdict only if the leader has not changed in the meantime.
// So no page becomes a duplicate of an old version of a leader. Pages that resemble the new version
// may join the cluster before its members are judged, so the members are listed again until there
// are no new ones.

type reunion struct {
	leader dedup.Hash
	done   map[dedup.Hash]time.Time  // members that were judged again, with the times of their new records
	first  map[dedup.Hash]dedup.Hash // by text, the id of the first member that was judged again; see [judging]
}

// judgeMembers judges the members of a leader again. It judges several at once if this cannot
// change their verdicts; see [elections.judgeSome]. If the leader still leads, its cluster then elects
// again: a page that joined in the meantime gave way to members that may have left.
func (e *elections) judgeMembers(ctx context.Context, leader dedup.Hash) error {
	again := &reunion{leader, map[dedup.Hash]time.Time{}, map[dedup.Hash]dedup.Hash{}}
	for {
		members, err := e.waiting(ctx, again)
		switch {
		case err != nil || len(members) == 0 && (len(again.done) == 0 || !e.elects()):
			return err
		case len(members) == 0:
			return e.reelect(ctx, leader)
		}
		for len(members) > 0 {
			n, err := e.judgeSome(ctx, again, members[:min(len(members), maxAtOnce)])
			if err != nil {
				return fmt.Errorf("judge pages again after their leader changed: %w", err)
			}
			members = members[n:]
		}
	}
}

// waiting returns the ids of the members that have not been judged yet, in the order in which they must
// be judged.
func (e *elections) waiting(ctx context.Context, again *reunion) (members []dedup.Hash, err error) {
	standings := map[dedup.Hash]precedence.Standing{}
	for r, err := range e.store.Members(ctx, []dedup.Hash{again.leader}) {
		if err != nil {
			return nil, err
		}
		if !again.has(r) {
			members, standings[r.ID] = append(members, r.ID), e.standing(r)
		}
	}
	slices.SortFunc(members, func(a, b dedup.Hash) int {
		one, other := standings[a], standings[b]
		d, _ := precedence.Compare(&one, &other)
		return d
	})
	return members, nil
}

// judgeSome judges members of a leader that has changed, with the same results as if they were
// judged one after another. It returns the number of members that are done. It stops after a member
// that becomes a leader or changes one, because the members after it may resemble it.
func (e *elections) judgeSome(ctx context.Context, again *reunion, members []dedup.Hash) (done int, err error) {
	contents, err := e.store.Pages(ctx, members, store.WantText|store.WantSketch|store.WantLinks)
	if err != nil {
		return 0, err
	}
	var visits []*visit
	for _, c := range contents {
		switch {
		case c == nil || c.Record.Leader != again.leader || !c.Record.Follows(): // the page has been visited in the meantime
		case !c.Kept:
			again.add(&c.Record)
			if err := e.store.fetchAgain(ctx, &c.Record); err != nil {
				return 0, err
			}
		default:
			visits = append(visits, e.remade(c))
		}
	}
	judged, err := e.verdicts(ctx, visits, judging{first: again.first})
	if err != nil {
		return 0, err
	}
	place := func(j *judgement) int { return slices.Index(members, j.record.ID) }
	done = len(members)
	var news []*judgement
	for _, j := range judged {
		if j.sameVerdict() {
			again.add(j.before)
			continue
		}
		news = append(news, j.again())
		if !j.record.Follows() || j.changesLeaders() {
			done = place(j) + 1
			break
		}
	}
	written, err := e.rewrite(ctx, news...)
	for _, j := range news[:written] {
		again.add(&j.record)
		if err == nil {
			err = e.follow(ctx, j)
		}
	}
	if err != nil || written == len(news) {
		return done, err
	}
	return place(news[written]), nil
}

// add marks a member as done. It also remembers the first member with each text, for pages that are
// too short to be compared. For these, the store may return a copy that has not been judged yet, so
// members with the same text would not find each other.
func (u *reunion) add(r *store.Record) {
	u.done[r.ID] = r.Began()
	if _, ok := u.first[r.Hash]; !ok && !r.NoText {
		u.first[r.Hash] = r.ID
	}
}

// has reports whether a record belongs to a member that is done. A member that was visited in the
// meantime has a different record, so the result is false.
func (u *reunion) has(r *store.Record) bool {
	at, ok := u.done[r.ID]
	return ok && at.Equal(r.Began())
}
