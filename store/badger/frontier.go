package badger

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// Discover queues the URLs that were never discovered before.
func (s *Store) Discover(ctx context.Context, items []frontier.Item) (found int, err error) {
	if err := s.disk.check(); err != nil {
		return 0, err
	}
	err = s.write(ctx, func(b *batch) error {
		found, err = b.discover(items)
		return err
	})
	return found, err
}

func (b *batch) discover(items []frontier.Item) (found int, err error) {
	for _, it := range items {
		id := dedup.Hash(frontier.ID(it.URL))
		if b.s.recent.has(id) {
			continue
		}
		u, err := b.known(id)
		if err != nil {
			return found, err
		}
		if u.state == frontier.Unknown || u.state == frontier.Outside {
			if err := b.enqueue(id, u, it); err != nil {
				return found, err
			}
			b.move(u.state, frontier.Pending)
			found++
		}
		b.s.recent.add(id)
	}
	return found, nil
}

// Exclude notes URLs that are outside the crawl.
func (s *Store) Exclude(ctx context.Context, urls []string) error {
	if err := s.disk.check(); err != nil {
		return err
	}
	return s.write(ctx, func(b *batch) error { return b.exclude(urls) })
}

// exclude has a slot among the recent URLs that no other URL has: what is left
// out now may be discovered later.
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
			if err := b.setKnown(id, known{state: frontier.Outside, url: url}, true); err != nil {
				return err
			}
			b.move(frontier.Unknown, frontier.Outside)
		}
		b.s.recent.add(slot)
	}
	return nil
}

// enqueue makes a URL pending, at the end of its depth.
func (b *batch) enqueue(id dedup.Hash, u known, it frontier.Item) error {
	value := encodeItem(it)
	host := frontier.HostOf(it.URL)
	if err := b.room(3, len(value)+len(host)+64); err != nil { // with the key that Release deletes
		return err
	}
	if err := b.openHost(host); err != nil {
		return err
	}
	isNew := u == known{}
	u.state, u.url = frontier.Pending, it.URL
	u.place = b.s.queue.push(host, uint32(max(it.Depth, 0)))
	if err := b.set(queueKey(host, u.place), value); err != nil {
		return err
	}
	return b.setKnown(id, u, isNew)
}

// openHost brings a host that has nothing waiting back into memory, with what
// was set for it.
func (b *batch) openHost(name string) error {
	if b.s.queue.hosts[name] != nil {
		return nil
	}
	var set hostSettings
	if _, err := b.get(key1(keyHost, name), set.decode); err != nil {
		return err
	}
	b.s.queue.hosts[name] = &waitingHost{set: set}
	return nil
}

// unqueue takes a URL that is pending out of the queue.
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
	if !s.urls.has(filterKey(id)) {
		return known{}, nil
	}
	found, err := get(txn, key1(keyURL, id[:]), func(value []byte) error {
		u, err = decodeKnown(value)
		return err
	})
	if err != nil || found {
		return u, err
	}
	u.num, err = s.byID(txn, id)
	return u, err
}

// setKnown writes what is known of a URL; isNew says that nothing was. If that
// is a record and nothing else it is posted, which costs less than a key: so it
// is for texts that were not crawled.
func (b *batch) setKnown(id dedup.Hash, u known, isNew bool) error {
	if isNew {
		b.journal.addURL(filterKey(id))
	}
	b.s.urls.add(filterKey(id))
	if u == (known{num: u.num}) {
		b.journal.post(u.num, hashKind, filterKey(id))
		b.recorded[id] = u.num
		return nil
	}
	delete(b.recorded, id)
	return b.set(key1(keyURL, id[:]), u.encode())
}

// filterKey is a hash as the filters know it: half of it is plenty.
func filterKey(h dedup.Hash) uint64 { return binary.BigEndian.Uint64(h[:8]) }

// Lease takes URLs of host. A lease is in memory only: when the store is opened
// again all that is queued is free. Only one process can have the store, so a
// lease ends with it, and ttl is not needed.
func (s *Store) Lease(ctx context.Context, host string, n int, _ time.Duration) ([]frontier.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.queue.hosts[host]
	if h == nil || n <= 0 {
		return nil, ctx.Err()
	}
	var items []frontier.Item
	err := s.view(ctx, func(txn *badgerdb.Txn) error {
		for i := range h.lanes {
			if len(items) == n {
				break
			}
			if err := s.leaseLane(txn, host, &h.lanes[i], n-len(items), &items); err != nil {
				return err
			}
		}
		return nil
	})
	h.drop()
	if err != nil {
		return nil, fmt.Errorf("lease URLs of %s: %w", host, err)
	}
	return items, nil
}

