package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
// The price: three questions to each primary every quarter of a second that something is
// delivered in, and an entry in its outbox for every visit that lasts as long. What it does not
// help against: two of a shard's servers that die before a third has its data, a replica that is
// promoted without being in step (CLUSTER FAILOVER TAKEOVER), and a key lost while its slot is
// moved.

const (
	confirmEvery = 250 * time.Millisecond
	copyTime     = time.Second // a replica may take so long
)

var errNotCopied = errors.New("no replica has it yet")

// unconfirmed says whether anything was brought that may be lost, or is still to be taken out.
func (s *Store) unconfirmed() bool {
	s.courier.mu.Lock()
	defer s.courier.mu.Unlock()
	return len(s.courier.brought)+len(s.courier.fresh)+len(s.courier.waiting) > 0
}

// confirmed returns the deliveries that were brought and stay. Those that may be lost wait again.
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
	var lost []delivery
	for _, d := range brought {
		if d.era == era {
			stay = append(stay, d)
		} else {
			d.again = true
			lost = append(lost, d)
		}
	}
	if len(lost) > 0 {
		c.put(lost...)
	}
	for _, f := range fresh {
		if f.era == era {
			s.sent.put(f.slot, struct{}{})
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
	histories := make([]string, len(shards))
	asked, ctx := errgroup.WithContext(ctx)
	for i, shard := range shards {
		asked.Go(func() error {
			return s.Dedicated(func(c rueidis.DedicatedClient) (err error) {
				histories[i], err = awaitCopy(ctx, c, s.key(shard.part, "s"), shard.replicas)
				return err
			})
		})
	}
	if err := asked.Wait(); err != nil {
		return 0, err
	}
	slices.Sort(histories)
	if !slices.Equal(histories, s.histories) {
		s.histories = histories
		s.era.Add(1)
		s.forget()
	}
	return s.era.Load(), nil
}

// forget forgets what is known of visits by their numbers: those that a primary gave last, and no
// replica had, are given again.
func (s *Store) forget() {
	s.where.clear()
	s.tickets.clear()
	s.batches.clear()
	s.met.clear()
	s.along.clear()
	s.before.clear()
}

// awaitCopy waits until a replica has all that its primary has been told, and returns the
// primary's history. Where it has no replica, none can take its place.
func awaitCopy(ctx context.Context, c rueidis.DedicatedClient, sums string, replicas int) (history string, err error) {
	mark := c.B().Hset().Key(sums).FieldValue().FieldValue("copied", "1").Build()
	if err := c.Do(ctx, mark).Error(); err != nil {
		return "", err
	}
	text, err := c.Do(ctx, c.B().Info().Section("replication").Build()).ToString()
	if err != nil {
		return "", err
	}
	info := infoOf(text)
	if n := info["connected_slaves"]; replicas > 0 || n != "" && n != "0" {
		n, err := c.Do(ctx, c.B().Wait().Numreplicas(1).Timeout(copyTime.Milliseconds()).Build()).AsInt64()
		switch {
		case err != nil:
			return "", err
		case n == 0:
			return "", errNotCopied
		}
	}
	return info["master_replid"], nil
}

// A shard is a primary.
type shard struct {
	part     partition // one that it serves
	replicas int       // that the cluster counts on
}

// shards asks which primaries there are.
func (s *Store) shards(ctx context.Context) ([]shard, error) {
	if s.Mode() != rueidis.ClientModeCluster {
		return []shard{{}}, nil
	}
	ranges, err := s.do(ctx, s.B().ClusterSlots().Build())[0].ToArray()
	if err != nil {
		return nil, fmt.Errorf("ask for the slots: %w", explain(err))
	}
	at := map[string]shard{}
	for _, r := range ranges {
		fields, err := r.ToArray()
		if err != nil || len(fields) < 3 {
			return nil, fmt.Errorf("ask for the slots: %w", err)
		}
		primary, err := fields[2].ToArray()
		if err != nil || len(primary) < 3 {
			return nil, fmt.Errorf("ask for the slots: %w", err)
		}
		from, to := number(fields[0]), number(fields[1])
		if p := slices.IndexFunc(s.slots(), func(slot uint16) bool { return int64(slot) >= from && int64(slot) <= to }); p >= 0 {
			at[fmt.Sprint(text(primary[0]), ":", number(primary[1]))] = shard{partition(p), len(fields) - 3}
		}
	}
	var all []shard
	for _, shard := range at {
		all = append(all, shard)
	}
	return all, nil
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

// assure brings leads, and does not return before replicas have them. One that is out of step for
// as long as patience lasts is not waited for: the servers have been left without it.
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
