package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"skink/dedup"
	"skink/feed/release"
	"skink/store"
	"skink/warc"
)

// # WACZ
//
// A WACZ file is a web archive in one file. It contains the archived responses of a crawl, an index
// of them, and a list of all archived pages with their titles, texts and verdicts. Viewers such as
// ReplayWeb.page show it in a browser.

// WACZ configures [WriteWACZ], together with [Options].
type WACZ struct {
	Dir      string                               // folder with the archive files of the crawl
	Others   *warc.Originals                      // archives of public responses in other folders, to which revisit records refer; the file gets these records as responses
	Referred []string                             // names of all archive files in these folders; they may be missing from Dir
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
// file's page list. The file contains no record of a URL that opt leaves out because it is private
// or because of its content signals. The page list has every page that the file contains.
// Only opt.NoThin and opt.MinWords make it shorter.
func WriteWACZ(ctx context.Context, w io.Writer, s store.Reader, opt Options, from WACZ) (pages int, err error) {
	withheld := map[dedup.Hash]bool{}
	names, err := opt.archives(ctx, s, from.Dir, withheld)
	if err != nil {
		return 0, err
	}
	opt.Include = release.All
	p := warc.Package{Software: from.Software, Created: from.Created, Damaged: from.Damaged}
	var own *warc.Originals
	withheldURL := func(uri string) bool {
		if url, ok := warc.Pictured(uri); ok {
			uri = url
		}
		return withheld[dedup.HashOf([]byte(uri))]
	}
	instead := func(rec *warc.Record) *warc.Original {
		digest := rec.Header.Get("WARC-Payload-Digest")
		found := own.Find(digest)
		switch {
		case found == nil:
			return from.Others.Find(digest)
		case rec.IsCopy() && withheldURL(rec.Header.Get("WARC-Refers-To-Target-URI")):
			return found
		}
		found.Close()
		return nil
	}
	var all []warc.Archive
	for _, name := range names {
		path := filepath.Join(from.Dir, name)
		switch private, err := isPrivate(path); {
		case errors.Is(err, fs.ErrNotExist) && slices.Contains(from.Referred, name):
			continue
		case errors.Is(err, fs.ErrNotExist):
			return 0, &MissingError{name, from.Dir}
		case err != nil:
			return 0, err
		case private && !opt.Private:
			continue
		}
		p.Archives = append(p.Archives, warc.Archive{Name: name, Open: func() (io.ReadCloser, error) { return openWithout(path, withheldURL, instead) }})
		all = append(all, warc.Archive{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	own = warc.NewOriginals(all)
	if len(withheld) == 0 && from.Others.Empty() {
		p.Archives = all
	}
	p.Pages = opt.beginnings(ctx, s, p.Archives, &pages)
	return pages, warc.WriteWACZ(w, p)
}

func isPrivate(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return warc.First(f).Has(warc.PrivateField), nil
}

// serial finds the part of a file name that all files of a crawl have in common.
var serial = regexp.MustCompile(`^(.+)-\d{5,}(?:-private)?\.warc\.gz$`)

// crawlOf returns this part, or "" for another file.
func crawlOf(name string) string {
	if m := serial.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// archives returns the names of the files with the responses of all records that opt releases, and of
// the other files of the same crawl in dir, which have earlier responses. It adds the IDs of all other
// records to withheld.
func (opt *Options) archives(ctx context.Context, s store.Reader, dir string, withheld map[dedup.Hash]bool) ([]string, error) {
	named := map[string]bool{}
	gate := release.Gate{
		Filter:   release.Filter{Include: release.Records, NoSignals: opt.NoSignals, Private: opt.Private},
		Left:     opt.Left,
		Withheld: func(id dedup.Hash) { withheld[id] = true },
	}
	for page, err := range gate.Pages(ctx, s, store.WantRecord) {
		if err != nil {
			return nil, err
		}
		r := &page.Content().Record
		named[r.Archive.File], named[r.Answered.File] = true, true
	}
	delete(named, "")
	crawls := map[string]bool{}
	for name := range named {
		crawls[crawlOf(name)] = true
	}
	delete(crawls, "")
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // without the folder, each file is missing
		return nil, err
	}
	for _, f := range files {
		if crawls[crawlOf(f.Name())] {
			named[f.Name()] = true
		}
	}
	if len(named)+len(withheld) == 0 {
		return nil, ErrNoArchive
	}
	return slices.Sorted(maps.Keys(named)), nil
}

// openWithout opens an archive file without the records about the withheld URLs. A revisit record for
// which instead returns a record becomes a response. openWithout also leaves out what it cannot read,
// because that may be such a record.
func openWithout(path string, withheld func(url string) bool, instead func(*warc.Record) *warc.Original) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var parts []io.Reader
	for r := warc.NewReader(f); err == nil; {
		var rec *warc.Record
		var whole []byte
		if rec, err = r.Next(); err == nil && rec.Type() == warc.Revisit && !withheld(rec.URI()) {
			whole, err = wholeOf(rec, instead(rec))
		}
		if err == nil {
			_, err = io.Copy(io.Discard, rec.Block)
		}
		if _, damaged := errors.AsType[*warc.Damage](err); damaged && !errors.Is(err, warc.ErrShared) {
			err = nil
		} else if err == nil && whole != nil {
			parts = append(parts, bytes.NewReader(whole))
		} else if err == nil && !withheld(rec.URI()) {
			parts = append(parts, io.NewSectionReader(f, rec.Offset, rec.Length))
		}
	}
	if err != io.EOF { // also if several records share a gzip member, so that none can be left out
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(parts...), f}, nil
}

// wholeOf returns the response for a revisit record, or nil if there is no original.
func wholeOf(rec *warc.Record, original *warc.Original) ([]byte, error) {
	if original == nil {
		return nil, nil
	}
	defer original.Close()
	whole, err := original.Whole(rec)
	if err != nil {
		return nil, err
	}
	return warc.Options{}.Append(nil, whole)
}

// beginnings yields the entries of the WACZ file's page list, for pages in the given archives, and adds their number to *count.
func (opt *Options) beginnings(ctx context.Context, s store.Reader, archives []warc.Archive, count *int) iter.Seq2[warc.StartPage, error] {
	return store.Sequence(func(yield func(warc.StartPage) error) error {
		gate := opt.gate()
		gate.Left = nil // the archives are counted
		return store.Forward(gate.Pages(ctx, s, store.WantText), func(page *release.Page) error {
			r := &page.Content().Record
			if !slices.ContainsFunc(archives, func(a warc.Archive) bool { return a.Name == r.Archive.File || a.Name == r.Answered.File }) {
				return nil
			}
			*count++
			return yield(warc.StartPage{
				ID: r.ID.String(), URL: r.URL, Date: r.FetchedAt.UTC(), Title: r.Title, Text: page.Content().Text, Size: r.Size,
				Seed: r.Depth == 0, Verdict: string(r.Verdict), DuplicateOf: r.DuplicateOf,
			})
		})
	})
}
