package redis

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"skink/frontier"
	"skink/store"
)

// Sums, of which those of a tally are some, are kept by each partition with what they count,
// and added up when somebody asks. Each is exact; while others write, those of two partitions
// are of two moments.

var totalScript = newScript("total.lua")

// total adds up the sums of all partitions. What is no number is left out.
func (s *Store) total(ctx context.Context) (map[string]int64, error) {
	groups := s.together()
	calls := make([]call, len(groups))
	for i, group := range groups {
		calls[i] = call{totalScript, s.keysOf(group, "s"), nil}
	}
	total := map[string]int64{}
	for _, result := range s.eval(ctx, calls...) {
		list, err := result.AsStrSlice()
		if err != nil {
			return nil, explain(err)
		}
		for i := 0; i+1 < len(list); i += 2 {
			n, err := strconv.ParseInt(list[i+1], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: the sums of a partition", store.ErrCorrupt)
			}
			total[list[i]] += n
		}
	}
	return total, nil
}

// together are all partitions, in groups that one script may be about.
func (s *Store) together() [][]partition {
	all := make([]partition, partitions)
	for p := range all {
		all[p] = partition(p)
	}
	return slices.Collect(slices.Chunk(all, s.partsAtOnce()))
}

// keysOf are the keys of one letter of some partitions.
func (s *Store) keysOf(parts []partition, letter string) []string {
	keys := make([]string, len(parts))
	for i, p := range parts {
		keys[i] = s.key(p, letter)
	}
	return keys
}

// Counts is how many URLs are in each state.
func (s *Store) Counts(ctx context.Context) (frontier.Counts, error) {
	if err := ctx.Err(); err != nil {
		return frontier.Counts{}, err
	}
	if err := s.bring(ctx); err != nil {
		return frontier.Counts{}, err
	}
	sums, err := s.total(ctx)
	if err != nil {
		return frontier.Counts{}, fmt.Errorf("count URLs: %w", err)
	}
	var n frontier.PerState
	for state := frontier.Pending; state <= frontier.Outside; state++ {
		n[state] = sums["c"+strconv.Itoa(int(state))]
	}
	return n.Counts(), nil
}

// What the numbers of a tally are called among the sums. Those by kind of problem have the kind behind.
const (
	tallySum     = "y "
	problemField = "problem "
	givenUpField = "given up "
)

// tallyNumbers are the numbers of a tally by name.
var tallyNumbers = []struct {
	name string
	in   func(*store.Tally) *int64
}{
	{"unique", func(t *store.Tally) *int64 { return &t.Unique }},
	{"exact", func(t *store.Tally) *int64 { return &t.Exact }},
	{"near", func(t *store.Tally) *int64 { return &t.Near }},
	{"thin", func(t *store.Tally) *int64 { return &t.Thin }},
	{"other", func(t *store.Tally) *int64 { return &t.Other }},
	{"redirects", func(t *store.Tally) *int64 { return &t.Redirects }},
	{"errors", func(t *store.Tally) *int64 { return &t.Errors }},
	{"blocked", func(t *store.Tally) *int64 { return &t.Blocked }},
	{"skipped", func(t *store.Tally) *int64 { return &t.Skipped }},
	{"unkept", func(t *store.Tally) *int64 { return &t.Unkept }},
	{"capped", func(t *store.Tally) *int64 { return &t.Capped }},
	{"bytes", func(t *store.Tally) *int64 { return &t.Bytes }},
	{"sitemaps", func(t *store.Tally) *int64 { return &t.Sitemaps }},
	{"put last", func(t *store.Tally) *int64 { return &t.Later }},
}

// tallyFields yields all numbers of a tally by field.
func tallyFields(t *store.Tally) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, number := range tallyNumbers {
			if !yield(number.name, *number.in(t)) {
				return
			}
		}
		for kind, n := range t.Problems {
			if !yield(problemField+kind, n) {
				return
			}
		}
		for kind, n := range t.GivenUp {
			if !yield(givenUpField+kind, n) {
				return
			}
		}
	}
}

// Tally is the number of records of each kind and verdict.
func (s *Store) Tally(ctx context.Context) (t store.Tally, err error) {
	if err := ctx.Err(); err != nil {
		return t, err
	}
	sums, err := s.total(ctx)
	if err != nil {
		return t, fmt.Errorf("read the tally: %w", err)
	}
	for _, number := range tallyNumbers {
		*number.in(&t) = sums[tallySum+number.name]
	}
	for name, n := range sums {
		if kind, ok := strings.CutPrefix(name, tallySum+problemField); ok {
			addTo(&t.Problems, kind, n)
		} else if kind, ok := strings.CutPrefix(name, tallySum+givenUpField); ok {
			addTo(&t.GivenUp, kind, n)
		}
	}
	return t, nil
}

// addTo counts a kind; what is 0 is left out.
func addTo(byKind *map[string]int64, kind string, n int64) {
	if n == 0 {
		return
	}
	if *byKind == nil {
		*byKind = map[string]int64{}
	}
	(*byKind)[kind] += n
}

