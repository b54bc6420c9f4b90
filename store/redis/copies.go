package redis

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
	"golang.org/x/sync/errgroup"
)

// # What replicas have
//
// Replication is asynchronous: a primary answers before its replica knows. If it dies then, the
// replica takes its place and lacks the last writes. What lies in one partition is lost
// together, back to some moment: a page without its record is pending again, as it was. What is
// in two partitions is not: a page's record may stay, while the links that were delivered to
// another partition are gone, and nobody else would ever know of those URLs.
//
// So in a store with replicas nothing counts as delivered before a replica has it. Until then
//
//   - the entry of a visit stays in its outbox, which lies with the record, and so is lost with
//     it or stays with it;
//   - a URL is not remembered as one that need not be sent again, see recent.go;
//   - Discover and Requeue do not answer, for what they queue has no outbox.
//
// A crawl is not over while something is in an outbox. Whether replicas have it is asked for all
// that was delivered at once, every confirmEvery: of each primary over a connection of its own by a
// write and WAIT. WAIT speaks of the writes of its connection, and what was written before over
// others came before. But it may have been written to a primary that is dead by now, and WAIT may
// speak of the one after it. So each answer names the history that a primary has (master_replid),
// which is new when a replica takes over. As long as they stay the same it is one era, and all that
// was delivered in it stays. What was delivered in an earlier one and was not known to stay is
// delivered again, which does no harm. With it is written again where the page is and whom it
// follows, as these lie in other partitions too. They are written before the page, so a delivery
// counts for the era in which the page's commit began. Postings are not written again: see marks.go.
//
// All of that rests on what primaries say of their replicas, and when it was wrong pages were in the
// store and could not be found by their ids. So who sees a new era writes again also where those pages
// are that were committed in the half minute before, whatever he knows of them (noteRecent).
// Who has nothing to be confirmed looks for one as often as he says that his session lives.
//
// A replica that is out of step for as long as patience lasts is not waited for any more: its
// primary has been left without it. What a primary says of its replicas may be old. One that has come
// back follows it and is in step, and for a second or two the primary still calls it failed, or a
// primary; if the link breaks then, it can take over all the same. So a primary that replicas have
// begun to follow is believed to have none only after hearsay. That time begins anew whenever one does.
//
// What a failover can leave of the frontier, and what mends it:
//
//   - Counts, queues, and who is where (frontier.go) lie in one partition with what they count, are
//     written by one script each, and so go back together. They never disagree.
//   - A claim is gone, or another's. Its holder is told when it renews, takes, returns or commits. If
//     it is given the same host again, it takes the URLs anew.
//   - A claim is there, and its holder does not know or has returned it. It is not renewed, and runs
//     out. Until then it counts as another's, for all.
//   - URLs that were taken are queued: they are fetched again, and what was in hand is kept if it is
//     stored first. URLs that ended are taken, by a claim that lives: they are free when it ends.
//   - A record is gone, and what waited in its outbox: the page is pending again. Its number is given
//     to another's visit, so what a worker brought of it and may be lost is read from the outbox anew.
//   - An entry is back that was taken out of an outbox: whoever sees it there for a second brings it.
//   - A posting, or the void of one, is gone, or stands there without its record: see marks.go.
//   - Buckets of a directory are whole again that had been split: see buckets.go.
//   - A worker is not among those that are there, or a session among the sessions: it says so again.
//     If all sessions are forgotten, a run begins, which ends the claims of the others.
//
// The price: three questions to each primary every quarter of a second that something is
// delivered in, and an entry in its outbox for every visit that lasts as long. What it does not
// help against: two of a shard's servers that die before a third has its data, a replica that is
// promoted without being in step (CLUSTER FAILOVER TAKEOVER), and a key lost while its slot is
// moved.

const (
	confirmEvery = 250 * time.Millisecond
	copyTime     = time.Second // a replica may take so long

	// hearsay is how old what a server of a cluster says of another may be: each asks each other at
	// least once in half a node's timeout, which is 15 s if nobody has set another.
	hearsay = 10 * time.Second
)

var errNotCopied = errors.New("no replica has it yet")

// unconfirmed says whether anything was brought that may be lost, or is still to be taken out.
func (s *Store) unconfirmed() bool {
	s.courier.mu.Lock()
	defer s.courier.mu.Unlock()
	return len(s.courier.own)+len(s.courier.fresh) > 0
}

