package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"skink/base/lock"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/store"
	"skink/store/disk"
	"skink/warc"
)

// # Deleting records
//
// The first pass over the archives finds the records of deleted URLs, and the revisit records that refer
// to them. The first of these gets the payload and becomes a response. The others then refer to it.
// The second pass writes each file that changes again. Records that stay as they are keep their bytes.
//
// A file keeps its name, but its records move, and the store has their positions. So each new file
// waits beside the old one, under its name with a random ID. The store that is written again has this
// ID, too, with the new positions. Once that store is in place, [Erasure.Complete] moves the files with its
// ID. It removes those with another ID, which a killed process left.
//
// Only records about a deleted URL go. Other records may name it, for example in a link, a Location
// or a Referer. They keep it, because their bytes are those of their own exchange. But a POST request with
// a deleted URL in its body asks for what is deleted, so it goes with its response.

// An Erasure deletes the records of deleted pages from the archives in some folders.
type Erasure struct {
	Dirs   []string
	Erases func(url string) bool // selects the canonical URLs to delete
	Note   func(text string)     // called for what the erasure does not read

	Records, Moved, Bytes int64 // deleted records, payloads that are moved to other records, and bytes of the deleted records

	files    []*rewritten
	gone     map[string]*capture // what goes, by ID, and by URL and date
	copies   []*capture          // revisits that stay, and may refer to what goes
	referred map[string]*capture // those that do, by ID
	heirs    map[store.Archived]*capture
}

// A rewritten is a file of the archive.
type rewritten struct {
	corpus.Archive
	changes bool       // whether a record goes or changes
	shared  bool       // whether a record has no length of its own
	private bool       // whether the last warcinfo record says so
	moved   [][3]int64 // old and new offset of each record that stays, and its new length
}

// whole returns the name that the file has once it is closed.
func (f *rewritten) whole() string { return strings.TrimSuffix(f.Name, opening) }

func (f *rewritten) base() string { return filepath.Base(f.whole()) }

// A capture is a response or revisit.
type capture struct {
	place
	file   *rewritten
	offset int64
	to     *place // what a revisit refers to; nil for a response

	root *capture       // what a revisit that stays refers to, and goes
	rank int            // the revisit with the lowest rank gets the payload
	heir *capture       // the revisit that gets the payload of this response; nil if there is none
	at   store.Archived // new position of the heir
}

// A place identifies a record in references: by its ID, or by its URL and its date in whole seconds.
type place struct{ id, url, date string }

func placeOf(h warc.Header, prefix, id, url string) place {
	date, _ := time.Parse(time.RFC3339Nano, h.Get(prefix+"Date"))
	return place{h.Get(id), h.Get(url), date.UTC().Format(time.RFC3339)}
}

func (e *Erasure) find(p *place) *capture {
	if p == nil {
		return nil
	}
	return cmp.Or(e.gone[p.id], e.gone[p.url+" "+p.date])
}

// Find finds what is to be deleted. It changes nothing.
func (e *Erasure) Find(ctx context.Context) error {
	e.gone, e.referred, e.heirs = map[string]*capture{}, map[string]*capture{}, map[store.Archived]*capture{}
	for _, dir := range e.Dirs {
		files, err := corpus.Archives(dir, func(kind string) { e.Note(fmt.Sprintf("%s: a %s is not searched", dir, kind)) })
		if err != nil {
			return err
		}
		for _, a := range files {
			if _, err := os.Stat(a.Name); err != nil {
				e.Note(a.Name + " is in a package, and not changed: export the package again")
				continue
			}
			f := &rewritten{Archive: a}
			e.files = append(e.files, f)
			lost := func(d *warc.Damage) {
				f.changes = true // what cannot be read may be about a deleted page
				e.Note(fmt.Sprintf("%s: what cannot be read is deleted: %v", a.Name, d))
			}
			if err := f.read(ctx, lost, func(rec *warc.Record, _ io.ReaderAt) error { return e.look(f, rec) }); err != nil {
				return err
			}
		}
	}
	delete(e.gone, "") // the ID of records without one
	for _, c := range e.copies {
		for root := e.find(c.to); root != nil; root = e.find(root.to) {
			c.root = root
		}
		if c.root == nil {
			continue
		}
		c.file.changes, e.referred[c.id] = true, c
		if h := c.root.heir; c.root.to == nil && (h == nil || c.rank < h.rank) {
			c.root.heir = c
		}
	}
	return nil
}

