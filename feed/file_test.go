package feed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/dedup"
	"skink/feed"
	"skink/internal/tools/storetest"
	"skink/store"
)

// A crawl judges seven pages in order, with a checkpoint after every third page. Two of three pages
// are in the feed. It can be stopped anywhere, and continues with the pages that are not in its
// store.
type crawl struct {
	t    *testing.T
	s    *powered
	path string
}

const pages = 7

func (c *crawl) page(i int) (store.Record, string) {
	r := store.Record{URL: fmt.Sprintf("https://example.com/%d", i), Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}}
	if i%3 == 1 {
		r.Verdict = dedup.Exact
	}
	// Some texts are longer than tailSize, the bytes by which a file is recognized.
	return r, strings.Repeat(fmt.Sprintf("text of page %d\n", i), 1+i%5*200)
}

func openFile(path string, s feed.FileStore) (*feed.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return feed.OpenFile(context.Background(), f, s, "")
}

// run crawls until the given number of events has happened, and returns the open feed. If the crawl
// finishes earlier, run closes the feed and returns nil. Events are commits, calls of Take, buffers
// that are written because they are full, and checkpoints.
func (c *crawl) run(stop int) *feed.File {
	c.t.Helper()
	ctx := context.Background()
	f, err := openFile(c.path, c.s)
	if err != nil {
		c.t.Fatal(err)
	}
	events := 0
	stopped := func(err error) bool {
		if err != nil {
			c.t.Fatal(err)
		}
		events++
		return events > stop
	}
	if stopped(nil) {
		return f
	}
	for i := range pages {
		r, text := c.page(i)
		known, err := c.s.Pages(ctx, []dedup.Hash{dedup.HashOf([]byte(r.URL))}, store.WantRecord)
		if err != nil || known[0] != nil {
			continue
		}
		commit(c.t, c.s, r, text)
		if stopped(nil) || i%4 != 1 && stopped(f.Take(ctx)) {
			return f
		}
		if i%2 == 0 && stopped(f.Spill()) {
			return f
		}
		if i%3 == 2 && stopped(f.CatchUp(ctx)) {
			return f
		}
	}
	if err := f.Close(ctx); err != nil {
		c.t.Fatal(err)
	}
	return nil
}

// finish continues a stopped crawl to its end, and compares the file with an export.
func (c *crawl) finish(what string) {
	c.t.Helper()
	if c.run(1000) != nil {
		c.t.Fatalf("%s: the crawl did not end", what)
	}
	c.compare(what)
}

func (c *crawl) compare(what string) {
	c.t.Helper()
	got, err := os.ReadFile(c.path)
	if err != nil {
		c.t.Fatal(err)
	}
	if want, _ := write(c.t, c.s, feed.Options{}); !bytes.Equal(got, want) {
		c.t.Fatalf("%s: the file is not the feed\n got %.300q\nwant %.300q", what, got, want)
	}
}

func newCrawl(t *testing.T, dir string) *crawl {
	return &crawl{t, &powered{Store: storetest.NewMemory()}, filepath.Join(dir, "feed.jsonl")}
}

// everyStop runs f with crawls that stop after each number of events.
func everyStop(t *testing.T, f func(t *testing.T, stop int)) {
	const events = 19 // events of a whole crawl: 1 + 7 commits, 5 calls of Take, 4 full buffers, 2 checkpoints
	if newCrawl(t, t.TempDir()).run(events) != nil || newCrawl(t, t.TempDir()).run(events-1) == nil {
		t.Fatalf("a crawl has not %d events", events)
	}
	for stop := range events {
		t.Run(fmt.Sprint(stop), func(t *testing.T) {
			t.Parallel() // the tests mostly wait for the disk
			f(t, stop)
		})
	}
}

