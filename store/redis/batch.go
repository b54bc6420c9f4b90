package redis

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # What was known of a URL when it was taken
//
// Whoever fetches a URL asks first what is known of its page (AsTaken), which is nothing for most. Only the
// holder of the host may write a record for it. So what was true when he took it stays true as
// long as he holds the host, and all URLs that were taken together are asked for together, when one
// of them is asked for first. What a batch says of a URL it says once: later there may be a record.
//
// Of pages that were visited before, all that is kept is read, of some pages at once: each is about
// to be compared with its new visit. There is one other who may write such a record: a page can be
// judged again because its leader changed. Then the commit of the new visit is stale, and the next
// attempt reads what is there.

// readAhead is of how many pages that which is kept is read at once, some kilobytes for each.
const readAhead = 8

// A batch is the URLs that one Take brought.
type batch struct {
	claim  frontier.Claim
	part   partition
	ids    []dedup.Hash
	mu     sync.Mutex                // held by who asks: the others wait for the answer
	visits map[dedup.Hash]uint64     // guarded by mu: last visits, 0: none; nil: nobody has asked
	kept   map[dedup.Hash]*lastVisit // guarded by mu: what was read of them, and nobody has asked for yet; nil: nothing is there
}

// A lastVisit is all that is kept of a visit: its record, and the rest as it was read.
type lastVisit struct {
	*content
	claim  frontier.Claim // under which its URL was taken
	values []string       // by wholeSuffixes
}

// brought remembers the URLs that a Take brought.
func (s *Store) brought(c frontier.Claim, p partition, items []frontier.Item) {
	b := &batch{claim: c, part: p}
	for _, it := range items {
		id := dedup.Hash(frontier.ID(it.URL))
		b.ids = append(b.ids, id)
		s.batches.put(id, b)
	}
}

// knownWhenTaken is what is known of a page whose URL was taken here, nil if that is nothing. It
// says whether it was taken, and nobody has asked since.
func (s *Store) knownWhenTaken(ctx context.Context, id dedup.Hash) (c *content, ok bool, err error) {
	b, ok := s.batches.take(id)
	if !ok || !s.holding.has(b.claim) {
		return nil, false, nil
	}
	was, visited, err := b.last(ctx, s, id)
	switch {
	case err != nil || !s.holding.has(b.claim):
		return nil, false, err
	case !visited:
		return nil, true, nil
	case was == nil || was.Record.ID != id:
		return nil, false, nil
	}
	s.before.put(id, was)
	return was.content, true, nil
}

// last is what is kept of the last visit of a URL of the batch, and whether there was one.
func (b *batch) last(ctx context.Context, s *Store, id dedup.Hash) (was *lastVisit, visited bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.ask(ctx, s); err != nil || b.visits[id] == 0 {
		return nil, false, err
	}
	if _, read := b.kept[id]; !read {
		if err := b.read(ctx, s, id); err != nil {
			return nil, true, err
		}
	}
	was = b.kept[id]
	delete(b.kept, id)
	return was, true, nil
}

// ask finds out which the last visits of the batch's URLs are. The caller holds mu.
func (b *batch) ask(ctx context.Context, s *Store) error {
	if b.visits != nil {
		return nil
	}
	fields, parts := make([]field, len(b.ids)), make([]partition, len(b.ids))
	for i, id := range b.ids {
		fields[i], parts[i] = fieldOf(id), b.part
	}
	values, err := s.ask(ctx, known, parts, fields)
	if err != nil {
		return err
	}
	b.visits = make(map[dedup.Hash]uint64, len(b.ids))
	for i, id := range b.ids {
		b.visits[id] = knownVisit(values[i])
	}
	return nil
}

// read reads what is kept of a page, and of the next that were visited before. The caller holds mu.
func (b *batch) read(ctx context.Context, s *Store, id dedup.Hash) error {
	var ids []dedup.Hash
	var vs []visit
	for _, next := range b.ids[slices.Index(b.ids, id):] {
		if n := b.visits[next]; n != 0 && len(vs) < readAhead {
			ids, vs = append(ids, next), append(vs, visit{b.part, n})
		}
	}
	suffixes := make([][]string, len(vs))
	for i := range suffixes {
		suffixes[i] = wholeSuffixes
	}
	values, err := s.fields(ctx, vs, suffixes)
	if err != nil {
		return err
	}
	if b.kept == nil {
		b.kept = map[dedup.Hash]*lastVisit{}
	}
	for i, v := range vs {
		c, err := s.readContent(v, wholeSuffixes[:1], values[i])
		if err != nil {
			return fmt.Errorf("visit %d of partition %d: %w", v.n, v.part, err)
		}
		if b.kept[ids[i]] = nil; c != nil {
			b.kept[ids[i]] = &lastVisit{c, b.claim, values[i]}
		}
	}
	return nil
}

// stillKept is what is kept of a page whose URL was taken here, if it was read and not replaced
// here since, and its host is still held; else nil.
func (s *Store) stillKept(id dedup.Hash) *lastVisit {
	if was, ok := s.before.get(id); ok && s.holding.has(was.claim) {
		return was
	}
	return nil
}

// whole reads from what is kept of a visit what is wanted.
func (s *Store) whole(was *lastVisit, want store.Want) (*content, error) {
	suffixes := suffixesOf(want)
	values := make([]string, len(suffixes))
	for i, suffix := range suffixes {
		values[i] = was.values[slices.Index(wholeSuffixes, suffix)]
	}
	return s.readContent(was.visit, suffixes, values)
}
