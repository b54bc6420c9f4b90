package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/crawler/robots"
	"skink/dedup"
	"skink/extract"
	"skink/feed"
	"skink/feed/release"
	"skink/internal/archive"
	"skink/internal/corpus"
	"skink/internal/session"
	"skink/report"
	"skink/store"
	"skink/warc"
)

var exportCommand = command{
	name:  "export",
	args:  "[flags]",
	short: "write the pages of a store, for a search index",
	setup: setupExport,
	rules: slices.Concat(completeRules, []flagRule{
		{"chunk-words", modifies, "chunks", ""},
		{"links", modifies, "markdown", ""},
		{"warc,warc-refers", modifies, "format=wacz", ""},
		{"refused", needs, "to", ""},
		{"format=wacz,format=parquet", needs, "out", "the output is binary"},
		{"since", excludes, "cursor", ""},
		{"since,cursor", excludes, "complete", "a comparison of all pages lists no changes"},
		{"since", excludes, "chunks", "use --cursor, which compares passages with those of the last export"},
		{"since,cursor", excludes, "format=links,format=wacz", "the output is written as a whole"},
		{"to", excludes, "out,format", "pages are sent to an index instead of being written"},
		{"to", excludes, "complete", "an index follows the verdicts of the crawl"},
		{"chunks", excludes, "format", "passages are written as JSON Lines"},
		{"chunks", excludes, "markdown,fields", "passages have only the text"},
		{"format=wacz", excludes, "markdown", "pages are written as the server sent them"},
		{"format=wacz", excludes, "include,min-words,segment", "all archived pages are listed"},
		{"format=links", excludes, "segment,markdown,min-words,without,fields,include", "the links of all pages are written"},
	}),
}

type exportFlags struct {
	store    *string
	opt      feed.Options // Format may also be formatWACZ or formatLinks
	since    *sinceFlags
	complete *completeFlags
	out      *outFlags
	to       string // URL of the index to send the feed to; "" means none
	mapping  bool
	chunks   bool   // whether to write passages instead of pages
	most     int    // maximum number of words in a passage
	archive  string // folder of the web archive to export; "" means the folder recorded in the store
	refers   []string
}

func setupExport(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &exportFlags{store: addStoreFlag(flags), most: feed.PassageWords}
	o := &f.opt
	*o = feed.Options{Format: feed.JSONLines, Filter: release.Filter{Include: release.Unique}, Left: release.Left{}, Links: extract.LinksWhole}
	flags.Var(oneOf(&f.opt.Format, feed.JSONLines, feed.Parquet, formatWACZ, formatLinks), "format", "write JSON Lines, Parquet, the archive made by crawl --warc (WACZ), or the links between pages")
	flags.StringArrayVar(&f.refers, "warc-refers", nil, "`DIR` with --format wacz: another folder with responses to which the web archive refers (repeatable)")
	flags.StringVar(&f.archive, "warc", "", "`DIR` with --format wacz: folder of the web archive (default: the folder that the crawl used)")
	flags.Var(oneOf(&o.Include, release.Unique, release.All), "include", "write unique and thin pages (unique), or all pages that have a verdict (all)")
	flags.BoolVar(&o.Markdown, "markdown", false, "also write the main text as Markdown; the store must have been created with skink crawl --markdown")
	flags.Var(oneOf(&o.Links, extract.LinksNone, extract.LinksText, extract.LinksWhole), "links", "with --markdown: remove links (none), keep only their text (text), or also keep their URLs (absolute)")
	flags.Var(several(&o.Fields, feed.Fields), "fields", "`FIELDS` also write these fields (comma-separated): host, depth, inlinks, outlinks, headings, breadcrumbs, content_hash, segment")
	flags.BoolVar(&f.chunks, "chunks", false, "write or send passages instead of whole pages; a passage that occurs more than once is written once")
	flags.Var(whole(&f.most, feed.MinPassageWords, fmt.Sprintf("%d or more", feed.MinPassageWords)), "chunk-words", "with --chunks: write passages of at most this many words")
	flags.Var(whole(&o.MinWords, 0, "0 or more"), "min-words", "leave out pages with fewer words than this")
	flags.BoolVar(&o.Private, "with-private", false, "also write pages that were fetched with a password, with cookies or with headers from your configuration")
	flags.Var(&list{kind: "stringSlice", commas: true, add: f.leaveOut}, "without", "`KIND` leave out thin pages (thin), or pages of sites whose robots.txt contains this content signal (such as ai-train=no)")
	flags.String("segment", "", "`NAME` write only the pages of this segment, which the configuration file defines")
	f.since = addSinceFlags(flags)
	f.complete = addCompleteFlags(flags)
	f.out = addOutFlags(flags)
	flags.StringVar(&f.to, "to", "", "`URL` send pages or passages to this Elasticsearch or OpenSearch index: https://HOST:9200/INDEX")
	flags.String("refused", "", "`FILE` with --to: write the documents that the index refuses to this file, each with the reason, as JSON Lines")
	isOutput(flags, "refused", fileOutput, "")
	flags.BoolVar(&f.mapping, "print-mapping", false, "print the request body that creates an index for --to, of pages or of passages (--chunks), and exit")
	return f.run
}

