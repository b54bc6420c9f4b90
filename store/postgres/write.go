package postgres

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// writes holds all rows that a commit writes, as one slice for each column.
type writes struct {
	keys           map[uint64]bool     // keys under which a posting is added
	hashes, placed map[dedup.Hash]bool // hashes of texts, and IDs of pages, that get a new commit number

	entryOf                 []int // index of each visit's entry
	visit, page             []id
	record                  []string
	text                    []*string
	packed, sketch, links   [][]byte
	targets                 []*string
	textHash, hash, leader  []*id
	resemblance             []float64
	keyArrays               []string
	posted                  []int64 // keys of all pages, page by page
	postedBy                []int32 // for each element of posted, the index of its page
	replaced                []id    // IDs of pages that were committed before
	lane                    []int64
	lanes                   lanes           // runs of the pages that were committed before
	inRun                   []bool          // whether each of them was pending in a run
	endedURL                []*string       // set for URLs outside the crawl
	unqueued                []frontier.Item // items that leave their runs, but stay pending
	unqueuedAt              []*int64
	relinked                []id // IDs of visits whose links may change
	newLinks                [][]byte
	newTargets              []*string
	ended                   []id // hashes of finished URLs
	endedAs                 []int16
	found                   []frontier.Item
	beyond                  []string
	named                   map[string][]byte
	tally                   store.Tally
	claims                  map[frontier.Claim]bool // under which the entries may be written
	basisKeys               []int64
	basisHashes, basisPages []id
	unclaimed               []string // hosts of URLs that were finished without a claim
}

// outdates reports whether these writes change the data that the verdict of e depends on.
func (w *writes) outdates(e *store.Entry) bool {
	for _, k := range e.Basis.Keys {
		if w.keys[k] {
			return true
		}
	}
	for _, h := range e.Basis.Hashes {
		if w.hashes[h] {
			return true
		}
	}
	return e.Basis.Mark.Place() > 0 && w.placed[e.Record.Leader]
}

// follow adds the URLs that e discovered, the final state of its own URL, and the conditions under
// which e may be written.
func (w *writes) follow(e *store.Entry) {
	w.found, w.beyond = append(w.found, e.Links...), append(w.beyond, e.Beyond...)
	w.basisPages = append(w.basisPages, e.Record.ID)
	maps.Copy(w.named, e.Named)
	if e.Claim != (frontier.Claim{}) {
		w.claims[e.Claim] = true
	}
	if e.State != frontier.Unknown && e.Claim == (frontier.Claim{}) {
		w.unclaimed = append(w.unclaimed, frontier.HostOf(e.Record.URL))
	}
}

// end adds the final state of a URL.
func (w *writes) end(e *store.Entry, inRun bool) {
	var url *string
	if e.State == frontier.Outside {
		url = &e.Record.URL
	}
	w.ended, w.endedAs = append(w.ended, hashOf(e.Record.URL)), append(w.endedAs, int16(e.State))
	w.inRun, w.endedURL = append(w.inRun, inRun), append(w.endedURL, url)
}

// leaveRun changes the run of a page as e requires, and reports whether the page was pending in it.
func (w *writes) leaveRun(was *knownPage, e *store.Entry) bool {
	r, i, there := w.lanes.find(was.lane, was.place)
	pending := there && r.pending(i)
	if e.Touch {
		r, i = w.lanes.change(store.Revisit(was.written, time.Time{}, false), was.lane, was.place)
		r.visits[i] = packVisit(&e.Record, was.written)
	}
	switch left := pending && !r.pending(i); {
	case pending && e.State != frontier.Unknown:
		if r.changed = true; !left {
			r.wanted[i] = 0
		}
	case left:
		r.wanted[i] |= stays
	}
	if there && e.Revisit {
		if pending && e.State == frontier.Unknown {
			w.unqueued, w.unqueuedAt = append(w.unqueued, revisit(&e.Record, r.asked, r.wanted[i])), append(w.unqueuedAt, r.seq)
		}
		r.remove(i)
	}
	return pending
}

// addConditions adds the keys, hashes and pages that the verdict of e depends on, for the check
// under the lock.
func (w *writes) addConditions(e *store.Entry) {
	for _, k := range e.Basis.Keys {
		w.basisKeys = append(w.basisKeys, int64(k))
	}
	w.basisHashes = append(w.basisHashes, ids(e.Basis.Hashes)...)
	if e.Basis.Mark.Place() > 0 && e.Record.Follows() {
		w.basisPages = append(w.basisPages, e.Record.Leader)
	}
}

