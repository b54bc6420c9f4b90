package report

import (
	"slices"
	"testing"

	"skink/store"
)

// Each twentieth is the lowest value of a class, and classes without values are shown between others.
func TestHistogram(t *testing.T) {
	near, sizes := histogram{}, histogram{}
	for i := range 21 {
		near[likeness(&store.Record{Judged: store.Judged{Resemblance: float64(i) / 20}})]++
	}
	if want := 20; len(near) != want || near[19] != 2 || near[0] != 1 {
		t.Errorf("%d classes of resemblance: %v", len(near), near)
	}
	for _, n := range []int{2, 3, 3, 16, 31} {
		sizes[size(n)]++
	}
	want := []histogramBar{{"2 to 3 pages", 3, 5}, {"4 to 7 pages", 0, 5}, {"8 to 15 pages", 0, 5}, {"16 to 31 pages", 2, 5}}
	if got := sizes.bars(sizeLabel); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (histogram{}).bars(sizeLabel); got != nil {
		t.Errorf("an empty histogram has %v", got)
	}
	if got := likenessLabel(likeness(&store.Record{Judged: store.Judged{Resemblance: .85}})); got != "85% to 90%" {
		t.Error(got)
	}
}
