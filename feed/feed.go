// Package feed writes the content of a crawl for programs that build an index from it: JSON Lines,
// one page a line, Parquet, or WET. SCHEMA.md specifies the fields.
//
//	lines, err := feed.Write(ctx, os.Stdout, s, feed.Options{Include: feed.Unique})
//
// [Write] exports a store. [OpenFile] keeps a file in step with a running crawl, which may be
// killed and resumed. Both give the same lines in the same order, with one exception: if a crawl
// revisited its pages, the file continues with the changes, see change.go. A feed that follows a
// crawl is a consumer of its store's changes. It keeps a cursor of its own, and the crawl never
// waits for it.
//
// The package makes no decisions: the verdicts of pages decide which are written. A page marked
// noindex is written only with [All].
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
	"skink/store"
)

// Include says which pages a feed holds.
type Include string

const (
	Unique Include = "unique" // unique and thin pages, without noindex: what an index wants
	All    Include = "all"    // every judged page, with its verdict, noindex or not
)

// ParseInclude returns the Include of that name.
func ParseInclude(name string) (Include, error) {
	switch in := Include(name); in {
	case Unique, All:
		return in, nil
	}
	return "", fmt.Errorf("unknown choice of pages %q: try unique or all", name)
}

// A choice selects the pages of a feed.
type choice struct {
	Include  Include // default Unique
	MinWords int     // pages of fewer words are left out
	NoThin   bool    // pages that are thin are left out

	NoSignals []string // pages with one of these content signals are left out
	Private   bool     // private pages are written, too
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

// barred reports whether content signals hold one that leaves a page out.
func (c choice) barred(signals string) bool {
	if signals == "" || len(c.NoSignals) == 0 {
		return false
	}
	return slices.ContainsFunc(strings.Split(signals, ", "), func(s string) bool { return slices.Contains(c.NoSignals, s) })
}

// Format is the form in which pages are written.
type Format string

const (
	JSONLines Format = "jsonl"   // a line a page, see [Append]
	Parquet   Format = "parquet" // a row a page
	WET       Format = "wet"     // a web archive of texts
)

// Options says what Write writes. The zero value writes everything that belongs in a feed.
type Options struct {
	Include  Include // default Unique
	MinWords int     // pages of fewer words are left out
	NoThin   bool    // pages that are thin are left out
	Format   Format  // default JSONLines
	Packed   bool    // of WET: one gzip member a record
	Markdown bool    // the main text as Markdown, too, if the store keeps it

	NoSignals []string // pages whose host's robots.txt has one of these content signals are left out, such as "ai-train=no"

	Private bool // pages that were requested with a password, cookies or headers of the user's are written, too

	// Own returns the part of a page's text that is its own, and how many blocks and words are left
	// out; nil: the whole text is written.
	Own func(page *store.Content) (text string, blocks, words int)

	After store.Cursor // where to begin; "": at the beginning

	Changes bool      // each line says what changed, and pages that are gone have lines too
	Since   time.Time // only changes after this time are written; zero: all
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
	return fmt.Errorf("no format is called %q: try jsonl, parquet or wet", opt.Format)
}

// Write writes the pages of s to w, in the order in which they were judged, and returns how many it
// wrote. After an error w may end in half a line.
func Write(ctx context.Context, w io.Writer, s store.Reader, opt Options) (pages int, err error) {
	if err := opt.check(); err != nil {
		return 0, err
	}
	out := bufio.NewWriterSize(w, bufferSize)
	write, end := opt.writer(out)
	for page, err := range s.Changes(ctx, opt.After, store.WantText) {
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

// document returns the document that is written for a page, or nil.
func (opt *Options) document(page *store.Content) (*Document, error) {
	d, err := opt.documentOf(page)
	if d != nil && !opt.Markdown {
		d.Markdown = ""
	}
	if d != nil && d.Text != "" && opt.Own != nil {
		d.Text, d.Boilerplate, d.RemovedWords = opt.Own(page)
	}
	return d, err
}

// documentOf returns the document that is written for a page, with its Markdown even if that is not
// asked for, or nil if nothing is written.
func (opt *Options) documentOf(page *store.Content) (*Document, error) {
	r := &page.Record
	switch {
	case !opt.Changes && !opt.choice().holds(r), opt.Changes && !opt.Since.IsZero() && !r.Began().After(opt.Since):
		return nil, nil
	case !opt.Changes:
		return wholeDocument(page, "")
	}
	return documentOfChange(page, opt.choice().changeOf(r, opt.Since))
}

// writer returns functions that write documents in the format, and the end of the format. A feed
// without pages has no bytes in any format, so that no file is replaced by an empty table.
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

const bufferSize = 256 << 10 // bytes; some dozens of pages are written with one system call

// appendPage appends the line of a page.
func appendPage(dst []byte, page *store.Content) ([]byte, error) {
	d, err := wholeDocument(page, "")
	if err != nil {
		return dst, err
	}
	return appendLine(dst, d)
}

// wholeDocument returns the document of a page with its text, and its Markdown if that is stored. A
// page that has words and was stored with its text, but has no text, is damaged.
func wholeDocument(page *store.Content, change store.ChangeKind) (*Document, error) {
	if r := &page.Record; !page.Kept && r.Words > 0 && !r.NoText {
		return nil, fmt.Errorf("text of %s: %w", r.URL, store.ErrCorrupt)
	}
	d := documentOf(&page.Record)
	d.Text, d.Markdown, d.Change = page.Text, page.Markdown, change
	return &d, nil
}
