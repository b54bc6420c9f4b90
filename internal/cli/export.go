package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/dedup"
	"skink/feed"
	"skink/internal/archive"
	"skink/internal/complete"
	"skink/internal/harmless"
	"skink/internal/session"
	"skink/report"
	"skink/store"
	"skink/warc"
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

With --complete the pages have the verdicts of report --complete. --strip-repeated also
leaves out of each text what its host repeats on many pages, where that stands before or
behind all that is the page's own, and writes how many blocks and words those are. A page
with fewer words of its own than --min-words of the crawl keeps its whole text.

With --since or --cursor it writes what changed instead. Each line says what it is:
"change" is new, changed or gone; applied by id to an earlier export, in their order,
the lines make of it what an export of today is. A page that became a duplicate is gone
from a feed of unique pages, and one whose leader went is new in it.

With --format wacz it writes the answers that a crawl --warc kept as one file, which a
player of web archives shows: the archives as they are, their index, and the pages that
are to be written as those at which a reader may begin.

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
  skink export --format wacz --out site.wacz
  skink export --to https://localhost:9200/pages --cursor pages.cursor`,
	setup: setupExport,
}

// exportFlags are the flags of skink export.
type exportFlags struct {
	store    *string
	format   feed.Format
	include  feed.Include
	minWords int
	without  []string
	since    *sinceFlags
	complete *completeFlags
	out      *outFlags
	to       string // URL of an index; "": none
	mapping  bool
	markdown bool
	strip    bool   // remove from each text the blocks that its host repeats
	archive  string // folder of the store's web archive; "": that of the crawl
}

func setupExport(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &exportFlags{store: addStoreFlag(flags), format: feed.JSONLines, include: feed.Unique}
	flags.Var(oneOf(&f.format, feed.JSONLines, feed.Parquet, feed.WET, formatWACZ), "format", "jsonl, parquet, wet (a web archive of the texts) or wacz (the web archive of crawl --warc, as one file with its index and its pages)")
	flags.StringVar(&f.archive, "warc", "", "with --format wacz, the folder of the web archive (default: where the crawl keeps it)")
	flags.Var(oneOf(&f.include, feed.Unique, feed.All), "include", "unique (and thin) pages, or all judged pages")
	flags.BoolVar(&f.markdown, "markdown", false, "write the main text as Markdown, too: headings, lists, tables, code, links; of a crawl that was begun with --markdown")
	flags.Var(whole(&f.minWords, 0, "0 or more"), "min-words", "leave out pages of fewer words")
	flags.StringSliceVar(&f.without, "without", nil, "leave out pages of a verdict: thin")
	f.since = addSinceFlags(flags)
	f.complete = addCompleteFlags(flags)
	flags.BoolVar(&f.strip, "strip-repeated", false, "with --complete, leave out of each text what its host repeats on many pages; a field counts the words")
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
	if f.since.cursor != "" && landing(f.since.cursor) == landing(f.out.out) {
		return usagef("--cursor and --out name the same file, %s: name another for one of them", f.out.out)
	}
	if f.since.given() && f.complete.complete {
		return usagef("--complete judges all pages anew, and so has no changes: leave out --since and --cursor")
	}
	return withStore(ctx, con, *f.store, args, f.complete, func(s store.Reader, set store.Settings, whole *complete.Whole) error {
		if f.strip {
			opt.Own = whole.Own
		}
		if f.markdown && set.Markdown == store.NoMarkdown {
			return fmt.Errorf("%s holds no Markdown: a crawl keeps it that is begun with --markdown, into a new store; of pages that are in a web archive that needs no fetch: skink crawl --store NEW --markdown --from ARCHIVE", *f.store)
		}
		if err := f.since.check(ctx, s, *f.store, opt.After); err != nil {
			return err
		}
		if f.to != "" {
			return f.toIndex(ctx, con, s, opt)
		}
		if f.format == formatWACZ {
			return f.toWACZ(ctx, con, s, opt)
		}
		from, lines := &followed{s, opt.After}, 0
		err := f.out.write(con, func(out io.Writer) (err error) {
			lines, err = feed.Write(ctx, out, from, opt)
			return err
		})
		if err == nil {
			err = f.since.keep(con, *f.store, from.last)
		}
		if err == nil && lines == 0 && !f.since.given() {
			fmt.Fprintf(con.Err, "%s holds no page to write: see skink report --store %s\n", *f.store, harmless.Quoted(*f.store))
		}
		return err
	})
}

