package redis

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/redis/rueidis"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # A commit
//
// One entry after the other, each in two round trips, three if its URL was not taken here:
//
//  1. its visit gets a number, if it has none from when its URL was taken;
//  2. the index posts the visit under its hash and keys, and says whether its verdict still
//     holds. At the same time it is noted in which partition the page is, and, of a member
//     of a cluster, which visit that is;
//  3. one script in the page's partition looks whether the claim still holds, whether a
//     record is known that is to stay, and whether the visit was declared void meanwhile;
//     then it writes text, links, sketch and record, its place in the order of commits, the links
//     into the same partition, and ends the URL: all of that or nothing;
//  4. what links to other partitions waits in the outbox, written by the same script. It is
//     delivered with that of other pages, and then taken out (outbox.go).
//
// If one server has all of it, 2 and 3 are one round trip, and in it one script posts and writes: then
// nothing comes between the two. If something stands in the way, it says so, and they are done one
// after the other.
//
// What 2 wrote names a visit that has no record if 3 does not come to pass, now or ever,
// for no number is used twice. So nobody has to take it back. Links that were not
// delivered are delivered by whoever next looks at the partition.

var (
	beginScript  = newScript("sums.lua", "directory.lua", "begin.lua")
	finishScript = newScript("sums.lua", "directory.lua", "heads.lua", "links.lua", "finish.lua")
	commitScript = newScript("postings.lua", "append.lua", "located.lua", "commit.lua", "sums.lua", "directory.lua", "heads.lua", "links.lua", "finish.lua")
	locateScript = newScript("located.lua", "locate.lua")
)

// Commit writes entries up to the first that is stale.
func (s *Store) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := store.Valid(entries); err != nil {
		return nil, err
	}
	outcomes := make([]store.Outcome, len(entries))
	for i, e := range entries {
		outcome, err := s.newCommit(e).run(context.WithoutCancel(ctx)) // an entry is written whole
		if err != nil {
			return nil, fmt.Errorf("commit %s: %w", e.Record.URL, explain(err))
		}
		if outcomes[i] = outcome; outcome == store.Stale {
			s.forgetMet(e)
			break
		}
	}
	return outcomes, nil
}

// A commit is one entry on its way.
type commit struct {
	store   *Store
	entry   *store.Entry
	part    partition
	field   field
	n       uint64   // of the visit
	saw     mark     // what its look-up saw
	follows ticket   // the leader's visit, as its look-up met it; 0: none
	old     *content // the visit that this one replaces, or touches; nil: none
	keeps   bool     // a record is known, and is to stay
	far     []lead   // what waits in the outbox once it is written
	near    []lead   // what the script itself discovers
	noted   int64    // the era before it was noted where the page is
	era     int64    // that before it was written
}

func (s *Store) newCommit(e *store.Entry) *commit {
	c := &commit{store: s, entry: e, part: partOf(e.Record.URL), field: fieldOf(frontier.ID(e.Record.URL)), saw: unpack(e.Basis.Mark)}
	if e.Record.Follows() {
		c.follows = c.saw.leaders[e.Record.Leader]
	}
	return c
}

func (c *commit) visit() visit { return visit{c.part, c.n} }

// run writes the entry. A visit that was declared void, or a record that changed
// meanwhile, is another attempt with another number.
func (c *commit) run(ctx context.Context) (store.Outcome, error) {
	for {
		c.noted = c.store.era.Load()
		if err := c.begin(ctx); err != nil {
			return store.Stale, err
		}
		if c.outdated() {
			return store.Stale, nil
		}
		answer, holds, err := c.decide(ctx)
		if err != nil {
			return store.Stale, err
		}
		if !holds {
			return c.refuse(ctx)
		}
		switch text(answer[0]) {
		case "lost":
			c.store.holding.remove(c.entry.Claim)
			return store.Lost, c.withdraw(ctx)
		case "void":
			return store.Stale, c.withdraw(ctx)
		case "kept":
			return store.Kept, c.written(ctx, answer, false)
		case "written":
			return store.Written, c.written(ctx, answer, true)
		}
		if err := c.withdraw(ctx); err != nil { // changed
			return store.Stale, err
		}
	}
}

