package cli

import (
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"skink/internal/memory"
)

// leastMemory is enough for the store, the program itself and one page.
const leastMemory = 64 << 20

func addMemoryFlag(flags *pflag.FlagSet) *size {
	m := size(memory.Default)
	flags.Var(&m, "memory", "get along with so much memory: pages wait for each other where they would need more")
	return &m
}

// heed bounds the memory of the whole process. The shares of the pages hold the bound. The garbage
// collector is told of it too, so that it does not wait until the heap has doubled.
func (s size) heed() error {
	if s < leastMemory {
		return usagef("--memory %q: try 64MB or more", s.String())
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(s))
	}
	return nil
}
