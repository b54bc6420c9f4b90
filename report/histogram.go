package report

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"skink/store"
)

// A histogramBar is a row of a histogram.
type histogramBar struct {
	Label string
	Count int64
	All   int64 // sum of the counts of the histogram
}

// A histogram counts by class. Classes are in ascending order of what they contain.
type histogram map[int]int64

// bars returns the counts of all classes from the lowest to the highest, also of those between that have none.
func (h histogram) bars(label func(class int) string) (all []histogramBar) {
	classes := slices.Sorted(maps.Keys(h))
	if len(classes) == 0 {
		return nil
	}
	sum := int64(0)
	for _, n := range h {
		sum += n
	}
	for class := classes[0]; class <= classes[len(classes)-1]; class++ {
		all = append(all, histogramBar{label(class), h[class], sum})
	}
	return all
}

// likeness returns the class of a near-duplicate by its resemblance to the leader. Each is a twentieth wide.
func likeness(r *store.Record) int { return min(int(r.Resemblance*20), 19) }

func likenessLabel(class int) string {
	return fmt.Sprintf("%d%% to %d%%", 5*class, 5*class+5)
}

// size returns the class of a cluster with n pages. The largest of a class has almost twice as many pages as the
// smallest.
func size(n int) int { return bits.Len(uint(n)) }

func sizeLabel(class int) string {
	return fmt.Sprintf("%s to %s pages", Grouped(1<<(class-1)), Grouped(1<<class-1))
}
