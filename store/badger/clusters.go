package badger

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/store"
)

// Clusters yields the clusters, largest first. It first counts the members, which takes about 50
// bytes of memory for each cluster. The clusters are not kept on disk in order of size, because
// every new member could change the order.
func (r reader) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return store.Listed(ctx, func() (list []store.Cluster, err error) {
		err = r.in(ctx, func(r reader) error {
			if list, err = r.clusters(ctx); err != nil {
				err = fmt.Errorf("read the clusters: %w", err)
			}
			return err
		})
		return list, err
	})
}

// A placedCluster is a cluster with the visit number of its first member.
type placedCluster struct {
	store.Cluster
	first uint64
}

func (r reader) clusters(ctx context.Context) ([]store.Cluster, error) {
	var list []placedCluster
	err := scan(ctx, r.txn, []byte{keyMember}, func(item *badgerdb.Item) error {
		leader, num := dedup.Hash(item.Key()[1:1+hashSize]), lastNum(item.Key())
		if n := len(list); n == 0 || list[n-1].Leader != leader {
			list = append(list, placedCluster{store.Cluster{Leader: leader}, num})
		}
		c := &list[len(list)-1]
		c.Members++
		c.first = min(c.first, num)
		return nil
	})
	slices.SortFunc(list, func(a, b placedCluster) int {
		return cmp.Or(cmp.Compare(b.Members, a.Members), cmp.Compare(a.first, b.first))
	})
	all := make([]store.Cluster, len(list))
	for i, c := range list {
		all[i] = c.Cluster
	}
	return all, err
}

// Members yields the members of the given leaders' clusters.
func (r reader) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return store.Unpacked(r.PackedMembers(ctx, leaders), store.UnpackRecord)
}
