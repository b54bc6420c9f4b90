// Package archive writes the responses of a crawl to web archives that stay consistent with its
// store. Package warc defines the format of WARC files, and package internal/corpus turns them back
// into pages.
//
// An [Archive] also commits the pages to the store, so each page in the store is in the archive;
// see commit.go. [Open] makes the two consistent after a crash.
package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"skink/base/batcher"
	"skink/base/lock"
	"skink/crawler/wire"
	"skink/dedup"
	"skink/internal/corpus"
	"skink/store"
	"skink/warc"
)

// Options configures how an archive is written. The zero value uses the defaults.
type Options struct {
	Size   int64       // size in bytes at which a file is closed and the next one begins; 0 means [DefaultSize]
	Info   warc.Header // fields for the warcinfo record of each file, such as software, operator and user agent
	Whole  bool        // store each response in full, even if the archive has its payload
	Refers []string    // closed .warc.gz files in other folders, to which the records of public responses may refer
	Scope  Seeds       // seeds and scope of the crawl, as WARC fields
	Worker string      // name of this worker, if several share the store and so write separate files; "" means that there is only one
}

// Seeds is a text about the seeds of a crawl: their scope, or the order of their hosts, as package
// precedence writes it. The public text leaves out private hosts.
type Seeds struct{ Public, Private []byte }

// SetSeeds replaces the order of hosts. The new order applies to pages that are committed later.
func (a *Archive) SetSeeds(s Seeds) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seeds, a.public.told, a.private.told = s, false, false
}

// DefaultSize is the default size in bytes at which a new file begins. Most web archives use about
// this size.
const DefaultSize = 1 << 30

// maxEntries is the maximum number of responses in one file. The index of the open file is in
// memory, and takes about 60 MB for that many.
const maxEntries = 250_000

var pack warc.Options // compresses each record

// An Archive writes the files of a running crawl. Its methods are safe for concurrent use.
//
// Responses to requests with the user's secrets are in files of their own, so that the other files
// can be given away. The first private response creates the first of these files.
type Archive struct {
	dir   string
	store store.Store
	opt   Options
	pages *batcher.Batcher[*call, struct{}]
	brief *batcher.Gatherer[*call, struct{}] // pages that visits found unchanged

	others map[string]string // paths of opt.Refers by name
	refers *warc.Originals   // of opt.Refers

	mu      sync.Mutex
	public  *volume // guarded by mu
	private *volume // guarded by mu
	latest  *volume // guarded by mu: the volume with the latest page or file; nil means that this is not known
	order   int64   // guarded by mu: the order that was written last; see [corpus.Order]
	seeds   Seeds   // guarded by mu
	failed  error   // guarded by mu: the error after which nothing more is written; nil if there was none
}

// A volume is the sequence of files with either the private responses or all others.
//
// A file is called NAME.warc.gz.open while it is being written. Once it is closed, it is called
// NAME.warc.gz, and its index NAME.cdxj is in the same folder.
type volume struct {
	*Archive
	mark    mark         // the mark as stored, which names the open file
	file    *os.File     // the open file; nil means none
	unlock  func()       // releases the lock of the open file; nil means that it is not locked
	at      int64        // offset in the open file at which the next record is written
	entries []warc.Entry // index entries of the responses in the open file
	told    bool         // whether the open file has the latest order of hosts
}

// A mark is the state of a worker's volume, as stored. It names the open file.
type mark struct {
	Dir     string       `json:"dir"`
	Crawl   string       `json:"crawl"`  // prefix of all file names
	Serial  int          `json:"serial"` // number of the open file, which is part of its name
	Cursor  store.Cursor `json:"cursor"` // position in the store's changes; the responses for pages committed before it are in earlier files
	Order   int64        `json:"order"`  // an order that is greater than all those written before this process
	Private bool         `json:"private,omitempty"`
}

func markName(worker string, private bool) string {
	name := "archive"
	if private {
		name = "archive-private"
	}
	if worker == "" {
		return name
	}
	return name + "/" + worker
}

