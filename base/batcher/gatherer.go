package batcher

import (
	"context"
	"sync"
	"time"
)

// A Gatherer waits for a few questions, and asks them together. The first question waits at most
// [Patience] for others. Unlike a [Batcher], it is for questions that can wait, because more of them
// follow at once.
type Gatherer[Q, A any] struct {
	do   func(context.Context, []Q) ([]A, error)
	mu   sync.Mutex
	open *gathering[Q, A] // guarded by mu: takes more questions; nil means that none waits
}

// A gathering is a list of questions that are asked together.
type gathering[Q, A any] struct {
	ctx     context.Context // of the first question
	asks    []Q             // guarded by Gatherer.mu until the gathering is no longer open
	timer   *time.Timer
	answers []A
	err     error
	done    chan struct{} // closed when the answers are there
}

const (
	// Patience is how long a question waits for others.
	Patience = 4 * time.Millisecond
	gathered = 16 // maximum number of questions that are asked together
)

// NewGatherer returns a Gatherer. do returns one answer for each question.
func NewGatherer[Q, A any](do func(context.Context, []Q) ([]A, error)) *Gatherer[Q, A] {
	return &Gatherer[Q, A]{do: do}
}

// Ask returns the answer to one question. The context of the first of several questions applies to all.
func (g *Gatherer[Q, A]) Ask(ctx context.Context, ask Q) (answer A, err error) {
	g.mu.Lock()
	c := g.open
	if c == nil {
		c = &gathering[Q, A]{ctx: ctx, asks: make([]Q, 0, gathered), done: make(chan struct{})}
		g.open = c
		c.timer = time.AfterFunc(Patience, func() {
			if g.close(c) {
				c.answer(g.do)
			}
		})
	}
	at := len(c.asks)
	c.asks = append(c.asks, ask)
	full := len(c.asks) == gathered
	if full {
		g.open = nil
	}
	g.mu.Unlock()
	if full {
		c.timer.Stop()
		c.answer(g.do)
	}
	if <-c.done; c.err != nil {
		return answer, c.err
	}
	return c.answers[at], nil
}

// close reports whether a gathering was open until now.
func (g *Gatherer[Q, A]) close(c *gathering[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != c {
		return false
	}
	g.open = nil
	return true
}

func (c *gathering[Q, A]) answer(do func(context.Context, []Q) ([]A, error)) {
	c.answers, c.err = do(c.ctx, c.asks)
	close(c.done)
}
