package redis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"skink/dedup"
	"skink/store"
)

// # The outbox
//
// What a page links to in other partitions cannot be written with its record. So it is
// written beside it, delivered, and taken out when all of it was. To deliver it twice does
// no harm. Who dies before has left it to the others.
//
//	o  hash: number of the visit → ".", and leads, each its mode, lane and item, with lengths before them
//
// A worker does not deliver page by page. What its pages have in their outboxes gathers, and one
// goroutine brings all that there is at once: links cost a page its share of that. Whoever asks the
// frontier something in the same process delivers first, so that he sees what he found; and so does
// a commit in a partition that something waits for, so that URLs of a host come there in the order
// in which they were found. An entry that a worker has seen for a second was left there by another
// that is dead, or slow; it delivers that too.
//
// Where servers have replicas, every visit has an entry, and it is taken out only when replicas
// have what was delivered, see copies.go.

const outboxMark = "."

func packLeads(leads []lead) string {
	b := []byte(outboxMark)
	for _, l := range leads {
		b = append(b, l.mode...)
		b = appendText(b, laneOf(l.item))
		b = appendText(b, packItem(l.item))
	}
	return string(b)
}

func unpackLeads(packed string) (leads []lead, err error) {
	d := unpacker{b: packed}
	if d.cut(1) != outboxMark {
		return nil, fmt.Errorf("%w: an outbox", store.ErrCorrupt)
	}
	for len(d.b) > 0 {
		mode, lane := d.cut(1), d.text()
		it, err := unpackItem(lane, d.text())
		if err != nil || d.err != nil {
			return nil, fmt.Errorf("%w: an outbox", store.ErrCorrupt)
		}
		leads = append(leads, lead{mode, it})
	}
	return leads, nil
}

// A delivery is what a visit has in its outbox.
type delivery struct {
	visit
	leads []lead
	again bool  // it was brought, and may be lost: where the page is may be, too
	era   int64 // since which all of it was read or written: the outbox, where the page is, and what was brought
}

// A freshURL is the slot of a URL that was sent, and the era before.
type freshURL struct {
	slot dedup.Hash
	era  int64
}

// A courier is the deliveries of this process.
type courier struct {
	bringing sync.Mutex // held by who delivers: others wait until that is done

	mu      sync.Mutex
	waiting []delivery       // guarded by mu: to be brought
	links   int              // guarded by mu: of waiting
	to      [partitions]bool // guarded by mu: where those lead
	brought []delivery       // guarded by mu: to be taken out
	fresh   []freshURL       // guarded by mu: that a replica may not have yet
	own     map[visit]bool   // guarded by mu: all that is waiting or brought
	owned   [partitions]int  // guarded by mu: how many of those are in each
	fails   time.Time        // guarded by mu: since when nothing can be taken out; zero: it can
	wake    chan struct{}    // holds one when something waits, or an era has begun
}

func newCourier() *courier {
	return &courier{own: map[visit]bool{}, wake: make(chan struct{}, 1)}
}

// put adds deliveries, and says how many links wait.
func (c *courier) put(ds ...delivery) (links int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range ds {
		if !c.own[d.visit] {
			c.own[d.visit] = true
			c.owned[d.part]++
		}
		c.links += len(d.leads)
		for _, l := range d.leads {
			c.to[partOf(l.item.URL)] = true
		}
	}
	c.waiting = append(c.waiting, ds...)
	c.rouse()
	return c.links
}

// rouse wakes who delivers.
func (c *courier) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// disown says that entries are not this process's any more.
func (c *courier) disown(vs ...visit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range vs {
		if c.own[v] {
			delete(c.own, v)
			c.owned[v.part]--
		}
	}
}

func (c *courier) take() []delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.waiting
	c.waiting, c.links, c.to = nil, 0, [partitions]bool{}
	return all
}

// leadsTo says whether something that waits is for a partition. It has to come there before what
// is found later.
func (c *courier) leadsTo(p partition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to[p]
}

// owns is how many entries of each outbox are this process's.
func (c *courier) owns() [partitions]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owned
}

