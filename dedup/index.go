package dedup

import (
	"cmp"
	"encoding/gob"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"
)

// An Index is kept in memory, and judges each text against those added before it. A crawl judges
// its pages against those in its store in the same way: the same texts in the same order get the
// same verdicts. Several goroutines may use an Index. If equal texts are added at the same time,
// exactly one is unique.
//
// An Index keeps the hash of every text. For a text that duplicates no earlier one, it also keeps
// the shingles, some 10 KB for a text of a thousand words, and as much again for [Rule.Contained].
// [Index.Save] writes as much. If a collection outgrows the memory, use skink dedup, which keeps its
// index on disk.
type Index struct {
	rule  Rule
	canon sync.Pool

	mu       sync.RWMutex
	added    uint64               // guarded by mu: number of texts added so far, which is also the last text's number
	leaders  []*leader            // guarded by mu: the texts that duplicate no earlier one, in the order they were added
	copies   map[Hash]first       // guarded by mu: the first text with each canonical form
	postings map[uint64][]*leader // guarded by mu: the leaders that have each key, in the order they were added
}

// A first is the earliest added text with a given canonical form. Later texts with the same form
// are its copies.
type first struct {
	Num     uint64
	ID      string
	Verdict Verdict
}

// A leader is a text that duplicated no earlier text when it was added. Later texts are compared
// with it.
type leader struct {
	Num    uint64
	ID     string
	Sketch Sketch
	Set    Set
	Runs   Set // see [Runs]; nil without [Rule.Contained]
	Keys   []uint64

	place uint64 // in leaders
}

// NewIndex returns an empty index. The rule must come from [NewRule].
func NewIndex(rule Rule) *Index {
	x := &Index{rule: rule, copies: map[Hash]first{}, postings: map[uint64][]*leader{}}
	x.canon.New = func() any { return new(Text) }
	return x
}

// Add judges a text against those added before, and adds it. If a later text duplicates this one,
// its verdict has id as DuplicateOf; the index does not interpret id. The index keeps only the hash of a thin
// text, so a later text is Exact if it has the same words. A text without words is always thin.
func (x *Index) Add(id, text string) Verdict {
	s := x.read(text)
	x.mu.Lock()
	defer x.mu.Unlock()
	v := x.judge(&s)
	x.keep(id, &s, v)
	return v
}

// Match returns the verdict that [Index.Add] would return for text, without adding the text.
func (x *Index) Match(text string) Verdict {
	s := x.read(text)
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.judge(&s)
}

type subject struct {
	tokens int
	hash   Hash
	sketch Sketch
	set    Set
	runs   Set // see [Runs]; nil without [Rule.Contained]
	keys   []uint64
}

// read takes much longer than judge, so callers should not hold x.mu.
func (x *Index) read(text string) (s subject) {
	canon := x.canon.Get().(*Text)
	defer x.canon.Put(canon)
	canon.ReadString(text)
	s.tokens, s.hash = canon.Len(), canon.Hash()
	if !x.rule.Short(s.tokens) {
		s.set = x.rule.Set(canon)
		s.sketch = NewSketch(s.set)
		s.keys = x.rule.Keys(nil, canon, &s.sketch)
		if x.rule.Contained > 0 {
			s.runs = Runs(canon, text)
		}
	}
	return s
}

// The caller must hold x.mu.
func (x *Index) judge(s *subject) Verdict {
	if s.tokens == 0 {
		return Verdict{Kind: Thin}
	}
	if f, known := x.copies[s.hash]; known {
		return Copy(f.Num, f.ID, f.Verdict)
	}
	if x.rule.Short(s.tokens) {
		return Verdict{Kind: Thin}
	}
	short := x.rule.Shortlist(x.candidates(s), s.tokens)
	if x.rule.Contained > 0 {
		return x.contained(s, short)
	}
	return x.rule.Judge(s.set, short)
}

// contained judges a subject by containment: its leader is the first candidate that contains enough
// of it. The caller must hold x.mu.
func (x *Index) contained(s *subject, short []Candidate) Verdict {
	runsOf := func(c Candidate) (Set, error) {
		at, _ := slices.BinarySearchFunc(x.leaders, c.Num, func(l *leader, num uint64) int { return cmp.Compare(l.Num, num) })
		return x.leaders[at].Runs, nil
	}
	c, share, ok, _ := x.rule.Source(s.runs, short, runsOf) // runsOf never fails
	if !ok {
		return Verdict{Kind: Unique}
	}
	return Verdict{Kind: Near, Leader: c.Num, DuplicateOf: c.Name, Resemblance: Resemblance(s.set, c.Set), Method: ByRuns, Containment: share}
}

