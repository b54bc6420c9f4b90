// Package feed writes the content of a crawl for programs that build an index from it: JSON Lines
// (one page per line), Parquet or WET. SCHEMA.md specifies the fields.
//
//	lines, err := feed.Write(ctx, os.Stdout, s, feed.Options{Include: feed.Unique})
//
// [Write] exports a store. [OpenFile] writes a file that follows a running crawl, even after the
// crawl has been killed and resumed. Both write the same lines in the same order, with one
// exception: after a crawl has revisited pages, the file continues with lines for their changes;
// see change.go. A feed that follows a crawl reads the changes of the store from its own cursor, so
// the crawl never waits for the feed.
//
// A page's verdict decides whether the page is written. A page marked noindex is written only with
// [All].
package feed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"skink/dedup"
	"skink/extract"
	"skink/store"
)

// Include selects the pages of a feed by their verdicts.
type Include string

const (
	Unique Include = "unique" // unique and thin pages without noindex: those that belong in a search index
	All    Include = "all"    // every page with a verdict, including noindex pages
)

// ParseInclude returns the Include with the given name.
func ParseInclude(name string) (Include, error) {
	switch in := Include(name); in {
	case Unique, All:
		return in, nil
	}
	return "", fmt.Errorf("unknown kind of pages %q: must be unique or all", name)
}

// A choice selects the pages of a feed. [Options] describes the fields.
type choice struct {
	Include  Include
	MinWords int
	NoThin   bool

	NoSignals []string
	Private   bool
}

func (c choice) holds(r *store.Record) bool {
	if r.Words < c.MinWords || c.NoThin && r.Verdict == dedup.Thin || c.barred(r.Signals) || r.Private && !c.Private {
		return false
	}
	if c.Include == All {
		return r.Kind == store.Page
	}
	return r.Fed()
}

// barred reports whether the content signals of a page, separated by ", ", contain any of
// c.NoSignals.
func (c choice) barred(signals string) bool {
	if signals == "" || len(c.NoSignals) == 0 {
		return false
	}
	return slices.ContainsFunc(strings.Split(signals, ", "), func(s string) bool { return slices.Contains(c.NoSignals, s) })
}

// Format is the format in which pages are written.
type Format string

const (
	JSONLines Format = "jsonl"   // one line for each page; see [Append]
	Parquet   Format = "parquet" // one row for each page
	WET       Format = "wet"     // web archive of texts; see wet.go
)

// Options configures [Write]. The zero value writes all unique and thin pages as JSON Lines.
type Options struct {
	Include  Include       // selects pages by their verdicts; default: Unique
	MinWords int           // pages with fewer words are left out
	NoThin   bool          // whether pages with the verdict thin are left out
	Format   Format        // format of the output; default: JSONLines
	Packed   bool          // whether each record is compressed as a separate gzip member; used only for WET
	Markdown bool          // whether the field markdown is written, if the store has it
	Links    extract.Links // parts of each link that are kept in the field markdown; "" means all
	Fields   []Field       // optional fields to write

	NoSignals []string // pages are left out if their host's robots.txt states any of these content signals, such as "ai-train=no"

	Private bool // whether to include pages that were requested with the user's password, cookies or headers

	// Own returns the text of a page without the blocks that many pages of its host repeat, and the
	// number of blocks and words that it removed. If Own is nil, the whole text is written.
	Own func(page *store.Content) (text string, blocks, words int)

	After store.Cursor // position after which to begin; "" means the beginning of the store

	inlinks map[dedup.Hash]int // number of other pages that link to each page, by ID; nil unless Fields contains Inlinks

	Changes bool      // whether lines have the field change, and pages that are gone get lines too
	Since   time.Time // only changes after this time are written; the zero value means all changes
}

func (opt *Options) choice() choice {
	return choice{opt.Include, opt.MinWords, opt.NoThin, opt.NoSignals, opt.Private}
}

