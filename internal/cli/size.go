package cli

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"skink/internal/memory"
	"skink/report"
)

// A size is a number of bytes on the command line: 500, 64KB, 10MB, 1GB. The
// units are powers of 1024.
type size int64

var units = []struct {
	name  string
	bytes int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1}}

func (s *size) String() string { return report.Size(int64(*s)) }

func (s *size) Set(text string) error {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), int64(1)
	for _, u := range units {
		if cut, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = cut, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return fmt.Errorf("%q is no size: try 500KB or 10MB", text)
	}
	*s = size(n * unit)
	return nil
}

func (s *size) Type() string { return "size" }

// leastMemory is enough for the store, the program itself and one page.
const leastMemory = 64 << 20

func addMemoryFlag(flags *pflag.FlagSet) *size {
	m := size(memory.Default)
	flags.Var(&m, "memory", "get along with so much memory: pages wait for each other where they would need more")
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

// heed bounds the memory of the whole process. The shares of the pages enforce the bound. The
// garbage collector gets it as its limit too, so that it does not wait until the heap has doubled.
func (s size) heed() error {
	if s < leastMemory {
		return usagef("--memory %q: try 64MB or more", s.String())
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(s))
	}
	return nil
}
