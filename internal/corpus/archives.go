package corpus

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skink/crawler"
	"skink/crawler/render"
	"skink/frontier"
	"skink/store"
	"skink/warc"
)

// Opening is the suffix of the names of archive files that are still being written.
const Opening = ".open"

// An Archive is a web archive that can be read.
type Archive struct {
	Name string // name used in messages
	Open func() (io.ReadCloser, error)
}

// OnDisk returns the archive in a file.
func OnDisk(path string) Archive {
	return Archive{path, func() (io.ReadCloser, error) { return os.Open(path) }}
}

// First returns the order of the first pages of an archive, and whether its pages are private. If
// the archive cannot be read, the error comes from reading its pages.
func (a Archive) First() (order Order, private bool) {
	f, err := a.Open()
	if err != nil {
		return order, false
	}
	defer f.Close()
	info := warc.First(f)
	return orderOf(info), isPrivate(info, nil)
}

// Archives returns the archives at a path: the file itself, those in a WACZ package, or those in a
// folder and the folders below it. The archives of a folder are sorted by name, which is the order in
// which a crawl wrote them. Archives calls passed with the kind of each file in a folder that it does
// not return, except for indexes. It fails for a file in ARC format only if there are no archives.
func Archives(path string, passed func(kind string)) (files []Archive, err error) {
	arc := ""
	var unreadable error
	found := func(i input, _ string) (err error) {
		name := strings.TrimSuffix(i.name, Opening)
		switch {
		case !i.inside:
			files, err = filesIn(i.name)
			return err
		case strings.HasSuffix(name, ".arc.gz") || strings.HasSuffix(name, ".arc"):
			arc = i.name
			passed("ARC file")
		case isArchiveName(name):
			files = append(files, OnDisk(i.name))
		case strings.HasSuffix(name, ".wacz"):
			of, err := filesIn(i.name)
			files = append(files, of...)
			return err
		case !strings.HasSuffix(name, ".cdxj"):
			passed("file that is not a web archive")
		}
		return nil
	}
	err = walk(walkable(path), found, func(err error) { unreadable = cmp.Or(unreadable, err) }, passed)
	switch {
	case cmp.Or(err, unreadable) != nil:
		return nil, cmp.Or(err, unreadable)
	case len(files) == 0 && arc != "":
		return nil, fmt.Errorf("%s: %w", arc, warc.ErrARC)
	case len(files) == 0:
		return nil, fmt.Errorf("there is no web archive in the folder %s", path)
	}
	return files, nil
}

func isArchiveName(name string) bool {
	return strings.HasSuffix(name, ".warc.gz") || strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".warc.zst")
}

func filesIn(path string) (files []Archive, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := make([]byte, len(ZIPMagic))
	if _, err := io.ReadFull(f, start); err != nil || string(start) != ZIPMagic {
		return []Archive{OnDisk(path)}, nil // reading the file will return the error
	}
	packed, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer packed.Close()
	for _, entry := range Packaged(&packed.Reader) {
		files = append(files, Archive{path + "/" + entry.Name, func() (io.ReadCloser, error) { return openPackaged(path, entry.Name) }})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s is a ZIP file without a web archive in its archive/ folder: specify the archive itself, or a WACZ package", path)
	}
	return files, nil
}

// ZIPMagic is the signature at the start of a non-empty ZIP file.
const ZIPMagic = "PK\x03\x04"

// Packaged returns the archives of a WACZ package, sorted by name.
func Packaged(z *zip.Reader) (entries []*zip.File) {
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "archive/") && isArchiveName(f.Name) && !strings.HasSuffix(f.Name, ".zst") { // players read only these
			entries = append(entries, f)
		}
	}
	slices.SortFunc(entries, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	return entries
}

func openPackaged(path, name string) (io.ReadCloser, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	f, err := z.Open(name)
	if err != nil {
		z.Close()
		return nil, err
	}
	return both{f, z}, nil
}

// A both is an open archive in a WACZ package. Closing it also closes the package.
type both struct {
	io.ReadCloser
	zip io.Closer
}

func (b both) Close() error { return errors.Join(b.ReadCloser.Close(), b.zip.Close()) }

// Public returns the archives without private pages. Records of public responses refer only to these.
func Public(files []Archive) []Archive {
	return slices.DeleteFunc(slices.Clone(files), func(f Archive) bool {
		_, private := f.First()
		return private
	})
}

// Originals returns the responses of archives to which revisit records may refer. Of equal responses, it
// finds a public one first.
func Originals(files []Archive) *warc.Originals {
	var public, private []warc.Archive
	for _, f := range files {
		to := &public
		if _, isPrivate := f.First(); isPrivate {
			to = &private
		}
		*to = append(*to, warc.Archive{Name: f.Name, Open: f.Unpacked, Index: f.index})
	}
	return warc.NewOriginals(append(public, private...))
}

func (a Archive) index() (io.ReadCloser, error) {
	return os.Open(strings.TrimSuffix(a.Name, ".warc.gz") + ".cdxj") // exists only for a closed file on disk
}

