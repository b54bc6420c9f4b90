package warc

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"iter"
	"time"
)

// # WACZ
//
// A WACZ file (Web Archive Collection Zipped, version 1.1.1) is a ZIP file. It contains WARC
// archives, their index, a list of pages to start from, and digests of all these files. ZIP stores
// the archives without compressing them again, so a player in a browser can fetch one record with a
// range request. The index is the file index.cdxj.

// A Package describes a WACZ file to write.
type Package struct {
	Software string    // name of the program that creates the file
	Created  time.Time // time of creation; required
	Archives []Archive
	Pages    iter.Seq2[StartPage, error] // pages to start from; nil means none

	Damaged func(archive string, d *Damage) // called for each damaged record of an archive; if nil, a damaged record makes WriteWACZ fail
}

// An Archive is a WARC file.
type Archive struct {
	Name  string // file name without folder, such as crawl-00000.warc.gz
	Open  func() (io.ReadCloser, error)
	Index func() (io.ReadCloser, error) // opens the CDXJ index of the file; nil means that there is none
}

// A StartPage is an archived page that a player offers its user as a starting point.
type StartPage struct {
	ID    string    `json:"id,omitempty"`
	URL   string    `json:"url"`
	Date  time.Time `json:"ts"`
	Title string    `json:"title,omitempty"`
	Text  string    `json:"text,omitempty"` // the page's text, for players to search
	Size  int64     `json:"size,omitempty"` // size of the page in bytes
	Seed  bool      `json:"seed,omitempty"` // whether the crawl began at the page; the first such page is the main page of the package

	Verdict     string `json:"verdict,omitempty"`      // verdict of duplicate detection; not part of the format, as the next field
	DuplicateOf string `json:"duplicate_of,omitempty"` // URL of the page that this one duplicates
}

// WriteWACZ writes a package as a WACZ file. It opens and reads each archive twice.
func WriteWACZ(w io.Writer, p Package) error {
	z := &packing{zip: zip.NewWriter(w), date: p.Created}
	if err := z.all(p); err != nil {
		return fmt.Errorf("write a WACZ package: %w", err)
	}
	return nil
}

type packing struct {
	zip       *zip.Writer
	date      time.Time
	resources []resource
	main      *StartPage // nil means none
}

// A resource describes one file in datapackage.json, the list of all files in a WACZ file.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

func (z *packing) all(p Package) error {
	var entries []Entry
	for _, a := range p.Archives {
		of, err := z.archive(a, p.Damaged)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		entries = append(entries, of...)
	}
	err := z.file("index.cdxj", "indexes/index.cdxj", func(w io.Writer) error { return WriteIndex(w, entries) })
	if err != nil {
		return err
	}
	entries = nil
	if err := z.file("pages.jsonl", "pages/pages.jsonl", func(w io.Writer) error { return z.pages(w, p.Pages) }); err != nil {
		return err
	}
	if err := z.list(p); err != nil {
		return err
	}
	return z.zip.Close()
}

// archive writes an archive to the ZIP file without compressing it, and returns the index entries
// of its records. It reads the archive twice: ZIP writes the length and checksum of a file before
// its content, so the first pass computes these and the index.
func (z *packing) archive(a Archive, damaged func(string, *Damage)) (entries []Entry, err error) {
	var first error
	told := func(d *Damage) {
		if damaged != nil {
			damaged(a.Name, d)
		} else if first == nil {
			first = d
		}
	}
	sums := newSums()
	err = a.read(func(r io.Reader) error {
		r = io.TeeReader(r, sums)
		if entries, err = IndexOf(r, a.Name, told); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, r) // also read the bytes after the last record, because the length and the checksums include them
		return err
	})
	if err == nil {
		err = first
	}
	if err != nil {
		return nil, err
	}
	path := "archive/" + a.Name
	head := &zip.FileHeader{
		Name: path, Method: zip.Store,
		CRC32: sums.crc.Sum32(), CompressedSize64: uint64(sums.bytes), UncompressedSize64: uint64(sums.bytes),
	}
	//lint:ignore SA1019 CreateRaw writes the date that SetModTime makes; with Modified it would be day 0 of month 0
	head.SetModTime(z.date)
	to, err := z.zip.CreateRaw(head)
	if err != nil {
		return nil, err
	}
	again := newSums()
	err = a.read(func(r io.Reader) error {
		_, err := io.Copy(io.MultiWriter(to, again), io.LimitReader(r, sums.bytes))
		return err
	})
	if err == nil && again.hash() != sums.hash() {
		err = fmt.Errorf("the file changed while it was being read")
	}
	z.resources = append(z.resources, resource{a.Name, path, sums.hash(), sums.bytes})
	return entries, err
}

func (a Archive) read(do func(io.Reader) error) error {
	f, err := a.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	return do(f)
}

// file adds a compressed file to the ZIP file and to the list of resources.
func (z *packing) file(name, path string, write func(io.Writer) error) error {
	to, err := z.zip.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: z.date})
	if err != nil {
		return err
	}
	sums := newSums()
	if err := write(io.MultiWriter(to, sums)); err != nil {
		return err
	}
	z.resources = append(z.resources, resource{name, path, sums.hash(), sums.bytes})
	return nil
}

func (z *packing) pages(w io.Writer, pages iter.Seq2[StartPage, error]) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if err := out.Encode(map[string]string{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}); err != nil {
		return err
	}
	if pages == nil {
		return nil
	}
	for p, err := range pages {
		if err != nil {
			return err
		}
		if p.Seed && z.main == nil {
			z.main = &p
		}
		if err := out.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

// list writes datapackage.json, the list of all files in the WACZ file, and a file with the digest
// of that list.
func (z *packing) list(p Package) error {
	main := cmp.Or(z.main, &StartPage{})
	list, err := json.MarshalIndent(struct {
		Profile   string     `json:"profile"`
		Version   string     `json:"wacz_version"`
		Created   time.Time  `json:"created"`
		Software  string     `json:"software,omitempty"`
		Main      string     `json:"mainPageUrl,omitempty"`
		MainDate  time.Time  `json:"mainPageDate,omitzero"`
		Resources []resource `json:"resources"`
	}{"data-package", "1.1.1", p.Created.UTC(), p.Software, main.URL, main.Date, z.resources}, "", "  ")
	if err != nil {
		return err
	}
	sums := newSums()
	_, _ = sums.Write(list)
	digest, err := json.MarshalIndent(map[string]string{"path": "datapackage.json", "hash": sums.hash()}, "", "  ")
	if err != nil {
		return err
	}
	write := func(content []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(content); return err }
	}
	if err := z.file("", "datapackage.json", write(list)); err != nil {
		return err
	}
	return z.file("", "datapackage-digest.json", write(digest))
}

// sums computes the length and the checksums of the data written to it: CRC-32 for ZIP, and SHA-256
// for the list of files.
type sums struct {
	sha   hash.Hash
	crc   hash.Hash32
	bytes int64
}

func newSums() *sums { return &sums{sha: sha256.New(), crc: crc32.NewIEEE()} }

func (s *sums) Write(p []byte) (int, error) {
	s.sha.Write(p)
	s.crc.Write(p)
	s.bytes += int64(len(p))
	return len(p), nil
}

func (s *sums) hash() string { return "sha256:" + hex.EncodeToString(s.sha.Sum(nil)) }
