package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/crawler"
	"skink/internal/session"
	"skink/store"
	"skink/store/remote"
)

var controlCommand = command{
	name:  "control",
	args:  "[flags] ORDER...",
	short: "steer a crawl: pause or stop it, block hosts, exclude URLs",
	setup: setupControl,
}

type controlFlags struct {
	store    *string
	reason   string
	withdraw bool
}

func setupControl(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &controlFlags{store: addStoreFlag(flags)}
	flags.StringVar(&f.reason, "reason", "", "`TEXT` the reason, which skink status and the records of blocked URLs show")
	flags.BoolVar(&f.withdraw, "withdraw", false, "withdraw the order instead of giving it")
	return f.run
}

// orderForms are the arguments of the orders.
var orderForms = map[string]string{
	store.OrderPause: "", store.OrderResume: "", store.OrderStop: "", store.OrderReload: "",
	store.OrderExclude: " REGEXP", store.OrderInclude: " REGEXP", store.OrderBlock: " HOST", store.OrderUnblock: " HOST",
	store.OrderDelay: " HOST DURATION", store.OrderPerHost: " HOST N", store.OrderPrefer: " HOST", store.OrderAdd: " URL...",
}

func (f *controlFlags) run(ctx context.Context, con Console, args []string) error {
	orders, err := f.parse(args)
	if err != nil {
		return err
	}
	for _, o := range orders {
		if err := f.give(ctx, o); err != nil {
			return err
		}
		fmt.Fprintf(con.Out, "ordered: %s\n", harmless.Line(o.Text()))
	}
	return nil
}

func (f *controlFlags) parse(args []string) (all []store.Order, err error) {
	verb, words := args[0], args[1:]
	form, known := orderForms[verb]
	verbs := slices.Sorted(maps.Keys(orderForms))
	wanted := len(strings.Fields(form))
	switch {
	case !known:
		return nil, usagef("unknown order %s: %s", brief(verb), didYouMean(verb, verbs, "", "must be "+strings.Join(verbs, ", ")))
	case len(words) != wanted && !(verb == store.OrderAdd && len(words) > 0):
		return nil, usagef("the form of this order is: skink control %s%s", verb, form)
	}
	o := store.Order{Verb: verb, Reason: f.reason, By: caller(), At: time.Now().UTC(), Withdrawn: f.withdraw}
	if wanted == 0 {
		return []store.Order{o}, nil
	}
	if wanted == 2 {
		o.Value, words = words[1], words[:1]
	}
	for _, o.Of = range words {
		if err := settleOrder(&o); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// settleOrder checks the arguments of an order, and brings them into their stored form.
func settleOrder(o *store.Order) error {
	switch o.Verb {
	case store.OrderAdd:
		var seeds session.Seeds
		if err := addSeed(&seeds, o.Of); err != nil {
			return usagef("add: %w", err)
		}
		o.Of = seeds.URLs[0]
	case store.OrderBlock, store.OrderUnblock, store.OrderDelay, store.OrderPerHost, store.OrderPrefer:
		o.Of = hostNamed(o.Of)
	}
	if n, err := strconv.Atoi(o.Value); o.Verb == store.OrderPerHost && (err != nil || n < 1) {
		return usagef("per-host %s: must be a number from 1", brief(o.Value))
	}
	if d, err := time.ParseDuration(o.Value); o.Verb == store.OrderDelay && (err != nil || d < 0) {
		return usagef("delay %s: must be a duration, such as 5s", brief(o.Value))
	}
	if err := session.CheckOrder(*o); err != nil {
		return usagef("%w", err)
	}
	return nil
}

// give gives an order through the process that has the store open, or opens the store.
func (f *controlFlags) give(ctx context.Context, o store.Order) error {
	return untilFree(ctx, func() error {
		if err := store.Give(ctx, elsewhere(*f.store), o); !errors.Is(err, remote.ErrNobody) {
			return err
		}
		s, err := openStore(ctx, *f.store, false, 16)
		if err != nil {
			return err
		}
		return keepFirst(store.Give(ctx, s, o), s.Close())
	})
}

// An elsewhere names a store that another process has open. Each call begins a session of its own, and
// so sees the newest values.
type elsewhere string

func (dir elsewhere) Meta(ctx context.Context, name string) (value []byte, err error) {
	return value, dir.with(ctx, func(r *remote.Reader) (err error) { value, err = r.Meta(ctx, name); return err })
}

func (dir elsewhere) SwapMeta(ctx context.Context, name string, old, value []byte) error {
	return dir.with(ctx, func(r *remote.Reader) error { return r.SwapMeta(ctx, name, old, value) })
}

func (dir elsewhere) with(ctx context.Context, do func(*remote.Reader) error) error {
	r, err := remote.Open(ctx, string(dir))
	if err != nil {
		return err
	}
	return keepFirst(do(r), r.Close())
}

// caller returns the names of the user and the machine.
func caller() string {
	machine, _, _ := strings.Cut(crawler.WorkerName(""), "/")
	if u, err := user.Current(); err == nil {
		return u.Username + "@" + machine
	}
	return machine
}