// touch adds a visit that found a page unchanged.
func (w *writes) touch(was *knownPage, e *store.Entry) {
	w.addConditions(e)
	if e.Out != nil {
		w.relinked, w.newLinks, w.newTargets = append(w.relinked, was.visit), append(w.newLinks, e.Out), append(w.newTargets, targets(e))
	}
}

// place adds a page, which gets the next commit number.
func (w *writes) place(i int, e *store.Entry, visit id, record string, replaces bool) {
	w.addConditions(e)
	n := int32(len(w.page)) + 1
	if w.placed[e.Record.ID] = true; !e.Hash.IsZero() {
		w.hashes[e.Hash] = true
	}
	seen, array := map[uint64]bool{}, []byte("{")
	for _, k := range e.Keys {
		if w.keys[k] = true; !seen[k] {
			if seen[k] = true; len(seen) > 1 {
				array = append(array, ',')
			}
			array = strconv.AppendInt(array, int64(k), 10)
			w.posted, w.postedBy = append(w.posted, int64(k)), append(w.postedBy, n)
		}
	}
	w.keyArrays = append(w.keyArrays, string(append(array, '}')))
	var leader *id
	if e.Record.Follows() {
		leader = orNull(e.Record.Leader)
	}
	w.entryOf, w.visit, w.page, w.record = append(w.entryOf, i), append(w.visit, visit), append(w.page, e.Record.ID), append(w.record, record)
	text, packed := plain(e.Text)
	w.text, w.packed, w.sketch = append(w.text, text), append(w.packed, packed), append(w.sketch, packSketch(e.Sketch))
	w.links, w.targets = append(w.links, e.Out), append(w.targets, targets(e))
	w.textHash, w.hash, w.leader = append(w.textHash, orNull(e.Record.Hash)), append(w.hash, orNull(e.Hash)), append(w.leader, leader)
	w.resemblance, w.lane = append(w.resemblance, e.Record.Resemblance), append(w.lane, laneOf(store.Revisit(&e.Record, time.Time{}, false)))
	if replaces {
		w.replaced = append(w.replaced, e.Record.ID)
	}
}

const visitSQL = `INSERT INTO visit (id, page, record, text_hash, sketch, keys, links, targets, text, packed)
 SELECT a.id, a.page, a.record::json, a.text_hash, a.sketch, a.keys::bigint[], a.links, a.targets::uuid[], a.text, a.packed
 FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::bytea[], $5::bytea[], $6::text[], $7::text[], $8::uuid[], $9::text[], $10::bytea[]) a(id, record, text_hash, sketch, links, text, keys, page, targets, packed)
 ON CONFLICT (id) DO NOTHING`

const namedSQL = `INSERT INTO meta (kind, name, value) SELECT $1, a.name, a.value FROM unnest($2::text[], $3::bytea[]) a(name, value)
 ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value`

func (w *writes) queueVisits(b *pgx.Batch) {
	b.Queue(visitSQL, w.visit, w.record, w.textHash, w.sketch, w.links, w.text, w.keyArrays, w.page, w.targets, w.packed)
}

