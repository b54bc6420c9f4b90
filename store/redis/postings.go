package redis

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/redis/rueidis"

	"skink/dedup"
)

// # Posting lists
//
// A list is the visits that are posted under one key, in the order in which they were, six
// bytes each. Most lists have one posting, and a key of the server's own costs ninety bytes
// before anything is in it. So lists share hashes, some hundred each, which the server
// packs as long as they are small:
//
//	b INDEX  hash of a bucket: field of a list (6 bytes) → its postings; "" if they are in l
//	         "d" → the depth of the bucket
//	l FIELD  string: the postings of a list that has more than ten
//	x N      string: visit N of the partition is void (marks.go); it expires
//
// The first ten bits of a list's id are its partition, the next 48 its field. Ids are
// hashes, so two lists with one field are rarer than anything that could be noticed, and
// would cost a comparison.
//
// A partition begins with bucket 0, of depth 0. A bucket of depth D holds the lists whose
// fields end in the D bits of its index. When it is crowded, those whose next bit is set
// move into a bucket of their own, and both are one deeper: so a small store has few
// buckets and a large one has full ones, and nobody counts. Buckets of a partition are
// split at about the same time, so who looks for a list tries the greatest depth that it
// has seen there and the one before it; one of both nearly always has the list. A bucket
// that says it is deeper than was thought sends on.

const (
	postingSize = 6
	fieldSize   = 6
	deepest     = 30 // more buckets than memory

	// voidFor is longer than a worker can be stopped and still believe that it may write.
	voidFor = 7 * 24 * 3600 // seconds
)

// Two hashes spread the keys of sketches and text hashes over lists of their own.
const (
	bandSeed = 0x9E3779B97F4A7C15
	textSeed = 0xC2B2AE3D27D4EB4F
)

// keyList is the list of a key of a sketch.
func keyList(key uint64) listID { return listID(mixed(key ^ bandSeed)) }

// textList is the list of a text hash. Its first half will do: who reads the list compares
// the whole.
func textList(h dedup.Hash) listID { return listID(mixed(binary.BigEndian.Uint64(h[:8]) ^ textSeed)) }

// mixed is the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
// Number Generators, 2014), a bijection.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

func (l listID) part() partition { return partition(l >> (64 - partitionBits)) }

func (l listID) bits() uint64 { return uint64(l) << partitionBits >> (64 - 8*fieldSize) }

// field is the list's name in its bucket.
func (l listID) field() string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], l.bits())
	return string(b[8-fieldSize:])
}

// A posting is a ticket, and that a visit as one number.
func (t ticket) visit() visit { return unpackVisit(uint64(t)) }

func (v visit) ticket() ticket { return ticket(v.packed()) }

func (t ticket) posting() string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(t))
	return string(b[8-postingSize:])
}

// postingsIn unpacks a list. A posting that was made twice, because nobody heard that it
// had been made, is one.
func postingsIn(list string) []ticket {
	all := make([]ticket, 0, len(list)/postingSize)
	var b [8]byte
	for ; len(list) >= postingSize; list = list[postingSize:] {
		copy(b[8-postingSize:], list)
		all = append(all, ticket(binary.BigEndian.Uint64(b[:])))
	}
	return all
}

// depths are the greatest depths seen, by partition.
type depths [partitions]atomic.Uint32

func (d *depths) of(l listID) int { return int(d[l.part()].Load()) }

// saw takes notice of a depth.
func (d *depths) saw(l listID, depth int) {
	for at := &d[l.part()]; ; {
		old := at.Load()
		if uint32(depth) <= old || at.CompareAndSwap(old, uint32(depth)) {
			return
		}
	}
}

func (s keyspace) bucketKey(l listID, depth int) string {
	return s.key(l.part(), "b", decimal(l.bits()&(1<<depth-1)))
}

func (s keyspace) longKey(l listID) string { return s.key(l.part(), "l", l.field()) }

// voidKey is where it is written that a visit is void.
func (s *Store) voidKey(v visit) string { return s.key(v.part, "x", decimal(v.n)) }

var (
	postScript   = newScript("postings.lua", "append.lua", "post.lua")
	unpostScript = newScript("postings.lua", "unpost.lua")
	burstScript  = newScript("burst.lua")
	voidScript   = newScript("void.lua")
)

// mostInCall bounds the lists of one script.
const mostInCall = 64

// A round runs a script on lists, as few calls as the servers allow, and again on those whose depth
// was wrong. It is a talk.
type round struct {
	*Store
	run    *script
	first  []string                 // what the script is told once
	lists  []listID                 // what it is run on
	args   func(i int) []string     // what it is told of list i beside its field and depth
	answer func(i int, text string) // takes what it says of list i
	guess  []int                    // by list: the depth of its bucket, as far as is known
	left   []int                    // numbers of lists that have no answer
	groups [][]int                  // numbers of lists, by call that was sent
}

func (s *Store) round(run *script, first []string, lists []listID, args func(i int) []string, answer func(i int, text string)) *round {
	r := &round{Store: s, run: run, first: first, lists: lists, args: args, answer: answer, guess: make([]int, len(lists)), left: make([]int, len(lists))}
	for i, l := range lists {
		r.left[i], r.guess[i] = i, s.depths.of(l)
	}
	return r
}

func (r *round) next() []rueidis.Completed {
	r.groups = r.grouped(r.lists, r.left)
	calls := make([]call, len(r.groups))
	for g, group := range r.groups {
		calls[g] = call{r.run, make([]string, 0, 3*len(group)), append(make([]string, 0, len(r.first)+5*len(group)), r.first...)}
		for _, i := range group {
			calls[g].addList(r.keyspace, r.lists[i], r.guess[i], r.args(i))
		}
	}
	r.left = r.left[:0:0]
	return r.runs(calls)
}

