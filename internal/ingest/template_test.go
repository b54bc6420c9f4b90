package ingest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"skink/dedup"
	"skink/internal/corpus"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/badger"
)

// templatePage returns the text of a page on a site whose pages share 85% of their words.
func templatePage(n int) string { return templateText(n, 400, 85, 100) }

// templateText returns text n of a series of texts with the given number of words. In each run of
// words, the first ones are the same in all texts of the series. If 85 of 100 words are shared, the
// resemblance of two texts is .61, and with 880 of 1,000 words it is .77.
func templateText(n, words, shared, run int) string {
	own := rand.New(rand.NewPCG(uint64(n), 1))
	var b strings.Builder
	for i := range words {
		if i%run < shared {
			fmt.Fprintf(&b, "shared%d ", i)
		} else {
			fmt.Fprintf(&b, "own%d ", own.IntN(1_000_000))
		}
	}
	return b.String()
}

// A countedStore counts the data that is read to judge pages.
type countedStore struct {
	store.Store

	mu                 sync.Mutex
	most, texts, words int // guarded by mu: largest number of sketches, of texts, and of words in texts that were read for one page
}

func (c *countedStore) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	found, err := c.Store.Lookup(ctx, asks)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range found {
		c.most = max(c.most, len(found[i].Leaders))
	}
	return found, err
}

func (c *countedStore) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	pages, err := c.Store.Pages(ctx, ids, want)
	words := 0
	for _, page := range pages {
		if page != nil {
			words += page.Record.Words
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts, c.words = max(c.texts, len(ids)), max(c.words, words)
	return pages, err
}

// If thousands of leaders share a template with a page, the page is compared with a limited number
// of them.
func TestTemplateIsBounded(t *testing.T) {
	const pages = 1200 // enough that the lookups of the last pages find more leaders than are compared
	b, err := badger.Open(t.TempDir(), badger.Options{Create: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s := &countedStore{Store: b}
	judgeFlood(t, s, pages, templatePage)
	if all, err := s.Tally(t.Context()); err != nil || all.Capped == 0 || all.Capped > pages-dedup.MaxMet {
		t.Errorf("%d pages of %d met more leaders than were compared, %v; want some of those behind the first %d", all.Capped, pages, err, dedup.MaxMet)
	}
	if s.most != dedup.MaxMet || s.texts > dedup.MaxVerify {
		t.Errorf("%d sketches and %d texts were read for one page; want %d, and at most %d", s.most, s.texts, dedup.MaxMet, dedup.MaxVerify)
	}
}

// A page is compared with texts of a limited total number of words, however long these texts are.
func TestLongTextsAreBounded(t *testing.T) {
	for _, c := range []struct{ words, texts int }{
		{20_000, dedup.MaxVerify},
		{100_000, dedup.MaxVerifyWords / 100_000},
	} {
		s := &countedStore{Store: storetest.NewMemory()}
		judgeCold(t, s, c.words, c.texts+4)
		if s.texts != c.texts || s.words != c.texts*c.words {
			t.Errorf("for a page of %d words, %d texts of %d words were read; want %d texts", c.words, s.texts, s.words, c.texts)
		}
	}
}

// judgeCold judges a number of long texts with a resemblance of .77, and then another such text
// while none of its leaders is in memory. It returns a function that judges the last text again.
func judgeCold(t testing.TB, s store.Store, words, texts int) (again func()) {
	text := func(n int) string { return templateText(n, words, 880, 1000) }
	judgeFlood(t, s, texts, text)
	p := start(t, s, testOptions(t))
	t.Cleanup(func() { p.Close() })
	f := judgedFile(t, p, "last", text(texts), false)
	shingles := f.reading.shingles
	again = func() {
		p.judge.leaders = newLeaderCache(s, p.opt.Rule, 64<<20)
		f.visit.shingles = shingles
		judgeVisit(t, p, f, f.visit)
	}
	again()
	if got := f.judgement.record.Verdict; got != dedup.Unique {
		t.Fatalf("the last text is %s, want unique", got)
	}
	return again
}

// BenchmarkWorstPage judges a page with the largest number of candidates that are compared, none of
// which is in memory. It reports the bytes of the compared texts.
func BenchmarkWorstPage(b *testing.B) {
	m, err := badger.Open(b.TempDir(), badger.Options{Create: true, Reserve: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	const words = 20_000
	judge := judgeCold(b, m, words, dedup.MaxVerify+4)
	b.SetBytes(int64(dedup.MaxVerify * len(templateText(0, words, 880, 1000))))
	b.ReportAllocs()
	for b.Loop() {
		judge()
	}
}

// BenchmarkTemplate judges a page on a site with 5,000 pages that share 85% of their words.
func BenchmarkTemplate(b *testing.B) {
	m, err := badger.Open(b.TempDir(), badger.Options{Create: true, Reserve: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	const pages = 5000
	judgeFlood(b, m, pages, templatePage)
	p := start(b, m, testOptions(b))
	defer p.Close()
	for n := pages; b.Loop(); n++ {
		judgedFile(b, p, fmt.Sprint(n), templatePage(n), false)
	}
}

// judgeFlood judges a number of texts in batches, as skink dedup does.
func judgeFlood(t testing.TB, s store.Store, pages int, text func(n int) string) {
	t.Helper()
	var lines bytes.Buffer
	for n := range pages {
		fmt.Fprintf(&lines, "{\"text\":%q}\n", text(n))
	}
	p := start(t, s, testOptions(t))
	defer p.Close()
	in := &corpus.Inputs{Paths: []string{"-"}, Stdin: &lines, Unreadable: func(err error) { t.Error(err) }}
	if _, err := p.Files(t.Context(), in.Records(t.Context()), FileOptions{Bad: func(bad *corpus.BadError) error { return bad }}); err != nil {
		t.Fatal(err)
	}
	if got := p.Added(); got.Pages() != int64(pages) {
		t.Fatalf("%d pages, want %d", got.Pages(), pages)
	}
}
