package ingest

import (
	"sync"

	"skink/internal/precedence"
)

// electing is the right to change who leads, which one holds at a time. Of the subjects that wait for
// it, the one that goes before all others gets it next: copies of one page that came at the same time
// then follow the first of them, and it does not change hands for each.
type electing struct {
	mu      sync.Mutex
	held    bool         // guarded by mu
	waiting []*candidate // guarded by mu: in the order in which they came
}

// A candidate waits for the right.
type candidate struct {
	standing precedence.Standing
	first    bool          // it goes before all subjects
	turn     chan struct{} // closed when it has the right
	passed   int           // how many that came later got it before
}

// mostPassed bounds how many subjects get the right before one that came earlier.
const mostPassed = 256

// lock waits for the right. standing is that of a subject, nil: it goes before all subjects.
func (e *electing) lock(standing *precedence.Standing) {
	c := &candidate{first: standing == nil, turn: make(chan struct{})}
	if standing != nil {
		c.standing = *standing
	}
	e.mu.Lock()
	if !e.held {
		e.held = true
		e.mu.Unlock()
		return
	}
	e.waiting = append(e.waiting, c)
	e.mu.Unlock()
	<-c.turn
}

// unlock gives the right to the next.
func (e *electing) unlock() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 {
		e.held = false
		return
	}
	next := 0
	for i, c := range e.waiting {
		if c.before(e.waiting[next]) {
			next = i
		}
	}
	for _, c := range e.waiting[:next] {
		c.passed++
	}
	c := e.waiting[next]
	e.waiting = append(e.waiting[:next], e.waiting[next+1:]...)
	close(c.turn)
}

// before says whether a candidate gets the right before one that came earlier.
func (c *candidate) before(earlier *candidate) bool {
	if earlier.first || c.first || earlier.passed >= mostPassed {
		return !earlier.first && c.first && earlier.passed < mostPassed
	}
	d, _ := precedence.Compare(&c.standing, &earlier.standing)
	return d < 0
}