// read calls visit for each record of a file. The argument raw reads the file if each record has a position.
func (f *rewritten) read(ctx context.Context, lost func(*warc.Damage), visit func(rec *warc.Record, raw io.ReaderAt) error) error {
	in, err := f.Unpacked()
	if err != nil {
		return err
	}
	defer in.Close()
	raw, _ := in.(io.ReaderAt)
	if f.shared {
		raw = nil
	}
	for r := warc.NewReader(in); ctx.Err() == nil; {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = visit(rec, raw)
		}
		if damage, ok := errors.AsType[*warc.Damage](err); !ok && err != nil {
			return err
		} else if ok && damage.Lost() {
			lost(damage)
		}
	}
	return ctx.Err()
}

// look is the first pass over a record.
func (e *Erasure) look(f *rewritten, rec *warc.Record) error {
	h, erases := rec.Header, e.erases(rec.URI())
	asks := rec.Type() == warc.Request && !erases && e.asks(rec)
	if _, err := io.Copy(io.Discard, rec.Block); err != nil {
		return err
	}
	f.shared = f.shared || rec.Length == 0
	f.changes = f.changes || erases || asks
	c := &capture{place: placeOf(h, "WARC-", "WARC-Record-ID", "WARC-Target-URI"), file: f, offset: rec.Offset}
	switch rec.Type() {
	case warc.Info:
		f.private = h.Has(warc.PrivateField)
	case warc.Request:
		if asks {
			e.gone[c.id], e.gone[h.Get("WARC-Concurrent-To")] = c, c
		}
	case warc.Revisit:
		to := placeOf(h, "WARC-Refers-To-", "WARC-Refers-To", "WARC-Refers-To-Target-URI")
		if c.to = &to; !rec.IsCopy() { // after status 304 (Not Modified), the revisit has no head like that of the response
			c.rank = 1
		}
		if f.private || h.Has(warc.PrivateField) { // public records must not refer to it
			c.rank += 2
		}
		if !erases && (to.url == "" || e.erases(to.url)) {
			e.copies = append(e.copies, c)
		}
	}
	if erases && (rec.Type() == warc.Response || c.to != nil) {
		e.gone[c.id], e.gone[c.url+" "+c.date] = c, c
	}
	return nil
}

var (
	inURN = regexp.MustCompile(`^urn:\w+:(https?:.*)`) // the URI of a record about a page, such as urn:view:URL
	urlIn = regexp.MustCompile(`https?://[^\s"'<>&]+`)
)

func (e *Erasure) erases(uri string) bool {
	if m := inURN.FindStringSubmatch(uri); m != nil {
		uri = m[1]
	}
	if url, err := frontier.Canonical(strings.Trim(uri, "<>")); err == nil {
		uri = url
	}
	return e.Erases(uri)
}

// asks reports whether a request is a POST request with a deleted URL in its body.
func (e *Erasure) asks(rec *warc.Record) bool {
	m, err := rec.Message()
	if err != nil || !strings.HasPrefix(m.Start, "POST ") {
		return false
	}
	body, _ := io.ReadAll(io.LimitReader(m.Body, 1<<20)) // of a damaged record, the part before the damage
	text := strings.ReplaceAll(string(body), `\/`, "/")
	plain, _ := url.QueryUnescape(text)
	return slices.ContainsFunc(urlIn.FindAllString(text+" "+plain, -1), e.erases)
}

// goes reports whether a record is deleted: because of its URL, or with the record that it belongs to.
func (e *Erasure) goes(rec *warc.Record) bool {
	h := rec.Header
	belongs := rec.Type() != warc.Revisit && cmp.Or(e.gone[h.Get("WARC-Concurrent-To")], e.gone[h.Get("WARC-Refers-To")]) != nil
	return belongs || e.gone[rec.ID()] != nil || e.erases(rec.URI())
}

