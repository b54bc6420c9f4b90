package cli

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"skink/internal/complete"
	"skink/report"
	"skink/store"
)

var reportCommand = command{
	name:  "report",
	args:  "[flags]",
	short: "print the duplicate report of a store",
	long: `
Prints who repeats whom: totals, the share of duplicates of each host, and the
clusters with their leaders. --complete compares all pages with all others after
the crawl, so that the clusters do not depend on the order in which pages came.
Text that returns on many pages of a host is left out of that comparison, and
named in the report; --whole-text compares it, too. While a crawl runs, the report is
of one moment of it, and standard error says of which. --changes prints what changed
between visits of pages.

Example: a page to open in a browser

  skink report --format html --out report.html`,
	setup: setupReport,
}

// reportFlags is what the flags of skink report say.
type reportFlags struct {
	store    *string
	form     *formFlags
	complete *completeFlags
	out      *outFlags
	changes  bool
}

func setupReport(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &reportFlags{store: addStoreFlag(flags), form: addFormFlags(flags), complete: addCompleteFlags(flags), out: addOutFlags(flags)}
	flags.BoolVar(&f.changes, "changes", false, "print what changed between visits instead, the most changed first, with what was added and removed")
	return f.run
}

func (f *reportFlags) run(ctx context.Context, con Console, args []string) error {
	opt, err := f.form.options()
	if err != nil {
		return err
	}
	if f.changes && (f.complete.complete || opt.Format != report.Text && opt.Format != report.JSON) {
		return usagef("--changes is printed as text or json, and not with --complete")
	}
	return withStore(ctx, con, *f.store, args, f.complete, func(s store.Reader, settings store.Settings, w *complete.Whole) error {
		if f.changes {
			return f.writeChanges(ctx, con, s, opt.Format)
		}
		source := report.FromStore(s)
		if w != nil {
			source = ofWhole(w)
		}
		opt.Rule.Similarity, opt.Rule.MinWords = settings.Similarity, settings.MinWords
		return f.out.write(con, func(out io.Writer) error { return report.Write(ctx, out, source, opt) })
	})
}

func (f *reportFlags) writeChanges(ctx context.Context, con Console, s store.Reader, format report.Format) error {
	all, err := report.ReadChanges(ctx, s)
	if err != nil {
		return err
	}
	return f.out.write(con, func(out io.Writer) error { return report.WriteChanges(out, all, format) })
}

// formFlags say how a report looks.
type formFlags struct {
	flags  *pflag.FlagSet
	format string
	top    int
}

func addFormFlags(flags *pflag.FlagSet) *formFlags {
	f := &formFlags{flags: flags}
	flags.StringVar(&f.format, "format", "text", "text, json, csv or html")
	flags.IntVar(&f.top, "top", report.DefaultTop, "clusters that the html format shows; the rest is counted")
	return f
}

// given says whether a flag asks for a form.
func (f *formFlags) given() bool { return f.flags.Changed("format") || f.flags.Changed("top") }

func (f *formFlags) options() (report.Options, error) {
	format, err := report.ParseFormat(f.format)
	switch {
	case err != nil:
		return report.Options{}, usagef("--format %q: try text, json, csv or html", f.format)
	case f.top < 1:
		return report.Options{}, usagef("--top %d: try 1 or more", f.top)
	case format != report.HTML && f.flags.Changed("top"):
		return report.Options{}, usagef("--top adds to --format html: the other formats show every cluster")
	}
	return report.Options{Format: format, Top: f.top}, nil
}

// completeFlags say whether a store is judged as a whole, and how.
type completeFlags struct{ complete, wholeText bool }

func addCompleteFlags(flags *pflag.FlagSet) *completeFlags {
	c := &completeFlags{}
	flags.BoolVar(&c.complete, "complete", false, "judge all pages against all others, whatever the order of the crawl was")
	flags.BoolVar(&c.wholeText, "whole-text", false, "with --complete, compare also text that returns on many pages of a host")
	return c
}

// withStore opens a store for reading, judges it as a whole if the flags ask for that, calls do and
// closes the store. whole is nil if it was not judged as a whole.
func withStore(ctx context.Context, con Console, dir string, args []string, how *completeFlags, do func(s store.Reader, settings store.Settings, whole *complete.Whole) error) (err error) {
	if len(args) > 0 {
		return usagef("unexpected %q: a store is named by --store", args[0])
	}
	if how.wholeText && !how.complete {
		return usagef("--whole-text adds to --complete: give both")
	}
	s, err := openToRead(ctx, dir, con.Err)
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, s.close()) }()
	defer func() { err = keepFirst(err, damageError(dir, s.loss)) }()
	if len(s.loss.Damage) == 0 {
		warn(con.Err, s.loss)
	}
	settings, err := storedSettings(ctx, s)
	if err != nil {
		return err
	}
	if !how.complete {
		return do(s.Reader, settings, nil)
	}
	rule, err := ruleOf(settings, dir)
	if err != nil {
		return err
	}
	whole, err := complete.Judge(ctx, s.Reader, complete.Options{Rule: rule, WholeText: how.wholeText})
	if err != nil {
		return err
	}
	return do(whole, settings, whole)
}

// storedSettings are the settings by which a store was judged; the default for a new store.
func storedSettings(ctx context.Context, s store.Reader) (store.Settings, error) {
	set, err := store.ReadSettings(ctx, s)
	switch {
	case err != nil:
		return store.Settings{}, err
	case set == nil:
		return defaultSettings(), nil
	}
	return *set, nil
}
