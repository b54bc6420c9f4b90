package badger

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/badger/postings"
)

const rottenPages = 240

// rottenStore makes a store as a killed process leaves it, with files of every kind: tables, a log,
// and segments.
func rottenStore(t *testing.T) string {
	t.Helper()
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "store")
	open := func() *Store {
		s, err := Open(dir, Options{Create: true, Reserve: -1,
			tune:  func(o *badgerdb.Options) { o.MemTableSize = 4 << 20 },
			index: postings.Options{Table: 100},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range rottenPages {
		if i == rottenPages*3/4 { // the last quarter stays in the log
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open()
		}
		e := rottenPage(rng, i+1)
		items := []frontier.Item{{URL: e.Record.URL, Depth: i % 3}, {URL: fmt.Sprintf("https://example.com/pending/%d", i), Depth: 1}}
		if _, err := s.Discover(ctx, items); err != nil {
			t.Fatal(err)
		}
		commit(t, s, e)
		if i%2 == 0 { // a later visit finds the page unchanged
			e.Touch, e.Record.Visit, e.Record.VisitedAt = true, store.NotModified, time.Now().UTC().Truncate(time.Second)
			commit(t, s, e)
		}
	}
	if err := s.SetMeta(ctx, "settings", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	if !snapshot(t, dir, whole) {
		t.Fatal("the store changed by itself")
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"+postings.SegmentExt))
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil { // a file that cannot be read was merged just now
			write(t, whole, filepath.Base(name), string(b))
		}
	}
	for _, name := range []string{"000001.vlog", "KEYREGISTRY", "DISCARD", "LOCK"} {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		write(t, whole, name, string(b[:min(len(b), 100)]))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return whole
}

// rottenPage makes page n. One page in five is a near duplicate of the previous page, and the
// others are unique.
func rottenPage(rng *rand.Rand, n int) *store.Entry {
	e := entry(n)
	e.Record.Words, e.Record.Hash = 50, e.Record.ID
	e.Text = store.Pack(randomBytes(rng, 1+rng.IntN(6000)))
	e.Sketch = &dedup.Sketch{uint32(n)}
	e.Hash = e.Record.ID
	if n%5 == 0 {
		e.Record.Verdict, e.Record.Leader, e.Record.Resemblance = dedup.Near, entry(n-1).Record.ID, 0.9
		e.Keys = nil
	}
	return e
}

// A byte is changed at many offsets in files of every kind. Nothing panics, and no loss goes
// unreported. The store returns only data that was stored, and every missing page is pending again.
func TestRottenBytes(t *testing.T) {
	flips := 1
	switch os.Getenv("SKINK_LONG") {
	case "short":
		flips = 3
	case "full":
		flips = 150
	}
	whole := rottenStore(t)
	want := readAll(t, whole)
	if len(want) != rottenPages {
		t.Fatalf("%d pages", len(want))
	}
	seed := uint64(84)
	if os.Getenv("SKINK_LONG") == "full" {
		seed = uint64(time.Now().UnixNano())
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	said, tried, lostPages := map[string]int{}, map[string]int{}, map[string]int{}
	for _, name := range list(t, whole) {
		kind := filepath.Ext(name)
		if kind == "" {
			kind = name
		}
		b, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		size := len(strings.TrimRight(string(b), "\x00"))
		for range flips {
			if size == 0 {
				break
			}
			at, by := rng.IntN(size), byte(1+rng.IntN(255))
			tried[kind]++
			// A test of its own closes its stores before it removes their folders.
			t.Run(fmt.Sprintf("seed %d, byte %d of %s", seed, at, name), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "rotten")
				copyDir(t, whole, dir)
				edit(t, filepath.Join(dir, name), func(b []byte) []byte { b[at] ^= by; return b })
				lost, told := checkRotten(t, dir, want)
				lostPages[kind] += lost
				if told {
					said[kind]++
				}
			})
		}
	}
	for kind, n := range tried {
		t.Logf("%-12s %3d bytes: %3d said; %d pages lost and pending again", kind, n, said[kind], lostPages[kind])
	}
}

// checkRotten reads a damaged store, and checks the store in which a crawl continues.
func checkRotten(t *testing.T, dir string, want map[string]string) (lost int, told bool) {
	t.Helper()
	r, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "MANIFEST") && !strings.Contains(err.Error(), "newer") && !strings.Contains(err.Error(), "older") && !strings.Contains(err.Error(), "another program") {
			t.Errorf("%v", err)
		}
		return 0, true // the damage is in the head of the MANIFEST, which contains the numbers of the application and of the store's version
	}
	loss := r.Loss()
	told = loss.Damage != nil || loss.Transactions > 0
	got := readStore(t, r)
	lost = len(want) - len(got)
	if lost > 0 && !told {
		t.Errorf("%d pages are lost without a word", lost)
	}
	if !told && unchangedPages(t, r) != (rottenPages+1)/2 {
		t.Error("visits without a change are lost without a word")
	}
	for url, text := range got {
		if want[url] != text {
			t.Errorf("%s is another", url)
		}
	}
	s := continued(t, dir, r)
	if loss.Damage != nil && !maps.Equal(readStore(t, s), got) {
		t.Errorf("the copy has other pages")
	}
	for url := range want {
		r := recordOf(t, s, mustNumber(t, url))
		state, err := s.State(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil && state != frontier.Pending && loss.Transactions == 0 {
			t.Errorf("%s is lost, and in state %d", url, state)
		}
		pending := "https://example.com/pending/" + fmt.Sprint(mustNumber(t, url)-1)
		if state, err := s.State(t.Context(), pending); err != nil || state != frontier.Pending && loss.Transactions == 0 {
			t.Errorf("%s is in state %d, %v", pending, state, err)
		}
	}
	counts, err := s.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkCounts(t, s, counts)
	if t.Failed() {
		t.Fatalf("loss %+v", loss)
	}
	return lost, told
}

// unchangedPages returns the number of pages that a later visit found unchanged.
func unchangedPages(t *testing.T, s *Store) (n int) {
	t.Helper()
	for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Record.Visit == store.NotModified {
			n++
		}
	}
	return n
}

// continued closes r, a reader of the store in dir, and returns the store in which a crawl continues:
// that in dir, or a copy if it is damaged.
func continued(t *testing.T, dir string, r *Store) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "continued"), Options{Create: true, Reserve: -1})
	if err == nil {
		err = store.Copy(t.Context(), s, r, func(int64) {})
	}
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	there, err := Open(dir, Options{Reserve: -1})
	if r.Loss().Damage == nil && err == nil {
		t.Cleanup(func() { there.Close() })
		return there
	}
	if _, refused := errors.AsType[DamageError](err); !refused || r.Loss().Damage == nil {
		t.Fatalf("a writer of %s: %v; want a damaged store to be refused", dir, err)
	}
	return s
}

