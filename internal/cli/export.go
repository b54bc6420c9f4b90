package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"skink/feed"
	"skink/internal/complete"
	"skink/store"
)

var exportCommand = command{
	name:  "export",
	args:  "[flags]",
	short: "write the pages of a store for an index",
	long: `
Writes the pages of a store, one JSON object a line: those that are unique or
thin and do not ask to be left out of indexes, or with --include all every judged
page with its verdict, also those that ask it (noindex). While a crawl runs, it writes
those of one moment, and says on standard error of which.

Example: what an index wants

  skink export --out pages.jsonl`,
	setup: setupExport,
}

// exportFlags is what the flags of skink export say.
type exportFlags struct {
	store    *string
	format   string
	include  string
	complete *completeFlags
	out      *outFlags
}

func setupExport(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &exportFlags{store: addStoreFlag(flags)}
	flags.StringVar(&f.format, "format", "jsonl", "jsonl")
	flags.StringVar(&f.include, "include", string(feed.Unique), "unique (and thin) pages, or all judged pages")
	f.complete = addCompleteFlags(flags)
	f.out = addOutFlags(flags)
	return f.run
}

func (f *exportFlags) run(ctx context.Context, con Console, args []string) error {
	if f.format != "jsonl" {
		return usagef("--format %q: try jsonl", f.format)
	}
	in, err := feed.ParseInclude(f.include)
	if err != nil {
		return usagef("--include %q: try unique or all", f.include)
	}
	return withStore(ctx, con, *f.store, args, f.complete, func(s store.Reader, _ store.Settings, _ *complete.Whole) error {
		lines := 0
		err := f.out.write(con, func(out io.Writer) (err error) {
			lines, err = feed.Write(ctx, out, s, feed.Options{Include: in})
			return err
		})
		if err == nil && lines == 0 {
			fmt.Fprintf(con.Err, "%s holds no page to write: see skink report --store %s\n", *f.store, quoted(*f.store))
		}
		return err
	})
}
