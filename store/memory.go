package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"skink/dedup"
	"skink/frontier"
)

// Memory is a store that lives as long as the process, for tests and for callers
// with judgements that nobody wants to keep; no command uses it. It is written to
// be obviously right: maps and sorted slices under a lock.
type Memory struct {
	*frontier.Memory

	mu       sync.Mutex // guards everything below
	last     uint64     // the last number given
	nums     []uint64   // of all records, ascending
	records  map[uint64]Record
	ids      map[dedup.Hash]uint64
	texts    map[uint64][]byte // packed
	sketches map[uint64]dedup.Sketch
	raws     map[uint64]Raw
	hashes   map[dedup.Hash]uint64
	postings map[uint64][]uint64 // numbers, ascending
	members  map[uint64][]uint64 // numbers by leader, unordered
	meta     map[string][]byte
	tally    Tally
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		Memory:   frontier.NewMemory(),
		records:  map[uint64]Record{},
		ids:      map[dedup.Hash]uint64{},
		texts:    map[uint64][]byte{},
		sketches: map[uint64]dedup.Sketch{},
		raws:     map[uint64]Raw{},
		hashes:   map[dedup.Hash]uint64{},
		postings: map[uint64][]uint64{},
		members:  map[uint64][]uint64{},
		meta:     map[string][]byte{},
	}
}

func (m *Memory) Next(ctx context.Context) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	return m.last, nil
}

func (m *Memory) Commit(ctx context.Context, entries []*Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Record.Num == 0 {
			return fmt.Errorf("commit %s: the record has no number", e.Record.URL)
		}
		if e.State != frontier.Unknown && !e.State.Ends() {
			return fmt.Errorf("commit %s: state %d is not an end", e.Record.URL, e.State)
		}
	}
	ctx = context.WithoutCancel(ctx) // an entry is written whole
	for _, e := range entries {
		m.keep(e)
		if err := m.end(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// end tells the frontier what an entry led to, and how its URL ended.
func (m *Memory) end(ctx context.Context, e *Entry) error {
	if _, err := m.Discover(ctx, e.Links); err != nil {
		return err
	}
	if err := m.Exclude(ctx, e.Beyond); err != nil {
		return err
	}
	if e.State == frontier.Unknown {
		return nil
	}
	return m.Done(ctx, e.Record.URL, e.State)
}

// keep remembers all of e but what concerns the frontier.
func (m *Memory) keep(e *Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := e.Record
	if _, known := m.ids[r.ID]; known {
		return
	}
	m.last = max(m.last, r.Num)
	if e.Text != nil {
		m.texts[r.Num] = bytes.Clone(e.Text)
	}
	if e.Sketch != nil {
		m.sketches[r.Num] = *e.Sketch
	}
	if e.Raw != nil {
		m.raws[r.Num] = *e.Raw
	}
	for _, key := range e.Keys {
		m.postings[key] = insert(m.postings[key], r.Num)
	}
	if first, known := m.hashes[e.Hash]; !e.Hash.IsZero() && (!known || r.Num < first) {
		m.hashes[e.Hash] = r.Num
	}
	if r.Leader != 0 && r.Leader != r.Num {
		m.members[r.Leader] = append(m.members[r.Leader], r.Num)
	}
	m.nums = insert(m.nums, r.Num)
	m.records[r.Num] = r
	m.ids[r.ID] = r.Num
	m.tally.Add(&r)
}

// insert puts n in its place in an ascending list, once.
func insert(list []uint64, n uint64) []uint64 {
	i, found := slices.BinarySearch(list, n)
	if found {
		return list
	}
	return slices.Insert(list, i, n)
}

func (m *Memory) Record(ctx context.Context, id dedup.Hash) (*Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record(m.ids[id]), nil
}

func (m *Memory) RecordAt(ctx context.Context, num uint64) (*Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record(num), nil
}

// record returns a copy, so that no caller can change what is remembered.
func (m *Memory) record(num uint64) *Record {
	r, ok := m.records[num]
	if !ok {
		return nil
	}
	return &r
}

func (m *Memory) Records(ctx context.Context, from uint64) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			r := m.recordFrom(from)
			if r == nil || !yield(r, nil) {
				return
			}
			from = r.Num + 1
		}
	}
}

// recordFrom returns the record with the lowest number of at least from, or nil.
// The lock is not held while a caller looks at the record.
func (m *Memory) recordFrom(from uint64) *Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, _ := slices.BinarySearch(m.nums, from)
	if i == len(m.nums) {
		return nil
	}
	return m.record(m.nums[i])
}

func (m *Memory) Sketch(ctx context.Context, num uint64) (dedup.Sketch, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sketches[num]
	return s, ok, ctx.Err()
}

func (m *Memory) Text(ctx context.Context, num uint64) (string, bool, error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	m.mu.Lock()
	packed, ok := m.texts[num]
	m.mu.Unlock()
	if !ok {
		return "", false, nil
	}
	text, err := Unpack(packed)
	if err != nil {
		return "", false, fmt.Errorf("page %d: %w", num, err)
	}
	return string(text), true, nil
}

func (m *Memory) Raw(ctx context.Context, num uint64) (*Raw, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	raw, ok := m.raws[num]
	if !ok {
		return nil, ctx.Err()
	}
	return &raw, ctx.Err()
}

func (m *Memory) ByHash(ctx context.Context, h dedup.Hash) (uint64, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	num, ok := m.hashes[h]
	return num, ok, ctx.Err()
}

func (m *Memory) Leaders(ctx context.Context, key uint64, limit int, dst []uint64) ([]uint64, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.postings[key]
	n := min(max(limit, 0), len(list))
	return append(dst, list[:n]...), n < len(list), ctx.Err()
}

func (m *Memory) Clusters(ctx context.Context) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		for _, c := range m.clusters() {
			if err := ctx.Err(); err != nil {
				yield(Cluster{}, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (m *Memory) clusters() []Cluster {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Cluster, 0, len(m.members))
	for leader, nums := range m.members {
		list = append(list, Cluster{leader, len(nums)})
	}
	slices.SortFunc(list, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(b.Members, a.Members), cmp.Compare(a.Leader, b.Leader))
	})
	return list
}

func (m *Memory) Members(ctx context.Context, leader uint64) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for _, r := range m.membersOf(leader) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (m *Memory) membersOf(leader uint64) []*Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*Record
	for _, num := range m.members[leader] {
		list = append(list, m.record(num))
	}
	slices.SortFunc(list, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(b.Resemblance, a.Resemblance), cmp.Compare(a.Num, b.Num))
	})
	return list
}

func (m *Memory) Tally(ctx context.Context) (Tally, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tally.Clone(), ctx.Err()
}

func (m *Memory) Meta(ctx context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.meta[name]), ctx.Err()
}

func (m *Memory) SetMeta(ctx context.Context, name string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.meta[name] = append([]byte{}, value...) // never nil: an empty value was set
	return nil
}

// Sync does nothing: memory never survives a power cut.
func (m *Memory) Sync() error { return nil }

// Close does nothing: what was committed goes with the last reference.
func (m *Memory) Close() error { return nil }
