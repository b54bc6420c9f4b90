package ingest

import (
	"context"
	"slices"
	"sync"

	"skink/dedup"
	"skink/internal/memory"
	"skink/store"
)

// A subject is a URL on its way to a verdict: what will be stored, and what the
// judge needs to compare it with others on the same way.
type subject struct {
	entry    store.Entry
	text     string   // main text
	tokens   int      // of its canonical text
	shingles []uint64 // of its canonical text, in order
	set      dedup.Set
	keys     []uint64 // under which it looks for leaders, and may become one

	known   bool              // the URL has a record, from before a crash; only its end is written
	seen    uint64            // how many subjects were committed when its look-up began
	lists   []reading         // what was read under each of keys
	short   []dedup.Candidate // the leaders worth an exact comparison, best first
	copied  uint64            // number of the earlier copy whose verdict it has; 0: of none
	verdict dedup.Verdict

	share *memory.Share // of memory, until it is stored
	place uint64        // which subject it was, counted from 1; set by the judge
	done  chan struct{} // closed after the commit; nil: nobody waits
}

// A reading is how far the leaders under a key were read: they are numbered in the
// order of their commits, so those that follow have higher numbers.
type reading struct {
	last uint64 // the highest number read
	room int    // how many more would be
}

// wanted says whether the subject is to have a verdict.
func (s *subject) wanted() bool { return s.entry.Record.Kind == store.Page && !s.known }

// shingleSet is the subject's set, made when first needed: most pages meet no
// candidate.
func (s *subject) shingleSet() dedup.Set {
	if s.set == nil {
		s.set, s.shingles = dedup.NewSet(s.shingles), nil
	}
	return s.set
}

// Pages that must not be indexed have an index of their own: under keys that no
// other page has. They look in both, so that a copy of a public page is found to
// be one, but none of them ever leads a page that may be fed.
const asideBits = 0x5A5A5A5A5A5A5A5A

func asideKeys(keys []uint64) []uint64 {
	aside := make([]uint64, len(keys))
	for i, k := range keys {
		aside[i] = k ^ asideBits
	}
	return aside
}

func asideHash(h dedup.Hash) dedup.Hash {
	for i := range h {
		h[i] ^= 0x5A
	}
	return h
}

// ownKeys are the keys under which the subject may be posted.
func (s *subject) ownKeys() []uint64 {
	if s.entry.Record.NoIndex {
		return s.keys[len(s.keys)/2:]
	}
	return s.keys
}

// hashes are those under which the subject looks for copies.
func (s *subject) hashes() []dedup.Hash {
	r := &s.entry.Record
	if r.NoIndex {
		return []dedup.Hash{r.Hash, asideHash(r.Hash)}
	}
	return []dedup.Hash{r.Hash}
}

// sees says whether r may lead s.
func (s *subject) sees(r *subject) bool { return s.entry.Record.NoIndex || !r.entry.Record.NoIndex }

// giveBack keeps a canonical text's memory for the next, unless it is so large that that
// would be a waste.
func giveBack(texts *sync.Pool, canon *dedup.Text) {
	const large = 1 << 16 // tokens
	if canon.Len() <= large {
		texts.Put(canon)
	}
}

// sketch takes in a subject's text.
func (p *Pipeline) sketch(s *subject, text string) {
	canon := p.texts.Get().(*dedup.Text)
	defer giveBack(&p.texts, canon)

	r := &s.entry.Record
	p.opt.Rule.Read(canon, text, r.Lang)
	s.text, s.tokens = text, canon.Len()
	r.Words, r.Hash = s.tokens, canon.Hash()
	if s.tokens > 0 {
		s.shingles = p.opt.Rule.Shingles(canon)
		sketch := dedup.NewSketch(s.shingles)
		s.entry.Sketch = &sketch
		s.entry.Hash = r.Hash
		s.keys = p.opt.Rule.Scheme.Keys(nil, &sketch)
		if r.NoIndex {
			s.entry.Hash = asideHash(r.Hash)
			s.keys = append(s.keys, asideKeys(s.keys)...)
		}
	}
	if text != "" {
		s.entry.Text = store.Pack([]byte(text))
	}
}

// # The look-up
//
// A worker judges a subject by what the store held when the look-up began, and
// leaves with it what the judge needs to finish: how far each list of leaders was
// read, and the best of those read. With the leaders decided since, the judge
// then comes to the verdict that a look-up at that moment would have come to, its
// limits on lists and comparisons included. So verdicts depend on the order of
// the subjects alone, not on how fast each worker was.

