package warc

import (
	"archive/zip"
	"bytes"
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
// Web Archive Collection Zipped, version 1.1.1: a ZIP file of archives, their index, a list of
// pages to start from, and digests of all of it. The archives are stored and not deflated, so that
// a player in a browser can fetch one record by its range. The index is one file, index.cdxj.

// A Package is the content of a WACZ file.
type Package struct {
	Title       string
	Description string
	Software    string    // that makes the package
	Created     time.Time // required
	Archives    []Archive
	Pages       iter.Seq2[StartPage, error] // nil: none

	Damaged func(archive string, d *Damage) // called for each part that cannot be indexed; nil: the first ends the writing
}

// An Archive is one archive of a package.
type Archive struct {
	Name string // its base name, such as crawl-00000.warc.gz
	Open func() (io.ReadCloser, error)
}

// A StartPage is a page from which a reader of a package may start.
type StartPage struct {
	ID    string    `json:"id,omitempty"`
	URL   string    `json:"url"`
	Date  time.Time `json:"ts"`
	Title string    `json:"title,omitempty"`
	Text  string    `json:"text,omitempty"` // for a search in the package
	Size  int64     `json:"size,omitempty"` // bytes
}

// WriteWACZ writes a package. Each archive is read twice.
func WriteWACZ(w io.Writer, p Package) error {
	z := &packing{zip: zip.NewWriter(w), date: p.Created}
	if err := z.all(p); err != nil {
		return fmt.Errorf("write a WACZ package: %w", err)
	}
	return nil
}

// A packing is a package that is being written.
type packing struct {
	zip       *zip.Writer
	date      time.Time
	resources []resource
}

// A resource is the entry of a file in the package's list.
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
	if err := z.file("pages.jsonl", "pages/pages.jsonl", func(w io.Writer) error { return writePages(w, p.Pages) }); err != nil {
		return err
	}
	if err := z.list(p); err != nil {
		return err
	}
	return z.zip.Close()
}

// archive stores an archive, and returns its entries. The head of a file in a ZIP contains the
// length and checksum, so a first reading computes these and the index.
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
		_, err := io.Copy(io.Discard, r) // what is behind the last record
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
		err = fmt.Errorf("it changed while it was read")
	}
	z.resources = append(z.resources, resource{a.Name, path, sums.hash(), sums.bytes})
	return entries, err
}

// read calls do with the opened archive, and closes it afterwards.
func (a Archive) read(do func(io.Reader) error) error {
	f, err := a.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	return do(f)
}

// file writes a file, deflated.
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

func writePages(w io.Writer, pages iter.Seq2[StartPage, error]) error {
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
		if err := out.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

// list writes the list of all files, and the digest of the list.
func (z *packing) list(p Package) error {
	list, err := json.MarshalIndent(struct {
		Profile     string     `json:"profile"`
		Version     string     `json:"wacz_version"`
		Title       string     `json:"title,omitempty"`
		Description string     `json:"description,omitempty"`
		Created     time.Time  `json:"created"`
		Software    string     `json:"software,omitempty"`
		Resources   []resource `json:"resources"`
	}{"data-package", "1.1.1", p.Title, p.Description, p.Created.UTC(), p.Software, z.resources}, "", "  ")
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
		return func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(content)); return err }
	}
	if err := z.file("", "datapackage.json", write(list)); err != nil {
		return err
	}
	return z.file("", "datapackage-digest.json", write(digest))
}

// sums are the length and checksums of a file, for the ZIP and for the list.
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
