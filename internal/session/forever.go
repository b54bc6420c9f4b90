package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skink/frontier"
	"skink/report"
	"skink/store"
)

// # Crawls that stay
//
// With [Options.Forever], a run consists of rounds. A round goes through the phases of any other run,
// so a crawl that stays equals a series of crawls, and a killed one is continued like any other.
// Between two rounds, the run sleeps until a page is due, or until a user adds a seed.
//
// A round may take long, because one host has many pages or does not respond. So pages of other hosts that
// become due in the meantime are added to the round.
//
// To find the pages that are due, a round reads all records when it begins, when it ends, and when it
// adds pages. These times are at least a quarter of [Schedule].Least apart, and at least pausePerReading
// times as long as the reading took. Pages that become due in the meantime are visited together.
//
// Workers that share a store have their rounds in common. One of them selects the URLs, and the others
// wait for it, because a second one could queue a page that has just been visited. If the worker dies,
// the others visit what it has queued, and the next round selects the rest.

const (
	pausePerReading = 40
	selectedEvery   = 200 * time.Millisecond // how often a worker looks whether another one has selected the URLs
)

// A lasting holds what the rounds of a run have in common. The first round opens it.
type lasting struct {
	life      context.Context    // of the run
	stop      context.CancelFunc // ends life
	reloading reloading
	present   *presence
	steer     *steering
	steering  sync.WaitGroup
	meter     meter
	endView   func() error
	now       atomic.Pointer[running] // the crawl of the last round
	selected  *selection              // that of the last round
	stream    *consumer               // the feed on standard output
	shared    atomic.Bool             // sharedFiles has run, and nothing new has been fetched since
}

// attend opens what is to be opened when the first crawl is ready to run. It passes orders to each.
func (r *run) attend(v *running, sown func(context.Context, string) error) error {
	r.steer.enter(v.crawl.Obey, sown)
	if r.now.Swap(v) != nil {
		return nil
	}
	r.present.tell(r.life, func(w *WorkerState) {
		v := r.now.Load()
		added := v.pipeline.Added()
		w.Hosts, w.InFlight, w.Pages = v.crawl.Held(), v.crawl.InFlight(), added.Pages()
	})
	r.steering.Go(func() { r.steer.steer(r.life) })
	return r.openView()
}

func (l *lasting) close() (err error) {
	l.stop()
	l.steering.Wait()
	if l.endView != nil {
		err = l.endView()
	}
	return errors.Join(err, l.meter.close())
}

// openCommonRound opens the round that c belongs to, and decides whether this worker selects its URLs. If
// another worker is selecting them, it waits.
func (r *run) openCommonRound(ctx context.Context, c *selection) error {
	first := r.now.Load() == nil
	for {
		counts, err := r.store.Counts(ctx)
		if err != nil {
			return err
		}
		workers, err := WorkersAt(ctx, r.store, TimeAt(ctx, r.store))
		if err != nil {
			return err
		}
		wait := false
		err = store.ChangeMeta(ctx, r.store, roundName, roundOfRun, func(last *round) (*round, error) {
			next := round{Asked: time.Now().UTC(), Selector: r.opt.Crawl.Worker, Again: *c.options}
			selects := last == nil && !(first && counts.Pending > 0) || last != nil && last.Selector != "" && counts.Pending == 0
			wait = last != nil && last.Selector != next.Selector && slices.ContainsFunc(workers, func(w WorkerStatus) bool { return w.Name == last.Selector && !w.Dead })
			switch c.others = !selects; {
			case wait:
			case selects:
				c.round = next
				return &next, nil
			case last != nil:
				c.round = *last
			default:
				c.round.Asked = next.Asked
			}
			return nil, nil
		})
		if err != nil || !wait {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(selectedEvery):
		}
	}
}

// extend adds to the round the pages that become due while its crawl runs, until ctx ends. They were not due when
// URLs of the round were last selected, so none of them is pending, and none can just have been visited. If
// the worker that selects the URLs has died, extend adds none.
func (r *run) extend(ctx context.Context, c *selection) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(c.mayRead())):
		}
		mine := false
		err := store.ChangeMeta(ctx, r.store, roundName, roundOfRun, func(last *round) (*round, error) {
			next := round{Asked: time.Now().UTC(), Selector: r.opt.Crawl.Worker, Again: *c.options}
			if mine = last != nil && last.Selector == "" && last.Asked.Add(c.options.Schedule.Least/4).Before(next.Asked); !mine {
				c.round.Asked = next.Asked
				if last != nil {
					c.round.Asked = last.Asked
				}
				return nil, nil
			}
			c.from, c.round = last.Asked, next
			return &next, nil
		})
		if mine && err == nil {
			c.others, c.named, c.postponed = false, nil, false
			_, err = c.putBack(ctx)
		}
		if err != nil {
			return // the crawl itself reports an error of the store
		}
	}
}

// mayRead returns when all records may be read again.
func (c *selection) mayRead() time.Time {
	return frontier.Latest(c.round.Asked.Add(c.options.Schedule.Least/4), c.read.Add(pausePerReading*c.took))
}

// A Sleep is the time between two rounds of a crawl that stays.
type Sleep struct {
	After time.Time `json:"after"` // when the round before was opened
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	Due   int64     `json:"due"` // number of pages that are due at Until
}

const sleepName = "sleep"

// ReadSleep returns the last sleep that a crawl has begun, or nil if none has.
func ReadSleep(ctx context.Context, s store.MetaReader) (*Sleep, error) {
	return store.ReadMeta[Sleep](ctx, s, sleepName, "when the crawl sleeps")
}

// sleep waits until the next round. It returns an error if ctx ends.
func (r *run) sleep(ctx context.Context) error {
	s, err := ReadSleep(ctx, r.store)
	if err == nil && (s == nil || !s.After.Equal(r.selected.round.Asked)) { // otherwise, another worker has found when to wake
		if s, err = r.selected.nextDue(ctx); err == nil {
			err = store.WriteMeta(ctx, r.store, sleepName, s)
		}
	}
	if err != nil {
		return err
	}
	r.out.event("sleeping", []any{"until", s.Until, "due", s.Due}, "Sleeping until "+s.Until.Format(time.RFC3339)+", when "+report.Counted(s.Due, "page")+" will be due")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.steer.added:
	case <-time.After(time.Until(s.Until)):
	}
	return nil
}

// nextDue returns how long to sleep after the round.
func (c *selection) nextDue(ctx context.Context) (*Sleep, error) {
	now, schedule := time.Now().UTC(), c.options.Schedule
	counts, err := c.store.Counts(ctx)
	if err != nil {
		return nil, err
	}
	least := c.mayRead()
	most := schedule.Most
	if counts.Pending > 0 { // on hosts that do not respond
		most = schedule.Least
	}
	s := &Sleep{After: c.round.Asked, Since: now, Until: frontier.Latest(now.Add(most), least).UTC()}
	after := *c
	after.named, after.round.Asked, after.from = nil, now, time.Time{}
	due := func(at time.Time) {
		if at = frontier.Latest(at, least).UTC(); at.Before(s.Until) {
			s.Until, s.Due = at, 0
		}
		if at.Equal(s.Until) {
			s.Due++
		}
	}
	err = after.each(ctx, due, func(frontier.Item) error { due(now); return nil })
	return s, err
}
