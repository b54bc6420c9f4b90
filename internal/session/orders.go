package session

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skink/crawler"
	"skink/frontier"
	"skink/store"
)

// # Orders
//
// A user steers a crawl by orders, which stand in the store. So they reach every worker, they are
// kept for later runs, and none is lost if a process is killed. A worker reads them every obeyEvery.
// Only the last order about a subject is kept: the last for a host and verb, and the last of pause,
// resume and stop.

// An Order is one change to a crawl.
type Order struct {
	Verb      string    `json:"verb"`
	Of        string    `json:"of,omitempty"`    // a host, a regular expression or a seed; "" if the order is about the whole crawl
	Value     string    `json:"value,omitempty"` // a duration for delay, a number for per-host
	Reason    string    `json:"reason,omitempty"`
	Withdrawn bool      `json:"-"`  // removes the earlier order about the same subject
	By        string    `json:"by"` // user and machine
	At        time.Time `json:"at"`
}

// The verbs of orders. A stop ends only the runs that read it, and the last run is over then.
const (
	OrderPause   = "pause"
	OrderResume  = "resume"
	OrderStop    = "stop"
	OrderExclude = "exclude"
	OrderInclude = "include"
	OrderBlock   = "block"
	OrderUnblock = "unblock"
	OrderDelay   = "delay"
	OrderPerHost = "per-host"
	OrderPrefer  = "prefer"
	OrderAdd     = "add"
)

const ordersName = "orders"

// obeyEvery is how often a crawl reads the orders.
const obeyEvery = time.Second

// subject returns what only one order can be about.
func (o *Order) subject() string {
	switch o.Verb {
	case OrderPause, OrderResume, OrderStop:
		return OrderPause
	case OrderUnblock:
		return OrderBlock + " " + o.Of
	}
	return o.Verb + " " + o.Of
}

// Check returns an error if the order cannot be obeyed.
func (o *Order) Check() error {
	_, err := standing([]Order{*o})
	return err
}

// ReadOrders returns the orders in a store, oldest first.
func ReadOrders(ctx context.Context, s store.MetaReader) ([]Order, error) {
	all, err := store.ReadMeta[[]Order](ctx, s, ordersName, "orders")
	if all == nil {
		return nil, err
	}
	return *all, err
}

// Give adds an order to those in a store, in place of an earlier one about the same subject.
func Give(ctx context.Context, s store.MetaSwapper, o Order) error {
	return store.ChangeMeta(ctx, s, ordersName, "orders", func(old *[]Order) (*[]Order, error) {
		all := []Order{}
		if old != nil {
			all = slices.DeleteFunc(*old, func(before Order) bool { return before.subject() == o.subject() })
		}
		if !o.Withdrawn {
			all = append(all, o)
		}
		return &all, nil
	})
}

// standing returns what orders mean for the crawler.
func standing(all []Order) (*crawler.Orders, error) {
	o := &crawler.Orders{Blocked: map[string]string{}, Delay: map[string]time.Duration{}, PerHost: map[string]int{}}
	var err error
	for _, order := range all {
		switch order.Verb {
		case OrderPause:
			o.Paused = true
		case OrderBlock:
			o.Blocked[order.Of] = order.Reason
		case OrderPrefer:
			o.Prefer = append(o.Prefer, order.Of)
		case OrderDelay:
			o.Delay[order.Of], err = time.ParseDuration(order.Value)
		case OrderPerHost:
			o.PerHost[order.Of], err = strconv.Atoi(order.Value)
		case OrderExclude:
			o.Exclude, err = appendPattern(o.Exclude, order.Of)
		case OrderInclude:
			o.Include, err = appendPattern(o.Include, order.Of)
		}
		if err != nil {
			return nil, fmt.Errorf("order %s: %w", order.Text(), err)
		}
	}
	return o, nil
}

func readStanding(ctx context.Context, s store.MetaReader) (all []Order, now *crawler.Orders, err error) {
	if all, err = ReadOrders(ctx, s); err == nil {
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
	obey    func(*crawler.Orders)               // set before a call of follow that finds new orders
	stop    func()                              // stops the run as Ctrl-C does
	add     func(context.Context, string) error // adds a seed

	mu  sync.Mutex
	all []Order // guarded by mu: as last read
}

// openSteering reads the orders that a run begins with.
func openSteering(ctx context.Context, s *NamedStore, out Output) (*steering, error) {
	all, now, err := readStanding(ctx, s)
	if err != nil {
		return nil, err
	}
	t := &steering{store: s, out: out, control: &crawler.Control{}, all: all}
	t.control.Set(now)
	if i := slices.IndexFunc(all, func(o Order) bool { return o.Verb == OrderPause }); i >= 0 {
		out.Say("The crawl is paused by an order of %s; to go on, run %s", all[i].By, WithStore("skink control", s.Name)+" resume")
	}
	return t, nil
}

// seeds returns the seeds that users have added by orders.
func (t *steering) seeds() (all Seeds) {
	for _, o := range t.all {
		if o.Verb == OrderAdd {
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
		case OrderStop:
			t.stop()
		case OrderAdd:
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
	err := Give(ctx, t.store, Order{Verb: verb, Of: of, By: "the view", At: time.Now().UTC()})
	if err = cmp.Or(err, t.follow(ctx)); err != nil {
		t.out.Say("The order %s could not be given: %v", verb, err)
	}
}

// sown adds a seed to a crawl that runs. Each worker does so, because each has a scope of its own.
func (m *moves) sown(ctx context.Context, url string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	order, err := m.hosts(ctx, []string{frontier.HostOf(url)})
	if err != nil {
		return err
	}
	m.pipeline.SetOrder(order)
	m.archived(order)
	m.scope.AddSeed(url)
	m.seeds.Add(Seeds{URLs: []string{url}})
	return plant(ctx, m.store, m.seeds)
}

// Text returns an order as it was typed.
func (o *Order) Text() string {
	text := strings.TrimRight(o.Verb+" "+o.Of+" "+o.Value, " ")
	if o.Withdrawn {
		text += ", withdrawn"
	}
	if o.Reason != "" {
		text += " (" + o.Reason + ")"
	}
	return text
}
