package session

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"skink/crawler"
	"skink/frontier"
	"skink/store"
)

// # Steering
//
// A run follows the orders in its store, which it reads every obeyEvery. See [store.Order].

// obeyEvery is how often a crawl reads the orders.
const obeyEvery = time.Second

// CheckOrder returns an error if the order cannot be obeyed.
func CheckOrder(o store.Order) error {
	_, err := standing([]store.Order{o})
	return err
}

// standing returns what orders mean for the crawler.
func standing(all []store.Order) (*crawler.Orders, error) {
	o := &crawler.Orders{Blocked: map[string]string{}, Delay: map[string]time.Duration{}, PerHost: map[string]int{}}
	var err error
	for _, order := range all {
		switch order.Verb {
		case store.OrderPause:
			o.Paused = true
		case store.OrderBlock:
			o.Blocked[order.Of] = order.Reason
		case store.OrderPrefer:
			o.Prefer = append(o.Prefer, order.Of)
		case store.OrderDelay:
			o.Delay[order.Of], err = time.ParseDuration(order.Value)
		case store.OrderPerHost:
			o.PerHost[order.Of], err = strconv.Atoi(order.Value)
		case store.OrderExclude:
			o.Exclude, err = appendPattern(o.Exclude, order.Of)
		case store.OrderInclude:
			o.Include, err = appendPattern(o.Include, order.Of)
		}
		if err != nil {
			return nil, fmt.Errorf("order %s: %w", order.Text(), err)
		}
	}
	return o, nil
}

func readStanding(ctx context.Context, s store.MetaReader) (all []store.Order, now *crawler.Orders, err error) {
	if all, err = store.ReadOrders(ctx, s); err == nil {
		now, err = standing(all)
	}
	return all, now, err
}

func appendPattern(all []*regexp.Regexp, text string) ([]*regexp.Regexp, error) {
	re, err := regexp.Compile(text)
	return append(all, re), err
}

// A steering makes one run follow the orders in its store.
type steering struct {
	store   *NamedStore
	out     Output
	control *crawler.Control
	stop    func()        // stops the run as Ctrl-C does
	reload  func()        // reads the configuration again
	ordered atomic.Bool   // an order has stopped the run
	added   chan struct{} // gets a value if a seed has been added

	mu   sync.Mutex
	all  []store.Order                       // guarded by mu: as last read
	obey func(*crawler.Orders)               // guarded by mu: what passes orders to the crawl, if one runs, or to its options
	add  func(context.Context, string) error // guarded by mu: adds a seed to the crawl that runs; nil if there is none
}

// openSteering reads the orders that a run begins with. The function stop stops the run.
func openSteering(ctx context.Context, s *NamedStore, out Output, stop func()) (*steering, error) {
	all, now, err := readStanding(ctx, s)
	if err != nil {
		return nil, err
	}
	t := &steering{store: s, out: out, control: &crawler.Control{}, stop: stop, added: make(chan struct{}, 1), all: all}
	t.control.Set(now)
	t.leave()
	if i := slices.IndexFunc(all, func(o store.Order) bool { return o.Verb == store.OrderPause }); i >= 0 {
		out.Say("The crawl is paused by an order of %s; to go on, run %s", all[i].By, WithStore("skink control", s.Name)+" resume")
	}
	return t, nil
}

// enter passes later orders to a crawl that runs.
func (t *steering) enter(obey func(*crawler.Orders), add func(context.Context, string) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.obey, t.add = obey, add
}

// leave passes later orders to the next crawl.
func (t *steering) leave() { t.enter(t.control.Set, nil) }

// seeds returns the seeds that users have added by orders.
func (t *steering) seeds() (all Seeds) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.all {
		if o.Verb == store.OrderAdd {
			all.URLs = append(all.URLs, o.Of)
		}
	}
	return all
}

// steer follows the orders until ctx ends.
func (t *steering) steer(ctx context.Context) {
	for ctx.Err() == nil {
		_ = t.follow(ctx) // the crawl itself reports an error of the store
		select {
		case <-ctx.Done():
		case <-t.out.Reload:
			t.reload()
		case <-time.After(obeyEvery):
		}
	}
}

// follow reads the orders, and obeys those that are new.
func (t *steering) follow(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, now, err := readStanding(ctx, t.store)
	if err != nil || slices.Equal(all, t.all) {
		return err
	}
	t.obey(now)
	before := t.all
	t.all = all
	for _, o := range all {
		if slices.Contains(before, o) {
			continue
		}
		t.out.Say("Order by %s: %s", o.By, o.Text())
		switch o.Verb {
		case store.OrderStop:
			t.ordered.Store(true)
			t.stop()
		case store.OrderReload:
			t.reload()
		case store.OrderAdd:
			select {
			case t.added <- struct{}{}:
			default: // there is a value already
			}
			if t.add == nil {
				continue
			}
			if err := t.add(ctx, o.Of); err != nil {
				t.out.Say("The seed %s could not be added: %v", o.Of, err)
			}
		}
	}
	return nil
}

// order gives an order and follows it.
func (t *steering) order(verb, of string) {
	ctx := context.Background()
	err := store.Give(ctx, t.store, store.Order{Verb: verb, Of: of, By: "the view", At: time.Now().UTC()})
	if err = cmp.Or(err, t.follow(ctx)); err != nil {
		t.out.Say("The order %s could not be given: %v", verb, err)
	}
}

// sown adds a seed to a crawl that runs. Each worker does so, because each has a scope of its own.
func (m *moves) sown(ctx context.Context, url string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	order, err := orderHosts(ctx, m.store, m.opt.Prefer, []string{frontier.HostOf(url)})
	if err != nil {
		return err
	}
	m.pipeline.SetOrder(order)
	m.archived(order)
	m.crawl.AddSeed(url)
	m.sayRefused(m.options, url)
	m.seeds.Add(Seeds{URLs: []string{url}})
	return plant(ctx, m.store, m.options, m.seeds)
}

// sayRefused says which seeds must not be requested.
func (r *run) sayRefused(o *crawler.Options, seeds ...string) {
	for _, url := range seeds {
		if why := o.Refuses(frontier.Item{URL: url}); why != "" {
			r.out.Say("The seed %s is not fetched: %s", url, why)
		}
	}
}
