package cli

import (
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"skink/internal/memory"
)

// leastMemory is enough for the store, the program itself and one page.
const leastMemory = 64 << 20

func addMemoryFlag(flags *pflag.FlagSet) *int64 {
	m := int64(memory.Default)
	flags.Var(size(&m, leastMemory, "64MB or more"), "memory", "memory to use; pages wait while it is full")
	return &m
}

// collectSeldom makes garbage collection less frequent, for a process whose store is on a server.
// Its own heap is some ten megabytes, and collecting each time it doubles takes a twelfth of its
// time. So it collects only when the heap has tripled. The memory limit still applies.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
}

// limitMemory bounds the memory of the whole process. The shares of the pages enforce the bound. The
// garbage collector gets it as its limit too, so that it does not wait until the heap has doubled.
func limitMemory(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}
