package badger

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/badger/postings"
)

// Discover queues the URLs that were never discovered before.
func (s *Store) Discover(ctx context.Context, items []frontier.Item) (int, error) {
	return s.queueAll(ctx, items, (*batch).discover)
}

// Requeue queues the URLs that are not pending.
func (s *Store) Requeue(ctx context.Context, items []frontier.Item) (int, error) {
	return s.queueAll(ctx, items, (*batch).requeue)
}

func (s *Store) queueAll(ctx context.Context, items []frontier.Item, queue func(*batch, frontier.Item) (bool, error)) (found int, err error) {
	if err := s.space.Check(); err != nil {
		return 0, err
	}
	err = s.write(ctx, func(b *batch) error {
		for _, it := range items {
			isNew, err := queue(b, it)
			if err != nil {
				return err
			}
			if isNew {
				found++
			}
		}
		return nil
	})
	return found, err
}

// discover queues a URL that was never discovered, and returns whether it did.
func (b *batch) discover(it frontier.Item) (bool, error) {
	id := dedup.Hash(frontier.ID(it.URL))
	if b.s.recent.has(id) {
		return false, nil
	}
	u, err := b.known(id)
	if err != nil {
		return false, err
	}
	if u.state.New() {
		err = b.queueKnown(id, u, it)
	}
	b.s.recent.add(id)
	return u.state.New(), err
}

// requeue queues a URL unless it is pending, and returns whether it did.
func (b *batch) requeue(it frontier.Item) (bool, error) {
	id := dedup.Hash(frontier.ID(it.URL))
	u, err := b.known(id)
	if err != nil || u.state == frontier.Pending {
		return false, err
	}
	return true, b.queueKnown(id, u, it)
}

// queueKnown makes a URL pending, given its known state u, and counts it as pending.
func (b *batch) queueKnown(id dedup.Hash, u known, it frontier.Item) error {
	if err := b.enqueue(id, u, it, time.Now()); err != nil {
		return err
	}
	b.move(u.state, frontier.Pending) // in the transaction of enqueue
	return nil
}

// exclude records URLs that are outside the crawl. Such a URL has another slot among the recent
// ones than a discovered URL, because an excluded URL may be discovered later.
func (b *batch) exclude(urls []string) error {
	for _, url := range urls {
		id := dedup.Hash(frontier.ID(url))
		slot := id
		slot[len(slot)-1]++
		if b.s.recent.has(slot) {
			continue
		}
		u, err := b.known(id)
		if err != nil {
			return err
		}
		if u == (known{}) {
			if err := b.room(1, len(url)+64); err != nil {
				return err
			}
			if err := b.setKnown(id, known{state: frontier.Outside, url: url}); err != nil {
				return err
			}
			b.move(frontier.Unknown, frontier.Outside)
		}
		b.s.recent.add(slot)
	}
	return nil
}

// enqueue makes a URL pending. It puts the URL at the end of its level, or among those that are due
// later, and removes it from its old place.
func (b *batch) enqueue(id dedup.Hash, u known, it frontier.Item, now time.Time) error {
	host := frontier.HostOf(it.URL)
	// The key under which the URL was queued before counts too.
	if err := b.room(3, 2*(len(host)+len(it.URL))+len(it.Via)+len(it.ETag)+len(it.Modified)+128); err != nil {
		return err
	}
	if err := b.openHost(host); err != nil {
		return err
	}
	due := int64(0)
	if it.Due.After(now) {
		due = nanoseconds(it.Due)
	}
	before := u
	u.state, u.url = frontier.Pending, it.URL
	u.place = b.s.queue.push(host, levelOf(&it), due)
	if err := b.set(queueKey(host, u.place), encodeQueued(it, u.place)); err != nil {
		return err
	}
	if before.state == frontier.Pending {
		if err := b.unqueue(it.URL, before.place); err != nil {
			return err
		}
	}
	return b.setKnown(id, u)
}

