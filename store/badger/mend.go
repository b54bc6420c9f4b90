package badger

import (
	"bytes"
	"context"
	"errors"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/badger/postings"
)

// A hashPosting is the first half of a text hash or page id, and the number of a visit indexed
// under it.
type hashPosting struct{ key, num uint64 }

// # Repair
//
// If blocks of tables were lost, keys are missing. Other keys may have an old value, or have
// reappeared, because the writes that replaced or deleted them are lost. The repair trusts the
// records, and makes the rest of the store consistent with them. A page is lost in four cases: the
// record of its last visit cannot be read, its text or sketch is missing, it may lead other pages
// but is missing from the index, or its leader is lost. The data of a lost page is deleted, and its
// URL, which is also in a u key (see keys.go), becomes pending again. The queue, clusters, journal
// and counters are made consistent with the records.
//
// The repair cannot tell whether a lost block contained a named value, the politeness state of a
// host (an f key), or a URL outside the crawl. Named values are stored twice. [Loss] reports
// whether both copies of one may be lost.
type mending struct {
	s   *Store
	out *badgerdb.WriteBatch

	records  map[uint64]*mended    // records to keep, by visit number
	ids      map[dedup.Hash]uint64 // visit numbers of those records, by page id
	gone     map[uint64]*mended    // records that are readable but deleted because other data of their pages is lost, by visit number
	replaced map[uint64]bool       // visits that later visits replaced; the value is true if the visit is noted as obsolete
	posted   map[uint64]bool       // visits that the journal has under sketch keys
	hashes   map[hashPosting]bool  // text hashes and page ids in the journal, with the visits indexed under them
	queue    map[dedup.Hash]place  // position of each pending URL in its host's queue, by page id
	items    map[dedup.Hash]frontier.Item
	again    []frontier.Item // items whose URLs must become pending
	known    map[dedup.Hash]bool

	counters counters
	seq      uint64 // highest seq of any queued URL
	journal  uint64 // last journal entry
	block    uint64 // block with the last journal entry
}

// mended is the record of one visit during the repair. judge sets record to nil when it deletes the
// record, but keeps the other fields.
type mended struct {
	id, hash    dedup.Hash
	url         string
	depth, hops int
	record      *store.Record
}

// mend repairs the store. Call it before anything is loaded into memory.
func (s *Store) mend() (err error) {
	m := &mending{
		s: s, records: map[uint64]*mended{}, ids: map[dedup.Hash]uint64{}, gone: map[uint64]*mended{}, replaced: map[uint64]bool{}, posted: map[uint64]bool{}, hashes: map[hashPosting]bool{},
		queue: map[dedup.Hash]place{}, items: map[dedup.Hash]frontier.Item{}, known: map[dedup.Hash]bool{},
	}
	m.out = s.db.NewWriteBatch()
	defer m.out.Cancel()
	had := m.oldCounters()
	for _, step := range []func() error{m.mendNames, m.readJournal, m.readReplaced, m.readRecords, m.dropOutdated, m.judge, m.readQueue, m.mendURLs, m.mendRecords, m.pend, m.mendMembers, m.writeJournal, m.writeCounters} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := m.out.Flush(); err != nil {
		return err
	}
	s.loss.Missing = max(had-m.counters.Records, int64(len(m.gone)))
	s.loss.Pending = int64(len(m.again))
	return s.Sync()
}

// oldCounters returns the number of records that the store had before it was damaged, or 0 if that
// is unknown. It also restores the highest visit number.
func (m *mending) oldCounters() (records int64) {
	_ = m.s.db.View(func(txn *badgerdb.Txn) error {
		_, err := get(txn, []byte{keyCounters}, func(value []byte) error {
			c, err := decodeCounters(value)
			m.counters.Numbers, records = c.Numbers, c.Records
			return err
		})
		return err
	})
	return records
}

func (m *mending) scanAll(letter byte, fn func(key, value []byte) error) error {
	return m.s.scan(context.Background(), []byte{letter}, func(item *badgerdb.Item) error {
		return item.Value(func(value []byte) error { return fn(item.KeyCopy(nil), bytes.Clone(value)) })
	})
}

