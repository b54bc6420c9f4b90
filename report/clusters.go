package report

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"skink/dedup"
	"skink/store"
	"skink/store/precedence"
)

// Clusters yields the clusters of the store. It reads small clusters in batches, because a call to
// a store in another process takes about as long for a hundred clusters as for one. The members of
// a large cluster are streamed, not kept in memory.
func (src stored) Clusters(ctx context.Context, shown int) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		order, err := precedence.Read(ctx, src.s)
		set, wrong := settingsOf(ctx, src.s)
		if err = cmp.Or(err, wrong); err != nil {
			yield(Cluster{}, err)
			return
		}
		for some, err := range inBatches(src.s.Clusters(ctx)) {
			if err != nil {
				yield(Cluster{}, err)
				return
			}
			whole, _ := first(some, shown)
			shown -= len(whole)
			if len(whole) > 0 && !src.yieldBatch(ctx, order, set, whole, yield) {
				return
			}
			for _, c := range some[len(whole):] {
				if !yield(Cluster{Size: c.Members}, nil) {
					return
				}
			}
		}
	}
}

// settingsOf returns the settings of a store. If the store has none, settingsOf returns the
// defaults that a report needs.
func settingsOf(ctx context.Context, s store.Reader) (*store.Settings, error) {
	set, err := store.ReadSettings(ctx, s)
	if err != nil || set == nil {
		return &store.Settings{MinWords: dedup.DefaultMinWords, Similarity: dedup.DefaultSimilarity}, err
	}
	return set, nil
}

// These are the maximum numbers of clusters and of members in a batch. A cluster with more members
// forms its own batch.
const (
	batchClusters = 256
	batchMembers  = 1024
)

// inBatches groups clusters into batches. If clusters ends with an error, inBatches first yields
// the clusters before it, and then the error.
func inBatches(clusters iter.Seq2[store.Cluster, error]) iter.Seq2[[]store.Cluster, error] {
	return func(yield func([]store.Cluster, error) bool) {
		var some []store.Cluster
		members := 0
		for c, err := range clusters {
			full := len(some) == batchClusters || members+c.Members > batchMembers
			if len(some) > 0 && (err != nil || full) {
				if !yield(some, nil) {
					return
				}
				some, members = nil, 0
			}
			if err != nil {
				yield(nil, err)
				return
			}
			some = append(some, c)
			members += c.Members
		}
		if len(some) > 0 {
			yield(some, nil)
		}
	}
}

// yieldBatch returns false if yield returned false.
func (src stored) yieldBatch(ctx context.Context, order *precedence.Order, set *store.Settings, some []store.Cluster, yield func(Cluster, error) bool) bool {
	b := &batch{src: src, order: order, set: set, leaders: make([]dedup.Hash, len(some)), records: map[dedup.Hash]*store.Record{}, large: len(some) == 1 && some[0].Members > batchMembers}
	for i, c := range some {
		b.leaders[i] = c.Leader
	}
	pages, err := src.s.Pages(ctx, b.leaders, store.WantRecord)
	if err != nil {
		yield(Cluster{}, err)
		return false
	}
	for i, page := range pages {
		if page != nil {
			b.records[b.leaders[i]] = &page.Record
		}
	}
	for i, c := range some {
		if pages[i] == nil {
			yield(Cluster{}, fmt.Errorf("page %s, the leader of a cluster, has no record: %w", c.Leader, store.ErrCorrupt))
			return false
		}
		leader := &pages[i].Record
		why := func() (string, error) { return b.whyLeads(ctx, leader) }
		shown := Leader{URL: leader.URL, Title: leader.Title, Private: leader.Private, Verdict: string(leader.Verdict)}
		if !yield(Cluster{shown, why, c.Members, b.membersOf(ctx, c.Leader)}, nil) {
			return false
		}
	}
	return true
}

type batch struct {
	src     stored
	order   *precedence.Order
	set     *store.Settings
	leaders []dedup.Hash
	records map[dedup.Hash]*store.Record // records of the leaders, by id
	large   bool                         // whether the only cluster of the batch has too many members to keep in memory
	members map[dedup.Hash][]Member      // members of each cluster, by the id of its leader; nil until they are read
	first   map[dedup.Hash]*next         // first member of each cluster in the order of package precedence, by the id of the cluster's leader; see nextOf
}

// membersOf yields the members of a leader's cluster. The first call reads the members of all
// clusters of the batch. The members of a large cluster are streamed instead.
func (b *batch) membersOf(ctx context.Context, leader dedup.Hash) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		if b.large {
			b.stream(ctx, yield)
			return
		}
		err := b.read(ctx)
		for _, m := range b.members[leader] {
			if !yield(m, nil) {
				return
			}
		}
		if err != nil {
			yield(Member{}, err)
		}
	}
}

func (b *batch) memberOf(r *store.Record) Member {
	return Member{
		URL: r.URL, Verdict: string(r.Verdict), Resemblance: r.Resemblance, Title: r.Title,
		Containment: r.Containment, Excerpt: r.Containment > 0 && r.Resemblance < b.set.Similarity,
		Translation: translation(r), Private: r.Private, Doubtful: r.Doubtful(b.records[r.Leader], b.set.MinWords),
	}
}

// stream yields the members of the only cluster of a large batch, without keeping them in memory.
func (b *batch) stream(ctx context.Context, yield func(Member, error) bool) {
	for r, err := range b.src.s.Members(ctx, b.leaders) {
		if err != nil {
			yield(Member{}, err)
			return
		}
		if !yield(b.memberOf(r), nil) {
			return
		}
	}
}

// read reads the members of all clusters in the batch, unless it has already done so. It keeps them
// in memory, unless there is a large cluster.
func (b *batch) read(ctx context.Context) error {
	if b.first != nil {
		return nil
	}
	members, first := map[dedup.Hash][]Member{}, map[dedup.Hash]*next{}
	for r, err := range b.src.s.Members(ctx, b.leaders) {
		if err != nil {
			return err
		}
		if !b.large {
			members[r.Leader] = append(members[r.Leader], b.memberOf(r))
		}
		if first[r.Leader] == nil {
			first[r.Leader] = b.nextOf(r.Leader)
		}
		first[r.Leader].add(r)
	}
	b.members, b.first = members, first
	return nil
}
