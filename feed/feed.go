// Package feed writes the content of a crawl for programs that build an index from it: JSON Lines
// (one page per line) or Parquet. SCHEMA.md specifies the fields.
//
//	lines, err := feed.Write(ctx, os.Stdout, s, feed.Options{})
//
// [Write] exports a store. [OpenFile] writes a file that follows a running crawl, even after the
// crawl has been killed and resumed. Both write the same lines in the same order, with one
// exception: after a crawl has revisited pages, the file continues with lines for their changes;
// see package [skink/feed/release]. A feed that follows a crawl reads the changes of the store from its own cursor, so
// the crawl never waits for the feed.
//
// Package release decides whether a page is written.
package feed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"skink/base/table"
	"skink/dedup"
	"skink/extract"
	"skink/feed/release"
	"skink/store"
)

// Format is the format in which pages are written.
type Format string

const (
	JSONLines Format = "jsonl"   // one line for each page; see [Append]
	Parquet   Format = "parquet" // one row for each page
)

// Options configures [Write]. The zero value writes all unique and thin pages as JSON Lines.
type Options struct {
	release.Filter               // selects the pages
	Left           release.Left  // counts what the filter leaves out; nil means that nothing is counted
	Format         Format        // format of the output; default: JSONLines
	Markdown       bool          // whether the field markdown is written, if the store has it
	Links          extract.Links // parts of each link that are kept in the field markdown; "" means all
	Fields         []Field       // optional fields to write

	Last  *store.Cursor // set by [Write] to the position after the last page that it read; may be nil
	After store.Cursor  // position after which to begin; "" means the beginning of the store

	inlinks map[dedup.Hash]int // number of other pages that link to each page, by ID; nil unless Fields contains Inlinks
}

func (opt *Options) gate() *release.Gate {
	return &release.Gate{Filter: opt.Filter, Left: opt.Left, At: opt.After}
}

// Write writes the pages of s to w, in the order in which they were judged. It returns their
// number. After an error, w may end in the middle of a line.
func Write(ctx context.Context, w io.Writer, s store.Reader, opt Options) (pages int, err error) {
	if err := opt.prepare(ctx, s); err != nil {
		return 0, fmt.Errorf("write feed: %w", err)
	}
	out := bufio.NewWriterSize(w, bufferSize)
	write, end := opt.writer(out)
	gate := opt.gate()
	for page, err := range gate.Pages(ctx, s, opt.want()) {
		d, err := opt.document(page, err)
		if err == nil {
			pages++
			err = write(d)
		}
		if err != nil {
			return pages, fmt.Errorf("write feed: %w", err)
		}
	}
	if err := errors.Join(end(), out.Flush()); err != nil {
		return pages, fmt.Errorf("write feed: %w", err)
	}
	if opt.Last != nil {
		*opt.Last = gate.At
	}
	return pages, nil
}

// document returns the document for a page, with the fields that opt asks for, or the error with which the
// page was read.
func (opt *Options) document(page *release.Page, err error) (*Document, error) {
	if err != nil {
		return nil, err
	}
	d, err := wholeDocument(page)
	if err != nil || d.Change == store.Gone {
		return d, err
	}
	if !opt.Markdown {
		d.Markdown = ""
	}
	if opt.Links != "" {
		d.Markdown = extract.RewriteLinks(d.Markdown, opt.Links)
	}
	opt.addFields(d, page.Content())
	return d, nil
}

// writer returns two functions for opt.Format: one writes a document, the other finishes the file.
// A feed without pages is a valid file of its format.
func (opt *Options) writer(out io.Writer) (write func(*Document) error, end func() error) {
	if opt.Format == Parquet {
		t := table.NewWriter(out, table.NewSchema(columns))
		return func(d *Document) error { return writeRow(t, d) }, t.Close
	}
	return lineWriter[Document](out), func() error { return nil }
}

const bufferSize = 256 << 10 // large enough to write a few dozen pages with one system call

// wholeDocument returns the document of a page with its text, and with its Markdown if that is
// stored. It returns store.ErrCorrupt if the store has lost the text of a page that has words.
func wholeDocument(page *release.Page) (*Document, error) {
	c := page.Content()
	d := documentOf(&c.Record)
	if d.Change = page.Change(); d.Change == store.Gone {
		return &d, nil
	}
	if r := &c.Record; !c.Kept && r.Words > 0 && !r.NoText {
		return nil, fmt.Errorf("read the text of %s: %w", r.URL, store.ErrCorrupt)
	}
	d.Text, d.Markdown = c.Text, c.Markdown
	return &d, nil
}

// appendLive appends to dst the line of a live feed for a page. The line of a first visit has no
// field "change", so the live feed of a first crawl equals an export. If anew is set, the feed
// begins with this call: no line has the field, and pages that are gone have no line.
func appendLive(dst []byte, page *release.Page, anew bool) ([]byte, error) {
	gone := page.Change() == store.Gone
	if anew && gone {
		return dst, nil
	}
	d, err := wholeDocument(page)
	if err != nil {
		return dst, err
	}
	if !gone && (anew || len(page.Content().Record.Earlier) == 0) {
		d.Change = ""
	}
	return appendLine(dst, d)
}

// liveGate returns the gate of a feed that follows a crawl, from the given position.
func liveGate(at store.Cursor) *release.Gate {
	return &release.Gate{Filter: release.Filter{Changes: true}, Left: release.Left{}, At: at}
}

// A Consumer processes the changes of a store at its own pace.
type Consumer interface {
	// CatchUp processes the changes since the last call.
	CatchUp(ctx context.Context) error
	// Close processes the remaining changes and closes the consumer. Call it before closing the
	// store.
	Close(ctx context.Context) error
}
