package badger

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/badger/postings"
)

// Discover queues URLs that are new, or that were previously outside the crawl.
func (s *Store) Discover(ctx context.Context, items []frontier.Item) (int, error) {
	return s.queueAll(ctx, items, func(b *batch, items []frontier.Item) (found int) {
		for _, it := range items {
			if b.discover(it) {
				found++
			}
		}
		return found
	})
}

// Requeue queues the given URLs that are not already pending.
func (s *Store) Requeue(ctx context.Context, items []frontier.Item) (int, error) {
	return s.queueAll(ctx, items, (*batch).requeueAll)
}

func (s *Store) queueAll(ctx context.Context, items []frontier.Item, queue func(*batch, []frontier.Item) int) (found int, err error) {
	if err := s.mayGrow(); err != nil {
		return 0, err
	}
	err = s.write(ctx, func(b *batch) { found = queue(b, items) })
	return found, err
}

// discover queues a URL if it is new, and reports whether it is.
func (b *batch) discover(it frontier.Item) bool {
	id := dedup.Hash(frontier.ID(it.URL))
	if b.s.recent.Has(id) {
		return false
	}
	u := b.known(id)
	if u.state.New() {
		b.queueKnown(id, u, it)
	}
	b.s.recent.Add(id)
	return u.state.New()
}

func (b *batch) queueKnown(id dedup.Hash, u known, it frontier.Item) {
	b.enqueue(id, u, it, time.Now())
	b.move(u.state, frontier.Pending) // after enqueue, so that both are in the same transaction
}

// exclude records URLs as outside the crawl. The cache of known URLs uses a different id for an
// excluded URL, because a later call to discover must not mistake it for a discovered one.
func (b *batch) exclude(urls []string) {
	for _, outside := range urls {
		url, _ := frontier.Left(outside)
		id := dedup.Hash(frontier.ID(url))
		slot := id
		slot[len(slot)-1]++
		if b.s.recent.Has(slot) {
			continue
		}
		if b.known(id) == (known{}) {
			b.room(1, len(outside)+64)
			b.setKnown(id, known{state: frontier.Outside, url: outside})
			b.move(frontier.Unknown, frontier.Outside)
		}
		b.s.recent.Add(slot)
	}
}

// enqueue puts the URL of an item into its host's queue and stores its state as pending. The URL
// goes to the end of its level (its priority and depth), or to the URLs due later if the item is
// due after now. u is the previously stored state of the URL. If the URL was already queued, its
// old entry is removed.
func (b *batch) enqueue(id dedup.Hash, u known, it frontier.Item, now time.Time) {
	host := frontier.HostOf(it.URL)
	// Room for three keys: the new key in the queue, the deleted old one or its run, and the URL's state.
	b.room(3, 2*(len(host)+len(it.URL))+len(it.Via)+len(it.From)+len(it.ETag)+len(it.Modified)+runRoom)
	b.openHost(host)
	due := int64(0)
	if it.Due.After(now) {
		due = nanoseconds(it.Due)
	}
	before := u
	u.state, u.url = frontier.Pending, it.URL
	u.place = b.s.queue.push(host, levelOf(&it), due)
	b.set(queueKey(host, u.place), encodeQueued(it, u.place), 0)
	switch {
	case before.again:
		u.again, u.was = false, frontier.Unknown
		if in, ok := b.runOf(host, u.num); ok {
			b.leaveRun(host, in, false)
		}
	case before.state == frontier.Pending:
		b.unqueue(it.URL, before.place)
	}
	b.setKnown(id, u)
}

// maxRipe is the maximum number of URLs of a host that ripen moves to their levels in one step.
const maxRipe = 1024

// ripen moves the URLs of host h whose due time has come to the end of their levels, earliest
// first. From then on they can be handed out.
func (b *batch) ripen(h *waitingHost, now time.Time) {
	for b.err == nil {
		items, places, err := b.ripe(h, now.UnixNano())
		if b.fail(err); err != nil || len(items) == 0 {
			return
		}
		for i, it := range items {
			b.ripened(it, places[i], now)
		}
	}
}