// State says how far a URL has come.
func (s *Store) State(ctx context.Context, url string) (frontier.State, error) {
	if err := ctx.Err(); err != nil {
		return frontier.Unknown, err
	}
	if err := s.bring(ctx); err != nil {
		return frontier.Unknown, err
	}
	values, err := s.ask(ctx, known, []partition{partOf(url)}, []field{fieldOf(frontier.ID(url))})
	if err != nil {
		return frontier.Unknown, fmt.Errorf("state of %s: %w", url, err)
	}
	return stateOf(values[0]), nil
}

// stateOf is the state in what is known of a URL.
func stateOf(value string) frontier.State {
	n, _ := strconv.ParseUint(value, 10, 64)
	return frontier.State(n & 7)
}

// Hosts yields the hosts with URLs pending.
func (s *Store) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return func(yield func(frontier.Host, error) bool) {
		err := s.bring(ctx)
		if err == nil {
			err = s.eachHead(ctx, func(_ partition, name string, h head) error {
				if h.pending == 0 {
					return nil
				}
				host, err := h.host(name)
				host.Rest = restIn(host.Rest, s.clock.fromTheirs)
				if err == nil && !yield(host, nil) {
					err = errStop
				}
				return err
			})
		}
		if err != nil && err != errStop {
			yield(frontier.Host{}, fmt.Errorf("list hosts: %w", err))
		}
	}
}

// errStop ends a reading whose caller has seen enough.
var errStop = fmt.Errorf("stop")

// eachHead reads the heads of all hosts, a part of the partitions at a time.
func (s *Store) eachHead(ctx context.Context, visit func(partition, string, head) error) error {
	for first := 0; first < partitions; first += mostLooked {
		cmds := s.commands(mostLooked)
		for p := first; p < first+mostLooked; p++ {
			cmds = append(cmds, s.B().Hgetall().Key(s.key(partition(p), "h")).Build())
		}
		for i, result := range s.do(ctx, cmds...) {
			heads, err := result.AsStrMap()
			if err != nil {
				return explain(err)
			}
			for _, name := range slices.Sorted(maps.Keys(heads)) {
				h, err := readHead(heads[name])
				if err != nil {
					return err
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := visit(partition(first+i), name, h); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// URLs yields the URLs that are pending, or outside.
func (s *Store) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		show := func(url string) error {
			if !yield(url, nil) {
				return errStop
			}
			return nil
		}
		if err := s.bring(ctx); err != nil {
			yield("", fmt.Errorf("list URLs: %w", err))
			return
		}
		var err error
		switch state {
		case frontier.Pending:
			err = s.eachHead(ctx, func(p partition, name string, h head) error { return s.eachPending(ctx, p, name, h, show) })
		case frontier.Outside:
			err = s.eachOutside(ctx, show)
		}
		if err != nil && err != errStop {
			yield("", fmt.Errorf("list URLs: %w", err))
		}
	}
}

// eachPending reads what a host has queued, taken, and due later.
func (s *Store) eachPending(ctx context.Context, p partition, host string, h head, show func(string) error) error {
	if h.pending == 0 {
		return nil
	}
	showItem := func(packed string) error {
		it, err := unpackItem("0", packed)
		if err != nil {
			return err
		}
		return show(it.URL)
	}
	for _, lane := range h.lanes {
		if err := s.eachInList(ctx, s.laneKey(p, lane, host), showItem); err != nil {
			return err
		}
	}
	results := s.do(ctx, s.B().Hvals().Key(s.key(p, "t", host)).Build(), s.B().Zrange().Key(s.key(p, "d", host)).Min("0").Max("-1").Build())
	for i, lines := range []int{3, 2} { // that stand before the item
		list, err := results[i].AsStrSlice()
		if err != nil {
			return explain(err)
		}
		for _, value := range list {
			parts := strings.SplitN(value, "\n", lines+1)
			if err := showItem(parts[len(parts)-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachInList reads a list in parts.
func (s *Store) eachInList(ctx context.Context, key string, show func(string) error) error {
	const some = 1000
	for at := int64(0); ; at += some {
		list, err := s.do(ctx, s.B().Lrange().Key(key).Start(at).Stop(at+some-1).Build())[0].AsStrSlice()
		if err != nil && !rueidis.IsRedisNil(err) {
			return explain(err)
		}
		for _, value := range list {
			if err := show(value); err != nil {
				return err
			}
		}
		if len(list) < some {
			return ctx.Err()
		}
	}
}

// eachOutside reads the URLs that were left out, but for those discovered since.
func (s *Store) eachOutside(ctx context.Context, show func(string) error) error {
	for p := range partition(partitions) {
		var urls []string
		err := s.eachInList(ctx, s.key(p, "z"), func(value string) error {
			urls = append(urls, value[urlFieldSize:])
			return nil
		})
		if err != nil {
			return err
		}
		for some := range slices.Chunk(urls, 1000) {
			if err := s.showOutside(ctx, p, some, show); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) showOutside(ctx context.Context, p partition, urls []string, show func(string) error) error {
	parts, fields := make([]partition, len(urls)), make([]field, len(urls))
	for i, url := range urls {
		parts[i], fields[i] = p, fieldOf(frontier.ID(url))
	}
	values, err := s.ask(ctx, known, parts, fields)
	if err != nil {
		return err
	}
	for i, value := range values {
		if stateOf(value) != frontier.Outside {
			continue
		}
		if err := show(urls[i]); err != nil {
			return err
		}
	}
	return nil
}
