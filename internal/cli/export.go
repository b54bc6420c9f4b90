package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/feed"
	"skink/internal/complete"
	"skink/store"
)

var exportCommand = command{
	name:  "export",
	args:  "[flags]",
	short: "write the pages of a store for an index",
	long: `
Writes the pages of a store, one JSON object a line, a row of Parquet or a text of WET: those that are
unique or thin and do not ask to be left out of indexes, or with --include all every
judged page with its verdict, also those that ask it (noindex). feed/SCHEMA.md says what
each field holds. While a crawl runs, it writes those of one moment, and says on standard
error of which. A file is packed as its name says (.gz, .zst); one that is there already
is left as it is if there is nothing to write.

With --since or --cursor it writes what changed instead. Each line says what it is:
"change" is new, changed or gone; applied by id to an earlier export, in their order,
the lines make of it what an export of today is. A page that became a duplicate is gone
from a feed of unique pages, and one whose leader went is new in it.

With --to it sends the pages to an index of Elasticsearch or OpenSearch instead, and
deletes there what is gone. A page's id is the document's, so what is sent twice is there
once; with --cursor, a run goes on where the last one was. Who you are is said by the
environment: SKINK_INDEX_USER and SKINK_INDEX_PASSWORD, or SKINK_INDEX_API_KEY.
--print-mapping prints the body of the request that makes such an index.

Examples: what an index wants, first all, then each time what changed; all of it as a
table, without what has too little text; an index that is kept in step

  skink export --cursor pages.cursor --out pages.jsonl
  skink export --format parquet --without thin --out pages.parquet
  skink export --format wet --out pages.warc.wet.gz
  skink export --to https://localhost:9200/pages --cursor pages.cursor`,
	setup: setupExport,
}

// exportFlags is what the flags of skink export say.
type exportFlags struct {
	store    *string
	format   string
	include  string
	minWords int
	without  []string
	since    *sinceFlags
	complete *completeFlags
	out      *outFlags
	to       string // URL of an index; "": none
	mapping  bool
}

func setupExport(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &exportFlags{store: addStoreFlag(flags)}
	flags.StringVar(&f.format, "format", string(feed.JSONLines), "jsonl, parquet or wet (a web archive of the texts)")
	flags.StringVar(&f.include, "include", string(feed.Unique), "unique (and thin) pages, or all judged pages")
	flags.IntVar(&f.minWords, "min-words", 0, "leave out pages of fewer words")
	flags.StringSliceVar(&f.without, "without", nil, "leave out pages of a verdict: thin")
	f.since = addSinceFlags(flags)
	f.complete = addCompleteFlags(flags)
	f.out = addOutFlags(flags)
	flags.StringVar(&f.to, "to", "", "send the pages to this index of Elasticsearch or OpenSearch: https://HOST:9200/INDEX")
	flags.BoolVar(&f.mapping, "print-mapping", false, "print a mapping for such an index, and do nothing else")
	return f.run
}

func (f *exportFlags) run(ctx context.Context, con Console, args []string) error {
	if f.mapping {
		return feed.WriteMapping(con.Out)
	}
	opt, err := f.options()
	if err != nil {
		return err
	}
	if err := f.since.heed(&opt); err != nil {
		return err
	}
	if f.since.given() && f.complete.complete {
		return usagef("--complete judges all pages anew, and so has no changes: leave out --since and --cursor")
	}
	return withStore(ctx, con, *f.store, args, f.complete, func(s store.Reader, _ store.Settings, _ *complete.Whole) error {
		if f.to != "" {
			return f.toIndex(ctx, con, s, opt)
		}
		end, err := s.End(ctx) // a page that is committed later may be written now, and is written again then
		if err != nil {
			return err
		}
		lines := 0
		err = f.out.write(con, func(out io.Writer) (err error) {
			lines, err = feed.Write(ctx, out, s, opt)
			return err
		})
		if err == nil {
			err = f.since.keep(con, *f.store, end)
		}
		if err == nil && lines == 0 && !f.since.given() {
			fmt.Fprintf(con.Err, "%s holds no page to write: see skink report --store %s\n", *f.store, quoted(*f.store))
		}
		return err
	})
}

// options say what is written.
func (f *exportFlags) options() (feed.Options, error) {
	in, err := feed.ParseInclude(f.include)
	if err != nil {
		return feed.Options{}, usagef("--include %q: try unique or all", f.include)
	}
	opt := feed.Options{Include: in, Format: feed.Format(f.format), MinWords: f.minWords}
	for _, verdict := range f.without {
		if verdict != string(dedup.Thin) {
			return opt, usagef("--without %q: try thin", verdict)
		}
		opt.NoThin = true
	}
	if opt.Format == feed.WET && strings.HasSuffix(f.out.out, ".gz") { // such a file has a gzip member for each record
		opt.Packed, f.out.asItIs = true, true
	}
	switch {
	case f.to != "" && (f.out.out != "-" || opt.Format != feed.JSONLines):
		return opt, usagef("--to sends pages to an index, and writes no file: leave --out and --format out")
	case f.to != "" && f.complete.complete:
		return opt, usagef("--complete judges all pages anew, and an index is kept in step with what was judged: leave one of --to and --complete out")
	case opt.Format != feed.JSONLines && opt.Format != feed.Parquet && opt.Format != feed.WET:
		return opt, usagef("--format %q: try jsonl, parquet or wet", f.format)
	case opt.Format == feed.WET && f.since.given():
		return opt, usagef("--format wet has no form for what is gone: leave out --since and --cursor, or try jsonl")
	case opt.Format == feed.Parquet && f.out.out == "-":
		return opt, usagef("--format parquet is no text: name a file with --out")
	case f.minWords < 0:
		return opt, usagef("--min-words %d: try 0 or more", f.minWords)
	}
	return opt, nil
}