// decide posts the entry and writes it, and returns the answer of the script that writes. If the verdict
// does not hold, it is not written, and its postings are taken back.
func (c *commit) decide(ctx context.Context) (answer []rueidis.RedisMessage, holds bool, err error) {
	if !c.keeps && !c.touches() {
		if answer, err = c.atOnce(ctx); answer != nil || err != nil {
			return answer, true, err
		}
		if holds, err = c.post(ctx); !holds || err != nil {
			return nil, holds, err
		}
	}
	answer, err = c.finish(ctx)
	return answer, true, err
}

// touches says whether the entry leaves all as it is but the record.
func (c *commit) touches() bool { return c.entry.Touch && c.old != nil }

// outdated says whether the entry was made from another record than the one that is there.
func (c *commit) outdated() bool {
	e := c.entry
	if c.keeps || e.Replaces.IsZero() {
		return false
	}
	return c.old == nil || !c.old.Record.Began().Equal(e.Replaces)
}

// withdraw takes back what was posted of an entry that was not written.
func (c *commit) withdraw(ctx context.Context) error {
	if c.keeps || c.touches() {
		return nil
	}
	if err := c.store.dropText(c.visit()); err != nil {
		return err
	}
	return c.store.settle(ctx, c.entry, c.visit(), false)
}

// begin gives the visit its number, and finds out what the entry meets. Who took the URL
// knows a number, and the record if there was one and he read it; whether that is still true he
// learns when he writes.
func (c *commit) begin(ctx context.Context) (err error) {
	s, e := c.store, c.entry
	c.old, c.keeps = nil, false
	first := !e.Revisit && !e.Touch && e.Replaces.IsZero()
	was, read := s.before.take(e.Record.ID)
	read = read && (e.Revisit || e.Touch)
	if n, ok := s.tickets.take(e.Record.ID); ok && (first || read) {
		if c.n = n; read {
			c.old = was.content
		}
		return nil
	}
	answers, err := s.steps(ctx, step{known, c.part, func(l level) call {
		own, parent := s.bucketsOf(known, c.part, l, c.field)
		bits, splitting := l.args()
		return call{beginScript, s.hostKeys(c.part, own, parent), []string{bits, splitting, string(c.field)}}
	}})
	if err != nil {
		return err
	}
	c.n = uint64(number(answers[0][2]))
	n := knownVisit(text(answers[0][1]))
	c.keeps = n != 0 && !e.Revisit && !e.Touch
	if n == 0 || c.keeps {
		return nil
	}
	old, err := s.visits(ctx, []visit{{c.part, n}}, store.WantRecord)
	if err != nil {
		return err
	}
	c.old = old[0]
	return nil
}

// refuse says what becomes of an entry whose verdict no longer holds: of one that has a
// record that stays nobody asks for a verdict.
func (c *commit) refuse(ctx context.Context) (store.Outcome, error) {
	if c.entry.Revisit || c.entry.Touch {
		return store.Stale, nil
	}
	if err := c.begin(ctx); err != nil || !c.keeps {
		return store.Stale, err
	}
	answer, err := c.finish(ctx)
	if err != nil || text(answer[0]) != "kept" {
		return store.Stale, err
	}
	return store.Kept, c.written(ctx, answer, false)
}

// post makes the visit known to the index, and at the same time where it is, and of a member which
// visit it is. Where the visit before was written may be lost with a primary, and nobody would write it
// again: that visit is gone.
func (c *commit) post(ctx context.Context) (ok bool, err error) {
	along := c.enrolls()
	if c.old == nil || c.store.replicated {
		along = append(along, c.store.locating(c.entry.Record.ID, c.part))
	}
	return c.store.post(ctx, c.entry, &c.saw, c.visit(), along...)
}

