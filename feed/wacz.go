package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"skink/store"
	"skink/warc"
)

// # WACZ
//
// A WACZ file is a web archive in one file. It contains the archived responses of a crawl, an index
// of them, and the title and text of each page in the feed. Viewers such as ReplayWeb.page show it
// in a browser.

// WACZ configures [WriteWACZ], together with [Options].
type WACZ struct {
	Dir      string                               // folder with the archive files of the crawl
	Software string                               // name of the software that writes the file; it is recorded in the file
	Created  time.Time                            // time of creation, which is recorded in the file; required
	Damaged  func(archive string, d *warc.Damage) // called for each archived record that cannot be indexed; nil means that WriteWACZ fails at the first such record
}

// ErrNoArchive means that no page of a store was archived.
var ErrNoArchive = errors.New("the store has no web archive")

// A MissingError means that a file with some of the store's pages is missing from the archive's
// folder.
type MissingError struct{ Name, Dir string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("some pages of the store are in the archive file %s, which does not exist in %s", e.Name, e.Dir)
}

// WriteWACZ packs the archive of a store into one file, and returns the number of pages in the
// file's page list. It uses only the fields of opt that select pages.
func WriteWACZ(ctx context.Context, w io.Writer, s store.Reader, opt Options, from WACZ) (pages int, err error) {
	if err := opt.check(); err != nil {
		return 0, err
	}
	names, err := archivesOf(ctx, s)
	if err != nil {
		return 0, err
	}
	p := warc.Package{Software: from.Software, Created: from.Created, Damaged: from.Damaged}
	for _, name := range names {
		path := filepath.Join(from.Dir, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return 0, &MissingError{name, from.Dir}
		}
		p.Archives = append(p.Archives, warc.Archive{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	p.Pages = opt.beginnings(ctx, s, &pages)
	return pages, warc.WriteWACZ(w, p)
}

func archivesOf(ctx context.Context, s store.Reader) ([]string, error) {
	named := map[string]bool{}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for _, at := range []store.Archived{page.Record.Archive, page.Record.Answered} {
			if at.File != "" {
				named[at.File] = true
			}
		}
	}
	if len(named) == 0 {
		return nil, ErrNoArchive
	}
	var names []string
	for name := range named {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// beginnings yields the entries of the WACZ file's page list, and adds their number to *count.
func (opt *Options) beginnings(ctx context.Context, s store.Reader, count *int) iter.Seq2[warc.StartPage, error] {
	return func(yield func(warc.StartPage, error) bool) {
		for page, err := range s.Changes(ctx, "", store.WantText) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(warc.StartPage{}, err)
				return
			}
			r := &page.Record
			if !opt.choice().holds(r) || r.Archive.File == "" {
				continue
			}
			*count++
			p := warc.StartPage{ID: r.ID.String(), URL: r.URL, Date: r.FetchedAt.UTC(), Title: r.Title, Text: page.Text, Size: r.Size}
			if !yield(p, nil) {
				return
			}
		}
	}
}