// addList adds what a script is given of a list, of which a depth is believed.
func (c *call) addList(k keyspace, l listID, depth int, args []string) {
	c.keys = append(c.keys, k.bucketKey(l, depth), k.bucketKey(l, max(depth-1, 0)), k.longKey(l))
	c.args = append(append(c.args, l.field(), strconv.Itoa(depth)), args...)
}

func (r *round) hear(results []rueidis.RedisResult) error {
	for g, result := range results {
		answers, err := result.ToArray()
		if err != nil {
			return explain(err)
		}
		for at, i := range r.groups[g] {
			if depth, err := answers[at].AsInt64(); err == nil && answers[at].IsInt64() {
				r.guess[i] = r.guessAgain(r.lists[i], r.guess[i], int(depth))
				r.left = append(r.left, i)
				continue
			}
			text, err := answers[at].ToString()
			if err != nil {
				return err
			}
			r.answer(i, text)
		}
	}
	return nil
}

// guessAgain is the depth to try after one that was wrong: the bucket says that it is
// deeper, or there is none and it must be shallower.
func (s *Store) guessAgain(l listID, guess, says int) int {
	if says < 0 {
		return max(guess-2, 0)
	}
	s.depths.saw(l, says)
	return says
}

// grouped divides lists into calls: in a cluster one call is about one partition.
func (s *Store) grouped(lists []listID, which []int) (groups [][]int) {
	cluster := s.Mode() == rueidis.ClientModeCluster
	at := map[partition]int{}
	for _, i := range which {
		p := partition(0)
		if cluster {
			p = lists[i].part()
		}
		g, ok := at[p]
		if !ok || len(groups[g]) == mostInCall {
			g = len(groups)
			at[p] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// A servers is the board of a store: its lists are on the servers.
type servers struct {
	*Store
	along []talk // held while a ticket is posted
}

func (s servers) post(ctx context.Context, t ticket, stands []stand) ([][]ticket, error) {
	lists := make([]listID, len(stands))
	for i, st := range stands {
		lists[i] = st.list
	}
	args := func(i int) []string { return stands[i].args() }
	before := make([][]ticket, len(stands))
	var crowded []call
	posting := s.round(postScript, []string{t.posting()}, lists, args, func(i int, text string) {
		for _, other := range postingsIn(text[2:]) {
			if other == t {
				break // what stands behind this posting came later
			}
			before[i] = append(before[i], other)
		}
		crowded = append(crowded, s.posted(lists[i], text)...)
	})
	if err := s.hold(ctx, append(s.along, posting)...); err != nil {
		return nil, fmt.Errorf("post: %w", err)
	}
	return before, firstError(s.eval(ctx, crowded...))
}

// args are what a script is told of a stand beside the field and the depth of its list.
func (st *stand) args() []string {
	wants := ""
	if st.post {
		wants += "p"
	}
	if st.heed {
		wants += "h"
	}
	return []string{wants, strconv.Itoa(st.seen.count), st.seen.last.posting()}
}

// posted takes notice of what is said of the bucket of a list when something is posted there, and
// returns the call that splits it if it is crowded.
func (s *Store) posted(l listID, said string) (crowded []call) {
	depth := int(said[1])
	s.depths.saw(l, depth)
	if said[0] == '1' && depth < deepest {
		crowded = append(crowded, s.burst(l, depth))
	}
	return crowded
}

// burst splits the bucket of a list.
func (s *Store) burst(l listID, depth int) call {
	index := l.bits() & (1<<depth - 1)
	return call{burstScript, []string{s.bucketKey(l, depth), s.key(l.part(), "b", decimal(index|1<<depth))}, []string{strconv.Itoa(depth)}}
}

func (s servers) remove(ctx context.Context, t ticket, lists []listID) error {
	none := func(int) []string { return nil }
	if err := s.hold(ctx, s.round(unpostScript, []string{t.posting()}, lists, none, func(int, string) {})); err != nil {
		return fmt.Errorf("take postings back: %w", err)
	}
	return nil
}

// fates asks first for the record and then for the void mark: a visit that is replaced has
// both for no moment.
func (s servers) fates(ctx context.Context, tickets []ticket) ([]fate, error) {
	cmds := make([]rueidis.Completed, 0, 2*len(tickets))
	for _, t := range tickets {
		v := t.visit()
		chunk, field := s.recordAt(v)
		cmds = append(cmds, s.B().Hexists().Key(chunk).Field(field).Build(), s.B().Exists().Key(s.voidKey(v)).Build())
	}
	results := s.do(ctx, cmds...)
	fates := make([]fate, len(tickets))
	for i := range tickets {
		is, err := results[2*i].AsBool()
		if err != nil {
			return nil, err
		}
		gone, err := results[2*i+1].AsBool()
		switch {
		case err != nil:
			return nil, err
		case is:
			fates[i] = decided
		case gone:
			fates[i] = void
		}
	}
	return fates, nil
}

func (s servers) voids(ctx context.Context, tickets []ticket) ([]fate, error) {
	calls := make([]call, len(tickets))
	for i, t := range tickets {
		v := t.visit()
		chunk, field := s.recordAt(v)
		calls[i] = call{voidScript, []string{s.voidKey(v), chunk}, []string{field, strconv.Itoa(voidFor)}}
	}
	fates := make([]fate, len(tickets))
	for i, result := range s.eval(ctx, calls...) {
		became, err := result.AsInt64()
		if err != nil {
			return nil, fmt.Errorf("void: %w", explain(err))
		}
		fates[i] = fate(became)
	}
	return fates, nil
}

func (s servers) pause(ctx context.Context, asked int) error {
	if !wait(ctx, false, pauseAt(asked)) {
		return ctx.Err()
	}
	return nil
}