// These statements run under the lock, in this order. $1 is the ID of this attempt. If the check
// succeeds, it writes that ID into turn.holder. Otherwise the later statements do nothing.
const (
	lockSQL  = "SELECT place FROM turn WHERE one = 1 FOR UPDATE"
	checkSQL = `UPDATE turn SET place = place + $3, holder = $1 WHERE one = 1 AND birth = $2
 AND (place = $4 OR NOT EXISTS (SELECT FROM posting WHERE key = ANY($5::bigint[]) AND place > $4)
  AND NOT EXISTS (SELECT FROM page WHERE hash = ANY($6::uuid[]) AND place > $4)
  AND NOT EXISTS (SELECT FROM page WHERE id = ANY($7::uuid[]) AND place > $4))
 AND NOT EXISTS (SELECT FROM unnest($8::text[], $9::text[], $10::bigint[]) c(name, worker, token)
  WHERE NOT EXISTS (SELECT FROM host h WHERE h.name = c.name AND h.worker = c.worker AND h.token = c.token AND h.until > clock_timestamp()))
 AND (SELECT count(*) FROM visit WHERE id = ANY($11::uuid[])) = cardinality($11::uuid[])
 AND NOT EXISTS (SELECT FROM unnest($12::bigint[], $13::bigint[], $14::bigint[], $15::text[]) c(lane, first, after, digest)
  WHERE CASE WHEN c.digest IS NULL THEN EXISTS (SELECT FROM run WHERE run.lane = c.lane AND run.first > c.after AND run.first <= c.first)
   ELSE NOT EXISTS (SELECT FROM run WHERE run.lane = c.lane AND run.first = c.first AND md5(run::text) = c.digest) END)`
	unpostSQL = `DELETE FROM posting USING (SELECT unnest(v.keys) AS key, p.place FROM turn t, page p JOIN visit v ON v.id = p.visit WHERE t.one = 1 AND t.holder = $1 AND p.id = ANY($2::uuid[])) old
 WHERE posting.key = old.key AND posting.place = old.place`
	dropVisitSQL = "DELETE FROM visit USING turn t, page p WHERE t.one = 1 AND t.holder = $1 AND p.id = ANY($2::uuid[]) AND visit.id = p.visit"
	pageSQL      = `INSERT INTO page (id, place, visit, hash, leader, resemblance, lane)
 SELECT a.id, t.place - cardinality($2::uuid[]) + a.n, a.visit, a.hash, a.leader, a.resemblance, a.lane
 FROM turn t, unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::float8[], $7::bigint[]) WITH ORDINALITY a(id, visit, hash, leader, resemblance, lane, n) WHERE t.one = 1 AND t.holder = $1
 ON CONFLICT (id) DO UPDATE SET place = excluded.place, visit = excluded.visit, hash = excluded.hash, leader = excluded.leader, resemblance = excluded.resemblance, lane = excluded.lane`
	postingSQL = `INSERT INTO posting (key, place) SELECT k.key, t.place - $2 + k.n FROM turn t, unnest($3::bigint[], $4::int[]) k(key, n) WHERE t.one = 1 AND t.holder = $1`
	relinkSQL  = `UPDATE visit SET links = a.links, targets = a.targets::uuid[] FROM turn t, unnest($2::uuid[], $3::bytea[], $4::text[]) a(id, links, targets)
 WHERE t.one = 1 AND t.holder = $1 AND visit.id = a.id AND visit.links IS DISTINCT FROM a.links`
	endSQL = `WITH a AS (SELECT a.* FROM turn t, unnest($2::uuid[], $3::smallint[], $5::bool[], $6::text[]) a(hash, state, in_run, url) WHERE t.one = 1 AND t.holder = $1),
 alone AS (DELETE FROM queue USING a WHERE queue.hash = a.hash RETURNING queue.hash),
 ended AS (SELECT * FROM a WHERE in_run OR (hash IN (SELECT hash FROM alone)) IS TRUE),
 changed AS (UPDATE known SET state = a.state, was = known.state, url = a.url FROM ended a WHERE known.hash = a.hash AND known.state <> a.state)
 INSERT INTO counter (name, slot, n) SELECT name, $4, sum(n) FROM (SELECT 'state 1' AS name, -1 AS n FROM ended UNION ALL SELECT 'state ' || state, 1 FROM ended) d GROUP BY name ORDER BY name
 ON CONFLICT (name, slot) DO UPDATE SET n = counter.n + excluded.n`
	unqueueSQL = `INSERT INTO queue (hash, host, rank, seq, item) SELECT $2, $3, $4, $5, $6 FROM turn t WHERE t.one = 1 AND t.holder = $1`
	countSQL   = `INSERT INTO counter (name, slot, n) SELECT a.name, $2, a.n FROM turn t, unnest($3::text[], $4::bigint[]) a(name, n) WHERE t.one = 1 AND t.holder = $1 ORDER BY a.name
 ON CONFLICT (name, slot) DO UPDATE SET n = counter.n + excluded.n`
)

