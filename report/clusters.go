package report

import (
	"context"
	"fmt"
	"iter"

	"skink/dedup"
	"skink/store"
)

// Clusters yields the clusters of the store. A store in another process takes about as long for one
// question as for a hundred, and most clusters are small: so they are read some at a time. The
// members of a large one are not held.
func (src stored) Clusters(ctx context.Context) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		for some, err := range inBatches(src.s.Clusters(ctx)) {
			if err != nil {
				yield(Cluster{}, err)
				return
			}
			if !src.yieldBatch(ctx, some, yield) {
				return
			}
		}
	}
}

// Bounds of a batch of more than one cluster.
const (
	batchClusters = 256
	batchMembers  = 1024
)

// inBatches yields clusters some at a time. Those before an error are yielded first.
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

// yieldBatch yields the clusters of a batch, and says whether more are wanted.
func (src stored) yieldBatch(ctx context.Context, some []store.Cluster, yield func(Cluster, error) bool) bool {
	b := &batch{src: src, leaders: make([]dedup.Hash, len(some))}
	for i, c := range some {
		b.leaders[i] = c.Leader
	}
	pages, err := src.s.Pages(ctx, b.leaders, store.WantRecord)
	if err != nil {
		yield(Cluster{}, err)
		return false
	}
	for i, c := range some {
		if pages[i] == nil {
			yield(Cluster{}, fmt.Errorf("cluster of page %s, which has no record: %w", c.Leader, store.ErrCorrupt))
			return false
		}
		leader := &pages[i].Record
		if !yield(Cluster{leaderOf(leader, src.why(leader)), c.Members, b.membersOf(ctx, c.Leader)}, nil) {
			return false
		}
	}
	return true
}

// A batch is some clusters that are read together.
type batch struct {
	src     stored
	leaders []dedup.Hash
	members map[dedup.Hash][]Member // by leader; nil: not read yet
}

// membersOf yields the members of a cluster of the batch. The first time it reads those of all,
// unless the batch is one cluster.
func (b *batch) membersOf(ctx context.Context, leader dedup.Hash) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		if len(b.leaders) == 1 {
			b.stream(ctx, yield)
			return
		}
		if err := b.read(ctx); err != nil {
			yield(Member{}, err)
			return
		}
		for _, m := range b.members[leader] {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// stream yields the members of a batch of one cluster.
func (b *batch) stream(ctx context.Context, yield func(Member, error) bool) {
	for r, err := range b.src.s.Members(ctx, b.leaders) {
		if err != nil {
			yield(Member{}, err)
			return
		}
		if !yield(memberOf(r), nil) {
			return
		}
	}
}

// read reads the members of all clusters of the batch.
func (b *batch) read(ctx context.Context) error {
	if b.members != nil {
		return nil
	}
	members := map[dedup.Hash][]Member{}
	for r, err := range b.src.s.Members(ctx, b.leaders) {
		if err != nil {
			return err
		}
		members[r.Leader] = append(members[r.Leader], memberOf(r))
	}
	b.members = members
	return nil
}