// name returns the name that the open file will have once it is closed, such as
// "skink-20261124093000125-k3x9q2ab-00003.warc.gz".
func (m *mark) name() string {
	if m.Private {
		return fmt.Sprintf("%s-%05d-private.warc.gz", m.Crawl, m.Serial)
	}
	return fmt.Sprintf("%s-%05d.warc.gz", m.Crawl, m.Serial)
}

func (a *Archive) path(name string) string { return filepath.Join(a.dir, name) }

const opening = corpus.Opening

// begin creates the file that v.mark names, and writes its first record. It writes v.mark to the
// store before it creates the file, so a crash cannot leave a file that the store does not list.
func (v *volume) begin(ctx context.Context) error {
	if err := v.writeMark(ctx); err != nil {
		return err
	}
	name := v.mark.name()
	first, err := v.info(v.opt.Info, true)
	if err != nil {
		return err
	}
	path := v.path(name + opening)
	v.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	unlock, free, err := lock.Try(path)
	if err == nil && !free {
		return fmt.Errorf("%s: %w", path, ErrLocked)
	}
	v.unlock = unlock // nil if the file system does not support locks; other processes then never adopt the file
	v.at, v.entries = 0, nil
	if err := v.write(first); err != nil {
		return err
	}
	v.at, v.told, v.latest = int64(len(first)), true, v
	return nil
}

// info returns a warcinfo record, which gives the records that follow it their order. A file has one
// at its beginning, and one wherever pages in the other volume come before its next page. If seeds is
// true, a record with the order of hosts follows.
func (v *volume) info(fields warc.Header, seeds bool) ([]byte, error) {
	v.order++
	info, err := warc.NewInfo(v.mark.name(), time.Now(), fields)
	if err != nil {
		return nil, err
	}
	info.Header.Add(corpus.OrderField, corpus.Order{Crawl: v.mark.Crawl, Number: v.order}.String())
	if v.mark.Private {
		info.Header.Add(warc.PrivateField, "yes")
	}
	b, err := pack.Append(nil, info)
	if err != nil || !seeds {
		return b, err
	}
	if text := v.opt.Scope.of(v); text != nil {
		scope := warc.New(warc.Metadata, "", time.Now(), warc.TypeFields, text)
		scope.Header.Add("WARC-Warcinfo-ID", info.ID())
		if b, err = pack.Append(b, scope); err != nil {
			return nil, err
		}
	}
	text := v.seeds.of(v)
	if text == nil {
		return b, nil
	}
	order := warc.New(warc.Metadata, "", time.Now(), corpus.TypeRemark, text)
	order.Header.Add(corpus.PageField, corpus.IsSeeds)
	return pack.Append(b, order)
}

func (s Seeds) of(v *volume) []byte {
	if v.mark.Private {
		return s.Private
	}
	return s.Public
}

// following begins the next file. All responses committed so far are in earlier files.
func (v *volume) following(ctx context.Context) error {
	cursor, err := v.store.End(ctx)
	if err != nil {
		return err
	}
	v.mark.Serial++
	v.mark.Cursor = cursor
	return v.begin(ctx)
}

func (v *volume) write(b []byte) error {
	_, err := v.file.WriteAt(b, v.at)
	return err
}

func (v *volume) free() {
	if v.unlock != nil {
		v.unlock()
	}
	v.unlock = nil
}

func (v *volume) finish() error {
	f := v.file
	if v.file = nil; f == nil {
		return nil
	}
	defer v.free()
	return finish(f, v.mark.name(), v.at, v.entries)
}