// write is the second round trip of a commit. It returns false if the check failed. Readers then
// see none of its rows except the newly discovered URLs.
func (s *Store) write(ctx context.Context, c *commit, w *writes, place int64) (written bool, err error) {
	b := &pgx.Batch{}
	found, beyond, err := s.queueBefore(b, c, w)
	if err != nil {
		return false, err
	}
	sums, err := sums(w.tally)
	if err != nil {
		return false, err
	}
	if err := s.queueLocked(b, w, sums, place, &written, func(id) {}); err != nil {
		return false, err
	}
	if w.unclaimed != nil {
		b.Queue("BEGIN")
		queueRefresh(b, w.unclaimed)
		b.Queue("COMMIT")
	}
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return false, err // the pool closes a connection that is still in a transaction
	}
	for _, i := range w.entryOf {
		c.sent[i] = true
	}
	addAll(&s.sent, found)
	addAll(&s.beyond, beyond)
	return written, nil
}

// queueBefore adds to b the first transaction, which runs without the lock. It returns the hashes
// of the URLs that are in the store after that transaction.
func (s *Store) queueBefore(b *pgx.Batch, c *commit, w *writes) (found, beyond []id, err error) {
	u, err := urlsOf(w.found, &s.sent)
	if err != nil {
		return nil, nil, err
	}
	var outside []string
	for _, url := range w.beyond {
		if h := hashOfLeft(url); !s.beyond.Has(h) {
			outside, beyond = append(outside, url), append(beyond, h)
		}
	}
	resend := false
	for _, i := range w.entryOf {
		resend = resend || !c.sent[i]
	}
	if !resend && u.hashes == nil && outside == nil && len(w.named) == 0 {
		return nil, nil, nil
	}
	b.Queue("BEGIN")
	if resend {
		w.queueVisits(b)
	}
	if u.hashes != nil {
		s.queueURLs(b, u, newStates, nil)
	}
	if outside != nil {
		s.queueBeyond(b, outside)
	}
	if len(w.named) > 0 {
		var values [][]byte
		names := slices.Sorted(maps.Keys(w.named)) // all processes lock the rows in the same order
		for _, name := range names {
			values = append(values, list(w.named[name]))
		}
		b.Queue(namedSQL, metaKind, names, values)
	}
	b.Queue("COMMIT")
	return u.hashes, beyond, nil
}

// queueLocked adds to b the second transaction, which runs under the lock. more adds further statements
// to it.
func (s *Store) queueLocked(b *pgx.Batch, w *writes, sums map[string]int64, place int64, written *bool, more func(attempt id)) error {
	attempt := newID()
	hosts, workers, tokens := columns(maps.Keys(w.claims))
	runs := w.lanes.check()
	b.Queue("BEGIN")
	b.Queue(lockSQL)
	b.Queue(checkSQL, attempt, s.birth, len(w.page), place, list(w.basisKeys), list(w.basisHashes), list(w.basisPages), hosts, workers, tokens, list(w.visit), runs.lanes, runs.firsts, runs.after, runs.digests).Exec(isOne(written))
	if w.replaced != nil {
		b.Queue(unpostSQL, attempt, w.replaced)
		b.Queue(dropVisitSQL, attempt, w.replaced)
	}
	if w.page != nil {
		b.Queue(pageSQL, attempt, w.page, w.visit, w.hash, w.leader, w.resemblance, w.lane)
	}
	if w.posted != nil {
		b.Queue(postingSQL, attempt, len(w.page), w.posted, w.postedBy)
	}
	w.lanes.write(b, attempt)
	if w.relinked != nil {
		b.Queue(relinkSQL, attempt, w.relinked, w.newLinks, w.newTargets)
	}
	if w.ended != nil {
		b.Queue(endSQL, attempt, w.ended, w.endedAs, s.slot, w.inRun, w.endedURL)
	}
	for i, it := range w.unqueued {
		if err := w.unqueue(b, attempt, it, w.unqueuedAt[i]); err != nil {
			return err
		}
	}
	more(attempt)
	if names, ns := changedCounts(sums); len(names) > 0 {
		b.Queue(countSQL, attempt, s.slot, names, ns)
	}
	b.Queue("COMMIT")
	return nil
}

// unqueue adds to b the statement that queues an item of a run by itself.
func (w *writes) unqueue(b *pgx.Batch, attempt id, it frontier.Item, seq *int64) error {
	packed, err := packItem(it)
	if err == nil {
		b.Queue(unqueueSQL, attempt, id(hashOf(it.URL)), frontier.HostOf(it.URL), rankOf(it), seq, packed)
	}
	return err
}

// list returns all, or an empty slice if all is nil, because pgx would send nil as NULL.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}
