package cli

import (
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"skink/internal/memory"
)

// leastMemory is the least value of --memory, in bytes. It is enough for the program, the store and
// one page.
const leastMemory = 64 << 20

func addMemoryFlag(flags *pflag.FlagSet) *int64 {
	m := int64(memory.Default)
	flags.Var(size(&m, leastMemory, "64MB or more"), "memory", "use about this much memory; more pages are read only when enough of it is free")
	return &m
}

// collectSeldom makes garbage collection less frequent, for a crawl whose store is on a database
// server. Such a process has a heap of only some ten megabytes, and with the default of Go,
// collecting garbage would take a twelfth of its time. So the heap may triple before a collection,
// instead of double. The memory limit still applies.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
}

// limitMemory tells the garbage collector the limit of --memory, in bytes, so that it collects
// earlier when the heap comes near the limit. The garbage collector does not enforce the limit; the
// crawl does, by making pages wait for memory. An environment variable GOMEMLIMIT has priority.
func limitMemory(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}
