package badger

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
)

// Clusters yields the clusters by size. It counts the members first, 16 bytes a
// cluster, which is less to keep right than an order on disk that changes with
// every member.
func (s *Store) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return func(yield func(store.Cluster, error) bool) {
		list, err := s.clusters(ctx)
		if err != nil {
			yield(store.Cluster{}, fmt.Errorf("clusters: %w", err))
			return
		}
		for _, c := range list {
			if err := ctx.Err(); err != nil {
				yield(store.Cluster{}, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (s *Store) clusters(ctx context.Context) ([]store.Cluster, error) {
	var list []store.Cluster
	err := s.scan(ctx, []byte{keyMember}, nil, func(item *badgerdb.Item) error {
		leader := binary.BigEndian.Uint64(item.Key()[1:])
		if n := len(list); n == 0 || list[n-1].Leader != leader {
			list = append(list, store.Cluster{Leader: leader})
		}
		list[len(list)-1].Members++
		return nil
	})
	slices.SortFunc(list, func(a, b store.Cluster) int {
		return cmp.Or(cmp.Compare(b.Members, a.Members), cmp.Compare(a.Leader, b.Leader))
	})
	return list, err
}

// Members yields the members of a cluster in the order of their keys.
func (s *Store) Members(ctx context.Context, leader uint64) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		err := s.scan(ctx, numKey(keyMember, leader), nil, func(item *badgerdb.Item) error {
			num := lastNum(item.Key())
			r, err := s.RecordAt(ctx, num)
			if err == nil && r == nil {
				err = fmt.Errorf("%w: member %d has no record", store.ErrCorrupt, num)
			}
			if err != nil {
				return err
			}
			if !yield(r, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(nil, fmt.Errorf("members of cluster %d: %w", leader, err))
		}
	}
}
