package redis

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"skink/dedup"
	"skink/store"
)

// # The order of commits
//
// Each partition has its own: a stream by places. All together are in the order of places,
// and of equal ones in that of partitions. A cursor is such a place and partition.
//
// A reader who reads one partition after the other may see a place in one, and a lower one may
// still be given in another that he has passed. So he first asks all servers for the time,
// and reads no place after the earliest of these: each is lower than what any partition
// can still give, for its server's clock has passed it, and a place is at least
// the time. Places beyond are read the next time. Where the clocks of servers
// differ by some milliseconds, changes are seen so much later. What this takes for granted:
// that a server's clock does not go back, and that a replica that takes a primary's
// place is behind it by less than the time that this takes.

// A spot is where something stands in the order of commits.
type spot struct {
	place uint64
	part  partition
}

func (a spot) compare(b spot) int {
	return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.part, b.part))
}

func (a spot) cursor() store.Cursor {
	return store.Cursor(strconv.FormatUint(a.place, 10) + "-" + strconv.Itoa(int(a.part)))
}

func readCursor(c store.Cursor) (at spot, err error) {
	if c == "" {
		return at, nil
	}
	place, part, ok := strings.Cut(string(c), "-")
	n, err1 := strconv.ParseUint(place, 10, 64)
	p, err2 := strconv.ParseUint(part, 10, partitionBits)
	if !ok || err1 != nil || err2 != nil {
		return at, fmt.Errorf("%q is not a cursor of this store", c)
	}
	return spot{n, partition(p)}, nil
}

// A commitEntry is a visit in the order of commits.
type commitEntry struct {
	spot
	n           uint64
	leader      dedup.Hash // zero: it is no member of a cluster
	resemblance float64
}

func readCommit(p partition, entry rueidis.XRangeEntry) (c commitEntry, err error) {
	place, _, _ := strings.Cut(entry.ID, "-")
	c.part = p
	if c.place, err = strconv.ParseUint(place, 10, 64); err != nil {
		return c, fmt.Errorf("%w: the order of commits", store.ErrCorrupt)
	}
	value := []byte(entry.FieldValues["v"])
	n, size := binary.Uvarint(value)
	if size <= 0 {
		return c, fmt.Errorf("%w: the order of commits", store.ErrCorrupt)
	}
	c.n = n
	if value = value[size:]; len(value) == len(c.leader)+8 {
		copy(c.leader[:], value)
		c.resemblance = math.Float64frombits(binary.BigEndian.Uint64(value[len(c.leader):]))
	}
	return c, nil
}

// settled is the latest place that no commit to come can have. A server that is away gives no
// places, and the replica that takes over for it is asked as well as any other.
func (s *Store) settled(ctx context.Context) (uint64, error) {
	for began, pause := time.Now(), firstPause; ; pause = min(2*pause, longestWait) {
		least, err := s.earliest(ctx)
		switch {
		case err == nil:
			return least, nil
		case !passes(err) || time.Since(began) > patience || !wait(ctx, false, pause):
			return 0, explain(err)
		}
	}
}

// earliest is the time of the server whose clock is behind all others that answer.
func (s *Store) earliest(ctx context.Context) (least uint64, err error) {
	for _, node := range s.primaries() {
		t, nodeErr := node.Do(ctx, node.B().Time().Build()).AsIntSlice()
		switch {
		case nodeErr == nil:
			at := uint64(t[0])*uint64(time.Second/time.Microsecond) + uint64(t[1])
			least = min(cmp.Or(least, at), at)
		case !passes(nodeErr):
			return 0, nodeErr
		default:
			err = nodeErr
		}
	}
	if least > 0 {
		return least, nil
	}
	return 0, err
}

// commitsAtOnce is how many entries of a partition are read at once. All partitions together
// make some megabytes.
const commitsAtOnce = 100

// A commitReader reads the orders of all partitions as one.
type commitReader struct {
	store  *Store
	until  uint64
	queues [partitions]commitQueue
}

// A commitQueue is what was read of a partition and not given yet.
type commitQueue struct {
	list []commitEntry
	next spot // where to read on
	done bool
}

func (s *Store) readCommits(ctx context.Context, after spot) (*commitReader, error) {
	until, err := s.settled(ctx)
	if err != nil {
		return nil, err
	}
	r := &commitReader{store: s, until: until}
	all := make([]partition, partitions)
	for p := range r.queues {
		all[p] = partition(p)
		from := after.place + 1
		if partition(p) > after.part {
			from = after.place
		}
		r.queues[p].next = spot{from, partition(p)}
	}
	return r, r.fill(ctx, all)
}