// ripe returns up to maxRipe URLs of host h whose due time has come, with their positions. If
// other URLs of the host are not due yet, ripe records in h when the first of them will be. now is
// in nanoseconds since 1970.
func (b *batch) ripe(h *waitingHost, now int64) (items []frontier.Item, places []position, err error) {
	it := b.txn.NewIterator(badgerdb.IteratorOptions{Prefix: hostPrefix(keyLater, h.name)})
	defer it.Close()
	for it.Rewind(); it.Valid() && len(items) < maxRipe; it.Next() {
		host, p, ok := splitQueueKey(it.Item().Key())
		if !ok || string(host) != h.name {
			continue // the key belongs to another host, whose name begins with h.name and a zero byte
		}
		if p.due > now {
			b.s.queue.ripensAt(h, p.due)
			return items, places, nil
		}
		err := it.Item().Value(func(value []byte) error {
			item, p, err := decodeQueued(value, p)
			items, places = append(items, item), append(places, p)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if len(items) == 0 && h.later > 0 {
		return nil, nil, fmt.Errorf("%w: %d URLs of host %s that are due later are missing from the queue", store.ErrCorrupt, h.later, h.name)
	}
	return items, places, nil
}

func (b *batch) ripened(it frontier.Item, p position, now time.Time) {
	id := dedup.Hash(frontier.ID(it.URL))
	u := b.known(id)
	if u.state != frontier.Pending || u.place != p {
		b.fail(fmt.Errorf("%w: URL %s is in the queue, but its state is not pending", store.ErrCorrupt, it.URL))
		return
	}
	b.enqueue(id, u, it, now)
}

// openHost adds a host to the queue in memory, unless it is already there. It reads from disk what
// an earlier process stored about the host, such as when the next request to it is allowed.
func (b *batch) openHost(name string) {
	if b.s.queue.hosts[name] != nil {
		return
	}
	var rest frontier.Rest
	b.get(key1(keyHost, name), decodeRest(&rest))
	b.s.queue.open(name, rest)
}

func (b *batch) unqueue(url string, p position) {
	host := frontier.HostOf(url)
	b.s.queue.remove(host, p)
	b.delete(queueKey(host, p))
}

func (b *batch) move(from, to frontier.State) {
	n := &b.counters().URLs
	if from != frontier.Unknown {
		n[from]--
	}
	n[to]++
}

// known returns the state of the URL with the given id, including changes that the batch has not
// committed yet. For an unknown URL, and after an error, it returns the zero value.
func (b *batch) known(id dedup.Hash) (u known) {
	if num, ok := b.recorded[id]; ok {
		return known{num: num}
	}
	if b.err == nil {
		u, b.err = b.s.known(b.txn, id)
	}
	if b.err != nil {
		return known{}
	}
	if u.num != 0 && b.s.queue.runs.pending.has(u.num) {
		u.state, u.was, u.again = frontier.Pending, u.state, true
	}
	return u
}

func (s *Store) known(txn *badgerdb.Txn, id dedup.Hash) (u known, err error) {
	if s.discovered.Load() {
		found, err := get(txn, key1(keyURL, id[:]), u.decode)
		if err != nil || found {
			return u, err
		}
	}
	u.num, err = s.byID(txn, id)
	return u, err
}

// setKnown stores the state of a URL. If u has only a visit number, setKnown adds that number to
// the index under the id, which costs less than a badger key. This is the case for texts that were
// not crawled, because their names were never in the frontier.
func (b *batch) setKnown(id dedup.Hash, u known) {
	if u == (known{num: u.num}) {
		b.post(u.num, postings.Hash, filterKey(id))
		b.recorded[id] = u.num
		return
	}
	delete(b.recorded, id)
	b.s.discovered.Store(true)
	b.set(key1(keyURL, id[:]), u.encode(), 0)
}

// filterKey returns the first 8 bytes of a hash as a number, which represents the hash in filters
// and in the index. Two hashes rarely share these bytes, but code that finds a page by them must
// compare the whole hash.
func filterKey(h dedup.Hash) uint64 { return binary.BigEndian.Uint64(h[:8]) }

// Claim implements [frontier.Frontier]. It reads the disk only if some URLs have become due.
func (s *Store) Claim(ctx context.Context, worker string, n int, ttl time.Duration, preferred ...string) (frontier.Grant, error) {
	if err := ctx.Err(); err != nil {
		return frontier.Grant{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if err := s.ripen(s.queue.ripe(now), now); err != nil {
		return frontier.Grant{}, fmt.Errorf("claim hosts: %w", err)
	}
	return s.queue.claim(worker, n, now, ttl, preferred), nil
}

func (s *Store) ripen(hosts []*waitingHost, now time.Time) error {
	if len(hosts) == 0 {
		return nil
	}
	return s.writeLocked(func(b *batch) {
		for _, h := range hosts {
			b.ripen(h, now)
		}
	})
}

// Renew extends claims and returns those that have ended.
func (s *Store) Renew(ctx context.Context, claims []frontier.Claim, ttl time.Duration) (lost []frontier.Claim, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.queue.expire(now)
	return s.queue.claims.Renew(claims, now.Add(ttl)), nil
}

// Take returns up to n URLs of a claimed host that are due and have not been taken.
func (s *Store) Take(ctx context.Context, c frontier.Claim, n int) ([]frontier.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.queue.holder(c)
	if err != nil {
		return nil, fmt.Errorf("take URLs from the queue: %w", err)
	}
	if now := time.Now(); h.later > 0 && now.UnixNano() >= h.first {
		if err := s.ripen([]*waitingHost{h}, now); err != nil {
			return nil, fmt.Errorf("take URLs of host %s from the queue: %w", c.Host, err)
		}
	}
	var items []frontier.Item
	err = s.view(ctx, func(txn *badgerdb.Txn) error {
		for i := range h.lanes {
			if len(items) >= n {
				break
			}
			if err := s.takeFrom(txn, h, &h.lanes[i], n-len(items), &items); err != nil {
				return err
			}
		}
		return nil
	})
	h.drop()
	if err != nil {
		return nil, fmt.Errorf("take URLs of host %s from the queue: %w", c.Host, err)
	}
	return items, nil
}

// takeFrom reads up to n URLs of lane l of host h from the disk, appends them to items, and marks
// them as handed out.
func (s *Store) takeFrom(txn *badgerdb.Txn, h *waitingHost, l *lane, n int, items *[]frontier.Item) error {
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: lanePrefix(h.name, l.level)})
	defer it.Close()
	it.Seek(queueKey(h.name, position{level: l.level, seq: l.next}))
	for n > 0 && l.waiting > 0 {
		if !it.Valid() {
			return fmt.Errorf("%w: %d URLs are missing from the queue", store.ErrCorrupt, l.waiting)
		}
		p := position{level: l.level, seq: lastNum(it.Item().Key())}
		if it.Item().UserMeta() == runMeta {
			taken, err := s.takeRun(txn, h, l, it.Item(), p, n, items)
			if err != nil {
				return err
			}
			n -= taken
			it.Next()
			continue
		}
		err := it.Item().Value(func(value []byte) error {
			item, _, err := decodeQueued(value, p)
			*items = append(*items, item)
			return err
		})
		if err != nil {
			return err
		}
		h.taken[p] = true
		l.next = p.seq + 1
		l.waiting--
		n--
		it.Next()
	}
	return nil
}

// Release returns a taken URL to the queue, at the end of its level.
func (s *Store) Release(ctx context.Context, c frontier.Claim, it frontier.Item) error {
	return s.write(ctx, func(b *batch) {
		h, err := s.queue.holder(c)
		if err != nil {
			b.refuse(fmt.Errorf("return a URL to the queue: %w", err))
			return
		}
		id := dedup.Hash(frontier.ID(it.URL))
		u := b.known(id)
		if u.again {
			in, _ := b.runOf(c.Host, u.num)
			u.place = in.at
		}
		if u.state == frontier.Pending && h.taken[u.place] {
			b.enqueue(id, u, it, time.Now())
		}
	})
}

// Return ends a claim. It stores the fields of rest that the next process needs, such as when the
// next request to the host is allowed.
func (s *Store) Return(ctx context.Context, c frontier.Claim, rest frontier.Rest) error {
	return s.write(ctx, func(b *batch) {
		h, err := s.queue.holder(c)
		if err != nil {
			b.refuse(fmt.Errorf("release a host: %w", err))
			return
		}
		before := h.rest.Lasting()
		h.rest = rest.Bounded(time.Now())
		s.queue.claims.End(c.Host)
		s.queue.free(h)
		if h.rest.Lasting() != before || h.rest.Spent != (frontier.Spent{}) {
			b.keepRest(c.Host, h.rest)
		}
	})
}

// Spend keeps its value in memory, because a new run counts the records of each host.
func (s *Store) Spend(ctx context.Context, c frontier.Claim, spent frontier.Spent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.queue.holder(c)
	if err != nil {
		return fmt.Errorf("record what was fetched: %w", err)
	}
	h.rest.Spent = spent
	return ctx.Err()
}

func (s *Store) Slot(ctx context.Context, host string, least, most time.Duration) (wait time.Duration, err error) {
	err = s.write(ctx, func(b *batch) {
		b.keepHost(host, func(r *frontier.Rest) { wait = r.Last.Next(time.Now(), least, most) })
	})
	return wait, err
}

// keepHost changes what is stored about a host.
func (b *batch) keepHost(host string, change func(*frontier.Rest)) {
	var rest frontier.Rest
	b.get(key1(keyHost, host), decodeRest(&rest))
	change(&rest)
	value := store.AppendStruct(nil, &rest)
	b.room(1, len(value)+len(host))
	b.set(key1(keyHost, host), value, 0)
}

// State returns the state of a URL.
func (r reader) State(ctx context.Context, url string) (state frontier.State, err error) {
	err = r.in(ctx, func(r reader) error {
		u, err := r.s.known(r.txn, frontier.ID(url))
		if err == nil && u.num != 0 {
			err = r.revisits(ctx, hostPrefix(keyQueue, frontier.HostOf(url)), func(num uint64, _ frontier.Item) error {
				if num == u.num {
					u.state = frontier.Pending
				}
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("read the state of %s: %w", url, err)
		}
		state = u.state
		return nil
	})
	return state, err
}

// URLs yields all URLs in the given state, Pending or Outside. It reads pending URLs from the keys of
// the queue. URLs outside the crawl have no keys of their own, so to find them it scans the states of
// all URLs. For all other states it yields none.
func (r reader) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return each(ctx, r, func(r reader, yield func(string) error) (err error) {
		switch state {
		case frontier.Outside:
			err = r.outside(ctx, func(u known) error { return yield(u.url) })
		case frontier.Pending:
			err = r.dumpQueue(ctx, func(p *store.Part) error { return yield(p.Item.URL) })
		}
		if err != nil {
			err = fmt.Errorf("list URLs: %w", err)
		}
		return err
	})
}

// outside calls fn with each URL outside the crawl.
func (r reader) outside(ctx context.Context, fn func(known) error) error {
	return scanValues(ctx, r.txn, keyURL, func(_, value []byte) error {
		var u known
		if err := u.decode(value); err != nil || u.state != frontier.Outside {
			return err
		}
		return fn(u)
	})
}

// keepRest stores the fields of rest that the next process needs, and keeps the last slot.
func (b *batch) keepRest(host string, rest frontier.Rest) {
	b.keepHost(host, func(r *frontier.Rest) {
		last := r.Last
		*r = rest.Lasting()
		r.Last = last
	})
}

// decodeRest returns a function that sets rest to a stored value.
func decodeRest(rest *frontier.Rest) func(value []byte) error {
	return func(value []byte) error {
		r, err := store.UnpackStruct[frontier.Rest](value)
		*rest = r.Bounded(time.Now())
		return err
	}
}

// Hosts yields the hosts that have pending URLs when the loop begins.
func (s *Store) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return store.Listed(ctx, func() ([]frontier.Host, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.hostsLocked()
	})
}

func (s *Store) hostsLocked() ([]frontier.Host, error) {
	if !s.queued {
		if err := s.loadFrontier(); err != nil {
			return nil, fmt.Errorf("read the frontier: %w", err)
		}
	}
	list := make([]frontier.Host, 0, len(s.queue.hosts))
	for _, h := range s.queue.hosts {
		if h.pending > 0 {
			list = append(list, h.host())
		}
	}
	return list, nil
}