func (c *courier) has(v visit) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own[v]
}

const (
	gatherFor = 5 * time.Millisecond // deliveries of many pages go together
	mostLinks = 1 << 14              // that wait before a page waits for them
	mostNoted = 512                  // pages at once of which is written again where they are
)

// hand gives the links of a visit to the courier.
func (s *Store) hand(ctx context.Context, d delivery) error {
	if len(d.leads) == 0 && !s.replicated {
		return nil
	}
	if s.courier.put(d) < mostLinks {
		return nil
	}
	return s.bring(ctx)
}

// bring delivers all that waits.
func (s *Store) bring(ctx context.Context) error {
	c := s.courier
	c.bringing.Lock()
	defer c.bringing.Unlock()
	all := c.take()
	if len(all) == 0 {
		return nil
	}
	var leads []lead
	var again []visit
	for _, d := range all {
		if leads = append(leads, d.leads...); d.again {
			again = append(again, d.visit)
		}
	}
	_, err := s.lead(ctx, leads)
	if err == nil {
		err = s.noteAgain(ctx, again)
	}
	if err != nil {
		c.put(all...)
		return fmt.Errorf("deliver links: %w", explain(err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.brought = append(c.brought, all...)
	return nil
}

// carry delivers what comes until the store is closed.
func (s *Store) carry() {
	for asked := time.Now(); ; {
		var later <-chan time.Time
		if s.unconfirmed() || s.unnoted.Load() {
			later = time.After(max(confirmEvery-time.Since(asked), 0))
		}
		select {
		case <-s.life.Done():
			return
		case <-s.courier.wake:
			if !wait(s.life, false, gatherFor) {
				return
			}
			if s.bring(s.life) != nil { // the next who asks the frontier something is told
				wait(s.life, false, longestWait)
			}
		case <-later:
		}
		s.noteRecent(s.life) // what fails is done next time
		if !s.replicated || time.Since(asked) >= confirmEvery {
			s.clear(s.life) // what is not taken out stays, and is asked for again
			asked = time.Now()
		}
	}
}

// failsFor is for how long nothing could be taken out of the outboxes.
func (c *courier) failsFor() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails.IsZero() {
		return 0
	}
	return time.Since(c.fails)
}

// failed notes whether something could be taken out.
func (c *courier) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.fails = time.Time{}
	case c.fails.IsZero():
		c.fails = time.Now()
	}
}

// clear takes out of the outboxes what was brought, as far as it stays.
func (s *Store) clear(ctx context.Context) (err error) {
	defer func() { s.courier.failed(err) }()
	done, err := s.confirmed(ctx)
	if err != nil || len(done) == 0 {
		return err
	}
	fields := map[partition][]string{}
	for _, d := range done {
		fields[d.part] = append(fields[d.part], strconv.FormatUint(d.n, 10))
	}
	cmds := s.commands(len(fields))
	for p, some := range fields {
		cmds = append(cmds, s.B().Hdel().Key(s.key(p, "o")).Field(some...).Build())
		s.outlook.touch(p)
	}
	err = firstError(s.do(ctx, cmds...))
	if err != nil {
		s.courier.mu.Lock()
		defer s.courier.mu.Unlock()
		s.courier.brought = append(s.courier.brought, done...)
		return err
	}
	for _, d := range done {
		s.courier.disown(d.visit)
	}
	return nil
}

// finishDeliveries delivers and takes out what is left when the store is closed.
func (s *Store) finishDeliveries(ctx context.Context) error {
	if err := s.noteRecent(ctx); err != nil {
		return err
	}
	for {
		if err := s.bring(ctx); err != nil {
			return err
		}
		if err := s.clear(ctx); err != nil {
			return err
		}
		if !s.unconfirmed() {
			return nil
		}
		if !wait(ctx, false, firstPause) {
			return nil // it stays in the outboxes, and the next worker delivers it
		}
	}
}