// Write writes the files that change beside the old ones, where they wait for [Erasure.Complete]. If id is "", it
// only counts.
func (e *Erasure) Write(ctx context.Context, id string) (err error) {
	e.Records, e.Moved, e.Bytes = 0, 0, 0
	for _, f := range e.files {
		switch f.moved = nil; {
		case !f.changes:
		case id == "":
			err = e.write(ctx, f, io.Discard)
		case f.whole() != f.Name:
			err = errors.New("another crawl has not closed the file: run that crawl to its end first")
		default:
			err = e.writeFile(ctx, f, "."+id+erasing)
		}
		if err != nil {
			return fmt.Errorf("rewrite %s: %w", f.Name, err)
		}
	}
	return nil
}

func (e *Erasure) writeFile(ctx context.Context, f *rewritten, suffix string) error {
	info, err := os.Stat(f.Name)
	if err != nil {
		return err
	}
	to, err := os.OpenFile(f.Name+suffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, info.Mode())
	if err != nil {
		return err
	}
	defer to.Close()
	out := bufio.NewWriter(to)
	err = errors.Join(e.write(ctx, f, out), out.Flush(), to.Sync())
	if _, none := os.Stat(indexName(f.Name)); none == nil && err == nil {
		var entries []warc.Entry
		entries, err = warc.IndexOf(io.NewSectionReader(to, 0, 1<<62), f.base(), func(*warc.Damage) {})
		err = errors.Join(err, writeIndex(indexName(f.Name)+suffix, entries))
	}
	return cmp.Or(err, disk.SyncFolder(filepath.Dir(f.Name)))
}

// write writes what stays of a file.
func (e *Erasure) write(ctx context.Context, f *rewritten, to io.Writer) error {
	at := int64(0)
	return f.read(ctx, func(*warc.Damage) {}, func(rec *warc.Record, raw io.ReaderAt) error {
		c, goes := e.referred[rec.ID()], e.goes(rec)
		var b io.Reader
		var err error
		if c == nil && (raw != nil || goes) {
			if _, err = io.Copy(io.Discard, rec.Block); err == nil && !goes { // the length is known at the end
				b = io.NewSectionReader(raw, rec.Offset, rec.Length)
			}
		} else if rec, err = c.changed(rec); err == nil {
			b, err = packedAs(f.whole(), rec)
		}
		if goes {
			e.Records, e.Bytes = e.Records+1, e.Bytes+rec.Length
			return err
		}
		if err != nil {
			return err
		}
		n, err := io.Copy(to, b)
		if c != nil && c.root.heir == c {
			c.at = store.Archived{File: f.base(), Offset: at, Length: n}
			e.heirs[store.Archived{File: c.root.file.base(), Offset: c.root.offset}] = c
			e.Moved++
		}
		f.moved = append(f.moved, [3]int64{rec.Offset, at, n})
		at += n
		return err
	})
}

// changed returns the record that replaces the revisit c, or a record that stays as it is if c is nil.
func (c *capture) changed(rec *warc.Record) (*warc.Record, error) {
	switch {
	case c == nil:
		return rec, nil
	case c.root.heir == c:
		return c.withPayload(rec)
	}
	to := c.root.to
	if h := c.root.heir; h != nil {
		to = &h.place
	}
	rec.Header = slices.DeleteFunc(rec.Header, func(f warc.Field) bool { return strings.HasPrefix(strings.ToLower(f.Name), "warc-refers-to") })
	rec.Header.Add("WARC-Refers-To", to.id)
	if to.url != "" {
		rec.Header.Add("WARC-Refers-To-Target-URI", to.url)
		rec.Header.Add("WARC-Refers-To-Date", to.date)
	}
	return rec, nil
}

