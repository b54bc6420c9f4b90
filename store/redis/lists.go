package redis

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
)

// A listing is the beginning of a list.
type listing struct {
	tickets []ticket
	more    bool // there are more
}

// cut is the beginning of a list of which more was read.
func cut(tickets []ticket, limit int) listing {
	return listing{tickets[:min(limit, len(tickets))], len(tickets) > limit}
}

// A listRead is a list on its way to be read.
type listRead struct {
	list  listID
	limit int // postings
	guess int // depth of its bucket
	listing
}

// buckets are the keys under which the list may be: one bucket, or that and the one it
// was split from.
func (s *Store) buckets(r *listRead) []string {
	keys := []string{s.bucketKey(r.list, r.guess)}
	if parent := s.bucketKey(r.list, max(r.guess-1, 0)); parent != keys[0] {
		keys = append(keys, parent)
	}
	return keys
}

// readLists reads the first postings of lists: in one round trip, and another for those
// that are long.
func (s *Store) readLists(ctx context.Context, reads []*listRead) error {
	for _, r := range reads {
		r.guess = s.depths.of(r.list)
	}
	var long []*listRead
	for len(reads) > 0 {
		var cmds []rueidis.Completed
		asked := make([]int, len(reads)) // buckets, by read
		for i, r := range reads {
			keys := s.buckets(r)
			asked[i] = len(keys)
			for _, key := range keys {
				cmds = append(cmds, s.B().Hmget().Key(key).Field("d", r.list.field()).Build())
			}
		}
		results := s.do(ctx, cmds...)
		var again []*listRead
		for i, r := range reads {
			list, found, err := s.inBuckets(r, results[:asked[i]])
			results = results[asked[i]:]
			switch {
			case err != nil:
				return fmt.Errorf("read postings: %w", err)
			case !found:
				again = append(again, r)
			case list == nil:
			case *list == "":
				long = append(long, r)
			default:
				r.listing = cut(postingsIn(*list), r.limit)
			}
		}
		reads = again
	}
	return s.readLong(ctx, long)
}

// inBuckets takes a list from the first of its buckets that is there; nil: it is empty. If
// the list must be elsewhere, the read has another guess.
func (s *Store) inBuckets(r *listRead, results []rueidis.RedisResult) (list *string, found bool, err error) {
	for less, result := range results {
		values, err := result.ToArray()
		if err != nil {
			return nil, false, err
		}
		depth, err := values[0].AsInt64()
		if rueidis.IsRedisNil(err) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		if int(depth) > max(r.guess-less, 0) {
			r.guess = s.guessAgain(r.list, r.guess, int(depth))
			return nil, false, nil
		}
		text, err := values[1].ToString()
		if rueidis.IsRedisNil(err) {
			return nil, true, nil
		}
		return &text, true, err
	}
	if r.guess <= 1 { // bucket 0 is not there either: nothing was ever posted in this partition
		return nil, true, nil
	}
	r.guess = s.guessAgain(r.list, r.guess, -1)
	return nil, false, nil
}

// readLong reads lists that are too long for their buckets.
func (s *Store) readLong(ctx context.Context, reads []*listRead) error {
	cmds := make([]rueidis.Completed, len(reads))
	for i, r := range reads {
		cmds[i] = s.B().Getrange().Key(s.longKey(r.list)).Start(0).End(int64(r.limit+1)*postingSize - 1).Build()
	}
	for i, result := range s.do(ctx, cmds...) {
		list, err := result.ToString()
		if err != nil {
			return fmt.Errorf("read postings: %w", err)
		}
		reads[i].listing = cut(postingsIn(list), reads[i].limit)
	}
	return nil
}
