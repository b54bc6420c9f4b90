package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/internal/archive"
	"skink/internal/complete"
	"skink/internal/session"
	"skink/report"
	"skink/report/audit"
	"skink/store"
	"skink/view"
)

const viewAddress = "127.0.0.1:8465"

var viewCommand = command{
	name:  "view",
	args:  "[flags]",
	short: "show a store in a browser",
	setup: setupView,
	rules: completeRules,
}

type viewFlags struct {
	store    *string
	listen   address
	complete *completeFlags
}

func setupView(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &viewFlags{store: addStoreFlag(flags), complete: addCompleteFlags(flags)}
	f.listen = address{viewAddress, viewAddress}
	flags.Var(&f.listen, "listen", "`ADDR` listen on this address; a port without a host means 127.0.0.1")
	return f.run
}

func (f *viewFlags) run(ctx context.Context, con Console, _ []string) error {
	lent := &lender{name: *f.store, by: "skink view at " + f.listen.full, messages: con.Err}
	defer lent.close()
	var opt view.Options
	err := lent.Read(ctx, func(s store.Reader) error {
		settings, err := storedSettings(ctx, s)
		if err != nil {
			return err
		}
		rule, err := session.StoredRule(settings, *f.store)
		if err != nil {
			return err
		}
		opt = viewOf(f.listen.full, rule, f.complete.flags)
		opt.Store, opt.Name, opt.Moment = lent, *f.store, session.MomentOf
		shown, err := f.complete.judge(ctx, s, opt.Name, &settings)
		if whole, is := shown.(*complete.Whole); is {
			opt.Store, opt.Rule.Similarity = judged{lent, whole}, settings.Similarity
		}
		opt.About = report.About{Store: opt.Name, Settings: settings, Whole: f.complete.complete}
		return err
	})
	if err != nil {
		return err
	}
	server, err := view.Listen(f.listen.full, opt)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	fmt.Fprintf(con.Err, "%s is shown at %s\nPress Ctrl-C to stop.\n", opt.Name, server.URL())
	<-ctx.Done()
	return server.Close()
}

// A judged lends a store with the verdicts of a comparison of all its pages.
type judged struct {
	*lender
	whole *complete.Whole
}

func (j judged) Read(ctx context.Context, read func(store.Reader) error) error {
	return j.lender.Read(ctx, func(s store.Reader) error { return read(j.whole.On(s)) })
}

// viewOf returns the options for showing a store in a browser at address. rule is the rule by which
// the store's pages were judged. The configuration file defines the segments. The caller must still set the store.
func viewOf(address string, rule dedup.Rule, flags *pflag.FlagSet) view.Options {
	nearly := func(ctx context.Context, s store.Reader) (*audit.Nearly, error) {
		return complete.NearlyUnasked(ctx, s, rule)
	}
	return view.Options{Rule: rule, Address: address, Alike: alikeBy(rule), Nearly: nearly, Picture: archive.Thumbnail, Segments: configOf(flags).file.Segments}
}

// alikeBy returns a function that compares all pages of a store with each other under rule. The
// function passes its progress, from 0 to 1, to tell.
func alikeBy(rule dedup.Rule) func(context.Context, store.Reader, func(float64)) (*view.Alike, error) {
	return func(ctx context.Context, s store.Reader, tell func(float64)) (*view.Alike, error) {
		similarities := append(complete.EachTwentieth(rule.Similarity), rule.Similarity)
		slices.Sort(similarities)
		a, err := complete.FindAlike(ctx, s, complete.Options{Rule: rule, Keep: true, Sparing: true, Progress: tell}, slices.Compact(similarities)...)
		if err != nil {
			return nil, err
		}
		return &view.Alike{Steps: a.Steps(), Near: a.Near, Nearly: a.Nearly(rule)}, nil
	}
}
