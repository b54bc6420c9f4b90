// Package feed writes the content a crawl found, one page a line, for whatever
// builds an index from it. Its form is JSON Lines, specified in jsonl.go.
//
//	lines, err := feed.Write(ctx, os.Stdout, s, feed.Options{Include: feed.Unique})
//
// [Write] exports a store. [OpenFile] keeps a file in step with a crawl that is
// running, may be killed, and goes on later. Both give the same lines in the
// same order, but when a crawl came back to its pages: then the file goes on with what changed,
// see change.go. What follows a crawl is a consumer of its store's changes: it keeps a
// cursor of its own, and however slow it is, the crawl does not wait for it.
//
// The package decides nothing: which pages are fed follows from their verdicts. A
// page marked noindex is written only to who asks for [All].
package feed

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

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

func (in Include) holds(r *store.Record) bool {
	if in == All {
		return r.Kind == store.Page
	}
	return r.Fed()
}

// Options says what Write writes. The zero value is good: all that is to be fed.
type Options struct {
	Include Include      // default Unique
	After   store.Cursor // where to begin; "": at the beginning

	Changes bool      // each line says what it is, and what is gone has one too
	Since   time.Time // of changes, those after it only; zero: all
}

// Write writes the pages of s to w, in the order in which they were judged, and
// returns how many lines it wrote. After an error w may end in half a line.
func Write(ctx context.Context, w io.Writer, s store.Reader, opt Options) (lines int, err error) {
	if opt.Include != "" {
		if _, err := ParseInclude(string(opt.Include)); err != nil {
			return 0, err
		}
	}
	out := bufio.NewWriterSize(w, bufferSize)
	var line []byte
	for page, err := range s.Changes(ctx, opt.After, store.WantText) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return lines, fmt.Errorf("write feed: %w", err)
		}
		if line, err = opt.append(line[:0], &page.Content); err != nil {
			return lines, fmt.Errorf("write feed: %w", err)
		}
		if len(line) == 0 {
			continue
		}
		if _, err := out.Write(line); err != nil {
			return lines, fmt.Errorf("write feed: %w", err)
		}
		lines++
	}
	if err := out.Flush(); err != nil {
		return lines, fmt.Errorf("write feed: %w", err)
	}
	return lines, nil
}

// append appends the line of a page, if it has one.
func (opt *Options) append(dst []byte, page *store.Content) ([]byte, error) {
	r := &page.Record
	switch {
	case !opt.Changes && !opt.Include.holds(r), opt.Changes && !opt.Since.IsZero() && !r.Began().After(opt.Since):
		return dst, nil
	case !opt.Changes:
		return appendPage(dst, page)
	}
	switch kind := opt.Include.changeOf(r, opt.Since); kind {
	case "":
		return dst, nil
	case store.Gone:
		return appendGone(dst, r)
	default:
		return appendChange(dst, page, kind)
	}
}

const bufferSize = 256 << 10 // some dozens of pages to one system call

// appendPage appends the line of a page. One that has words and was kept with its
// text, but has none, is a sign of damage.
func appendPage(dst []byte, page *store.Content) ([]byte, error) {
	if err := whole(page); err != nil {
		return dst, err
	}
	return Append(dst, &page.Record, page.Text)
}

// whole refuses a page whose text is lost.
func whole(page *store.Content) error {
	if r := &page.Record; !page.Kept && r.Words > 0 && !r.NoText {
		return fmt.Errorf("text of %s: %w", r.URL, store.ErrCorrupt)
	}
	return nil
}