// confirmed returns the deliveries that were brought and stay. Those that may be lost are taken from
// the outboxes again: the entry may be lost with its visit, and the number be another's by now.
func (s *Store) confirmed(ctx context.Context) (stay []delivery, err error) {
	c := s.courier
	c.mu.Lock()
	brought, fresh := c.brought, c.fresh
	c.brought, c.fresh = nil, nil
	c.mu.Unlock()
	if len(brought)+len(fresh) == 0 || !s.replicated {
		return brought, nil
	}
	era, err := s.copied(ctx)
	if err != nil { // it is asked again
		c.mu.Lock()
		defer c.mu.Unlock()
		c.brought, c.fresh = append(brought, c.brought...), append(fresh, c.fresh...)
		return nil, err
	}
	var lost []visit
	for _, d := range brought {
		if d.era == era {
			stay = append(stay, d)
		} else {
			lost = append(lost, d.visit)
		}
	}
	for _, f := range fresh {
		if f.era == era {
			s.sent.put(f.slot, struct{}{})
		}
	}
	if s.takeOver(ctx, lost) != nil { // then they are found in the outboxes as what another left
		c.disown(lost...)
		for _, v := range lost {
			s.outlook.touch(v.part)
		}
	}
	return stay, nil
}

// copied asks whether replicas have all that was written before, and returns the era: it changes
// when the history of a primary does. What was written in the same era stays.
func (s *Store) copied(ctx context.Context) (era int64, err error) {
	s.copying.Lock()
	defer s.copying.Unlock()
	shards, err := s.shards(ctx)
	if err != nil {
		return 0, err
	}
	standings := make([]standing, len(shards))
	asked, ctx := errgroup.WithContext(ctx)
	for i, p := range shards {
		asked.Go(func() error {
			return s.Dedicated(func(c rueidis.DedicatedClient) (err error) {
				standings[i], err = s.awaitCopy(ctx, c, s.key(p, "s"))
				return err
			})
		})
	}
	if err := asked.Wait(); err != nil {
		return 0, err
	}
	histories := make([]string, len(standings))
	for i, p := range standings {
		histories[i] = p.history
	}
	slices.Sort(histories)
	other := !slices.Equal(histories, s.histories)
	if other {
		s.forget()
	}
	if s.outOfStep(standings, time.Now()) {
		return 0, errNotCopied
	}
	if other {
		s.unnoted.Store(s.histories != nil) // in the first era there was none before
		s.courier.rouse()
		s.histories = histories
		s.era.Add(1)
	}
	return s.era.Load(), nil
}

// A standing is how a primary stands with its replicas.
type standing struct {
	history string // another has another
	syncs   string // how many replicas have begun to follow it
	has     bool   // a replica has all that the primary was told, or there is none
	knows   bool   // of a replica that may come back
}

// A lag is that of one history while no replica begins to follow.
type lag struct{ history, syncs string }

// A span is since when something was so each time it was looked at, and when that was last.
type span struct{ since, last time.Time }

// outOfStep says whether the replica of a primary does not have what it should, and may have it
// soon, or take the primary's place without it. The caller holds copying.
func (s *Store) outOfStep(standings []standing, now time.Time) (waits bool) {
	lagging := map[lag]span{}
	for _, p := range standings {
		if p.has {
			continue
		}
		l := lag{p.history, p.syncs}
		out := s.lagging[l]
		if now.Sub(out.last) > hearsay { // nobody asked for long: it may have been in step meanwhile
			out.since = now
		}
		out.last = now
		lagging[l] = out
		bound := hearsay
		if p.knows {
			bound = patience
		}
		waits = waits || now.Sub(out.since) <= bound
	}
	s.lagging = lagging
	return waits
}

// forget forgets what is known of visits by their numbers: those that a primary gave last, and no
// replica had, are given again.
func (s *Store) forget() {
	s.where.clear()
	s.tickets.clear()
	s.batches.clear()
	s.met.clear()
	s.hashes.clear()
	s.pages.clear()
	s.along.clear()
	s.before.clear()
}

// awaitCopy waits until a replica has all that the primary of some sums has been told, and says how
// that stands. Where there never was a replica, none can take the primary's place, and nothing is missing.
func (s *Store) awaitCopy(ctx context.Context, c rueidis.DedicatedClient, sums string) (standing, error) {
	mark := c.B().Hset().Key(sums).FieldValue().FieldValue("copied", "1").Build()
	if err := c.Do(ctx, mark).Error(); err != nil {
		return standing{}, err
	}
	text, err := c.Do(ctx, c.B().Info().Build()).ToString()
	if err != nil {
		return standing{}, err
	}
	info := infoOf(text)
	p := standing{history: info["master_replid"], syncs: syncsOf(info)}
	if isFollowed(info) {
		p.knows = true
		n, err := c.Do(ctx, c.B().Wait().Numreplicas(1).Timeout(copyTime.Milliseconds()).Build()).AsInt64()
		p.has = n > 0
		return p, err
	}
	nodes := ""
	if s.Mode() == rueidis.ClientModeCluster {
		nodes, err = c.Do(ctx, c.B().ClusterNodes().Build()).ToString()
	}
	p.knows = replicasOf(nodes) > 0
	p.has = !p.knows && p.syncs == "0"
	return p, err
}

