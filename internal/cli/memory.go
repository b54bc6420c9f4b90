package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/spf13/pflag"

	"skink/internal/memory"
)

// minMemory is the minimum value of --memory in bytes, enough for the program, the store and one
// page.
const minMemory = 64 << 20

func addMemoryFlag(flags *pflag.FlagSet, usage string) *int64 {
	m := int64(memory.Default)
	flags.Var(size(&m, minMemory, "64MB or more"), "memory", usage)
	return &m
}

// memoryUsage describes the flag --memory of commands that read pages.
const memoryUsage = "use about this much memory; when it is used up, wait before reading more pages"

// Limits on the growth of the heap between two collections, as a percentage of the live data. With
// less growth than the minimums, garbage collection would take much of the processor time. The live
// data of a complete comparison is mostly large tables without pointers, which cost the collector
// nothing.
const (
	maxPercent      = 200
	crawlPercent    = 25 // minimum growth during a crawl
	completePercent = 20 // minimum growth during a complete comparison
)

// The heap of a crawl usually takes 1/heapShare of the memory that --memory allows. The rest is for
// large pages, and for memory-mapped files.
const heapShare = 5

// paceCollector makes garbage collection less frequent while the heap is small, and more frequent
// when it is large. By default, Go lets a heap double before a collection. A crawl typically has
// about 60 MB of live data. With the default, collections would take a twelfth of such a crawl's
// time, and the heap could double when large pages arrive. So the heap may triple, but may not
// become larger than goal bytes, unless it would then grow by less than minPercent.
//
// Go returns free memory to the system slowly, unless it is near a memory limit. So paceCollector
// also sets a limit, a little above the size that the heap may reach, and at most limit bytes. The
// environment variables GOGC and GOMEMLIMIT take precedence.
func paceCollector(goal, limit int64, minPercent int) {
	ownPace, ownLimit := os.Getenv("GOGC") == "", os.Getenv("GOMEMLIMIT") == ""
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	now, limited := 0, int64(0)
	var adjust func()
	adjust = func() {
		metrics.Read(sample)
		live := int64(sample[0].Value.Uint64())
		if percent := growth(live, goal, minPercent); ownPace && percent != now {
			now = percent
			debug.SetGCPercent(percent)
		}
		if l := min(limit, max(goal, live*3/2)+besideHeap); ownLimit && l != limited { // setting a limit stops all goroutines for a moment
			limited = l
			debug.SetMemoryLimit(l)
		}
		runtime.SetFinalizer(new([16]byte), func(*[16]byte) { adjust() }) // runs after the next collection
	}
	adjust()
}

// besideHeap is the memory of the Go runtime outside the heap, in bytes: stacks, tables of the
// collector, and free memory that cannot be returned to the system.
const besideHeap = 48 << 20

// growth returns the percentage by which a heap with live bytes of live data may grow, so that it
// has about goal bytes at the next collection. The result is minPercent, maxPercent, or a multiple
// of 10 between them.
func growth(live, goal int64, minPercent int) int {
	live = max(live, 1)
	return int(min(max((goal-live)*10/live*10, int64(minPercent)), maxPercent))
}
