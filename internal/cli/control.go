package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/internal/session"
	"skink/store"
	"skink/store/badger"
	"skink/store/postgres"
	"skink/store/remote"
)

var controlCommand = command{
	name:  "control",
	args:  "[flags] ORDER...",
	short: "steer a crawl: pause or stop it, block hosts, exclude URLs",
	long: `
Gives an order to a crawl, and to all workers of a shared store. A running crawl obeys within
a few seconds. Orders are kept in the store and apply to later runs, too; skink status lists
them. The orders are:

  pause                 send no new requests
  resume                end a pause
  stop                  stop as Ctrl-C does; the crawl command continues the crawl
  exclude REGEXP        do not fetch URLs that match, as with crawl --exclude
  include REGEXP        follow only links that match, as with crawl --include
  block HOST            send this host no more requests
  unblock HOST          end a block
  delay HOST DURATION   wait at least this long between requests to the host
  per-host HOST N       send the host at most N requests at the same time
  add URL...            add seeds

A queued URL that is blocked or excluded ends in the state outside, and crawl --retry outside
fetches it when the order is withdrawn. To withdraw exclude, include, delay or per-host, give
the order with --withdraw.

These commands pause a crawl, and block a host:

  skink control --store docs pause
  skink control --store docs block example.org --reason 'they asked us to stop'`,
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

// An orderForm says how many arguments follow a verb.
type orderForm struct {
	verb, args string
	words      int // number of words after the verb; -1 means one or more
}

var orderForms = []orderForm{
	{session.OrderPause, "", 0}, {session.OrderResume, "", 0}, {session.OrderStop, "", 0},
	{session.OrderExclude, " REGEXP", 1}, {session.OrderInclude, " REGEXP", 1},
	{session.OrderBlock, " HOST", 1}, {session.OrderUnblock, " HOST", 1},
	{session.OrderDelay, " HOST DURATION", 2}, {session.OrderPerHost, " HOST N", 2}, {session.OrderAdd, " URL...", -1},
}

func (f *controlFlags) run(ctx context.Context, con Console, args []string) error {
	orders, err := f.parse(args)
	if err != nil {
		return err
	}
	for _, o := range orders {
		for err = error(store.ErrChanged); errors.Is(err, store.ErrChanged); { // another process gave an order at the same time
			err = f.give(ctx, o)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(con.Out, "ordered: %s\n", harmless.Line(o.Text()))
	}
	return nil
}

func (f *controlFlags) parse(args []string) (all []session.Order, err error) {
	var form *orderForm
	var verbs []string
	for i := range orderForms {
		if verbs = append(verbs, orderForms[i].verb); orderForms[i].verb == args[0] {
			form = &orderForms[i]
		}
	}
	switch words := len(args) - 1; {
	case form == nil:
		return nil, usagef("unknown order %s: %s", brief(args[0]), didYouMean(args[0], verbs, "", "must be "+strings.Join(verbs, ", ")))
	case words != form.words && (form.words >= 0 || words == 0):
		return nil, usagef("the form of this order is: skink control %s%s", form.verb, form.args)
	}
	o := session.Order{Verb: form.verb, Reason: f.reason, By: caller(), At: time.Now().UTC(), Withdrawn: f.withdraw}
	if form.words == 0 {
		return []session.Order{o}, nil
	}
	for _, of := range args[1 : len(args)-max(form.words-1, 0)] {
		if o.Of = of; form.words == 2 {
			o.Value = args[2]
		}
		if err := settleOrder(&o); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// settleOrder checks the arguments of an order, and brings them into their stored form.
func settleOrder(o *session.Order) error {
	switch o.Verb {
	case session.OrderAdd:
		var seeds session.Seeds
		if err := addSeed(&seeds, o.Of); err != nil {
			return usagef("add: %w", err)
		}
		o.Of = seeds.URLs[0]
	case session.OrderBlock, session.OrderUnblock, session.OrderDelay, session.OrderPerHost:
		o.Of = hostNamed(o.Of)
	}
	if n, err := strconv.Atoi(o.Value); o.Verb == session.OrderPerHost && (err != nil || n < 1) {
		return usagef("per-host %s: must be a number from 1", brief(o.Value))
	}
	if d, err := time.ParseDuration(o.Value); o.Verb == session.OrderDelay && (err != nil || d < 0) {
		return usagef("delay %s: must be a duration, such as 5s", brief(o.Value))
	}
	if err := o.Check(); err != nil {
		return usagef("%w", err)
	}
	return nil
}

// give gives an order through the process that has the store open, or opens the store.
func (f *controlFlags) give(ctx context.Context, o session.Order) error {
	if isShared(*f.store) {
		s, _, err := openPostgres(ctx, *f.store, postgres.Options{})
		if err != nil {
			return err
		}
		return keepFirst(session.Give(ctx, s, o), s.Close())
	}
	if err := isFolder(*f.store); err != nil {
		return err
	}
	for until := time.Now().Add(waitForAnswer); ; {
		if r, err := remote.Open(ctx, *f.store); err == nil {
			return keepFirst(session.Give(ctx, r, o), r.Close())
		}
		s, err := open(*f.store, badger.Options{})
		if err == nil {
			return keepFirst(session.Give(ctx, s, o), s.Close())
		}
		if !errors.Is(err, store.ErrInUse) || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
	}
}

// caller returns the name of the user and the machine.
func caller() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	machine, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + machine
}

func printOrders(out io.Writer, all []session.Order) {
	for _, o := range all {
		fmt.Fprintf(out, "order by %s at %s: %s\n", harmless.Line(o.By), o.At.Format(time.RFC3339), harmless.Line(o.Text()))
	}
}
