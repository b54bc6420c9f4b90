package postgres

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"skink/base/batcher"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # How pages are committed
//
// A commit takes two round trips. The first reads, without a lock, the data that the verdicts of
// its entries depend on. The outcomes are decided from this data. The second sends two transactions
// at once. The first of them writes rows that readers ignore until a page refers to them: visits
// and newly discovered URLs. The second locks the one row of the table turn. The statement that
// increments turn.place, the number of the last commit, also checks that no commit since the first
// round trip changed that data. The statements after it write postings, pages, runs (see runs.go) and
// finished URLs.
// Each joins turn, and does nothing unless turn.holder is the ID of this attempt. So the server
// never holds the lock while it waits for the client. If the check fails, the commit starts over
// with its first round trip.
//
// A commit whose response was lost is repeated. If a page already refers to the visit that this
// commit created for it, the first attempt succeeded.

// Commit commits entries, together with those of concurrent calls. A commit that has begun is not
// canceled when ctx is done.
func (s *Store) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := store.Valid(entries); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return []store.Outcome{}, nil
	}
	return s.commits.Ask(context.WithoutCancel(ctx), entries)
}

// A commit is a list of entries that are written in one transaction. It contains each page at most
// once.
type commit struct {
	entries []*store.Entry
	call    []int        // index of the call that each entry belongs to
	ended   map[int]bool // indexes of calls in which an earlier entry was stale, so the rest is not written
	visits  []id
	sent    []bool
}