// options returns the options of the feed.
func (f *exportFlags) options() (feed.Options, error) {
	opt := feed.Options{Include: f.include, MinWords: f.minWords, Markdown: f.markdown}
	if f.format != formatWACZ {
		opt.Format = f.format
	}
	for _, verdict := range f.without {
		if verdict != string(dedup.Thin) {
			return opt, usagef("--without %q: try thin", verdict)
		}
		opt.NoThin = true
	}
	if opt.Format == feed.WET && strings.HasSuffix(f.out.out, ".gz") { // WET files have a gzip member for each record
		opt.Packed, f.out.asItIs = true, true
	}
	switch {
	case f.to != "" && (f.out.out != "-" || f.format != feed.JSONLines):
		return opt, usagef("--to sends pages to an index, and writes no file: leave --out and --format out")
	case f.to != "" && f.complete.complete:
		return opt, usagef("--complete judges all pages anew, and an index is kept in step with what was judged: leave one of --to and --complete out")
	case f.archive != "" && f.format != formatWACZ:
		return opt, usagef("--warc says where the answers of a crawl are, which --format wacz alone writes: give both")
	case f.format == formatWACZ:
		return opt, f.checkWACZ()
	case opt.Format == feed.WET && f.since.given():
		return opt, usagef("--format wet has no form for what is gone: leave out --since and --cursor, or try jsonl")
	case opt.Format == feed.Parquet && f.out.out == "-":
		return opt, usagef("--format parquet is no text: name a file with --out")
	case f.strip && !f.complete.complete:
		return opt, usagef("--strip-repeated needs --complete, which finds what a host repeats: give both")
	case f.strip && f.complete.wholeText:
		return opt, usagef("--whole-text does not look for what a host repeats: leave one of --strip-repeated and --whole-text out")
	case f.strip && f.markdown:
		return opt, usagef("--strip-repeated leaves text out that the Markdown still has: leave one of --strip-repeated and --markdown out")
	}
	return opt, nil
}

// formatWACZ is the format of skink export that holds raw answers instead of documents.
const formatWACZ = "wacz"

func (f *exportFlags) checkWACZ() error {
	switch {
	case f.out.out == "-":
		return usagef("--format wacz is no text: name a file with --out")
	case f.since.given():
		return usagef("--format wacz holds an archive as a whole: leave out --since and --cursor")
	case f.markdown:
		return usagef("--format wacz holds pages as they came: leave --markdown out")
	}
	return nil
}

// toWACZ writes the web archive of a store as one file.
func (f *exportFlags) toWACZ(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	dir := f.archive
	if dir == "" {
		dirs, err := archive.Folders(ctx, s)
		switch {
		case err != nil:
			return err
		case len(dirs) == 0:
			return usagef("%s does not say where its web archive is: name the folder with --warc; a crawl keeps one with --warc, too", *f.store)
		case len(dirs) > 1:
			return usagef("the workers of %s have their web archives in %s: bring the files into one folder, and name it with --warc", withoutPassword(*f.store), strings.Join(dirs, " and "))
		}
		dir = dirs[0]
	}
	left, err := session.Adopt(ctx, s, dir, nil, func(format string, args ...any) { fmt.Fprintf(con.Err, "skink: "+format+"\n", args...) })
	if err != nil {
		return err
	}
	lost, pages := 0, 0
	from := feed.WACZ{
		Dir: dir, Software: "skink " + readBuild().Version, Created: time.Now(),
		Damaged: func(name string, d *warc.Damage) {
			lost++
			fmt.Fprintf(con.Err, "%s: %s\n", name, harmless.Error(d))
		},
	}
	f.out.asItIs = true // a ZIP file is not compressed again, whatever its name
	err = f.out.write(con, func(out io.Writer) (err error) {
		pages, err = feed.WriteWACZ(ctx, out, s, opt, from)
		return err
	})
	missing, _ := errors.AsType[*feed.MissingError](err)
	switch {
	case missing != nil && left[missing.Name] != "":
		return fmt.Errorf("pages of the store are in %s, which is not complete: %s", missing.Name, left[missing.Name])
	case errors.Is(err, feed.ErrNoArchive):
		return fmt.Errorf("%s: %w: try skink crawl --warc", *f.store, err)
	case err != nil:
		return err
	case lost > 0:
		return fmt.Errorf("%s of the archive could not be indexed", report.Counted(lost, "record"))
	}
	fmt.Fprintf(con.Err, "%s and the answers in %s are in %s\n", report.Counted(pages, "page"), dir, f.out.out)
	return nil
}
