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

// exclude notes URLs that are outside the crawl. It has a slot among the recent URLs that no other URL has: what is left
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

// openHost brings a host that is not in memory back there, with what was kept of it.
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
	if !s.urls.Has(filterKey(id)) {
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
	b.s.urls.Add(filterKey(id))
	if u == (known{num: u.num}) {
		b.journal.post(u.num, postings.Hash, filterKey(id))
		b.recorded[id] = u.num
		return nil
	}
	delete(b.recorded, id)
	return b.set(key1(keyURL, id[:]), u.encode())
}

// filterKey is a hash as the filters know it: half of it is plenty.
func filterKey(h dedup.Hash) uint64 { return binary.BigEndian.Uint64(h[:8]) }

// Claim gives hosts from memory.
func (s *Store) Claim(ctx context.Context, worker string, n int, ttl time.Duration) (frontier.Grant, error) {
	if err := ctx.Err(); err != nil {
		return frontier.Grant{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.claim(worker, n, ttl), nil
}

// Renew lets claims last.
func (s *Store) Renew(ctx context.Context, claims []frontier.Claim, ttl time.Duration) (lost []frontier.Claim, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	until := time.Now().Add(ttl)
	for _, c := range claims {
		if h := s.queue.holder(c); h != nil {
			h.until = until
		} else {
			lost = append(lost, c)
		}
	}
	return lost, nil
}

// Take takes URLs of a claimed host.
func (s *Store) Take(ctx context.Context, c frontier.Claim, n int) ([]frontier.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.queue.holder(c)
	if h == nil {
		return nil, fmt.Errorf("take URLs of %s: %w", c.Host, frontier.ErrLost)
	}
	var items []frontier.Item
	err := s.view(ctx, func(txn *badgerdb.Txn) error {
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

// takeFrom takes up to n URLs of one depth.
func takeFrom(txn *badgerdb.Txn, h *waitingHost, l *lane, n int, items *[]frontier.Item) error {
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: lanePrefix(h.name, l.depth)})
	defer it.Close()
	it.Seek(queueKey(h.name, place{l.depth, l.next}))
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
		seq := lastNum(it.Item().Key())
		h.taken[place{l.depth, seq}] = true
		l.next = seq + 1
		l.waiting--
		it.Next()
	}
	return nil
}

// Release puts a URL that was taken at the end of its depth.
func (s *Store) Release(ctx context.Context, c frontier.Claim, it frontier.Item) error {
	return s.write(ctx, func(b *batch) error {
		h := s.queue.holder(c)
		if h == nil {
			return b.refuse(fmt.Errorf("release a URL of %s: %w", c.Host, frontier.ErrLost))
		}
		id := dedup.Hash(frontier.ID(it.URL))
		u, err := b.known(id)
		if err != nil || u.state != frontier.Pending || !h.taken[u.place] {
			return err
		}
		if err := b.unqueue(it.URL, u.place); err != nil {
			return err
		}
		return b.enqueue(id, u, it)
	})
}

// Return ends a claim, and keeps of the rest what outlives the process.
func (s *Store) Return(ctx context.Context, c frontier.Claim, rest frontier.Rest) error {
	return s.write(ctx, func(b *batch) error {
		h := s.queue.holder(c)
		if h == nil {
			return b.refuse(fmt.Errorf("return %s: %w", c.Host, frontier.ErrLost))
		}
		before := keptOf(h.rest)
		h.rest = rest.Bounded(time.Now())
		s.queue.release(h)
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

// State says how far a URL has come.
func (s *Store) State(ctx context.Context, url string) (state frontier.State, err error) {
	err = s.read(ctx, func(r reader) error {
		state, err = r.State(ctx, url)
		return err
	})
	return state, err
}

// State says how far a URL has come.
func (r reader) State(_ context.Context, url string) (frontier.State, error) {
	u, err := r.s.known(r.txn, frontier.ID(url))
	if err != nil {
		return frontier.Unknown, fmt.Errorf("state of %s: %w", url, err)
	}
	return u.state, nil
}

// URLs yields the URLs that are pending, or those that are outside.
func (s *Store) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return each(s, ctx, func(r reader) iter.Seq2[string, error] { return r.URLs(ctx, state) })
}

// URLs yields the URLs that are pending, from the queue, or those that are
// outside, from what is known of all URLs.
func (r reader) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
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
		err := scan(ctx, r.txn, []byte{letter}, func(item *badgerdb.Item) (err error) {
			var url string
			if err := item.Value(func(value []byte) (err error) { url, err = read(value); return err }); err != nil {
				return err
			}
			if url != "" && !yield(url, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield("", fmt.Errorf("list URLs: %w", err))
		}
	}
}

// keptRest is the value of an f key: what is kept of a host for the next process.
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

// Hosts yields the hosts with URLs pending as they were when it began.
func (s *Store) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return eachHost(ctx, s.pendingHosts)
}

// eachHost yields the hosts of a list that is made when it begins.
func eachHost(ctx context.Context, list func() []frontier.Host) iter.Seq2[frontier.Host, error] {
	return func(yield func(frontier.Host, error) bool) {
		for _, h := range list() {
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
	return s.hostsLocked()
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