// enrolls writes of a member which visit it is.
func (c *commit) enrolls() (along []talk) {
	if r := &c.entry.Record; r.Follows() {
		along = append(along, c.store.enrolling(r.Leader, c.visit()))
	}
	return along
}

// atOnce does all that is left in one round trip, if one server has it all: what is noted first, then
// the script that posts and writes. No answer: something stands in the way, and it has to be done step
// by step; what was posted already is then found there.
func (c *commit) atOnce(ctx context.Context) ([]rueidis.RedisMessage, error) {
	s, e := c.store, c.entry
	if s.Mode() == rueidis.ClientModeCluster {
		return nil, nil
	}
	stands, named := standsOf(e, &c.saw), c.saw.named(e)
	if len(stands) > mostInCall || len(named) > 0 && named[0].n == 0 {
		return nil, nil
	}
	records, fields := [2]string{s.chunkKey(c.visit()), s.chunkKey(c.visit())}, [2]string{}
	for i, v := range named {
		records[i], fields[i] = s.recordAt(v)
	}
	parts, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	writing := s.walk(step{known, c.part, func(l level) call {
		all := call{commitScript, nil, []string{c.visit().ticket().posting(), strconv.Itoa(len(stands)), fields[0], fields[1]}}
		noting := call{nil, []string{records[0], records[0], records[0]}, []string{"", "", "", ""}} // it is known
		if c.old == nil {
			noting = s.located(s.levels.get(located, partOfID(e.Record.ID)), e.Record.ID, c.part)
		}
		all.args = append(all.args, noting.args...)
		for i := range stands {
			st := &stands[i]
			all.addList(s.keyspace, st.list, s.depths.of(st.list), st.args())
		}
		all.keys = append(append(all.keys, records[:]...), noting.keys...)
		last := c.finishing(l, parts)
		return call{commitScript, append(all.keys, last.keys...), append(all.args, last.args...)}
	}})
	if err := s.hold(ctx, append(c.enrolls(), writing)...); err != nil {
		return nil, err
	}
	answer := writing.answers[0]
	if text(answer[0]) == "posted" {
		if text(answer[1]) == "1" {
			s.grow(located, partOfID(e.Record.ID))
		}
		return nil, nil
	}
	return answer, c.wasPosted(ctx, stands, answer)
}

// wasPosted takes notice of what the script says of the lists in which it posted an entry, and of the
// directory of pages. What was full is split.
func (c *commit) wasPosted(ctx context.Context, stands []stand, answer []rueidis.RedisMessage) error {
	s, id := c.store, c.entry.Record.ID
	if len(answer) < 5 {
		return nil // not written, or written before
	}
	said, err := answer[4].AsStrSlice()
	if err != nil {
		return err
	}
	var crowded []call
	for i, st := range stands {
		crowded = append(crowded, s.posted(st.list, said[i])...)
	}
	if said[len(stands)] == "1" {
		s.grow(located, partOfID(id))
	}
	s.where.put(id, visit{part: c.part})
	return firstError(s.eval(ctx, crowded...))
}

// enrolling writes that a visit is to be a member of the cluster of a leader.
func (s *Store) enrolling(leader dedup.Hash, v visit) talk {
	cmd := s.B().Sadd().Key(s.membersKey(leader)).Member(strconv.FormatUint(v.packed(), 10)).Build()
	return &remark{cmd: cmd, heard: noError}
}

// locating writes in which partition a page is.
func (s *Store) locating(id dedup.Hash, part partition) talk {
	p := partOfID(id)
	w := s.walk(step{located, p, func(l level) call { return s.located(l, id, part) }})
	w.done = func(answers [][]rueidis.RedisMessage) {
		if text(answers[0][2]) == "1" {
			s.grow(located, p)
		}
		s.where.put(id, visit{part: part})
	}
	return w
}