// commitAll commits the entries of several calls in order. A stale entry, whose verdict depends on
// outdated data, ends only the call that it belongs to.
func (s *Store) commitAll(calls [][]*store.Entry) ([][]store.Outcome, error) {
	outcomes := make([][]store.Outcome, len(calls))
	var entries []*store.Entry
	var outcomeOf []*store.Outcome
	var call []int
	for i, c := range calls {
		outcomes[i] = make([]store.Outcome, len(c))
		for j, e := range c {
			entries, outcomeOf, call = append(entries, e), append(outcomeOf, &outcomes[i][j]), append(call, i)
		}
	}
	ended := map[int]bool{}
	for done := 0; done < len(entries); {
		n := done + batchLen(entries[done:])
		c := &commit{entries: entries[done:n], call: call[done:n], ended: ended, sent: make([]bool, n-done)}
		for range c.entries {
			c.visits = append(c.visits, newID())
		}
		var some []store.Outcome
		err := s.try(context.WithoutCancel(s.life), func(ctx context.Context) (err error) {
			some, err = s.commit(ctx, c)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, o := range some {
			if *outcomeOf[done+i] = o; o == store.Stale {
				ended[call[done+i]] = true
			}
		}
		s.forgetTaken(c.entries, some)
		done = n
	}
	return outcomes, nil
}

// batchLen returns how many of the first entries can be committed in one transaction. It stops
// before an entry whose page is among the earlier entries. It also stops before a link to such a
// page if that page was never taken from the queue, because then the order of the two decides
// whether the page is queued again.
func batchLen(entries []*store.Entry) int {
	pages, unclaimed := map[dedup.Hash]bool{}, map[dedup.Hash]bool{}
	for n, e := range entries {
		if n == batcher.MaxTogether || pages[e.Record.ID] ||
			len(unclaimed) > 0 && slices.ContainsFunc(e.Links, func(it frontier.Item) bool { return unclaimed[hashOf(it.URL)] }) {
			return n
		}
		pages[e.Record.ID] = true
		if e.Claim == (frontier.Claim{}) && e.State != frontier.Unknown {
			unclaimed[hashOf(e.Record.URL)] = true
		}
	}
	return len(entries)
}

// commit repeats both round trips until no other commit between the two has changed the data that
// the entries depend on.
func (s *Store) commit(ctx context.Context, c *commit) ([]store.Outcome, error) {
	for {
		known, err := s.readBasis(ctx, c)
		if err != nil {
			return nil, err
		}
		outcomes, w, err := c.decide(known)
		if err != nil || len(w.basisPages) == 0 { // nothing is to be written
			return outcomes, err
		}
		written, err := s.write(ctx, c, w, known.place)
		if err != nil || written {
			return outcomes, err
		}
		clear(c.sent) // a sweep may have removed the visits in the meantime
	}
}

// basis is the data that the outcomes of a commit depend on, as read in the first round trip.
type basis struct {
	place int64 // number of the last commit, read before the other data
	pages map[dedup.Hash]knownPage
	lanes lanes        // runs of these pages
	stale map[int]bool // indexes of entries whose verdict depends on data that a later commit changed
	// held contains the claims of these calls that are still valid.
	held map[frontier.Claim]bool
}

type knownPage struct {
	visit       id
	lane, place int64
	written     *store.Record // the record of the visit that found the page as it is
	record      store.Record  // this record with the changes of later visits
}

const (
	knownSQL       = "SELECT p.id, p.visit, p.lane, p.place, CASE WHEN v.id <> a.visit THEN v.record::text END FROM unnest($1::uuid[], $2::uuid[]) a(id, visit) JOIN page p USING (id) JOIN visit v ON v.id = p.visit"
	staleKeysSQL   = `SELECT DISTINCT e.i FROM unnest($1::int[], $2::bigint[], $3::bigint[]) e(i, key, mark) CROSS JOIN LATERAL (SELECT place FROM posting WHERE posting.key = e.key AND place > e.mark LIMIT 1) p`
	staleHashesSQL = `SELECT DISTINCT e.i FROM unnest($1::int[], $2::uuid[], $3::bigint[]) e(i, hash, mark) CROSS JOIN LATERAL (SELECT place FROM page WHERE page.hash = e.hash AND place > e.mark LIMIT 1) p`
	staleLeaderSQL = `SELECT e.i FROM unnest($1::int[], $2::uuid[], $3::bigint[]) e(i, id, mark) JOIN page p ON p.id = e.id WHERE p.place > e.mark`
	heldSQL        = "SELECT name, worker, token FROM host WHERE name = ANY($1::text[]) AND until > clock_timestamp()"
)

// asks holds the lookups of entries, as one slice for each column of the query.
type asks struct {
	i     []int32
	mark  []int64
	key   []int64
	ident []id
}

// readBasis reads the number of the last commit first, and then the data that the entries depend
// on. The check under the lock then finds all later commits.
func (s *Store) readBasis(ctx context.Context, c *commit) (*basis, error) {
	known := &basis{pages: map[dedup.Hash]knownPage{}, lanes: lanes{}, stale: map[int]bool{}, held: map[frontier.Claim]bool{}}
	b := &pgx.Batch{}
	s.queueTurn(b, &known.place)
	var pages, visits []id
	var hosts []string
	var keys, hashes, leaders asks
	for i, e := range c.entries {
		var visit id
		if p := s.handed.get(e.Record.ID, false); p != nil {
			visit, known.pages[e.Record.ID] = p.id, knownPage{visit: p.id, written: p.written}
		}
		pages, visits = append(pages, e.Record.ID), append(visits, visit)
		mark := int64(e.Basis.Mark.Place())
		for _, k := range e.Basis.Keys {
			keys.i, keys.mark, keys.key = append(keys.i, int32(i)), append(keys.mark, mark), append(keys.key, int64(k))
		}
		for _, h := range e.Basis.Hashes {
			hashes.i, hashes.mark, hashes.ident = append(hashes.i, int32(i)), append(hashes.mark, mark), append(hashes.ident, h)
		}
		if mark > 0 && e.Record.Follows() {
			leaders.i, leaders.mark, leaders.ident = append(leaders.i, int32(i)), append(leaders.mark, mark), append(leaders.ident, e.Record.Leader)
		}
		if e.Claim != (frontier.Claim{}) {
			hosts = append(hosts, e.Claim.Host)
		}
	}
	b.Queue(knownSQL, pages, visits).Query(known.readPages)
	b.Queue(runsSQL, pages).Query(known.lanes.read)
	stale := func(rows pgx.Rows) error {
		var i int
		_, err := pgx.ForEachRow(rows, []any{&i}, func() error { known.stale[i] = true; return nil })
		return err
	}
	if keys.i != nil {
		b.Queue(staleKeysSQL, keys.i, keys.key, keys.mark).Query(stale)
	}
	if hashes.i != nil {
		b.Queue(staleHashesSQL, hashes.i, hashes.ident, hashes.mark).Query(stale)
	}
	if leaders.i != nil {
		b.Queue(staleLeaderSQL, leaders.i, leaders.ident, leaders.mark).Query(stale)
	}
	if hosts != nil {
		slices.Sort(hosts)
		b.Queue(heldSQL, slices.Compact(hosts)).Query(func(rows pgx.Rows) error {
			var held frontier.Claim
			var worker *string
			_, err := pgx.ForEachRow(rows, []any{&held.Host, &worker, &held.Token}, func() error {
				if worker != nil {
					held.Worker = *worker
					known.held[held] = true
				}
				return nil
			})
			return err
		})
	}
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	return known, known.addVisits()
}

// readPages reads the pages that are in the store. The record is NULL if the page was handed out and has
// not been replaced since.
func (k *basis) readPages(rows pgx.Rows) error {
	handed := k.pages
	k.pages = map[dedup.Hash]knownPage{}
	var page id
	var record []byte
	var p knownPage
	_, err := pgx.ForEachRow(rows, []any{&page, &p.visit, &p.lane, &p.place, &record}, func() (err error) {
		if p.written = handed[page].written; record != nil {
			p.written, err = store.UnpackRecord(record)
		}
		k.pages[page] = p
		return err
	})
	return err
}

// addVisits sets the records of the pages after their last visits.
func (k *basis) addVisits() error {
	for page, p := range k.pages {
		p.record = *p.written
		if r, i, there := k.lanes.find(p.lane, p.place); there {
			if err := update(&p.record, r.visits[i]); err != nil {
				return err
			}
		}
		k.pages[page] = p
	}
	return nil
}

func (c *commit) decide(known *basis) ([]store.Outcome, *writes, error) {
	outcomes := make([]store.Outcome, len(c.entries))
	w := &writes{keys: map[uint64]bool{}, hashes: map[dedup.Hash]bool{}, placed: map[dedup.Hash]bool{}, named: map[string][]byte{}, claims: map[frontier.Claim]bool{}, lanes: known.lanes}
	stopped := map[int]bool{}
	for i, e := range c.entries {
		if c.ended[c.call[i]] || stopped[c.call[i]] {
			continue
		}
		was, there := known.pages[e.Record.ID]
		if there && was.visit == c.visits[i] {
			outcomes[i] = store.Written // written by an earlier attempt whose response was lost
			continue
		}
		keeps := there && !e.Revisit && !e.Touch
		if !keeps && (known.stale[i] || w.outdates(e) || !e.Replaces.IsZero() && (!there || !was.record.Updated().Equal(e.Replaces))) {
			stopped[c.call[i]] = true
			continue
		}
		if e.Claim != (frontier.Claim{}) && !known.held[e.Claim] {
			outcomes[i] = store.Lost
			continue
		}
		w.follow(e)
		inRun := there && w.leaveRun(&was, e)
		if e.State != frontier.Unknown {
			w.end(e, inRun)
		}
		if outcomes[i] = store.Kept; keeps {
			continue
		}
		outcomes[i] = store.Written
		if there {
			w.tally.Remove(&was.record)
		}
		w.tally.Add(&e.Record)
		if there && e.Touch {
			w.touch(&was, e)
			continue
		}
		record, err := json.Marshal(&e.Record)
		if err != nil {
			return nil, nil, err
		}
		w.place(i, e, c.visits[i], string(record), there)
	}
	return outcomes, w, nil
}

func (s *Store) forgetTaken(entries []*store.Entry, outcomes []store.Outcome) {
	for i, e := range entries {
		s.handed.forget(e.Record.ID)
		if e.State == frontier.Unknown || outcomes[i] != store.Written && outcomes[i] != store.Kept {
			continue
		}
		for _, h := range s.holdings(e.Claim) {
			h.mu.Lock()
			delete(h.urls, hashOf(e.Record.URL))
			h.mu.Unlock()
		}
	}
}

// holdings returns the set of URLs taken under a claim, or the sets of all claims of this process
// if c is zero.
func (s *Store) holdings(c frontier.Claim) []*holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == (frontier.Claim{}) {
		return slices.Collect(maps.Values(s.taken))
	}
	if h := s.taken[c]; h != nil {
		return []*holding{h}
	}
	return nil
}