// leaseLane takes up to n URLs of one depth.
func (s *Store) leaseLane(txn *badgerdb.Txn, host string, l *lane, n int, items *[]frontier.Item) error {
	if l.waiting == 0 {
		return nil
	}
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: lanePrefix(host, l.depth)})
	defer it.Close()
	it.Seek(queueKey(host, place{l.depth, l.next}))
	for ; n > 0 && l.waiting > 0; n-- {
		if !it.Valid() {
			return fmt.Errorf("%w: %d URLs are not in the queue", store.ErrCorrupt, l.waiting)
		}
		var item frontier.Item
		err := it.Item().Value(func(value []byte) (err error) {
			item, err = decodeItem(value)
			return err
		})
		if err != nil {
			return err
		}
		item.Depth = int(l.depth)
		*items = append(*items, item)
		l.next = lastNum(it.Item().Key()) + 1
		l.waiting--
		it.Next()
	}
	return nil
}

// Release puts a URL at the end of its depth.
func (s *Store) Release(ctx context.Context, it frontier.Item) error {
	return s.write(ctx, func(b *batch) error {
		id := dedup.Hash(frontier.ID(it.URL))
		u, err := b.known(id)
		if err != nil || u.state != frontier.Pending {
			return err
		}
		if err := b.unqueue(it.URL, u.place); err != nil {
			return err
		}
		return b.enqueue(id, u, it)
	})
}

// Done ends a URL.
func (s *Store) Done(ctx context.Context, url string, state frontier.State) error {
	if !state.Ends() {
		return fmt.Errorf("done %s: state %d is not an end", url, state)
	}
	return s.write(ctx, func(b *batch) error {
		id := dedup.Hash(frontier.ID(url))
		u, err := b.known(id)
		if err != nil || u.state != frontier.Pending {
			return err
		}
		if err := b.unqueue(url, u.place); err != nil {
			return err
		}
		b.move(frontier.Pending, state)
		u.state = state
		return b.setKnown(id, u, false)
	})
}

// State says how far a URL has come.
func (s *Store) State(ctx context.Context, url string) (frontier.State, error) {
	var u known
	err := s.view(ctx, func(txn *badgerdb.Txn) (err error) {
		u, err = s.known(txn, frontier.ID(url))
		return err
	})
	if err != nil {
		return frontier.Unknown, fmt.Errorf("state of %s: %w", url, err)
	}
	return u.state, nil
}

// URLs yields the URLs that are pending, from the queue, or those that are
// outside, from what is known of all URLs.
func (s *Store) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	letter, read := keyURL, func(value []byte) (string, error) {
		u, err := decodeKnown(value)
		if u.state != frontier.Outside {
			return "", err
		}
		return u.url, err
	}
	switch state {
	case frontier.Outside:
	case frontier.Pending:
		letter, read = keyQueue, func(value []byte) (string, error) {
			it, err := decodeItem(value)
			return it.URL, err
		}
	default:
		return func(func(string, error) bool) {}
	}
	return func(yield func(string, error) bool) {
		err := s.scan(ctx, []byte{letter}, nil, func(item *badgerdb.Item) (err error) {
			var url string
			if err := item.Value(func(value []byte) (err error) { url, err = read(value); return err }); err != nil {
				return err
			}
			if url != "" && !yield(url, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield("", fmt.Errorf("list URLs: %w", err))
		}
	}
}

// errStopped: the caller has seen enough.
var errStopped = errors.New("stopped")

// hostSettings is the value of an f key.
type hostSettings struct {
	Until time.Time     `json:"until,omitzero"`
	Delay time.Duration `json:"delay,omitempty"` // nanoseconds
}

func (h *hostSettings) decode(value []byte) error {
	if err := json.Unmarshal(value, h); err != nil {
		return fmt.Errorf("%w: settings of a host: %v", store.ErrCorrupt, err)
	}
	return nil
}

// Block remembers until when a host is blocked.
func (s *Store) Block(ctx context.Context, host string, until time.Time) error {
	return s.setHost(ctx, host, func(h *hostSettings) { h.Until = until.Round(0) })
}

// SetDelay remembers the least time between two requests to host.
func (s *Store) SetDelay(ctx context.Context, host string, delay time.Duration) error {
	return s.setHost(ctx, host, func(h *hostSettings) { h.Delay = delay })
}

func (s *Store) setHost(ctx context.Context, host string, change func(*hostSettings)) error {
	return s.write(ctx, func(b *batch) error {
		key := key1(keyHost, host)
		var set hostSettings
		if _, err := b.get(key, set.decode); err != nil {
			return err
		}
		change(&set)
		value, err := json.Marshal(set)
		if err != nil {
			return err
		}
		if h := s.queue.hosts[host]; h != nil {
			h.set = set
		}
		return b.set(key, value)
	})
}

// Hosts yields the hosts with URLs pending as they were when it began.
func (s *Store) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return func(yield func(frontier.Host, error) bool) {
		for _, h := range s.pendingHosts() {
			if err := ctx.Err(); err != nil {
				yield(frontier.Host{}, err)
				return
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

func (s *Store) pendingHosts() []frontier.Host {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]frontier.Host, 0, len(s.queue.hosts))
	for name, h := range s.queue.hosts {
		list = append(list, frontier.Host{Name: name, Pending: h.pending, Depth: h.depth(), Until: h.set.Until, Delay: h.set.Delay})
	}
	return list
}