// fill reads on in some partitions.
func (r *commitReader) fill(ctx context.Context, parts []partition) error {
	for chunk := range slices.Chunk(parts, mostLooked) {
		cmds := r.store.commands(len(chunk))
		for _, p := range chunk {
			from := strconv.FormatUint(r.queues[p].next.place, 10)
			cmds = append(cmds, r.store.B().Xrange().Key(r.store.key(p, "e")).Start(from).End(strconv.FormatUint(r.until, 10)).Count(commitsAtOnce).Build())
		}
		for i, result := range r.store.do(ctx, cmds...) {
			entries, err := result.AsXRange()
			if err != nil && !rueidis.IsRedisNil(err) {
				return explain(err)
			}
			q := &r.queues[chunk[i]]
			q.done = len(entries) < commitsAtOnce
			for _, entry := range entries {
				c, err := readCommit(chunk[i], entry)
				if err != nil {
					return err
				}
				q.list = append(q.list, c)
				q.next.place = c.place + 1
			}
		}
	}
	return nil
}

// take returns up to n entries in their order; none: there are no more.
func (r *commitReader) take(ctx context.Context, n int) (list []commitEntry, err error) {
	for len(list) < n {
		p, ok := r.first()
		if !ok {
			break
		}
		q := &r.queues[p]
		list = append(list, q.list[0])
		if q.list = q.list[1:]; len(q.list) == 0 && !q.done {
			if err := r.fill(ctx, []partition{p}); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// first is the partition whose next entry comes first.
func (r *commitReader) first() (p partition, ok bool) {
	var least spot
	for i := range r.queues {
		if q := &r.queues[i]; len(q.list) > 0 && (!ok || q.list[0].compare(least) < 0) {
			p, least, ok = partition(i), q.list[0].spot, true
		}
	}
	return p, ok
}

// changesAtOnce is how many records are read in one round trip.
const changesAtOnce = 64

// Changes yields the pages that were committed after a cursor.
func (s *Store) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		at, err := readCursor(after)
		if err != nil {
			yield(nil, err)
			return
		}
		if err := s.eachChange(ctx, at, want, yield); err != nil {
			yield(nil, fmt.Errorf("read changes: %w", err))
		}
	}
}

func (s *Store) eachChange(ctx context.Context, at spot, want store.Want, yield func(*store.Change, error) bool) error {
	r, err := s.readCommits(ctx, at)
	if err != nil {
		return err
	}
	for {
		list, err := r.take(ctx, changesAtOnce)
		if err != nil || len(list) == 0 {
			return cmp.Or(ctx.Err(), err)
		}
		contents, err := s.committed(ctx, list, want)
		if err != nil {
			return err
		}
		for i, c := range contents {
			if err := ctx.Err(); err != nil {
				return err
			}
			if c == nil {
				continue // it was visited again meanwhile, and stands further on
			}
			if !yield(&store.Change{Content: c.Content, Kind: store.ChangeOf(&c.Record), Cursor: list[i].cursor()}, nil) {
				return nil
			}
		}
	}
}

// committed reads what was kept of commits.
func (s *Store) committed(ctx context.Context, list []commitEntry, want store.Want) ([]*content, error) {
	vs := make([]visit, len(list))
	for i, c := range list {
		vs[i] = visit{c.part, c.n}
	}
	return s.visits(ctx, vs, want)
}

var latestScript = newScript("latest.lua")

// End is the cursor after the last change.
func (s *Store) End(ctx context.Context) (store.Cursor, error) {
	until, err := s.settled(ctx)
	if err != nil {
		return "", err
	}
	groups := s.together()
	calls := make([]call, len(groups))
	for i, group := range groups {
		calls[i] = call{latestScript, s.keysOf(group, "e"), []string{strconv.FormatUint(until, 10)}}
	}
	var last spot
	for i, result := range s.eval(ctx, calls...) {
		answer, err := result.ToArray()
		if err != nil {
			return "", explain(err)
		}
		if len(answer) < 2 {
			continue
		}
		if at := (spot{uint64(number(answer[1])), groups[i][number(answer[0])]}); at.compare(last) > 0 {
			last = at
		}
	}
	return last.cursor(), nil
}

// Clusters yields the leaders that have members. It reads the order of all commits, and
// counts the members, some 50 bytes a cluster.
func (s *Store) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return store.Listed(ctx, func() ([]store.Cluster, error) {
		list, err := s.clusters(ctx)
		if err != nil {
			return nil, fmt.Errorf("read clusters: %w", err)
		}
		return list, nil
	})
}

// A placedCluster knows when its leader was committed.
type placedCluster struct {
	store.Cluster
	leader spot
}