// candidates returns the leaders that share enough keys with the subject. The caller must hold
// x.mu.
func (x *Index) candidates(s *subject) (all []Candidate) {
	shared := map[uint64]int{} // number of shared keys by index of the leader
	asked, meet := x.rule.Asked(s.keys)
	for _, key := range asked {
		list := x.postings[key]
		for _, l := range list[:min(len(list), MaxPosting)] {
			shared[l.place]++
		}
	}
	for _, place := range Met(shared, meet) {
		l := x.leaders[place]
		c := Candidate{Num: l.Num, Name: l.ID, Set: l.Set}
		if x.rule.Contained > 0 {
			c.Estimate = float64(shared[place])
		} else {
			c.Estimate = Estimate(&s.sketch, &l.Sketch)
		}
		all = append(all, c)
	}
	return all
}

// keep adds s to the index, so that later texts are compared with it. The caller must hold x.mu for
// writing.
func (x *Index) keep(id string, s *subject, v Verdict) {
	x.added++
	if _, known := x.copies[s.hash]; !known && s.tokens > 0 {
		x.copies[s.hash] = first{x.added, id, v}
	}
	if v.Kind != Unique {
		return
	}
	x.lead(&leader{Num: x.added, ID: id, Sketch: s.sketch, Set: s.set, Runs: s.runs, Keys: s.keys})
}

// lead adds a leader. The caller must hold x.mu for writing.
func (x *Index) lead(l *leader) {
	l.place = uint64(len(x.leaders))
	x.leaders = append(x.leaders, l)
	for _, key := range l.Keys {
		x.postings[key] = append(x.postings[key], l)
	}
}

// Unique yields the ids of the texts that are unique, in the order they were added. The caller must not
// change the index meanwhile.
func (x *Index) Unique() iter.Seq[string] {
	return func(yield func(string) bool) {
		x.mu.RLock()
		defer x.mu.RUnlock()
		for _, l := range x.leaders {
			if !yield(l.ID) {
				return
			}
		}
	}
}

// Remove forgets the texts that were added under an id, and the texts that duplicate them: later texts are
// judged as if none of these had been added. To judge the duplicates again, add them again. Remove takes
// time in proportion to the size of the index.
func (x *Index) Remove(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.copies, func(_ Hash, f first) bool { return f.ID == id || f.Verdict.DuplicateOf == id && f.Verdict.Leader != 0 })
	all := x.leaders
	x.leaders, x.postings = nil, map[uint64][]*leader{}
	for _, l := range all {
		if l.ID != id {
			x.lead(l)
		}
	}
}

// saved is an index as [Index.Save] writes it. Postings follow from the keys of the leaders.
type saved struct {
	Tokenizer int
	Rule      Rule
	Added     uint64
	Leaders   []*leader
	Copies    map[Hash]first
}

// Save writes the index, which [LoadIndex] reads. Its errors are those of w. To replace a file, write another one
// and rename it, so that a program that is killed leaves the old index.
func (x *Index) Save(w io.Writer) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return gob.NewEncoder(w).Encode(saved{TokenizerVersion, x.rule, x.added, x.leaders, x.copies})
}

// LoadIndex reads an index that was written by [Index.Save], with its rule. It returns an error if r does not
// contain such an index, or if it was written by a version with another [TokenizerVersion].
func LoadIndex(r io.Reader) (*Index, error) {
	var s saved
	if err := gob.NewDecoder(r).Decode(&s); err != nil {
		return nil, fmt.Errorf("read an index: %w", err)
	}
	if s.Tokenizer != TokenizerVersion {
		return nil, fmt.Errorf("the index has words of version %d instead of %d: add its texts to a new index", s.Tokenizer, TokenizerVersion)
	}
	x := NewIndex(s.Rule)
	x.added = s.Added
	maps.Copy(x.copies, s.Copies)
	for _, l := range s.Leaders {
		x.lead(l)
	}
	return x, nil
}
