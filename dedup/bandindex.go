package dedup

import (
	"cmp"
	"slices"
	"sort"
)

// A BandIndex finds, for one sketch of a list, the later ones that share a band
// with it. It holds 4 bytes a band and sketch, however many pairs there are: a
// crowd of n like pages, which is n(n-1)/2 pairs, is met one leader at a time.
// Unlike an index of leaders it has no caps and forgets nobody.
type BandIndex struct {
	scheme   Scheme
	sketches []Sketch
	bands    [][]int32 // for each band the places in sketches, by key, then place
}

// posting is a sketch under one of its keys.
type posting struct {
	key uint64
	at  int32
}

// NewBandIndex indexes the sketches at the given places of a list. It keeps the
// list, which must not change.
func NewBandIndex(s Scheme, sketches []Sketch, places []int32) *BandIndex {
	x := &BandIndex{s, sketches, make([][]int32, s.Bands())}
	postings := make([]posting, len(places))
	for band := range x.bands {
		for i, at := range places {
			postings[i] = posting{bandKey(&sketches[at], band, s.Rows), at}
		}
		slices.SortFunc(postings, func(p, q posting) int {
			return cmp.Or(cmp.Compare(p.key, q.key), cmp.Compare(p.at, q.at))
		})
		order := make([]int32, len(postings))
		for i, p := range postings {
			order[i] = p.at
		}
		x.bands[band] = order
	}
	return x
}

// After yields the places greater than at whose sketches share a band with that at
// at, as often as they share one.
func (x *BandIndex) After(at int, yield func(other int) bool) {
	for band, order := range x.bands {
		key := x.key(int32(at), band)
		next := sort.Search(len(order), func(i int) bool {
			k := x.key(order[i], band)
			return k > key || k == key && int(order[i]) > at
		})
		for ; next < len(order) && x.share(band, at, int(order[next])); next++ {
			if !yield(int(order[next])) {
				return
			}
		}
	}
}

// share says whether two sketches have equal minima in a band. Two keys that are
// equal by chance end a crowd too early; that is one in 2^64.
func (x *BandIndex) share(band, a, b int) bool {
	from, to := band*x.scheme.Rows, (band+1)*x.scheme.Rows
	return slices.Equal(x.sketches[a][from:to], x.sketches[b][from:to])
}

func (x *BandIndex) key(at int32, band int) uint64 {
	return bandKey(&x.sketches[at], band, x.scheme.Rows)
}