func mustNumber(t *testing.T, url string) (n int) {
	if _, err := fmt.Sscanf(url, "https://example.com/%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	s := openReader(t, dir)
	defer s.Close()
	return readStore(t, s)
}

// readStore returns all data of each page in a store, as a string by URL.
func readStore(t *testing.T, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for c, err := range s.Changes(t.Context(), "", store.WantText|store.WantSketch) {
		if err != nil {
			t.Fatal(err)
		}
		r := &c.Record
		if !c.Kept {
			t.Errorf("%s has no text", r.URL)
		}
		if c.Sketch == nil || c.Sketch[0] != uint32(mustNumber(t, r.URL)) {
			t.Errorf("the sketch of %s is %v", r.URL, c.Sketch)
		}
		all[r.URL] = fmt.Sprint(c.Cursor, r.Verdict, r.Leader, r.Resemblance, c.Text)
	}
	for c, err := range s.Clusters(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Members(t.Context(), []dedup.Hash{c.Leader}) {
			if err != nil || m.Leader != c.Leader {
				t.Errorf("member %v of %s: %v", m, c.Leader, err)
			}
		}
	}
	return all
}

// If a byte of a table is wrong, at most one block is lost, or the whole table if the byte is in
// its index.
func TestReadTable(t *testing.T) {
	s := openTest(t, t.TempDir())
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		e := entry(i + 1)
		e.Text = randomBytes(rng, rng.IntN(4000))
		commit(t, s, e)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "000001.sst"))
	if err != nil {
		t.Fatal(err)
	}
	whole, what := readTable(b)
	if what != "" || len(whole.blocks) < 20 {
		t.Fatalf("%d blocks, lost %d: %q", len(whole.blocks), len(whole.lost), what)
	}
	again, what := readTable(whole.rewrite())
	if what != "" || !slices.EqualFunc(allKeys(again), allKeys(whole), bytes.Equal) {
		t.Errorf("a table that was written again is another: %q", what)
	}
	size := 0 // total size of the blocks
	for _, block := range whole.blocks {
		size += len(block)
	}
	for range 300 {
		at := rng.IntN(len(b))
		damaged := bytes.Clone(b)
		damaged[at] ^= byte(1 + rng.IntN(255))
		c, what := readTable(damaged)
		if what == "" {
			t.Errorf("byte %d of %d: not noticed", at, len(b))
		}
		if len(c.lost) != 1 || len(c.blocks) != len(whole.blocks)-1 && (len(c.blocks) != 0 || at < size) {
			t.Errorf("byte %d of %d: %d blocks of %d are left, %d lost", at, len(b), len(c.blocks), len(whole.blocks), len(c.lost))
		}
	}
}

func allKeys(c *tableContent) (keys [][]byte) {
	for _, b := range c.blocks {
		blockEntries(b, func(key, _ []byte) { keys = append(keys, key) })
	}
	return keys
}
