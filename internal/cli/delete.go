package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/frontier"
	"skink/internal/archive"
	"skink/internal/session"
	"skink/report"
	"skink/store"
	"skink/store/postgres"
)

var deleteCommand = command{
	name:  "delete",
	args:  "[flags]",
	short: "delete pages from a store",
	setup: setupDelete,
}

type deleteFlags struct {
	store            *string
	url, host, match string
	warc             []string
	again, dryRun    bool
}

func setupDelete(flags *pflag.FlagSet) runFunc {
	f := &deleteFlags{store: addStoreFlag(flags)}
	flags.StringVar(&f.url, "url", "", "`URL` delete the page with this address")
	flags.StringVar(&f.host, "host", "", "`HOST` delete all pages of this host")
	flags.StringVar(&f.match, "match", "", "`REGEXP` delete pages whose URLs match this regular expression")
	flags.StringArrayVar(&f.warc, "warc", nil, "`DIR` also delete the pages from the web archives in this folder (repeatable)")
	flags.BoolVar(&f.again, "again", false, "let later crawls fetch the pages again")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only print what would be deleted")
	return f.run
}

// order returns the order that keeps the pages from being fetched again, and what it applies to.
func (f *deleteFlags) order() (o store.Order, match func(url string) bool, err error) {
	o = store.Order{Verb: store.OrderExclude, Of: f.match, Reason: "deleted", By: caller(), At: time.Now().UTC()}
	switch {
	case len(f.url+f.host+f.match) != max(len(f.url), len(f.host), len(f.match)) || f.url+f.host+f.match == "":
		return o, nil, usagef("specify one of --url, --host and --match")
	case f.host != "":
		o.Verb, o.Of = store.OrderBlock, hostNamed(f.host)
		return o, func(url string) bool { return frontier.HostOf(url) == o.Of }, nil
	case f.url != "":
		url, err := frontier.Canonical(f.url)
		if err != nil {
			return o, nil, usagef("--url %s: %w", brief(f.url), err)
		}
		o.Of = "^" + regexp.QuoteMeta(url) + "$"
	}
	re, err := regexp.Compile(o.Of)
	if err != nil {
		return o, nil, usagef("--match: %w", err)
	}
	return o, re.MatchString, nil
}

func (f *deleteFlags) run(ctx context.Context, con Console, _ []string) (err error) {
	order, match, err := f.order()
	if err != nil {
		return err
	}
	if at, err := addressOf(*f.store); err == nil && isShared(*f.store) && !f.dryRun {
		release, err := postgres.Lock(ctx, at)
		if err != nil {
			return err
		}
		defer release()
	}
	s, err := openStore(ctx, *f.store, false, 16)
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, s.Close()) }()
	e := &session.Erasure{Match: match}
	e.Warc = &archive.Erasure{Dirs: f.warc, Erases: e.Erases, Note: func(text string) { fmt.Fprintln(con.Err, harmless.Line(text)) }}
	if !f.dryRun {
		end, err := e.Begin(ctx, &s.NamedStore)
		if err != nil {
			return err
		}
		defer end()
	}
	if err := e.Find(ctx, s); err != nil {
		return err
	}
	for _, place := range e.Places {
		fmt.Fprintf(con.Out, "archived: %s\n", harmless.Line(place))
	}
	text := fmt.Sprintf("%s, %s to them, and %s", report.Counted(int64(e.Pages), "record"), report.Counted(int64(e.Links), "link"), report.Counted(int64(e.Queued), "queued URL"))
	done := "would delete"
	if f.dryRun {
		err = e.Warc.Write(ctx, "")
	} else if done, err = "deleted", f.delete(ctx, s, e, order); err != nil {
		return fmt.Errorf("delete from %s: %w: run the command again", s.Name, err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(con.Out, "%s %s\n", done, text)
	if w := e.Warc; f.warc != nil {
		fmt.Fprintf(con.Out, "web archives: %s %s (%s), and %s to another record\n", done, report.Counted(w.Records, "record"), report.Bytes(w.Bytes), report.Counted(w.Moved, "payload"))
	}
	return nil
}

// delete deletes what e has found.
func (f *deleteFlags) delete(ctx context.Context, s *writeStore, e *session.Erasure, o store.Order) (err error) {
	name := *f.store
	if err := roomFor(name, name); err != nil {
		return err
	}
	if !f.again {
		if err := store.Give(ctx, s, o); err != nil {
			return err
		}
	}
	if err := e.Mark(ctx, &s.NamedStore); err != nil {
		return err
	}
	to, err := openAside(ctx, name)
	if err != nil {
		return err
	}
	err = e.Copy(ctx, to, s, func(int64) {})
	if err = keepFirst(err, to.Close()); err == nil {
		err = s.Close()
	}
	if err != nil {
		return errors.Join(err, to.remove())
	}
	if err := to.take(); err != nil {
		return err
	}
	return e.Complete()
}