// mostRipe is how many URLs of a host that have come due are moved at a time.
const mostRipe = 1024

// ripen puts the URLs of a host that have come due at the end of their levels, in the order in
// which they came due.
func (b *batch) ripen(h *waitingHost, now time.Time) error {
	for {
		items, places, err := b.ripe(h, now.UnixNano())
		if err != nil || len(items) == 0 {
			return err
		}
		for i, it := range items {
			if err := b.ripened(it, places[i], now); err != nil {
				return err
			}
		}
	}
}

// ripe reads some of the URLs of a host that have come due. When it meets one that is not due, it
// records in the host when that will be.
func (b *batch) ripe(h *waitingHost, now int64) (items []frontier.Item, places []place, err error) {
	it := b.txn.NewIterator(badgerdb.IteratorOptions{Prefix: hostPrefix(keyLater, h.name)})
	defer it.Close()
	for it.Rewind(); it.Valid() && len(items) < mostRipe; it.Next() {
		host, p, ok := splitQueueKey(it.Item().Key())
		if !ok || string(host) != h.name {
			continue // another host, whose name goes on after a zero byte
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
		return nil, nil, fmt.Errorf("%w: %d URLs of %s that are due later are not in the queue", store.ErrCorrupt, h.later, h.name)
	}
	return items, places, nil
}

// ripened moves a URL that has come due to the end of its level.
func (b *batch) ripened(it frontier.Item, p place, now time.Time) error {
	id := dedup.Hash(frontier.ID(it.URL))
	u, err := b.known(id)
	if err != nil {
		return err
	}
	if u.state != frontier.Pending || u.place != p {
		return fmt.Errorf("%w: %s is queued and not pending", store.ErrCorrupt, it.URL)
	}
	return b.enqueue(id, u, it, now)
}

// openHost brings a host into memory if it is not there, with the stored rest.
func (b *batch) openHost(name string) error {
	if b.s.queue.hosts[name] != nil {
		return nil
	}
	var kept keptRest
	if _, err := b.get(key1(keyHost, name), kept.decode); err != nil {
		return err
	}
	b.s.queue.open(name, kept.rest())
	return nil
}

// unqueue removes a pending URL from the queue.
func (b *batch) unqueue(url string, p place) error {
	host := frontier.HostOf(url)
	b.s.queue.remove(host, p)
	return b.delete(queueKey(host, p))
}

// move counts a URL that went from one state to another.
func (b *batch) move(from, to frontier.State) {
	n := &b.counters().URLs
	if from != frontier.Unknown {
		n[from]--
	}
	n[to]++
}

// known returns what is known of a URL.
func (b *batch) known(id dedup.Hash) (u known, err error) {
	if num, ok := b.recorded[id]; ok {
		return known{num: num}, nil
	}
	return b.s.known(b.txn, id)
}

func (s *Store) known(txn *badgerdb.Txn, id dedup.Hash) (u known, err error) {
	if s.urls.Has(filterKey(id)) {
		found, err := get(txn, key1(keyURL, id[:]), func(value []byte) error {
			u, err = decodeKnown(value)
			return err
		})
		if err != nil || found {
			return u, err
		}
	}
	u.num, err = s.byID(txn, id)
	return u, err
}

// setKnown writes what is known of a URL. If a record is all that is known, its place is posted under
// the URL's id, which costs less than a key. Texts that were not crawled are such records.
func (b *batch) setKnown(id dedup.Hash, u known) error {
	if u == (known{num: u.num}) {
		b.journal.post(u.num, postings.Hash, filterKey(id))
		b.recorded[id] = u.num
		return nil
	}
	delete(b.recorded, id)
	b.s.urls.Add(filterKey(id))
	return b.set(key1(keyURL, id[:]), u.encode())
}

// filterKey returns the first half of a hash, by which filters and the index know it. Half of a
// hash is enough.
func filterKey(h dedup.Hash) uint64 { return binary.BigEndian.Uint64(h[:8]) }

// Claim gives hosts to a worker. It reads the disk only if URLs have come due.
func (s *Store) Claim(ctx context.Context, worker string, n int, ttl time.Duration) (frontier.Grant, error) {
	if err := ctx.Err(); err != nil {
		return frontier.Grant{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if err := s.ripen(s.queue.ripe(now), now); err != nil {
		return frontier.Grant{}, fmt.Errorf("claim hosts: %w", err)
	}
	return s.queue.claim(worker, n, now, ttl), nil
}

// ripen queues the URLs of hosts that have come due. The caller holds mu.
func (s *Store) ripen(hosts []*waitingHost, now time.Time) error {
	if len(hosts) == 0 {
		return nil
	}
	return s.writeLocked(func(b *batch) error {
		for _, h := range hosts {
			if err := b.ripen(h, now); err != nil {
				return err
			}
		}
		return nil
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

// Take takes URLs of a claimed host.
func (s *Store) Take(ctx context.Context, c frontier.Claim, n int) ([]frontier.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.queue.holder(c)
	if err != nil {
		return nil, fmt.Errorf("take URLs of %w", err)
	}
	if err := s.ripenOf(h); err != nil {
		return nil, fmt.Errorf("take URLs of %s: %w", c.Host, err)
	}
	var items []frontier.Item
	err = s.view(ctx, func(txn *badgerdb.Txn) error {
		for i := range h.lanes {
			if len(items) >= n {
				break
			}
			if err := takeFrom(txn, h, &h.lanes[i], n-len(items), &items); err != nil {
				return err
			}
		}
		return nil
	})
	h.drop()
	if err != nil {
		return nil, fmt.Errorf("take URLs of %s: %w", c.Host, err)
	}
	return items, nil
}

// ripenOf queues the URLs of one host that have come due. The caller holds mu.
func (s *Store) ripenOf(h *waitingHost) error {
	now := time.Now()
	if h.later == 0 || now.UnixNano() < h.first {
		return nil
	}
	return s.ripen([]*waitingHost{h}, now)
}

// takeFrom takes up to n URLs of one level.
func takeFrom(txn *badgerdb.Txn, h *waitingHost, l *lane, n int, items *[]frontier.Item) error {
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: lanePrefix(h.name, l.level)})
	defer it.Close()
	it.Seek(queueKey(h.name, place{level: l.level, seq: l.next}))
	for ; n > 0 && l.waiting > 0; n-- {
		if !it.Valid() {
			return fmt.Errorf("%w: %d URLs are not in the queue", store.ErrCorrupt, l.waiting)
		}
		p := place{level: l.level, seq: lastNum(it.Item().Key())}
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
		it.Next()
	}
	return nil
}

// Release puts a taken URL back at the end of its level.
func (s *Store) Release(ctx context.Context, c frontier.Claim, it frontier.Item) error {
	return s.write(ctx, func(b *batch) error {
		h, err := s.queue.holder(c)
		if err != nil {
			return b.refuse(fmt.Errorf("release a URL of %w", err))
		}
		id := dedup.Hash(frontier.ID(it.URL))
		u, err := b.known(id)
		if err != nil || u.state != frontier.Pending || !h.taken[u.place] {
			return err
		}
		return b.enqueue(id, u, it, time.Now())
	})
}

// Return ends a claim, and writes the part of the rest that outlives the process.
func (s *Store) Return(ctx context.Context, c frontier.Claim, rest frontier.Rest) error {
	return s.write(ctx, func(b *batch) error {
		h, err := s.queue.holder(c)
		if err != nil {
			return b.refuse(fmt.Errorf("return %w", err))
		}
		before := keptOf(h.rest)
		h.rest = rest.Bounded(time.Now())
		s.queue.claims.End(c.Host)
		s.queue.free(h)
		kept := keptOf(h.rest)
		if kept == before {
			return nil
		}
		value, err := json.Marshal(kept)
		if err != nil {
			return err
		}
		if err := b.room(1, len(value)+len(c.Host)); err != nil {
			return err
		}
		return b.set(key1(keyHost, c.Host), value)
	})
}

// State returns the state of a URL.
func (s *Store) State(ctx context.Context, url string) (state frontier.State, err error) {
	err = s.read(ctx, func(r reader) error {
		state, err = r.State(ctx, url)
		return err
	})
	return state, err
}

// State returns the state of a URL.
func (r reader) State(_ context.Context, url string) (frontier.State, error) {
	u, err := r.s.known(r.txn, frontier.ID(url))
	if err != nil {
		return frontier.Unknown, fmt.Errorf("state of %s: %w", url, err)
	}
	return u.state, nil
}

// URLs yields the URLs that are pending, or those that are outside the crawl.
func (s *Store) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return each(s, ctx, func(r reader) iter.Seq2[string, error] { return r.URLs(ctx, state) })
}

// URLs yields the pending URLs, which it reads from the queue. For URLs outside the crawl it reads
// the known state of all URLs.
func (r reader) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	letters, read := []byte{keyURL}, outsideURL
	switch state {
	case frontier.Outside:
	case frontier.Pending:
		letters, read = []byte{keyQueue, keyLater}, pendingURL
	default:
		return func(func(string, error) bool) {}
	}
	return func(yield func(string, error) bool) {
		for _, letter := range letters {
			err := scan(ctx, r.txn, []byte{letter}, func(item *badgerdb.Item) error {
				var url string
				err := item.Value(func(value []byte) (err error) { url, err = read(item.Key(), value); return err })
				if err == nil && url != "" && !yield(url, nil) {
					return errStop
				}
				return err
			})
			if err == errStop {
				return
			}
			if err != nil {
				yield("", fmt.Errorf("list URLs: %w", err))
				return
			}
		}
	}
}

// outsideURL returns the URL of a u key if it is outside the crawl, else "".
func outsideURL(_, value []byte) (string, error) {
	u, err := decodeKnown(value)
	if u.state != frontier.Outside {
		return "", err
	}
	return u.url, err
}

// pendingURL returns the URL of a q or l key.
func pendingURL(key, value []byte) (string, error) {
	_, p, ok := splitQueueKey(key)
	if !ok {
		return "", fmt.Errorf("%w: key %q", store.ErrCorrupt, key)
	}
	it, _, err := decodeQueued(value, p)
	return it.URL, err
}

// keptRest is the value of an f key: the rest of a host that is stored for the next process.
type keptRest struct {
	Blocked time.Time      `json:"until,omitzero"`
	Delay   time.Duration  `json:"delay,omitempty"` // nanoseconds
	Spent   frontier.Spent `json:"spent,omitzero"`
}

func keptOf(r frontier.Rest) keptRest { return keptRest{r.Blocked.Round(0).UTC(), r.Delay, r.Spent} }

func (k keptRest) rest() frontier.Rest {
	return frontier.Rest{Blocked: k.Blocked, Delay: k.Delay, Spent: k.Spent}.Bounded(time.Now())
}

func (k *keptRest) decode(value []byte) error {
	if err := json.Unmarshal(value, k); err != nil {
		return fmt.Errorf("%w: what is kept of a host: %v", store.ErrCorrupt, err)
	}
	return nil
}

// Hosts yields the hosts with pending URLs, as they were when it began.
func (s *Store) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return store.Listed(ctx, s.pendingHosts)
}

func (s *Store) pendingHosts() ([]frontier.Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hostsLocked(), nil
}

// hostsLocked is pendingHosts for a caller that holds mu.
func (s *Store) hostsLocked() []frontier.Host {
	list := make([]frontier.Host, 0, len(s.queue.hosts))
	for _, h := range s.queue.hosts {
		if h.pending > 0 {
			list = append(list, h.host())
		}
	}
	return list
}