// located is the call that writes in which partition a page is.
func (s *Store) located(l level, id dedup.Hash, part partition) call {
	p, f := partOfID(id), fieldOf(id)
	own, parent := s.bucketsOf(located, p, l, f)
	bits, splitting := l.args()
	return call{locateScript, []string{s.key(p, "s"), own, parent}, []string{bits, splitting, string(f), decimal(part)}}
}

// membersKey is the set of the visits that were to be members of a leader's cluster.
func (s *Store) membersKey(leader dedup.Hash) string {
	return s.key(partOfID(leader), "f", string(leader[:]))
}

// prepare makes what the script that decides is given, once what was found before is delivered.
func (c *commit) prepare(ctx context.Context) (finishParts, error) {
	if c.store.courier.leadsTo(c.part) {
		if err := c.store.bring(ctx); err != nil {
			return finishParts{}, err
		}
	}
	c.era = c.store.era.Load()
	return c.parts()
}

// finish runs the script that decides.
func (c *commit) finish(ctx context.Context) ([]rueidis.RedisMessage, error) {
	parts, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := c.store.steps(ctx, step{known, c.part, func(l level) call { return c.finishing(l, parts) }})
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// finishParts are what the script writes.
type finishParts struct {
	record, sketch, text, out, entry, outbox string
	itself                                   bool
	tally                                    []string
	spent                                    frontier.Spent // of the host, by this visit
}

func (c *commit) parts() (p finishParts, err error) {
	e, hash, follows := c.entry, c.entry.Hash, c.follows
	if c.touches() {
		hash, follows = c.old.hash, c.old.follows.ticket()
	}
	if p.record, err = packRecord(hash, follows, &e.Record); err != nil {
		return p, err
	}
	if e.Sketch != nil {
		p.sketch = packSketch(e)
	}
	if e.Text != nil && !c.keeps && !c.touches() {
		if p.text, err = c.store.keepText(c.visit(), e.Text); err != nil {
			return p, err
		}
	}
	p.out = string(e.Out) // packed, so that of a page without links it is not empty
	p.entry = packOrder(c.n, &e.Record)
	p.itself = c.gather()
	if len(c.far) > 0 || c.store.replicated {
		p.outbox = packLeads(c.far)
	}
	p.tally = tallyChanges(&e.Record, c.old)
	p.spent = spentOn(e)
	return p, nil
}

// spentOn is what a visit has cost its host, as the holder counts it for Return. Of a page that has
// not changed the record does not say how many bytes came.
func spentOn(e *store.Entry) (spent frontier.Spent) {
	if r := &e.Record; r.Kind == store.Page || r.Kind == store.Other {
		spent.Pages = 1
	}
	if !e.Touch {
		spent.Bytes = e.Record.Size
	}
	return spent
}

// gather divides the URLs that the entry leads to into those of its partition and those of
// others. What was discovered here lately is left out. A page that leads to itself is
// discovered, and ends at once.
func (c *commit) gather() (itself bool) {
	e := c.entry
	c.near, c.far = nil, nil
	all := make([]lead, 0, len(e.Links)+len(e.Beyond))
	for _, it := range e.Links {
		if it.URL == e.Record.URL && e.State != frontier.Unknown {
			itself = true
			continue
		}
		all = append(all, lead{ifNew, it})
	}
	for _, url := range e.Beyond {
		all = append(all, lead{asOutside, frontier.Item{URL: url}})
	}
	for _, l := range c.store.unknown(all) {
		if partOf(l.item.URL) == c.part && len(c.near) < mostLinked {
			c.near = append(c.near, l)
		} else {
			c.far = append(c.far, l)
		}
	}
	return itself
}

// finishing is the call of the script.
func (c *commit) finishing(l level, p finishParts) call {
	s, e := c.store, c.entry
	host := frontier.HostOf(e.Record.URL)
	own, parent := s.bucketsOf(known, c.part, l, c.field)
	replaced, order, expected := visit{c.part, 0}, "0-0", ""
	if c.old != nil {
		replaced, order, expected = c.old.visit, strconv.FormatUint(c.old.place, 10)+"-0", c.old.raw
	}
	keys := s.hostKeys(c.part, s.key(c.part, "t", host), s.key(c.part, "e"), s.key(c.part, "o"),
		s.chunkKey(c.visit()), s.chunkKey(replaced), s.voidKey(c.visit()), s.voidKey(replaced), own, parent)
	token, kind, itself := "", "", ""
	if e.Claim != (frontier.Claim{}) {
		token = strconv.FormatUint(e.Claim.Token, 10)
		if e.Claim.Host != host {
			token = "0" // held by nobody
		}
	}
	switch {
	case e.Touch:
		kind = "touch"
	case e.Revisit:
		kind = "revisit"
	}
	if p.itself {
		itself = "1"
	}
	bits, splitting := l.args()
	args := []string{
		bits, splitting, host, oneLine(e.Claim.Worker), token, string(c.field),
		strconv.Itoa(int(e.State)), kind, decimal(c.n), decimal(replaced.n), expected, order, decimal(s.seen.Load()),
		p.record, p.sketch, p.text, p.out, p.entry, p.outbox, itself, decimal(p.spent.Pages), decimal(p.spent.Bytes), strconv.Itoa(len(p.tally) / 2),
	}
	args = append(args, p.tally...)
	for _, lead := range c.near {
		keys, args = s.appendLead(keys, args, c.part, l, lead)
	}
	return call{finishScript, keys, args}
}

// written does what is left once the script has written: links are delivered.
func (c *commit) written(ctx context.Context, answer []rueidis.RedisMessage, written bool) error {
	s := c.store
	s.outlook.touch(c.part)
	s.saw(uint64(number(answer[1])))
	if text(answer[2]) == "1" {
		s.grow(known, c.part)
	}
	if !written {
		if err := c.withdraw(ctx); err != nil {
			return err
		}
	} else if c.old != nil {
		s.pages.take(c.old.visit)
		s.along.take(c.old.visit)
	}
	if written && c.old != nil && !c.touches() {
		s.met.take(c.old.visit)
		s.where.put(c.entry.Record.ID, c.visit())
		if err := s.dropText(c.old.visit); err != nil {
			return err
		}
	}
	if text(answer[3]) == "1" {
		if err := s.drop(ctx, c.part, frontier.HostOf(c.entry.Record.URL), c.field); err != nil {
			return err
		}
	}
	if written {
		c.keep(uint64(number(answer[1])))
	}
	s.learn(c.near, c.era)
	return s.hand(ctx, delivery{visit: c.visit(), leads: c.far, era: c.noted})
}

// tallyChanges are the fields of a tally and by how much they change.
func tallyChanges(r *store.Record, old *content) (changes []string) {
	var t store.Tally
	t.Add(r)
	if old != nil {
		t.Remove(&old.Record)
	}
	for name, n := range tallyFields(&t) {
		if n != 0 {
			changes = append(changes, tallySum+name, decimal(n))
		}
	}
	return changes
}

// packOrder is what the order of commits says of a visit: its number, and of a member of a
// cluster the leader and how much it resembles it.
func packOrder(n uint64, r *store.Record) string {
	b := binary.AppendUvarint(nil, n)
	if r.Follows() {
		b = append(b, r.Leader[:]...)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Resemblance))
	}
	return string(b)
}

// packSketch is the page's id, the hash of its text, and its minima, 4 bytes each.
func packSketch(e *store.Entry) string {
	b := make([]byte, 0, 2*len(dedup.Hash{})+4*dedup.Minima)
	b = append(b, e.Record.ID[:]...)
	b = append(b, e.Record.Hash[:]...)
	for _, v := range e.Sketch {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return string(b)
}