// isFollowed says whether a server has replicas that are connected.
func isFollowed(info map[string]string) bool {
	n := info["connected_slaves"]
	return n != "" && n != "0"
}

// syncsOf is how many replicas have begun to follow a server since it was started.
func syncsOf(info map[string]string) string {
	whole, _ := strconv.Atoi(info["sync_full"])
	rest, _ := strconv.Atoi(info["sync_partial_ok"])
	return strconv.Itoa(whole + rest)
}

// shards are partitions that lie on different primaries, one for each primary.
func (s *Store) shards(ctx context.Context) ([]partition, error) {
	if s.Mode() != rueidis.ClientModeCluster {
		return []partition{0}, nil
	}
	nodes, err := s.do(ctx, s.B().ClusterNodes().Build())[0].ToString()
	if err != nil {
		return nil, fmt.Errorf("ask for the nodes of the cluster: %w", explain(err))
	}
	return readShards(nodes, s.slots()), nil
}

// readShards reads from what CLUSTER NODES says for each primary a partition that it serves. slotOf
// are the slots of the partitions.
func readShards(nodes string, slotOf []uint16) (all []partition) {
	for node := range eachNode(nodes) {
		if p := slices.IndexFunc(slotOf, func(slot uint16) bool { return serves(node[8:], slot) }); p >= 0 {
			all = append(all, partition(p))
		}
	}
	return all
}

// replicasOf counts those that may take the place of the server that says this to CLUSTER NODES. Any
// other may not know of them: one that was just started says what was so when it ended. CLUSTER SLOTS
// leaves out those of which the server has not heard how far they are, for seconds after they came.
func replicasOf(nodes string) (n int) {
	self := ""
	for node := range eachNode(nodes) {
		if slices.Contains(strings.Split(node[2], ","), "myself") {
			self = node[0]
		}
	}
	for node := range eachNode(nodes) {
		if flags := strings.Split(node[2], ","); node[3] == self && !slices.Contains(flags, "fail") {
			n++
		}
	}
	return n
}

// hasReplicas says whether a cluster has any, whatever state they are in.
func hasReplicas(nodes string) bool {
	for node := range eachNode(nodes) {
		if slices.Contains(strings.Split(node[2], ","), "slave") {
			return true
		}
	}
	return false
}

// eachNode yields the fields of the lines of CLUSTER NODES: id, address, flags, primary, three
// numbers, the state of the link, and slots. In RESP3 the answer begins with what kind of text it is.
func eachNode(nodes string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(strings.TrimPrefix(nodes, "txt:")) {
			if fields := strings.Fields(line); len(fields) >= 8 && !yield(fields) {
				return
			}
		}
	}
}

// serves says whether a slot is in ranges as FROM-TO, or one number. What is in brackets is on its way.
func serves(ranges []string, slot uint16) bool {
	return slices.ContainsFunc(ranges, func(r string) bool {
		first, last, several := strings.Cut(r, "-")
		if !several {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		return err1 == nil && err2 == nil && from <= uint64(slot) && uint64(slot) <= to
	})
}

// slots are those in which the partitions lie.
func (s *Store) slots() []uint16 {
	s.slotsOnce.Do(func() {
		for p := range partition(partitions) {
			cmd := s.B().Get().Key(s.key(p, "s")).Build()
			s.slotOf = append(s.slotOf, cmd.Slot())
		}
	})
	return s.slotOf
}

// assure brings leads, and does not return before replicas have them, or patience is over.
func (s *Store) assure(ctx context.Context, leads []lead) (found int, err error) {
	for began, pause := time.Now(), firstPause; ; pause = min(2*pause, longestWait) {
		before := s.era.Load()
		n, err := s.lead(ctx, leads)
		found += n
		if err != nil || !s.replicated || len(leads) == 0 {
			return found, err
		}
		if era, err := s.copied(ctx); err == nil && era == before || time.Since(began) > patience {
			return found, nil
		}
		if !wait(ctx, false, pause) {
			return found, ctx.Err()
		}
	}
}