// scanBlocks calls fn with each key that has the given letter inside a block, and its value, in
// ascending order of the numbers in the keys.
func (m *mending) scanBlocks(letter byte, fn func(key, value []byte) error) error {
	each := func(item *badgerdb.Item) error {
		return item.Value(func(value []byte) error { return fn(item.KeyCopy(nil), bytes.Clone(value)) })
	}
	return m.s.view(context.Background(), func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte{keyBlock}})
		defer it.Close()
		list := blocks(it, func(uint64) bool { return false })
		if len(list) == 0 {
			return nil
		}
		return scanBlocks(context.Background(), it, list, letter, letterKey(list[0], letter), each)
	})
}

// mendNames sets all copies of each named value to the newest one.
func (m *mending) mendNames() error {
	type value struct {
		bytes   []byte
		version uint64
		copies  int
	}
	newest := map[string]value{}
	for _, letter := range []byte{keyMeta, keyMetaCopy} {
		err := m.s.scan(context.Background(), []byte{letter}, func(item *badgerdb.Item) error {
			b, err := item.ValueCopy(nil)
			name := string(item.Key()[1:])
			v := newest[name]
			if v.copies++; v.copies == 1 || item.Version() > v.version {
				v.bytes, v.version = b, item.Version()
			}
			newest[name] = v
			return err
		})
		if err != nil {
			return err
		}
	}
	for name, v := range newest {
		for _, letter := range copiesOf(name) {
			if err := m.out.Set(key1(letter, name), v.bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// readJournal reads the postings in the journal, and fills gaps in its numbering with empty
// entries.
func (m *mending) readJournal() error {
	return m.scanBlocks(keyJournal, func(key, value []byte) error {
		seq, block := lastNum(key), blockOf(key)
		for m.journal+1 < seq {
			m.journal++
			if err := m.out.Set(journalKey(block*pagesInBlock, m.journal), new(journalEntry).encode()); err != nil {
				return err
			}
		}
		m.journal, m.block = seq, block
		e, err := decodeEntry(value)
		if err != nil {
			return m.out.Set(key, new(journalEntry).encode())
		}
		for _, p := range e.posted {
			num := postings.NumOf(p.Num)
			m.counters.Numbers = max(m.counters.Numbers, num)
			if postings.KindOf(p.Num) == postings.Band {
				m.posted[num] = true
				continue
			}
			for _, k := range p.Keys {
				m.hashes[hashPosting{k, num}] = true
			}
		}
		return nil
	})
}

func (m *mending) readReplaced() error {
	err := m.scanAll(keyGone, func(key, _ []byte) error {
		num := lastNum(key)
		m.counters.Numbers = max(m.counters.Numbers, num)
		m.replaced[num] = false
		return nil
	})
	return errors.Join(err, m.scanAll(keyObsolete, func(key, _ []byte) error {
		num := lastNum(key)
		m.counters.Numbers = max(m.counters.Numbers, num)
		return m.remove(num)
	}))
}

// remove deletes the record and the sketch of visit num. It also notes the visit as replaced and
// obsolete, so lookups ignore its postings, and a sweep deletes the rest of its data.
func (m *mending) remove(num uint64) error {
	m.replaced[num] = true
	m.counters.Obsolete++
	return errors.Join(
		m.out.Delete(pageKey(keyRecord, num)), m.out.Delete(pageKey(keySketch, num)),
		m.out.Set(numKey(keyGone, num), nil), m.out.Set(numKey(keyObsolete, num), nil),
	)
}

func (m *mending) readRecords() error {
	return m.scanBlocks(keyRecord, func(key, value []byte) error {
		num := lastNum(key)
		m.counters.Numbers = max(m.counters.Numbers, num)
		if noted, ok := m.replaced[num]; noted {
			return nil
		} else if ok { // the note that the visit is obsolete is lost
			return m.remove(num)
		}
		r, err := decodeRecord(value)
		if err != nil {
			return m.remove(num)
		}
		rec := &mended{
			id: r.ID, hash: dedup.Hash(value[:hashSize]), url: r.URL, depth: r.Depth, hops: r.Hops, record: r,
		}
		whole, err := m.wholePage(num, r)
		if err := errors.Join(err, m.dropEarlier(r.ID, num)); err != nil {
			return err
		}
		if !whole {
			m.gone[num] = rec
			return nil
		}
		m.records[num], m.ids[r.ID] = rec, num
		return nil
	})
}

// dropEarlier removes the record of a page if it is from a visit before visit num. The notes that
// the earlier visit was replaced are lost.
func (m *mending) dropEarlier(id dedup.Hash, num uint64) error {
	before := m.ids[id]
	if before == 0 || before >= num {
		return nil
	}
	delete(m.records, before)
	delete(m.ids, id)
	return m.remove(before)
}

// dropOutdated removes the records of pages if the records of their last visits are lost.
func (m *mending) dropOutdated() error {
	return m.scanAll(keyURL, func(key, value []byte) error {
		u, err := decodeKnown(value)
		if err != nil || len(key) != 1+len(dedup.Hash{}) {
			return nil // mendURLs deletes the key
		}
		return m.dropEarlier(dedup.Hash(key[1:]), u.num)
	})
}

// wholePage reports whether the store has the text and the sketch of visit num. If the page may
// lead others, it must also be in the index.
func (m *mending) wholePage(num uint64, r *store.Record) (whole bool, err error) {
	err = m.s.view(context.Background(), func(txn *badgerdb.Txn) error {
		whole = m.wholeIn(txn, num, r)
		return nil
	})
	return whole, err
}

func (m *mending) wholeIn(txn *badgerdb.Txn, num uint64, r *store.Record) bool {
	if r.Kind != store.Page || r.Words == 0 {
		return true
	}
	if _, found, err := sketchAt(txn, num); err != nil || !found {
		return false
	}
	if r.Verdict == dedup.Unique && !m.posted[num] {
		return false
	}
	if r.NoText {
		return true
	}
	_, found, err := text(txn, num)
	return err == nil && found
}

// judge deletes the records of lost pages and of pages whose leader is lost. It counts the
// remaining records.
func (m *mending) judge() error {
	for num, r := range m.records {
		if r.record.Follows() && m.ids[r.record.Leader] == 0 {
			m.gone[num] = r
			delete(m.records, num)
		}
	}
	for num, r := range m.gone {
		if m.ids[r.id] == num {
			delete(m.ids, r.id)
		}
		if err := m.remove(num); err != nil {
			return err
		}
		r.record = nil
	}
	for num := range m.posted {
		if _, replaced := m.replaced[num]; !replaced && m.records[num] == nil { // its record is lost
			if err := m.remove(num); err != nil {
				return err
			}
		}
	}
	for _, r := range m.records {
		m.counters.Records++
		m.counters.Tally.Add(r.record)
	}
	return nil
}

func (m *mending) readQueue() error {
	return errors.Join(m.readQueued(keyQueue), m.readQueued(keyLater))
}

func (m *mending) readQueued(letter byte) error {
	return m.scanAll(letter, func(key, value []byte) error {
		host, p, ok := splitQueueKey(key)
		it, p, err := decodeQueued(value, p)
		if !ok || err != nil || frontier.HostOf(it.URL) != string(host) {
			return m.out.Delete(key)
		}
		m.seq = max(m.seq, p.seq)
		id := dedup.Hash(frontier.ID(it.URL))
		if _, twice := m.queue[id]; twice {
			return m.out.Delete(key)
		}
		m.queue[id], m.items[id] = p, it
		return nil
	})
}

// mendURLs makes the stored state of each URL consistent with the records and the queue.
func (m *mending) mendURLs() error {
	err := m.scanAll(keyURL, func(key, value []byte) error {
		var id dedup.Hash
		copy(id[:], key[1:])
		u, err := decodeKnown(value)
		if err != nil || len(key) != 1+len(id) || dedup.Hash(frontier.ID(u.url)) != id {
			return m.out.Delete(key)
		}
		m.known[id] = true
		before := u
		current := m.ids[id]
		if u.num != current { // the record is lost, or this is an old value of the key
			u.num, u.state = current, frontier.Pending
		}
		p, queued := m.queue[id]
		switch {
		case u.state == frontier.Pending && !queued && current != 0: // the URL has a record, so it was fetched
			u.state = m.records[current].record.End()
		case u.state == frontier.Pending && !queued:
			m.later(frontier.Item{URL: u.url, Depth: u.place.level.depth()})
			return nil
		case u.state == frontier.Pending:
			u.place = p
		case queued: // the URL is finished, but the write that removed it from the queue is lost
			delete(m.queue, id)
			if err := m.out.Delete(queueKey(frontier.HostOf(u.url), p)); err != nil {
				return err
			}
		}
		return m.setURL(id, u, u != before)
	})
	if err != nil {
		return err
	}
	for id, p := range m.queue { // the stored states of these URLs are lost
		if m.known[id] {
			continue
		}
		m.known[id] = true
		if err := m.setURL(id, known{state: frontier.Pending, num: m.ids[id], place: p, url: m.items[id].URL}, true); err != nil {
			return err
		}
	}
	return nil
}

func (m *mending) later(it frontier.Item) {
	m.known[dedup.Hash(frontier.ID(it.URL))] = true
	m.again = append(m.again, it)
}

func (m *mending) setURL(id dedup.Hash, u known, write bool) error {
	m.counters.URLs[u.state]++
	if !write {
		return nil
	}
	return m.out.Set(key1(keyURL, id[:]), u.encode())
}

// mendRecords ensures that every record can be found by its URL, and that the URLs of lost pages
// become pending.
func (m *mending) mendRecords() error {
	for num, r := range m.records {
		if !m.known[r.id] && !m.hashes[hashPosting{filterKey(r.id), num}] {
			u := known{state: r.record.End(), num: num, place: place{level: levelOf(&frontier.Item{Depth: r.depth})}, url: r.url}
			if err := m.setURL(r.id, u, true); err != nil {
				return err
			}
			m.known[r.id] = true
		}
	}
	for _, r := range m.gone {
		if !m.known[r.id] {
			m.later(frontier.Item{URL: r.url, Depth: r.depth, Hops: r.hops})
		}
	}
	return nil
}

// pend adds the URLs recorded by the method later to the queue, each at the end of its level.
func (m *mending) pend() error {
	for _, it := range m.again {
		m.seq++
		p := place{level: levelOf(&it), seq: m.seq}
		if err := m.out.Set(queueKey(frontier.HostOf(it.URL), p), encodeItem(it)); err != nil {
			return err
		}
		if err := m.setURL(frontier.ID(it.URL), known{state: frontier.Pending, place: p, url: it.URL}, true); err != nil {
			return err
		}
	}
	return nil
}

func (m *mending) mendMembers() error {
	err := m.scanAll(keyMember, func(key, _ []byte) error {
		if r := m.records[lastNum(key)]; r != nil && r.record.Follows() && bytes.Equal(key, memberOf(r.record, lastNum(key))) {
			return nil
		}
		return m.out.Delete(key)
	})
	if err != nil {
		return err
	}
	for num, r := range m.records {
		if !r.record.Follows() {
			continue
		}
		if err := m.out.Set(memberOf(r.record, num), nil); err != nil {
			return err
		}
	}
	return nil
}

func memberOf(r *store.Record, num uint64) []byte { return memberKey(r.Leader, r.Resemblance, num) }

// writeJournal restores lost journal entries. It deletes the manifest of the index, so that the
// index is rebuilt from the journal.
func (m *mending) writeJournal() error {
	var e journalEntry
	flush := func() error {
		if e.empty() {
			return nil
		}
		m.journal++
		block := max(m.block, m.counters.Numbers/pagesInBlock)
		err := m.out.Set(journalKey(block*pagesInBlock, m.journal), e.encode())
		e = journalEntry{}
		return err
	}
	for num, r := range m.records {
		if r.hash.IsZero() || m.hashes[hashPosting{filterKey(r.hash), num}] {
			continue
		}
		if e.post(num, postings.Hash, filterKey(r.hash)); e.size >= entryBound {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return m.out.Delete([]byte{keyIndex})
}

func (m *mending) writeCounters() error {
	value, err := m.counters.encode()
	if err != nil {
		return err
	}
	return m.out.Set([]byte{keyCounters}, value)
}