// If a crawl is killed at any point, once or twice, the finished file is as if nothing had
// happened.
func TestFileKilled(t *testing.T) {
	everyStop(t, func(t *testing.T, stop int) {
		for second := range 2 {
			c := newCrawl(t, t.TempDir())
			c.run(stop).Abandon()
			if f := c.run(second * 7); f != nil {
				f.Abandon()
			}
			c.finish(fmt.Sprintf("killed after %d more events", second*7))
		}
	})
}

// After a power failure, the store has all synced records, and perhaps some later ones. The same is
// true of the lines in the file, which garbage may follow.
func TestFilePowerCut(t *testing.T) {
	everyStop(t, func(t *testing.T, stop int) {
		for _, kept := range []struct{ file, store string }{
			{"synced", "nothing"}, {"synced", "marks"}, {"half", "marks"},
			{"all", "nothing"}, {"all", "marks"}, {"garbage", "all"},
		} {
			c := newCrawl(t, t.TempDir())
			f := c.run(stop)
			f.Abandon()
			cutPower(t, c.path, f.Marked(), kept.file)
			c.s = c.s.cut(t, kept.store)
			c.finish(fmt.Sprintf("of what was not synced are kept %+v", kept))
		}
	})
}

func cutPower(t *testing.T, path string, synced int64, after string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch after {
	case "synced":
		b = b[:synced]
	case "half":
		b = b[:(synced+int64(len(b)))/2]
	case "garbage":
		if synced > 0 { // before the first checkpoint a file is recognized only by its first line
			b = append(b[:synced:synced], make([]byte, 5000)...)
		}
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// powered is a store that can lose the records that were not synced.
type powered struct {
	store.Store
	synced, pending []written // records that were written before the last Sync, and after it
}

type written struct {
	mark bool
	do   func(store.Store) error
}

func (p *powered) Commit(ctx context.Context, entries []*store.Entry) (outcomes []store.Outcome, err error) {
	err = p.write(written{false, func(s store.Store) (err error) {
		outcomes, err = s.Commit(ctx, entries)
		return err
	}})
	return outcomes, err
}

func (p *powered) SetMeta(ctx context.Context, name string, value []byte) error {
	return p.write(written{true, func(s store.Store) error { return s.SetMeta(ctx, name, value) }})
}

func (p *powered) write(w written) error {
	p.pending = append(p.pending, w)
	return w.do(p.Store)
}

func (p *powered) Sync() error {
	p.synced, p.pending = append(p.synced, p.pending...), nil
	return p.Store.Sync()
}

// cut returns the store after a power failure. The argument spared selects the pending records that
// survive.
func (p *powered) cut(t *testing.T, spared string) *powered {
	after := &powered{Store: storetest.NewMemory()}
	redo := slices.Clone(p.synced)
	for _, w := range p.pending {
		if spared == "all" || spared == "marks" && w.mark {
			redo = append(redo, w)
		}
	}
	for _, w := range redo {
		if err := after.write(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := after.Sync(); err != nil {
		t.Fatal(err)
	}
	return after
}

// These files may be at the path of the feed when a store with a finished feed is opened.
func TestFileInTheWay(t *testing.T) {
	other := func(b []byte) []byte { return append([]byte(`{"id":"00`), b[9:]...) }
	for _, test := range []struct {
		name    string
		change  func([]byte) []byte // changes the content of the feed; nil means that the file is deleted
		refused bool
	}{
		{"as it was", func(b []byte) []byte { return b }, false},
		{"deleted", nil, false},
		{"emptied", func([]byte) []byte { return nil }, false},
		{"cut in a line", func(b []byte) []byte { return b[:len(b)/2] }, false},
		{"cut in the first id", func(b []byte) []byte { return b[:12] }, false},
		{"with more lines", func(b []byte) []byte { return append(b, "{}\n"...) }, false},
		{"changed at its end", func(b []byte) []byte { b[len(b)-5] ^= 1; return b }, true},
		{"lines taken out", func(b []byte) []byte { return append(bytes.Clone(b[:300]), b...) }, true},
		{"of another store", other, true},
		{"of another store, shorter", func(b []byte) []byte { return other(b[:200]) }, true},
		{"something else", func([]byte) []byte { return []byte("notes\n") }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCrawl(t, t.TempDir())
			c.finish("first run")
			b, err := os.ReadFile(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if test.change == nil {
				err = os.Remove(c.path)
			} else {
				b = test.change(b)
				err = os.WriteFile(c.path, b, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !test.refused {
				c.finish("second run")
				return
			}
			refused(t, c, b)
			// The suggestion in the error message must work.
			if err := os.Rename(c.path, c.path+".old"); err != nil {
				t.Fatal(err)
			}
			c.finish("after moving it away")
		})
	}
}

func refused(t *testing.T, c *crawl, content []byte) {
	t.Helper()
	_, err := openFile(c.path, c.s)
	if !errors.Is(err, feed.ErrNotOurs) {
		t.Fatalf("error %v, want %v", err, feed.ErrNotOurs)
	}
	if got, err := os.ReadFile(c.path); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file was changed: %.100q, %v", got, err)
	}
}

// A store that never wrote a feed does not continue an existing file, and writes all pages to a new
// one.
func TestFileFirstFeed(t *testing.T) {
	dir := t.TempDir()
	c := newCrawl(t, dir)
	for i := range pages {
		r, text := c.page(i)
		commit(t, c.s, r, text)
	}
	if err := os.WriteFile(c.path, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, c, []byte("{}\n"))
	c.path = filepath.Join(dir, "new.jsonl")
	c.finish("new file")
}

// Two workers that share a store write a file each, and continue their own.
func TestFilesOfWorkers(t *testing.T) {
	dir := t.TempDir()
	c := newCrawl(t, dir)
	for i := range pages {
		r, text := c.page(i)
		commit(t, c.s, r, text)
		for _, worker := range []string{"one", "two"} {
			f, err := os.OpenFile(filepath.Join(dir, worker), os.O_RDWR|os.O_CREATE, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			file, err := feed.OpenFile(t.Context(), f, c.s, worker)
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, worker := range []string{"one", "two"} {
		c.path = filepath.Join(dir, worker)
		c.compare(worker)
	}
}

// The feed continues in a file that was moved into another folder, and begins again in a new file.
func TestFileMoved(t *testing.T) {
	dir := t.TempDir()
	c := newCrawl(t, dir)
	f := c.run(9)
	f.Abandon()
	old := c.path
	c.path = filepath.Join(dir, "moved.jsonl")
	if err := os.Rename(old, c.path); err != nil {
		t.Fatal(err)
	}
	c.finish("moved")
	c.path = old
	c.finish("a new file")
	c.path = filepath.Join(dir, "moved.jsonl")
	c.finish("back again")
}

func TestFileNotRegular(t *testing.T) {
	c := newCrawl(t, t.TempDir())
	for _, path := range []string{os.DevNull, t.TempDir(), filepath.Join(t.TempDir(), "no", "folder")} {
		if _, err := openFile(path, c.s); err == nil {
			t.Errorf("OpenFile(%s): no error", path)
		}
	}
}

func TestFileDamagedMark(t *testing.T) {
	c := newCrawl(t, t.TempDir())
	if err := c.s.SetMeta(context.Background(), "feed", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, err := openFile(c.path, c.s); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("error %v, want %v", err, store.ErrCorrupt)
	}
}

// Only a page that is in the feed and has not been written yet becomes a line.
func TestFileAddsOnce(t *testing.T) {
	ctx := context.Background()
	c := newCrawl(t, t.TempDir())
	f, err := openFile(c.path, c.s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range pages {
		r, text := c.page(i)
		commit(t, c.s, r, text)
		for range 2 {
			if err := f.CatchUp(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	c.compare("caught up twice")
}