func (f *exportFlags) run(ctx context.Context, con Console, _ []string) error {
	switch {
	case f.mapping && f.chunks:
		return feed.WriteMapping(con.Out, feed.Passage{})
	case f.mapping:
		return feed.WriteMapping(con.Out, feed.Document{})
	}
	opt := f.opt
	var err error
	if opt.Segments, err = segmentsFor(f.complete.flags, slices.Contains(opt.Fields, feed.Segment)); err != nil {
		return err
	}
	if err := f.since.heed(&opt, f.chunks); err != nil {
		return err
	}
	return withStore(ctx, con, *f.store, f.complete, func(s store.Reader, set store.Settings) error {
		if opt.Markdown && set.Markdown == store.NoMarkdown {
			return fmt.Errorf("%s has no Markdown: crawl into a new store with --markdown; if you have a web archive of the pages, run: skink crawl --store NEW --markdown --from ARCHIVE", *f.store)
		}
		if err := f.since.check(ctx, s, *f.store, opt.After); err != nil {
			return err
		}
		if set.NoLinks && (f.opt.Format == formatLinks || slices.Contains(opt.Fields, feed.Inlinks) || slices.Contains(opt.Fields, feed.Outlinks)) {
			return fmt.Errorf("%s has no links, because it was created with --links off: crawl into a new store with --links on", *f.store)
		}
		switch {
		case f.chunks:
			return f.writeChunks(ctx, con, s, opt)
		case f.to != "":
			return f.toIndex(ctx, con, s, opt, "page", (*feed.Bulk).Close)
		case f.opt.Format == formatWACZ:
			return f.toWACZ(ctx, con, s, opt)
		case f.opt.Format == formatLinks:
			return f.writeLinks(ctx, con, s, opt)
		}
		last := opt.After
		opt.Last = &last
		lines, err := f.out.count(ctx, con, func(out io.Writer) (int, error) { return feed.Write(ctx, out, s, opt) })
		if err == nil {
			err = f.since.keep(ctx, con, *f.store, last)
		}
		return f.told(con, "pages", lines, opt, err)
	})
}

// told prints what an export left out and why, or that the store contains none of what it writes.
// It returns err, and prints nothing after an error.
func (f *exportFlags) told(con Console, what string, written int, opt feed.Options, err error) error {
	if err != nil {
		return err
	}
	if left := opt.Left.String(); left != "" {
		fmt.Fprintln(con.Err, left)
	} else if written == 0 && !f.since.given() {
		fmt.Fprintf(con.Err, "%s contains no %s to write: see skink report --store %s\n", *f.store, what, harmless.Quoted(*f.store))
	}
	return nil
}

func (f *exportFlags) leaveOut(kind string) error {
	switch {
	case kind == string(dedup.Thin):
		f.opt.NoThin = true
	case robots.IsSignal(kind):
		f.opt.NoSignals = append(f.opt.NoSignals, kind)
	default:
		return errors.New("must be thin, or a content signal such as ai-train=no")
	}
	return nil
}

// formatWACZ is the value of --format for a WACZ file, which contains the servers' raw responses
// rather than extracted text.
const formatWACZ = "wacz"

