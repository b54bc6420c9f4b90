package badger

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// The benchmarks write the data of a crawl of ordinary sites. A page has a text of some 400 words,
// 14 postings and 30 links, of which two are new. Before each page is written, its text and its 14
// keys are looked up, as in a crawl.
//
//	GOMEMLIMIT=140MiB go test -run=- -bench=Commit -benchtime=100000x ./store/badger

// BenchmarkCommit commits one page at a time, and sixteen pages at a time.
func BenchmarkCommit(b *testing.B) {
	for _, group := range []int{1, 16} {
		b.Run(fmt.Sprint("pages=", group), func(b *testing.B) { benchmarkCommit(b, group) })
	}
}

func benchmarkCommit(b *testing.B, group int) {
	dir := b.TempDir()
	s, err := Open(dir, Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	gen := newGenerator()
	if _, err := s.Discover(b.Context(), gen.links(1)); err != nil {
		b.Fatal(err)
	}
	var entries []*store.Entry
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		e := gen.entry()
		lookUp(b, s, e)
		entries = append(entries, e)
		if len(entries) < group && i < b.N-1 {
			continue
		}
		commit(b, s, entries...)
		entries = entries[:0]
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
	anon, file := resident()
	b.ReportMetric(anon, "MB-anon")
	b.ReportMetric(file, "MB-file")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(folderSize(b, dir))/float64(b.N), "disk-B/page")
}

// lookUp makes the lookup that a crawl makes before a page is judged.
func lookUp(b *testing.B, s *Store, e *store.Entry) {
	ask := store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Keys: e.Keys, Limit: dedup.MaxPosting}
	found, err := s.Lookup(b.Context(), []store.Ask{ask})
	if err != nil {
		b.Fatal(err)
	}
	e.Basis = found[0].Basis(ask)
}

// A generator makes pages of a site, each with links to two new pages. Texts are made and packed
// beforehand, because the store does neither.
type generator struct {
	rand  *rand.Rand
	texts [][]byte
	page  int
	found int
}

func newGenerator() *generator {
	g := &generator{rand: rand.New(rand.NewPCG(1, 2))}
	for range 500 {
		g.texts = append(g.texts, store.Pack(g.text(400)))
	}
	return g
}

// text makes a text with word frequencies like those of a language, so that it compresses like a
// real text.
func (g *generator) text(words int) []byte {
	var b strings.Builder
	zipf := rand.NewZipf(g.rand, 1.1, 4, 20000)
	for range words {
		fmt.Fprintf(&b, "%s ", strconv.FormatUint(0x9E3779B9*(zipf.Uint64()+1)%(26*26*26*26), 26))
	}
	return []byte(b.String())
}

func pageURL(n int) string {
	return fmt.Sprintf("https://site%d.example/section/page-%d.html", n%50, n)
}

// links makes thirty links: n to new pages, and the rest to pages that were found before.
func (g *generator) links(n int) []frontier.Item {
	list := make([]frontier.Item, 0, 30)
	for len(list) < n {
		list = append(list, frontier.Item{URL: pageURL(g.found), Depth: g.found / 10000})
		g.found++
	}
	for len(list) < 30 {
		known := g.rand.IntN(min(g.found, 20)) // a link of the menu
		if len(list) > 20 {
			known = g.rand.IntN(g.found) // a link to any page
		}
		list = append(list, frontier.Item{URL: pageURL(known)})
	}
	return list
}

func (g *generator) entry() *store.Entry {
	url := pageURL(g.page)
	e := &store.Entry{
		Record: store.Record{
			ID: dedup.Hash(frontier.ID(url)), URL: url, Kind: store.Page, Status: 200, ContentType: "text/html; charset=utf-8",
			Lang: "en", Title: "A page about something or other", Description: "What it says in one or two sentences, for a list of results",
			Root: "main", Fetch: store.Fetch{Words: 400, Size: 15000}, Judged: store.Judged{Verdict: dedup.Unique},
		},
		State:  frontier.Fetched,
		Text:   g.texts[g.page%len(g.texts)],
		Sketch: new(dedup.Sketch),
		Hash:   dedup.HashOf([]byte(url)),
		Links:  g.links(2),
	}
	e.Record.Hash = e.Hash
	for i := range e.Sketch {
		e.Sketch[i] = g.rand.Uint32() >> 10 // minima are small
	}
	for range 14 {
		e.Keys = append(e.Keys, g.rand.Uint64())
	}
	g.page++
	return e
}

// resident returns the resident memory of this process in MB: its own, and that of mapped files,
// which the system may reclaim at any time.
func resident() (anon, file float64) {
	kB := status("RssAnon", "RssFile")
	return kB[0] / 1000, kB[1] / 1000
}

func folderSize(t testing.TB, dir string) (size int64) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
