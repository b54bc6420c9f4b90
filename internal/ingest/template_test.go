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
	"skink/store"
	"skink/store/badger"
)

// templatePage is the text of a page of a site whose pages share 85 % of their words.
func templatePage(n int) string {
	own := rand.New(rand.NewPCG(uint64(n), 1))
	var b strings.Builder
	for i := range 400 {
		if i%100 < 85 {
			fmt.Fprintf(&b, "shared%d ", i)
		} else {
			fmt.Fprintf(&b, "own%d ", own.IntN(1_000_000))
		}
	}
	return b.String()
}

// A counted store counts what judging reads.
type countedStore struct {
	store.Store

	mu          sync.Mutex
	most, texts int // guarded by mu: the most sketches and texts that were read for one page
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
	c.mu.Lock()
	c.texts = max(c.texts, len(ids))
	c.mu.Unlock()
	return c.Store.Pages(ctx, ids, want)
}

// A page of a template that thousands of leaders share is compared with a bounded number of them.
func TestTemplateIsBounded(t *testing.T) {
	const pages = 1200 // of which the last ones meet more leaders than a page is compared with
	b, err := badger.Open(t.TempDir(), badger.Options{Create: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s := &countedStore{Store: b}
	judgeTemplate(t, s, pages)
	if all, err := s.Tally(t.Context()); err != nil || all.Capped == 0 || all.Capped > pages-dedup.MaxMet {
		t.Errorf("%d pages of %d met more leaders than were compared, %v; want some of those behind the first %d", all.Capped, pages, err, dedup.MaxMet)
	}
	if s.most != dedup.MaxMet || s.texts > dedup.MaxVerify {
		t.Errorf("%d sketches and %d texts were read for one page; want %d, and at most %d", s.most, s.texts, dedup.MaxMet, dedup.MaxVerify)
	}
}

// BenchmarkTemplate judges a page of a site of 5,000 that share 85 % of their words.
func BenchmarkTemplate(b *testing.B) {
	m, err := badger.Open(b.TempDir(), badger.Options{Create: true, Reserve: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	const pages = 5000
	judgeTemplate(b, m, pages)
	p := start(b, m, testOptions(b))
	defer p.Close()
	for n := pages; b.Loop(); n++ {
		judgedFile(b, p, fmt.Sprint(n), templatePage(n), false)
	}
}

// judgeTemplate judges so many pages of a site, in batches as skink dedup does.
func judgeTemplate(t testing.TB, s store.Store, pages int) {
	t.Helper()
	var lines bytes.Buffer
	for n := range pages {
		fmt.Fprintf(&lines, "{\"text\":%q}\n", templatePage(n))
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
