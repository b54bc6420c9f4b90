package ingest

import (
	"sync"

	"skink/internal/precedence"
)

// electing is a lock: its holder has the right to change leaders. Among the waiting subjects, the
// one that precedes all others gets it next. So copies of one page that arrive at the same time all
// follow the same leader, and the leader does not change for each.
type electing struct {
	mu      sync.Mutex
	held    bool         // guarded by mu
	waiting []*candidate // guarded by mu: in order of arrival
}

// A candidate waits for the lock.
type candidate struct {
	standing precedence.Standing
	first    bool          // it precedes all subjects
	turn     chan struct{} // closed when it has the lock
	passed   int           // how many later ones got the lock before it
}

// mostPassed bounds how many subjects get the lock before one that arrived earlier.
const mostPassed = 256

// lock waits for the lock. standing is that of a subject; nil precedes all subjects.
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

// unlock passes the lock to the next candidate.
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

// before reports whether a candidate gets the lock before one that arrived earlier.
func (c *candidate) before(earlier *candidate) bool {
	if earlier.first || c.first || earlier.passed >= mostPassed {
		return !earlier.first && c.first && earlier.passed < mostPassed
	}
	d, _ := precedence.Compare(&c.standing, &earlier.standing)
	return d < 0
}