func (s *Store) clusters(ctx context.Context) ([]store.Cluster, error) {
	r, err := s.readCommits(ctx, spot{})
	if err != nil {
		return nil, err
	}
	members := map[dedup.Hash]int{}
	for {
		list, err := r.take(ctx, 1<<10)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			break
		}
		for _, c := range list {
			if !c.leader.IsZero() {
				members[c.leader]++
			}
		}
	}
	var all []placedCluster
	for leader, n := range members {
		all = append(all, placedCluster{Cluster: store.Cluster{Leader: leader, Members: n}})
	}
	if err := s.placeLeaders(ctx, all); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b placedCluster) int {
		return cmp.Or(cmp.Compare(b.Members, a.Members), a.leader.compare(b.leader), bytes.Compare(a.Leader[:], b.Leader[:]))
	})
	list := make([]store.Cluster, len(all))
	for i, c := range all {
		list[i] = c.Cluster
	}
	return list, nil
}

// placeLeaders finds where the leaders of clusters stand.
func (s *Store) placeLeaders(ctx context.Context, all []placedCluster) error {
	for chunk := range slices.Chunk(all, 1<<10) {
		ids := make([]dedup.Hash, len(chunk))
		for i, c := range chunk {
			ids[i] = c.Leader
		}
		vs, err := s.visitOf(ctx, ids)
		if err != nil {
			return err
		}
		contents, err := s.visits(ctx, vs, store.WantRecord)
		if err != nil {
			return err
		}
		for i, c := range contents {
			if c != nil {
				chunk[i].leader = spot{c.place, c.part}
			}
		}
	}
	return nil
}

// Members yields the members of clusters, one cluster after the other. What was to be a member and is
// not committed is passed over by who only reads. Who works on the store calls it off: it is about to
// follow a leader as that was a moment ago, and whoever settles the members of that leader would not
// meet it. Its worker judges it again. (On a cluster that is noted on one server while another says
// that the leader is what it was. If the first takes longer than all that a settling does until it has
// listed the members for the last time, the page is missed.)
func (s *Store) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for chunk := range slices.Chunk(leaders, 64) {
			clusters, err := s.membersOf(ctx, chunk)
			if err != nil {
				yield(nil, fmt.Errorf("read the members of clusters: %w", err))
				return
			}
			for _, members := range clusters {
				for _, m := range members {
					if err := ctx.Err(); err != nil {
						yield(nil, err)
						return
					}
					if !yield(&m.Record, nil) {
						return
					}
				}
			}
		}
	}
}

// membersOf reads the members of some clusters, in two round trips, and two more if something is called
// off.
func (s *Store) membersOf(ctx context.Context, leaders []dedup.Hash) ([][]*content, error) {
	cmds := s.commands(len(leaders))
	for _, leader := range leaders {
		cmds = append(cmds, s.B().Smembers().Key(s.membersKey(leader)).Build())
	}
	var vs []visit
	var of []int
	for i, result := range s.do(ctx, cmds...) {
		packed, err := result.AsStrSlice()
		if err != nil {
			return nil, explain(err)
		}
		for _, text := range packed {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: members of a cluster", store.ErrCorrupt)
			}
			vs, of = append(vs, unpackVisit(n)), append(of, i)
		}
	}
	contents, err := s.visits(ctx, vs, store.WantRecord)
	if err == nil && s.session != "" {
		err = s.callOff(ctx, vs, contents, func(k int) string { return s.membersKey(leaders[of[k]]) })
	}
	if err != nil {
		return nil, err
	}
	clusters := make([][]*content, len(leaders))
	for k, c := range contents {
		if i := of[k]; c != nil && c.Record.Follows() && c.Record.Leader == leaders[i] {
			clusters[i] = append(clusters[i], c)
		}
	}
	for _, members := range clusters {
		slices.SortFunc(members, func(a, b *content) int {
			return cmp.Or(cmp.Compare(b.Record.Resemblance, a.Record.Resemblance), spot{a.place, a.part}.compare(spot{b.place, b.part}))
		})
	}
	return clusters, nil
}

// callOff calls those visits off that have no contents, and takes them out of the sets that they stand
// in. Those that were committed meanwhile are read.
func (s *Store) callOff(ctx context.Context, vs []visit, contents []*content, set func(int) string) error {
	var open []int
	var tickets []ticket
	for k, c := range contents {
		if c == nil {
			open, tickets = append(open, k), append(tickets, vs[k].ticket())
		}
	}
	if len(open) == 0 {
		return nil
	}
	fates, err := servers{Store: s}.voids(ctx, tickets)
	if err != nil {
		return err
	}
	cmds := s.commands(len(open))
	var came []int
	var late []visit
	for i, k := range open {
		if fates[i] == decided {
			came, late = append(came, k), append(late, vs[k])
		} else {
			cmds = append(cmds, s.B().Srem().Key(set(k)).Member(decimal(vs[k].packed())).Build())
		}
	}
	if err := firstError(s.do(ctx, cmds...)); err != nil || len(late) == 0 {
		return err
	}
	read, err := s.visits(ctx, late, store.WantRecord)
	for i, c := range read {
		contents[came[i]] = c
	}
	return err
}
