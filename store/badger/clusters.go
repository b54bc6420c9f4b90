package badger

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/store"
)

// Clusters yields the clusters, largest first.
func (s *Store) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return each(s, ctx, func(r reader) iter.Seq2[store.Cluster, error] { return r.Clusters(ctx) })
}

// Clusters first counts the members, which takes about 50 bytes of memory for each cluster. If the
// clusters were kept on disk ordered by size, every new member could change the order.
func (r reader) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return store.Listed(ctx, func() ([]store.Cluster, error) {
		list, err := r.clusters(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the clusters: %w", err)
		}
		return list, nil
	})
}

// A placedCluster is a cluster with the visit number of its leader, which orders clusters of equal
// size.
type placedCluster struct {
	store.Cluster
	place uint64
}

func (r reader) clusters(ctx context.Context) ([]store.Cluster, error) {
	var list []placedCluster
	err := scan(ctx, r.txn, []byte{keyMember}, func(item *badgerdb.Item) error {
		leader := dedup.Hash(item.Key()[1 : 1+hashSize])
		if n := len(list); n == 0 || list[n-1].Leader != leader {
			u, err := r.s.known(r.txn, leader)
			if err != nil {
				return err
			}
			list = append(list, placedCluster{store.Cluster{Leader: leader}, u.num})
		}
		list[len(list)-1].Members++
		return nil
	})
	slices.SortFunc(list, func(a, b placedCluster) int {
		return cmp.Or(cmp.Compare(b.Members, a.Members), cmp.Compare(a.place, b.place), bytes.Compare(a.Leader[:], b.Leader[:]))
	})
	all := make([]store.Cluster, len(list))
	for i, c := range list {
		all[i] = c.Cluster
	}
	return all, err
}

// Members yields the members of the given leaders' clusters.
func (s *Store) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return each(s, ctx, func(r reader) iter.Seq2[*store.Record, error] { return r.Members(ctx, leaders) })
}

func (r reader) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return store.Unpacked(r.PackedMembers(ctx, leaders), store.UnpackRecord)
}