// Unpacked opens an archive. It decompresses zstd, which package warc cannot read.
func (a Archive) Unpacked() (io.ReadCloser, error) {
	f, err := a.Open()
	if err != nil || !strings.HasSuffix(a.Name, ".zst") {
		return f, err
	}
	b, err := Unpack(f, a.Name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{b, f}, nil
}

// pageAt returns the page of a record in the named file, and the position of the record with the body.
// The position is zero if that record cannot be read on its own, as in a file without a name.
func pageAt(rec *warc.Record, name string, opt crawler.Options, from *warc.Originals) (page *crawler.Page, at store.Archived, err error) {
	whole, body := rec, rec
	if isCopy(rec) {
		original := from.Find(rec.Header.Get("WARC-Payload-Digest"))
		if original == nil {
			return nil, at, passed("revisit of a record that none of the archives has")
		}
		defer original.Close()
		if body, name = original.Record, filepath.Base(original.File); strings.HasSuffix(name, ".zst") {
			name = ""
		}
		if whole, err = original.Whole(rec); err != nil {
			return nil, at, err
		}
	}
	if page, err = PageOf(whole, opt); err == nil {
		_, err = io.Copy(io.Discard, body.Block) // the length of a record is known at its end
	}
	if err == nil && body.Length > 0 && name != "" {
		at = store.Archived{File: name, Offset: body.Offset, Length: body.Length, Digest: rec.Header.Get("WARC-Payload-Digest")}
	}
	return page, at, err
}

// isCopy reports whether rec is the revisit record of a page that was not visited before, so that its
// payload is in the record of another URL or crawl.
func isCopy(rec *warc.Record) bool {
	kind, of := rec.Header.Get(PageField), rec.Header.Get("WARC-Refers-To-Target-URI")
	return rec.IsCopy() && (kind == IsCopy || kind == "" && of != "" && of != rec.URI())
}

// Notes holds what a reader of archives needs: callbacks for everything in an archive that does not
// become a page, which are required, and the records to which revisit records refer.
type Notes struct {
	Originals *warc.Originals
	Damaged   func(error)       // called for each record that cannot be read
	Odd       func(error)       // called for each irregularity that does not prevent reading the record
	Passed    func(kind string) // called for each record that contains no page, except records that only describe another record
}

// ReadArchive reads the pages of an archive in order. It calls take with each page, the position of
// its record, which is zero if the record cannot be read on its own, and its order. It returns an
// error from reading the file, from ctx, or from take.
func ReadArchive(ctx context.Context, r io.Reader, name string, opt crawler.Options, notes Notes, take func(*crawler.Page, store.Archived, Order) error) error {
	in := bufio.NewReaderSize(r, startBytes)
	start, _ := in.Peek(startBytes)
	if IsARC(start) {
		return warc.ErrARC
	}
	from := io.Reader(in)
	if isZstd(start) {
		unpacked, err := Unpack(in, name)
		if err != nil {
			return err
		}
		defer unpacked.Close()
		from, name = unpacked, "" // no record can be read on its own
	}
	records := warc.NewReader(from)
	var info warc.Header
	var known companions
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := records.Next()
		if err == io.EOF {
			return nil
		}
		var page *crawler.Page
		if err == nil && rec.Type() == warc.Info {
			info = rec.Header
		}
		if err == nil {
			err = known.read(rec)
		}
		var at store.Archived
		if err == nil {
			page, at, err = pageAt(rec, name, opt, notes.Originals)
		}
		if none, ok := errors.AsType[*PassedError](err); ok {
			notes.Passed(none.Kind)
			continue
		}
		if damage, ok := errors.AsType[*warc.Damage](err); ok {
			if damage.Lost() {
				notes.Damaged(err)
			} else {
				notes.Odd(err)
			}
			continue
		}
		if err != nil {
			return err
		}
		if page == nil {
			continue
		}
		page.Private = isPrivate(info, rec.Header)
		known.complete(page)
		order := orderOf(info)
		order.Seeds = known.seeds
		if err := take(page, at, order); err != nil {
			return err
		}
	}
}

// companions holds what records of an archive say about the pages that follow.
type companions struct {
	seeds  string
	url    string // page that the fields below are about
	listed *crawler.Listed
	drawn  *render.Drawing
}

// maxCompanion is the maximum size of a block in bytes. A sitemap may have 50 MB.
const maxCompanion = 64 << 20

// read reads the block of a record that describes a later record.
func (c *companions) read(rec *warc.Record) error {
	kind := rec.Header.Get(PageField)
	if kind != IsSeeds && kind != IsListed && kind != IsRendered {
		return nil
	}
	block, err := io.ReadAll(io.LimitReader(rec.Block, maxCompanion))
	switch {
	case err != nil:
		return err
	case kind == IsSeeds:
		c.seeds = string(block)
		return nil
	case kind == IsRendered:
		c.url, c.drawn = rec.URI(), &render.Drawing{HTML: block, Goes: rec.Header.Get(GoesField)}
		return nil
	}
	c.url = rec.URI()
	c.listed = &crawler.Listed{URLs: strings.Fields(string(block))}
	c.listed.Pages = len(c.listed.URLs)
	return nil
}

// complete adds to a page what the records before it say about it.
func (c *companions) complete(page *crawler.Page) {
	if c.url == page.Item.URL {
		page.Listed = c.listed
		page.Drawn(c.drawn, page.DrawError)
	}
	if page.Listed != nil {
		page.Item.Kind = frontier.Sitemap
	}
	c.url, c.drawn, c.listed = "", nil, nil
}

const startBytes = 64 << 10

// IsARC reports whether a file is an ARC file. The argument start is the beginning of the file,
// compressed or not.
func IsARC(start []byte) bool { return begins(bytes.NewReader(start), warc.IsARC) }

// IsWARC reports whether a file is a WARC or WET file, compressed or not. It reads the beginning of the file.
func IsWARC(file io.Reader) bool { return begins(file, warc.Begins) }

func begins(file io.Reader, as func(start []byte) bool) bool {
	in, err := Unpack(file, "")
	if err != nil {
		return false
	}
	defer in.Close()
	start, _ := in.Peek(startBytes)
	return as(start)
}
