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
page with its verdict, also those that ask it (noindex).

Example: what an index wants

  skink export --out pages.jsonl`,
	setup: setupExport,
}

func setupExport(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	dir := addStoreFlag(flags)
	format := flags.String("format", "jsonl", "jsonl")
	include := flags.String("include", string(feed.Unique), "unique (and thin) pages, or all judged pages")
	how := addCompleteFlags(flags)
	write := addOutFlag(flags)
	return func(ctx context.Context, con Console, args []string) error {
		if *format != "jsonl" {
			return usagef("--format %q: try jsonl", *format)
		}
		in, err := feed.ParseInclude(*include)
		if err != nil {
			return usagef("--include %q: try unique or all", *include)
		}
		return withStore(ctx, con, *dir, args, how, func(s store.Reader, _ store.Settings, _ *complete.Whole) error {
			lines := 0
			err := write(con, func(out io.Writer) (err error) {
				lines, err = feed.Write(ctx, out, s, feed.Options{Include: in})
				return err
			})
			if err == nil && lines == 0 {
				fmt.Fprintf(con.Err, "%s holds no page to write: see skink report --store %s\n", *dir, *dir)
			}
			return err
		})
	}
}