// finish truncates a file at the offset end and closes it. It writes the index before it renames
// the file, so each closed file has an index.
func finish(f *os.File, name string, end int64, entries []warc.Entry) error {
	err := errors.Join(f.Truncate(end), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	whole := filepath.Join(filepath.Dir(f.Name()), name)
	if err := writeIndex(indexName(whole), entries); err != nil {
		return err
	}
	return os.Rename(f.Name(), whole)
}

// writeIndex writes the index of an archive file to the given path. It writes to a temporary file
// first, so the file at that path is always complete.
func writeIndex(to string, entries []warc.Entry) error {
	f, err := os.Create(to + opening)
	if err != nil {
		return err
	}
	if err := errors.Join(warc.WriteIndex(f, entries), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(to+opening, to)
}

func (v *volume) next(ctx context.Context) error {
	if err := v.finish(); err != nil {
		return err
	}
	return v.following(ctx)
}

// full reports whether the next record must be written to a new file.
func (v *volume) full() bool {
	return v.file == nil || v.at >= v.size() || len(v.entries) >= maxEntries
}

func (a *Archive) size() int64 { return cmp.Or(a.opt.Size, DefaultSize) }

// Keep writes a response that belongs to no page in the store, such as the one for robots.txt. If
// writing fails, the next commit returns the error.
func (a *Archive) Keep(raw *wire.Raw) {
	fields := warc.Header{{Name: corpus.PageField, Value: corpus.NotPage}}
	if raw.Posted != "" {
		fields.Add(corpus.PostedField, dedup.HashOf([]byte(raw.Posted)).String())
	}
	p, err := a.answer(raw, fields)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.failed == nil {
		err = a.volume(raw.Private).keep(raw, p, fields)
	}
	a.fail(err)
}

// keep writes the records of a response that belongs to no page.
func (v *volume) keep(raw *wire.Raw, p packed, fields warc.Header) error {
	ctx := context.Background() // a context that cannot be cancelled, because keep writes very little to the store
	if v.full() {
		if err := v.next(ctx); err != nil {
			return err
		}
	}
	if v.mayRepeat(raw, &p) {
		first, err := v.earlier(ctx, p.digest)
		if err == nil {
			p, first, err = p.orRevisit(first, func(first *original) (packed, error) {
				return v.revisit(p, raw, fields, warc.ProfileIdentical, first)
			})
		}
		if first == nil && err == nil {
			err = v.store.SetMeta(ctx, v.payloadName(p.digest), named(store.Archived{File: v.mark.name(), Offset: v.at, Length: p.length}))
		}
		if err != nil {
			return err
		}
	}
	if err := v.write(p.records); err != nil {
		return err
	}
	at := store.Archived{File: v.mark.name(), Offset: v.at, Length: p.length}
	if v.wrote(p); raw.Posted == "" {
		return nil
	}
	return v.store.SetMeta(ctx, PostedName+fields.Get(corpus.PostedField), named(at))
}

func (a *Archive) volume(private bool) *volume {
	if private {
		return a.private
	}
	return a.public
}

// wrote adds the index entries for a response that was just written, and moves v.at past the response.
func (v *volume) wrote(p packed) {
	if p.index.URL != "" {
		p.index.Offset, p.index.File = v.at, v.mark.name()
		v.entries = append(v.entries, p.index)
	}
	for _, e := range p.pictures {
		e.Offset, e.File = v.at+p.length+e.Offset, v.mark.name()
		v.entries = append(v.entries, e)
	}
	v.at += int64(len(p.records))
}

// fail stores err if it is not nil. After that, nothing more is written to the archive.
func (a *Archive) fail(err error) {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w: free some disk space, and run the command again", store.ErrFull, err)
	}
	if err != nil && a.failed == nil {
		a.failed = fmt.Errorf("write the archive in %s: %w", a.dir, err)
	}
}

// Sync flushes the open files to disk. It must be called before the store is flushed, so that no
// page is on disk without its response.
func (a *Archive) Sync() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range []*volume{a.public, a.private} {
		if a.failed == nil && v.file != nil {
			a.fail(v.file.Sync())
		}
	}
	return a.failed
}

// Close closes the open files, and writes their indexes. The archive must not be used afterwards, but
// can be closed again. Close does nothing if a is nil.
func (a *Archive) Close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range []*volume{a.public, a.private} {
		if a.failed == nil {
			a.fail(v.finish())
		}
	}
	return errors.Join(a.failed, a.drop())
}

// drop closes the files that are still open, as they are.
func (a *Archive) drop() (err error) {
	for _, v := range []*volume{a.public, a.private} {
		if v.file != nil {
			err = errors.Join(err, v.file.Close())
		}
		v.free()
	}
	return err
}
