package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"skink/crawler"
	"skink/document"
	"skink/store"
)

// # A page that crashes the process
//
// Reading a page is bounded, and a panic while it is read becomes the page's record. But a page can
// still crash the process, by a stack overflow or by exhausting memory. It would do so again after
// every resume. So a page whose reading takes a long time is marked in the store. If a page is
// marked when the store is opened, the process died while reading it. The next time, that page is
// marked first and then read alone. If the process dies again, the page is recorded as the cause,
// and is never read again.
//
// Marking every page would cost a write for each, and would blame pages that are being read when a
// user kills the process. Overflowing a stack or filling the memory takes time. So a page is marked
// only after longPage, and reading an ordinary page seldom takes so long.
//
// Known weaknesses: A page that crashes the process sooner is not marked. If the process dies twice
// while reading a page, that page is never read again, even if the deaths had another cause.

const (
	longPage  = 200 * time.Millisecond
	lookEvery = 100 * time.Millisecond

	maxDeaths = 2
)

// InFlight is the key of the marks of pages that are being read. The value maps a URL to the
// number of times that the process has died while it read the page. While a page is being read, its
// number is one higher, in case the process dies. Several workers may share the marks. Each writes
// its own marks. It reads the marks of the others whenever it writes, and at least every readEvery.
// Only one worker at a time fetches from a host. So if a worker gets a page that another worker has
// marked, the other worker has died.
const InFlight = "in flight"

const readEvery = time.Second

// problemDeadly is the recorded problem of a page that is never read again, because the process
// died twice while reading it.
const problemDeadly = "ends the process"

type flight struct {
	store PipelineStore

	mu      sync.Mutex           // guards all fields below
	deaths  map[string]int       // by URL, how often the process died while reading the page; only pages that were not read to the end; includes the entries of other workers
	began   map[string]time.Time // when the reading of each page began
	marked  map[string]bool      // pages that are being read and are marked in the store
	ended   map[string]bool      // pages that were read to the end but are still marked in the store
	written map[string]int       // marks that this worker wrote to the store
	read    time.Time            // when the marks of the other workers were last read
}

func newFlight(ctx context.Context, s PipelineStore) (*flight, error) {
	f := &flight{store: s, began: map[string]time.Time{}, marked: map[string]bool{}, ended: map[string]bool{}, written: map[string]int{}}
	return f, f.refresh(ctx, time.Now())
}

// refresh reads the marks of all workers from the store. The caller holds mu.
func (f *flight) refresh(ctx context.Context, now time.Time) error {
	all, err := store.ReadMeta[map[string]int](ctx, f.store, InFlight, pagesInFlight)
	if err == nil {
		f.take(all, now)
	}
	return err
}

const pagesInFlight = "the pages in flight" // in errors

// take replaces the deaths by the marks of other workers. The caller holds mu.
func (f *flight) take(all *map[string]int, now time.Time) {
	f.deaths, f.read = map[string]int{}, now
	for url, n := range *cmp.Or(all, &map[string]int{}) {
		if f.written[url] == n { // an entry by this worker
			n--
		}
		if n > 0 && !f.ended[url] {
			f.deaths[url] = n
		}
	}
}

func (f *flight) suspect(url string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deaths[url]
}

// begin records that a page is now being read. If the process has already died once while reading
// this page, the page's mark is written to the store at once.
func (f *flight) begin(ctx context.Context, url string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began[url] = time.Now()
	if f.deaths[url] == 0 {
		return nil
	}
	f.marked[url] = true
	return f.write(ctx)
}

func (f *flight) end(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.marked[url] || f.deaths[url] > 0 {
		f.ended[url] = true
	}
	delete(f.began, url)
	delete(f.marked, url)
	delete(f.deaths, url)
}

// look marks the pages that have been read for longer than longPage, and removes the marks of pages
// that have been read to the end.
func (f *flight) look(ctx context.Context, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := len(f.ended) > 0
	for url, began := range f.began {
		if !f.marked[url] && now.Sub(began) >= longPage {
			f.marked[url], changed = true, true
		}
	}
	switch {
	case changed:
		return f.write(ctx)
	case now.Sub(f.read) >= readEvery:
		return f.refresh(ctx, now)
	}
	return nil
}

// The caller holds mu.
func (f *flight) write(ctx context.Context) error {
	var own map[string]int
	err := store.ChangeMeta(ctx, f.store, InFlight, pagesInFlight, func(old *map[string]int) (*map[string]int, error) {
		f.take(old, time.Now())
		all := maps.Clone(f.deaths)
		own = map[string]int{}
		for url := range f.marked {
			all[url]++
			own[url] = all[url]
		}
		return &all, nil
	})
	if err != nil {
		return fmt.Errorf("record the pages in flight: %w", err)
	}
	clear(f.ended)
	f.written = own
	return nil
}

// deadly returns a reading without content, because the process has died too often while reading
// the page.
func (got *reading) deadly(deaths int) *reading {
	given := *got
	r := &given.seen
	r.Kind, r.Problem = store.Error, problemDeadly
	r.Detail = fmt.Sprintf("the process died %d times while reading this page", deaths)
	return &given
}

// need returns the number of bytes of memory to reserve for reading a page. If the process has
// already died once while reading the page, need returns more than the whole pool, so that no other
// page is read at the same time.
func (r *reader) need(page *crawler.Page, tree int64) int64 {
	if r.flight.suspect(page.Item.URL) > 0 {
		return 1 << 62
	}
	body, _ := page.Document()
	text, cost := len(body), costOf(len(body), tree)
	if r.opt.isDocument(page) {
		text, cost = document.MaxText(len(body)), documentCost(r.opt.Documents, body)
	}
	if r.opt.Markdown != store.NoMarkdown {
		cost += markdownCost * int64(text)
	}
	return cost
}