// lookUp judges a subject by what the store holds.
func (p *Pipeline) lookUp(ctx context.Context, s *subject) error {
	s.seen = p.judge.committed.Load()
	s.verdict, s.copied = dedup.Verdict{Kind: dedup.Thin}, 0
	s.lists, s.short, s.entry.Record.Capped = nil, nil, false
	if s.tokens == 0 {
		return nil
	}
	first, err := p.firstCopy(ctx, s)
	switch {
	case err != nil:
		return err
	case first != nil:
		s.copyOf(first)
		return nil
	case p.opt.Rule.Short(s.tokens):
		return nil
	}
	candidates, err := p.candidates(ctx, s)
	if err != nil {
		return err
	}
	if err := p.fetchSets(ctx, s, p.opt.Rule.Shortlist(candidates)); err != nil {
		return err
	}
	s.weigh(p.opt.Rule)
	return nil
}

// firstCopy is the earliest page with the same canonical text, nil if there is
// none. A number without a record was never committed.
func (p *Pipeline) firstCopy(ctx context.Context, s *subject) (first *store.Record, err error) {
	for _, h := range s.hashes() {
		num, ok, err := p.store.ByHash(ctx, h)
		if err != nil {
			return nil, err
		}
		if !ok || first != nil && first.Num < num {
			continue
		}
		r, err := p.store.RecordAt(ctx, num)
		if err != nil {
			return nil, err
		}
		if r != nil {
			first = r
		}
	}
	return first, nil
}

// copyOf gives a subject the verdict of a copy of first.
func (s *subject) copyOf(first *store.Record) {
	s.copied, s.entry.Record.Capped = first.Num, false
	s.verdict = dedup.Copy(first.Num, first.URL, dedup.Verdict{
		Kind: first.Verdict, Leader: first.Leader, DuplicateOf: first.DuplicateOf, Resemblance: first.Resemblance, Method: first.Found,
	})
}

// candidates are the leaders met under the subject's keys.
func (p *Pipeline) candidates(ctx context.Context, s *subject) ([]dedup.Candidate, error) {
	met, err := p.readLists(ctx, s)
	if err != nil {
		return nil, err
	}
	var all []dedup.Candidate
	for num, n := range met {
		if n < p.opt.Rule.Scheme.Meet() {
			continue
		}
		sketch, ok, err := p.store.Sketch(ctx, num)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, dedup.Candidate{Num: num, Estimate: dedup.Estimate(s.entry.Sketch, &sketch)})
		}
	}
	return all, nil
}

// readLists counts under how many of the subject's keys each leader is posted.
func (p *Pipeline) readLists(ctx context.Context, s *subject) (met map[uint64]int, err error) {
	met = map[uint64]int{}
	s.lists = make([]reading, len(s.keys))
	var nums []uint64
	for i, key := range s.keys {
		var more bool
		nums, more, err = p.store.Leaders(ctx, key, p.posting, nums[:0])
		if err != nil {
			return nil, err
		}
		s.entry.Record.Capped = s.entry.Record.Capped || more
		s.lists[i].room = p.posting - len(nums)
		for _, n := range nums {
			met[n]++
			s.lists[i].last = n
		}
	}
	return met, nil
}

// fetchSets puts those of the candidates on the subject's short list that are
// pages with a text: a number without a record was never committed.
func (p *Pipeline) fetchSets(ctx context.Context, s *subject, candidates []dedup.Candidate) error {
	for _, c := range candidates {
		l, err := p.leaders.get(ctx, c.Num)
		if err != nil {
			return err
		}
		if l != nil {
			c.Name, c.Set = l.url, l.set
			s.shortlist(c)
		}
	}
	return nil
}

// shortlist puts a candidate on the short list, unless it is there.
func (s *subject) shortlist(c dedup.Candidate) {
	if !slices.ContainsFunc(s.short, func(other dedup.Candidate) bool { return other.Num == c.Num }) {
		s.short = append(s.short, c)
	}
}

// weigh compares the subject exactly with those on its short list.
func (s *subject) weigh(rule dedup.Rule) {
	var set dedup.Set
	if len(s.short) > 0 {
		set = s.shingleSet()
	}
	s.verdict = rule.Judge(set, s.short)
}

// meet counts the keys under which a look-up would find r by now, a leader
// decided since the subject's own.
func (s *subject) meet(r *subject) (n int) {
	first := 0
	if r.entry.Record.NoIndex {
		first = len(r.entry.Keys)
	}
	for i, key := range r.entry.Keys {
		l := &s.lists[first+i]
		switch {
		case s.keys[first+i] != key:
		case r.entry.Record.Num <= l.last: // it was committed while the list was read
			n++
		case l.room == 0:
			s.entry.Record.Capped = true
		default:
			l.room--
			n++
		}
	}
	return n
}
