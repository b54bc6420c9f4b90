package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"skink/internal/harmless"
	"skink/store"
)

// # Who is at it
//
// Workers that share a store write down every few seconds what they hold, each its own line of
// one value in the store, for people to look at. Nothing else rests on it: which host is whose
// the frontier decides. Times are those of the workers' clocks.

// A workerState is what a worker says of itself.
type workerState struct {
	Started   time.Time `json:"started"`
	Seen      time.Time `json:"seen"`
	Hosts     int       `json:"hosts"`      // it holds
	InFlight  int       `json:"in_flight"`  // URLs asked for, or being judged
	Pages     int64     `json:"pages"`      // it has judged
	PerSecond float64   `json:"per_second"` // since it last said
}

// workersName is where a store keeps the states, by the names of the workers.
const workersName = "workers"

const (
	beatEvery   = 2 * time.Second
	aliveFor    = 3 * beatEvery    // after its last word a worker is no longer taken to be at it
	forgetAfter = 10 * time.Minute // after its last word a worker is not listed any more
	claimsLast  = 30 * time.Second // what a dead worker held is free after that
)

// readWorkers reads the states of all workers.
func readWorkers(ctx context.Context, s interface {
	Meta(ctx context.Context, name string) ([]byte, error)
}) (all map[string]workerState, text []byte, err error) {
	if text, err = s.Meta(ctx, workersName); err != nil {
		return nil, nil, err
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, nil, fmt.Errorf("read who is at it: %w: %v", store.ErrCorrupt, err)
		}
	}
	if all == nil {
		all = map[string]workerState{}
	}
	return all, text, nil
}

// changeWorkers changes the states of all workers.
func changeWorkers(ctx context.Context, m store.Meta, change func(map[string]workerState) error) error {
	for {
		all, old, err := readWorkers(ctx, m)
		if err != nil {
			return err
		}
		if err := change(all); err != nil {
			return err
		}
		text, err := json.Marshal(all)
		if err != nil {
			return err
		}
		if err := m.SwapMeta(ctx, workersName, old, text); !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
}

// A presence is a worker's line among the others'.
type presence struct {
	meta   store.Meta
	shared bool // only then it is written down
	name   string
	state  workerState
	report func(*workerState)
	done   chan struct{}
	ended  sync.WaitGroup
}

// join says that a worker is at it, and refuses a name that another has: the frontier would
// take the two for one.
func (c *crawlRun) join(ctx context.Context) (*presence, error) {
	now := time.Now()
	p := &presence{meta: c.store, shared: c.store.shared, name: c.options.Worker, state: workerState{Started: now, Seen: now}, report: func(*workerState) {}, done: make(chan struct{})}
	if !p.shared {
		return p, nil
	}
	err := changeWorkers(ctx, p.meta, func(all map[string]workerState) error {
		if ago := now.Sub(all[p.name].Seen); ago < aliveFor {
			return fmt.Errorf("%s: a worker named %s was at it %v ago: choose another --worker, or wait some seconds if that one died", c.name(), p.name, ago.Round(time.Second))
		}
		all[p.name] = p.state
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// tell says every few seconds how the worker stands, until leave. A word that cannot be said
// is left out: whoever needs the store will say what is wrong with it.
func (p *presence) tell(ctx context.Context, report func(*workerState)) {
	if !p.shared {
		return
	}
	p.report = report
	p.ended.Go(func() {
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-tick.C:
				changeWorkers(ctx, p.meta, p.say)
			}
		}
	})
}

// say writes the worker's line, and takes away those of the long dead.
func (p *presence) say(all map[string]workerState) error {
	last := p.state
	p.state.Seen = time.Now()
	p.report(&p.state)
	p.state.PerSecond = float64(p.state.Pages-last.Pages) / max(p.state.Seen.Sub(last.Seen).Seconds(), 1e-3)
	maps.DeleteFunc(all, func(_ string, w workerState) bool { return p.state.Seen.Sub(w.Seen) > forgetAfter })
	all[p.name] = p.state
	return nil
}

// leave takes the worker's line away.
func (p *presence) leave(ctx context.Context) error {
	close(p.done)
	p.ended.Wait()
	if !p.shared {
		return nil
	}
	return changeWorkers(context.WithoutCancel(ctx), p.meta, func(all map[string]workerState) error {
		delete(all, p.name)
		return nil
	})
}

// A workerStatus is a worker as skink status shows it.
type workerStatus struct {
	Name string `json:"name"`
	workerState
	Dead bool `json:"dead,omitempty"` // not heard of for a while
}

// workersAt lists the workers, by name.
func workersAt(ctx context.Context, s store.Reader, now time.Time) ([]workerStatus, error) {
	all, _, err := readWorkers(ctx, s)
	if err != nil {
		return nil, err
	}
	var list []workerStatus
	for name, w := range all {
		list = append(list, workerStatus{name, w, now.Sub(w.Seen) > aliveFor})
	}
	slices.SortFunc(list, func(a, b workerStatus) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// printWorkers writes the workers for people.
func printWorkers(out io.Writer, list []workerStatus, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintln(out, plural(int64(len(list)), "worker"))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range list {
		note := ""
		if s.Dead {
			note = fmt.Sprintf("not heard of for %v: what it held is free %v after its last word", now.Sub(s.Seen).Round(time.Second), claimsLast)
		}
		fmt.Fprintf(w, "  %s\tholds %s\t%d under way\t%s, %.1f a second\t%s\n", harmless.Line(s.Name), plural(int64(s.Hosts), "host"), s.InFlight, plural(s.Pages, "page"), s.PerSecond, note)
	}
	return w.Flush()
}
