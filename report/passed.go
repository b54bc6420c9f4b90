package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Passed counts skipped files by kind. It is safe for concurrent use.
type Passed struct {
	mu     sync.Mutex
	byKind map[string]int // guarded by mu
}

// Add counts one skipped file of the given kind.
func (p *Passed) Add(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKind == nil {
		p.byKind = map[string]int{}
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
	kinds := slices.SortedFunc(maps.Keys(p.byKind), func(a, b string) int {
		if d := p.byKind[b] - p.byKind[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	total := 0
	for _, n := range p.byKind {
		total += n
	}
	var parts []string
	for i, kind := range kinds {
		if i == most && len(kinds) > most+1 {
			parts = append(parts, fmt.Sprintf("%s more", Counted(len(kinds)-most, "kind")))
			break
		}
		parts = append(parts, fmt.Sprintf("%s: %s", kind, Grouped(p.byKind[kind])))
	}
	return fmt.Sprintf("%s (%s)", Grouped(total), strings.Join(parts, ", "))
}
