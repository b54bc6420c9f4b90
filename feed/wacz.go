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
// A WACZ file holds the answers of a crawl that archived them, and their index. It also holds the
// pages of the feed with their titles and texts. A player in a browser shows the file.

// A WACZ says what a package is made of, in addition to a store.
type WACZ struct {
	Dir      string                               // folder of the web archive
	Software string                               // name of the program that makes the package
	Created  time.Time                            // time at which the package is made; must be set
	Damaged  func(archive string, d *warc.Damage) // called for each record that cannot be indexed; nil: the first ends the writing
}

// ErrNoArchive means that no page of a store was archived.
var ErrNoArchive = errors.New("the store has no web archive")

// A MissingError says that a file which pages of a store are in is not in the folder of the archive.
type MissingError struct{ Name, Dir string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("pages of the store are in the archive file %s, which is not in %s", e.Name, e.Dir)
}

// WriteWACZ packs the archive of a store, and returns how many pages its list has. Only the selection
// of pages in opt is used.
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

// archivesOf returns the names of the archive files of a store's pages, in order.
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

// beginnings yields the pages of the package's list, and counts them.
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
