package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"skink/internal/complete"
	"skink/store"
)

// # Active workers
//
// Workers that share a store write their state to it every few seconds. One value in the store
// contains a line for each worker. The lines are only for display: the frontier records which
// worker has claimed which host. Times come from the clock of the store's server, because the
// clocks of the workers' machines may differ.

// A WorkerState is the state that a worker reports.
type WorkerState struct {
	Started   time.Time `json:"started"`
	Seen      time.Time `json:"seen"`
	Hosts     int       `json:"hosts"`      // claimed hosts
	InFlight  int       `json:"in_flight"`  // URLs being fetched or judged
	Pages     int64     `json:"pages"`      // pages judged since the worker started
	PerSecond float64   `json:"per_second"` // pages per second since the last report
}

const workersName = "workers"

const (
	beatEvery   = 2 * time.Second
	aliveFor    = 3 * beatEvery    // a worker that has not written its state for this long counts as dead
	forgetAfter = 10 * time.Minute // a worker that has not written its state for this long is not listed
	ClaimsLast  = 30 * time.Second // if a worker has not renewed its claims for this long, other workers may claim its hosts
)

const listOfWorkers = "the list of workers" // in errors

func readWorkers(ctx context.Context, s store.MetaReader) (map[string]WorkerState, error) {
	return store.MetaValue[map[string]WorkerState](ctx, s, workersName, listOfWorkers)
}

// changeWorkers reads the states of all workers from the store, calls change on them, and writes
// the result. It retries if another worker has written in the meantime.
func changeWorkers(ctx context.Context, m store.Meta, change func(map[string]WorkerState) error) error {
	return store.ChangeMeta(ctx, m, workersName, listOfWorkers, func(all *map[string]WorkerState) (*map[string]WorkerState, error) {
		all = cmp.Or(all, &map[string]WorkerState{})
		return all, change(*all)
	})
}

type presence struct {
	meta   store.Meta
	shared bool // false if this process is the only worker; then nothing is written
	name   string
	state  WorkerState
	report func(*WorkerState)
	stop   func()
}

// join writes the state of this worker to the store. It fails if an active worker has the same
// name, because the frontier could not distinguish the two.
func join(ctx context.Context, s *NamedStore, name string) (*presence, error) {
	now := TimeAt(ctx, s)
	p := &presence{meta: s, shared: s.Shared, name: name, state: WorkerState{Started: now, Seen: now}, report: func(*WorkerState) {}, stop: func() {}}
	if !p.shared {
		return p, nil
	}
	err := changeWorkers(ctx, p.meta, func(all map[string]WorkerState) error {
		if ago := now.Sub(all[p.name].Seen); ago < aliveFor {
			return fmt.Errorf("%s: a worker named %s sent a heartbeat %v ago: choose another --worker; if that worker died, wait a few seconds", s.Name, p.name, ago.Round(time.Second))
		}
		all[p.name] = p.state
		return nil
	})
	return p, err
}

// tell writes the state of this worker every beatEvery until leave is called. It ignores errors,
// because the crawl itself will report a store failure. Call it once.
func (p *presence) tell(ctx context.Context, report func(*WorkerState)) {
	if p.shared {
		p.report = report
		p.stop = every(ctx, beatEvery, func(ctx context.Context) { _ = p.write(ctx) })
	}
}

// every calls a function at intervals until stop is called or ctx ends. stop waits until the last call has ended.
func every(ctx context.Context, interval time.Duration, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var calls sync.WaitGroup
	calls.Go(func() { _ = repeat(ctx, interval, func() error { do(ctx); return nil }) })
	return func() { cancel(); calls.Wait() }
}

// repeat calls do at intervals until ctx ends or do fails.
func repeat(ctx context.Context, interval time.Duration, do func() error) error {
	for tick := time.Tick(interval); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		if ctx.Err() != nil { // if both cases are ready, select chooses one at random
			return nil
		}
		if err := do(); err != nil {
			return err
		}
	}
}

// write also removes the states of workers that died long ago.
func (p *presence) write(ctx context.Context) error {
	last := p.state
	p.state.Seen = TimeAt(ctx, p.meta)
	p.report(&p.state)
	p.state.PerSecond = float64(p.state.Pages-last.Pages) / max(p.state.Seen.Sub(last.Seen).Seconds(), 1e-3)
	return changeWorkers(ctx, p.meta, func(all map[string]WorkerState) error {
		maps.DeleteFunc(all, func(_ string, w WorkerState) bool { return p.state.Seen.Sub(w.Seen) > forgetAfter })
		all[p.name] = p.state
		return nil
	})
}

// TimeAt returns the time by the clock of a store's server. For a store in a folder, it returns the
// local time.
func TimeAt(ctx context.Context, s any) time.Time {
	if servers, ok := beneath(s).(interface {
		Now(context.Context) (time.Time, error)
	}); ok {
		if now, err := servers.Now(ctx); err == nil {
			return now
		}
	}
	return time.Now()
}

func beneath(s any) any {
	switch s := s.(type) {
	case *NamedStore:
		return beneath(s.Store)
	case *complete.Whole:
		return beneath(s.Reader)
	}
	return s
}

func (p *presence) leave(ctx context.Context) error {
	p.stop()
	if !p.shared {
		return nil
	}
	return changeWorkers(context.WithoutCancel(ctx), p.meta, func(all map[string]WorkerState) error {
		delete(all, p.name)
		return nil
	})
}

// A WorkerStatus is the state of a worker as skink status prints it.
type WorkerStatus struct {
	Name string `json:"name"`
	WorkerState
	Dead bool `json:"dead,omitempty"` // the worker has not written its state for aliveFor, and so has no hosts and no URLs in flight
}

// WorkersAt returns the states of a store's workers at the time now, sorted by name.
func WorkersAt(ctx context.Context, s store.Reader, now time.Time) ([]WorkerStatus, error) {
	all, err := readWorkers(ctx, s)
	if err != nil {
		return nil, err
	}
	var list []WorkerStatus
	for name, w := range all {
		dead := now.Sub(w.Seen) > aliveFor
		if dead {
			w.Hosts, w.InFlight, w.PerSecond = 0, 0, 0
		}
		list = append(list, WorkerStatus{name, w, dead})
	}
	slices.SortFunc(list, func(a, b WorkerStatus) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}
