package report

import (
	"fmt"
	"strings"
	"sync"
)

// Passed counts skipped files by kind. It is safe for concurrent use.
type Passed struct {
	mu     sync.Mutex
	byKind map[string]int64 // guarded by mu
}

// Add counts one skipped file of the given kind.
func (p *Passed) Add(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKind == nil {
		p.byKind = map[string]int64{}
	}
	p.byKind[kind]++
}

// String returns the counts as text, most frequent kinds first, or "" if nothing was skipped.
func (p *Passed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byKind) == 0 {
		return ""
	}
	const most = 6
	parts := mostFrequent(p.byKind)
	if rest := len(parts) - most; rest > 1 {
		parts = append(parts[:most], Counted(rest, "kind")+" more")
	}
	return fmt.Sprintf("%s (%s)", Grouped(Total(p.byKind)), strings.Join(parts, ", "))
}