// left finds what stands in some outboxes and is not this process's own.
func (s *Store) left(ctx context.Context, parts []partition) ([]visit, error) {
	cmds := s.commands(len(parts))
	for _, p := range parts {
		cmds = append(cmds, s.B().Hkeys().Key(s.key(p, "o")).Build())
	}
	var all []visit
	for i, result := range s.do(ctx, cmds...) {
		numbers, err := result.AsStrSlice()
		if err != nil {
			return nil, err
		}
		for _, text := range numbers {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: an outbox", store.ErrCorrupt)
			}
			if v := (visit{parts[i], n}); !s.courier.has(v) {
				all = append(all, v)
			}
		}
	}
	return all, nil
}

// deliverFor delivers what others left in some outboxes: all of it, or what was there for long.
func (s *Store) deliverFor(ctx context.Context, parts []partition, all bool) error {
	if len(parts) == 0 {
		s.outlook.late = nil
		return nil
	}
	found, err := s.left(ctx, parts)
	if err != nil {
		return fmt.Errorf("look for links that another worker left: %w", err)
	}
	before, now := s.outlook.late, time.Now()
	s.outlook.late = map[visit]time.Time{}
	for _, v := range found {
		if s.outlook.late[v] = now; !before[v].IsZero() {
			s.outlook.late[v] = before[v]
		}
	}
	if !all {
		found = slices.DeleteFunc(found, func(v visit) bool { return now.Sub(s.outlook.late[v]) < lookAgain })
	}
	if len(found) == 0 {
		return nil
	}
	if err := s.takeOver(ctx, found); err != nil {
		return fmt.Errorf("deliver the links that another worker left: %w", err)
	}
	if err := s.bring(ctx); err != nil {
		return err
	}
	s.clear(ctx) // what is not taken out stays, and is asked for again
	return nil
}

// takeOver makes what others left this process's to deliver. It counts for the era in which it was
// read: in a later one its number may be another's.
func (s *Store) takeOver(ctx context.Context, found []visit) error {
	era := s.era.Load()
	cmds := s.commands(len(found))
	for _, v := range found {
		cmds = append(cmds, s.B().Hget().Key(s.key(v.part, "o")).Field(strconv.FormatUint(v.n, 10)).Build())
	}
	for i, result := range s.do(ctx, cmds...) {
		packed, err := result.ToString()
		if err != nil {
			if rueidis.IsRedisNil(err) {
				s.courier.disown(found[i]) // somebody was faster, or it is lost with its visit
				continue
			}
			return err
		}
		leads, err := unpackLeads(packed)
		if err != nil {
			return err
		}
		s.courier.put(delivery{visit: found[i], leads: leads, again: true, era: era})
	}
	return nil
}

// noteAgain writes again where pages are, and of members which visits they are.
func (s *Store) noteAgain(ctx context.Context, vs []visit) error {
	if len(vs) == 0 {
		return nil
	}
	contents, err := s.visits(ctx, vs, store.WantRecord)
	if err != nil {
		return err
	}
	var talks []talk
	for i, c := range contents {
		if c == nil {
			continue // it was visited again
		}
		talks = append(talks, s.locating(c.Record.ID, vs[i].part))
		if c.Record.Follows() {
			talks = append(talks, s.enrolling(c.Record.Leader, vs[i]))
		}
	}
	return s.hold(ctx, talks...)
}

// noteRecent writes again where those pages are that were committed within patience before the last
// commit that is known here, once an era has begun.
func (s *Store) noteRecent(ctx context.Context) (err error) {
	seen := s.seen.Load()
	if seen == 0 || !s.unnoted.Swap(false) {
		return nil
	}
	defer func() {
		if err != nil {
			s.unnoted.Store(true)
		}
	}()
	recent, err := s.readCommits(ctx, spot{place: seen - min(seen, uint64(patience.Microseconds()))})
	if err != nil {
		return err
	}
	for {
		some, err := recent.take(ctx, mostNoted)
		if err != nil || len(some) == 0 {
			return err
		}
		vs := make([]visit, len(some))
		for i, c := range some {
			vs[i] = visit{c.part, c.n}
		}
		if err := s.noteAgain(ctx, vs); err != nil {
			return err
		}
	}
}