func (f *exportFlags) toWACZ(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	dir := f.archive
	if dir == "" {
		dirs, err := archive.Folders(ctx, s)
		switch {
		case err != nil:
			return err
		case len(dirs) == 0:
			return usagef("%s has no web archive: crawl with --warc, or specify the folder of an archive with --warc", *f.store)
		case len(dirs) > 1:
			return usagef("the workers of %s have their web archives in %s: copy the files into one folder, and specify it with --warc", *f.store, strings.Join(dirs, " and "))
		}
		dir = dirs[0]
	}
	var archives []string
	inside, _ := os.ReadDir(dir) // a folder that cannot be read is reported later
	for _, f := range inside {
		archives = append(archives, filepath.Join(dir, f.Name()))
	}
	var others []corpus.Archive
	var referred []string
	for _, other := range f.refers {
		files, err := session.Referred(other)
		if err != nil {
			return err
		}
		for _, f := range files {
			archives, referred = append(archives, f.Name), append(referred, filepath.Base(f.Name))
		}
		others = append(others, files...)
	}
	if err := con.files.Input(archives...); err != nil {
		return usageError{Err: err}
	}
	left, err := session.Adopt(ctx, s, dir, nil, func(format string, args ...any) { fmt.Fprintf(con.Err, "skink: "+format+"\n", args...) })
	if err != nil {
		return err
	}
	lost := 0
	from := feed.WACZ{
		Dir: dir, Others: corpus.Originals(corpus.Public(others)), Referred: referred, Software: "skink " + readBuild().Version, Created: time.Now(),
		Damaged: func(name string, d *warc.Damage) {
			lost++
			fmt.Fprintf(con.Err, "%s: %s\n", name, harmless.Error(d))
		},
	}
	f.out.asItIs = true // a ZIP file is not compressed again, whatever its name
	pages, err := f.out.count(ctx, con, func(out io.Writer) (int, error) { return feed.WriteWACZ(ctx, out, s, opt, from) })
	missing, _ := errors.AsType[*feed.MissingError](err)
	switch {
	case missing != nil && left[missing.Name] != "":
		return fmt.Errorf("pages of the store are in the archive file %s, which is not complete: %s", missing.Name, left[missing.Name])
	case errors.Is(err, feed.ErrNoArchive):
		return fmt.Errorf("%s: %w: crawl with --warc to create one", *f.store, err)
	case err != nil:
		return err
	case lost > 0:
		return fmt.Errorf("the index of the web archive is incomplete: %s could not be added", report.Counted(lost, "record"))
	}
	fmt.Fprintf(con.Err, "wrote %s and the responses in %s to %s\n", report.Counted(pages, "page"), dir, f.out.out)
	return f.told(con, "pages", pages, opt, nil)
}

func (f *exportFlags) writeChunks(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	p := &feed.Passages{Store: s, Options: opt, Words: f.most}
	if f.since.cursor != "" {
		last, err := f.since.load(math.MaxInt64)
		if err != nil {
			return err
		}
		p.List = &feed.PassageList{Last: last, Save: func(write func(io.Writer) error) error { return f.since.write(ctx, con, write) }}
	}
	if f.to != "" {
		return f.toIndex(ctx, con, s, opt, "passage", func(b *feed.Bulk, ctx context.Context) error { return b.SendPassages(ctx, p) })
	}
	passages, err := f.out.count(ctx, con, func(out io.Writer) (int, error) { return p.Write(ctx, out) })
	if err == nil {
		err = p.Keep()
	}
	return f.told(con, "pages", passages, opt, err)
}

const formatLinks = "links"

func (f *exportFlags) writeLinks(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	links, err := f.out.count(ctx, con, func(out io.Writer) (int, error) { return feed.WriteLinks(ctx, out, s, opt) })
	if err == nil && f.out.out != "-" {
		fmt.Fprintf(con.Err, "wrote %s to %s\n", report.Counted(links, "link"), f.out.out)
	}
	return f.told(con, "links", links, opt, err)
}

// credentials returns a header with the user name and password, or the API key, for the search
// index. It reads them from environment variables, and returns nil if none are set.
func credentials() (http.Header, error) {
	user, password, key := os.Getenv(feed.EnvUser), os.Getenv(feed.EnvPassword), os.Getenv(feed.EnvKey)
	switch {
	case key != "" && user != "":
		return nil, usagef("the environment contains both %s and %s: set only one of them", feed.EnvKey, feed.EnvUser)
	case key != "":
		return http.Header{"Authorization": {"ApiKey " + key}}, nil
	case user != "":
		return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}}, nil
	}
	return nil, nil
}

// toIndex sends documents, each of which is a page or a passage, to the index.
func (f *exportFlags) toIndex(ctx context.Context, con Console, s store.Reader, opt feed.Options, what string, send func(*feed.Bulk, context.Context) error) error {
	header, err := credentials()
	if err != nil {
		return err
	}
	var refusals []feed.Refusal
	to := feed.BulkOptions{
		URL: f.to, Header: header, Options: opt, Again: f.since.held.Refused,
		Refused: func(r feed.Refusal) { refusals = append(refusals, r) },
	}
	if f.since.cursor != "" {
		to.Keep = func(ctx context.Context, now feed.Place) error { return f.since.writePlace(ctx, con, now) }
	}
	b, err := session.NewIndex(s, to, con.Err)
	if err != nil {
		return err
	}
	err = send(b, ctx)
	if listed := con.files.Of("--refused"); listed != nil {
		err = errors.Join(err, listed.Write(ctx, func(w io.Writer) error { return feed.WriteRefusals(w, refusals) }))
	}
	sent, deleted, refused := b.Counts()
	if err != nil && sent+deleted+refused == 0 {
		return err
	}
	fmt.Fprintf(con.Err, "sent to %s: %s, %s deleted, %s refused\n", f.to, report.Counted(sent, what), report.Grouped(deleted), report.Grouped(refused))
	if f.told(con, "pages", sent+deleted+refused, opt, err) == nil {
		err = session.RefusedError(refused, what)
	}
	return err
}