// withPayload returns the revisit c as a response with the payload that goes.
func (c *capture) withPayload(rec *warc.Record) (*warc.Record, error) {
	from := &warc.Archive{Name: c.root.file.Name, Open: c.root.file.Unpacked}
	o := from.At(c.root.offset)
	if o == nil || o.ID() != c.root.id {
		return nil, fmt.Errorf("the payload of %s cannot be read at offset %d of %s: convert that file, for example with: warcio recompress OLD.warc.gz NEW.warc.gz", rec.URI(), c.root.offset, from.Name)
	}
	defer o.Close()
	whole, err := o.Whole(rec)
	if err != nil {
		return nil, err
	}
	block, err := io.ReadAll(whole.Block)
	if err != nil {
		return nil, fmt.Errorf("read the payload of %s: %v", rec.URI(), err) // not %w, because a damage would be one of this file
	}
	whole.Block = bytes.NewReader(block)
	if whole.Header.Get(corpus.PageField) == corpus.IsCopy {
		whole.Header.Set(corpus.PageField, corpus.IsPage)
	}
	return whole, nil
}

// packedAs returns a record that is compressed on its own, as the name of its file says.
func packedAs(name string, rec *warc.Record) (io.Reader, error) {
	block, err := io.ReadAll(rec.Block)
	if err != nil {
		return nil, err
	}
	if rec.Block = bytes.NewReader(block); rec.Header.Has("Content-Length") {
		rec.Header.Set("Content-Length", fmt.Sprint(len(block))) // it may have been too small
	}
	plain, err := warc.Options{Plain: true}.Append(nil, rec)
	if err != nil {
		return nil, err
	}
	b := new(bytes.Buffer)
	z := corpus.Pack(b, name)
	_, err = z.Write(plain)
	return b, errors.Join(err, z.Close())
}

// file returns the file with this name, or nil.
func (e *Erasure) file(name string) *rewritten {
	if e == nil {
		return nil
	}
	i := slices.IndexFunc(e.files, func(f *rewritten) bool { return f.base() == name })
	if i < 0 {
		return nil
	}
	return e.files[i]
}

// Searches reports whether the file with this name is in one of the folders. If it does not change, it has no record of a
// deleted page, but the payload of another page may be there that has the same bytes.
func (e *Erasure) Searches(file string) bool { return e.file(file) != nil }

// Place returns the position of a record after the erasure: zero if it is deleted.
func (e *Erasure) Place(at store.Archived) store.Archived {
	f := e.file(at.File)
	if f == nil || !f.changes {
		return at
	}
	now := store.Archived{File: at.File, Digest: at.Digest}
	if c := e.heirs[store.Archived{File: at.File, Offset: at.Offset}]; c != nil {
		now = c.at
	} else if i, ok := slices.BinarySearchFunc(f.moved, at.Offset, func(m [3]int64, old int64) int { return cmp.Compare(m[0], old) }); ok {
		now.Offset, now.Length = f.moved[i][1], f.moved[i][2]
	} else {
		return store.Archived{}
	}
	now.Digest = at.Digest
	return now
}

const erasing = ".skink-erasing"

// Begin completes earlier erasures with the given IDs, and locks the folders until end is called.
func (e *Erasure) Begin(ids string) (end func(), err error) {
	var locks []func()
	end = func() {
		for _, free := range locks {
			free()
		}
	}
	for _, dir := range e.Dirs {
		free, ok, err := lock.Try(dir)
		if err == nil && !ok {
			err = fmt.Errorf("%s is in use: wait until the other skink delete ends, and name each folder once", dir)
		}
		if err != nil {
			end()
			return nil, err
		}
		locks = append(locks, free)
	}
	return end, e.Complete(ids)
}

// Complete moves the new files with the given IDs to their places, and removes those with other IDs.
func (e *Erasure) Complete(ids string) error {
	for _, dir := range e.Dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			whole, suffix, ours := strings.Cut(d.Name(), erasing)
			if err != nil || d.IsDir() || !ours {
				return err
			}
			ext := filepath.Ext(whole)
			if suffix == "" && slices.Contains(strings.Fields(ids), strings.TrimPrefix(ext, ".")) {
				err = os.Rename(name, filepath.Join(filepath.Dir(name), strings.TrimSuffix(whole, ext)))
			} else {
				err = os.Remove(name)
			}
			return cmp.Or(err, disk.SyncFolder(filepath.Dir(name)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