func (opt *Options) check() error {
	if opt.Include != "" {
		if _, err := ParseInclude(string(opt.Include)); err != nil {
			return err
		}
	}
	switch opt.Format {
	case "", JSONLines, Parquet, WET:
		return nil
	}
	return fmt.Errorf("unknown format %q: must be jsonl, parquet or wet", opt.Format)
}

// Write writes the pages of s to w, in the order in which they were judged. It returns their
// number. After an error, w may end in the middle of a line.
func Write(ctx context.Context, w io.Writer, s store.Reader, opt Options) (pages int, err error) {
	if err := opt.check(); err != nil {
		return 0, err
	}
	if err := opt.prepare(ctx, s); err != nil {
		return 0, fmt.Errorf("write feed: %w", err)
	}
	out := bufio.NewWriterSize(w, bufferSize)
	write, end := opt.writer(out)
	for page, err := range s.Changes(ctx, opt.After, opt.want()) {
		if err == nil {
			err = ctx.Err()
		}
		var d *Document
		if err == nil {
			d, err = opt.document(&page.Content)
		}
		if err == nil && d != nil {
			pages++
			err = write(d)
		}
		if err != nil {
			return pages, fmt.Errorf("write feed: %w", err)
		}
	}
	if err := errors.Join(end(pages), out.Flush()); err != nil {
		return pages, fmt.Errorf("write feed: %w", err)
	}
	return pages, nil
}

// document returns the document for a page, or nil if the page is not in the feed.
func (opt *Options) document(page *store.Content) (*Document, error) {
	d, err := opt.documentOf(page)
	if d != nil && !opt.Markdown {
		d.Markdown = ""
	}
	if d != nil && opt.Links != "" {
		d.Markdown = extract.RewriteLinks(d.Markdown, opt.Links)
	}
	if d != nil && d.Text != "" && opt.Own != nil {
		d.Text, d.Boilerplate, d.RemovedWords = opt.Own(page)
	}
	if d != nil && d.Change != store.Gone {
		opt.addFields(d, page)
	}
	return d, err
}

// documentOf returns the document for a page, with all fields set, or nil if the page is not in the
// feed.
func (opt *Options) documentOf(page *store.Content) (*Document, error) {
	r := &page.Record
	switch {
	case !opt.Changes && !opt.choice().holds(r), opt.Changes && !opt.Since.IsZero() && !r.Began().After(opt.Since):
		return nil, nil
	case !opt.Changes:
		return wholeDocument(page, "")
	}
	c := opt.choice()
	return c.documentOfChange(page, c.changeOf(r, opt.Since))
}

// writer returns two functions for opt.Format: one writes a document, the other finishes the file.
// A feed without pages is an empty file in any format, so that users notice that it has none.
func (opt *Options) writer(out io.Writer) (write func(*Document) error, end func(pages int) error) {
	switch opt.Format {
	case WET:
		return newTextArchive(out, opt.Packed).write, func(int) error { return nil }
	case Parquet:
		t := newTableWriter(out)
		return t.write, func(pages int) error {
			if pages == 0 {
				return nil
			}
			return t.to.Close()
		}
	}
	var line []byte
	return func(d *Document) (err error) {
		if line, err = appendLine(line[:0], d); err == nil {
			_, err = out.Write(line)
		}
		return err
	}, func(int) error { return nil }
}

const bufferSize = 256 << 10 // large enough to write a few dozen pages with one system call

func appendPage(dst []byte, page *store.Content) ([]byte, error) {
	d, err := wholeDocument(page, "")
	if err != nil {
		return dst, err
	}
	return appendLine(dst, d)
}

// wholeDocument returns the document of a page with its text, and with its Markdown if that is
// stored. It returns store.ErrCorrupt if the store has lost the text of a page that has words.
func wholeDocument(page *store.Content, change store.ChangeKind) (*Document, error) {
	if r := &page.Record; !page.Kept && r.Words > 0 && !r.NoText {
		return nil, fmt.Errorf("read the text of %s: %w", r.URL, store.ErrCorrupt)
	}
	d := documentOf(&page.Record)
	d.Text, d.Markdown, d.Change = page.Text, page.Markdown, change
	return &d, nil
}
