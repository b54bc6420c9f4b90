package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"skink/crawler"
	"skink/store"
)

// # A page that ends the process
//
// Reading a page is bounded, and a panic is its record. A page that ended the process all the same,
// by a stack that overflows or by memory that runs out, would do so again after every resume. So
// the store remembers which pages are being read. A page that it remembers when it is opened was in
// flight when the process died. That page is read alone the next time, and marked before that
// begins. If the process dies again, the page is recorded as the cause, and not read any more.
//
// To mark every page would cost a write each, and blame those that were read when somebody killed
// the process. To overflow a stack or to fill the memory takes time, so a page is marked when it
// has been read for longPage, which honest pages seldom are. What it gets wrong: a page that ends
// the process sooner is not marked, and a page is given up that is in flight at two deaths for
// another reason.

const (
	longPage  = 200 * time.Millisecond
	lookEvery = 100 * time.Millisecond

	maxDeaths = 2
)

// flightName is where a store keeps the marks: by URL, at how many deaths the page was in flight,
// counting one that would come now.
const flightName = "in flight"

// problemDeadly is the problem of a page that was in flight at two deaths of the process.
const problemDeadly = "ends the process"

// A flight is the pages that are being read.
type flight struct {
	store Store

	mu       sync.Mutex
	deaths   map[string]int       // guarded by mu: at how many deaths pages were in flight that have not ended yet
	began    map[string]time.Time // guarded by mu: of those that are being read
	marked   map[string]bool      // guarded by mu: of those, which the store knows of
	unwanted bool                 // guarded by mu: the store knows of one that has ended
}

// newFlight reads what was in flight when the store was last left.
func newFlight(ctx context.Context, s Store) (*flight, error) {
	f := &flight{store: s, deaths: map[string]int{}, began: map[string]time.Time{}, marked: map[string]bool{}}
	text, err := s.Meta(ctx, flightName)
	if err != nil || len(text) == 0 {
		return f, err
	}
	if err := json.Unmarshal(text, &f.deaths); err != nil {
		return nil, fmt.Errorf("read what was in flight: %w", err)
	}
	return f, nil
}

// suspect says at how many deaths a URL was in flight.
func (f *flight) suspect(url string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deaths[url]
}

// begin says that a page is being read. A suspect is marked at once.
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

// end says that a page has been read.
func (f *flight) end(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unwanted = f.unwanted || f.marked[url] || f.deaths[url] > 0
	delete(f.began, url)
	delete(f.marked, url)
	delete(f.deaths, url)
}

// look marks the pages that have been read for long, and forgets those that have ended.
func (f *flight) look(ctx context.Context, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := f.unwanted
	for url, began := range f.began {
		if !f.marked[url] && now.Sub(began) >= longPage {
			f.marked[url], changed = true, true
		}
	}
	if !changed {
		return nil
	}
	return f.write(ctx)
}

// write is called with mu held.
func (f *flight) write(ctx context.Context) error {
	all := maps.Clone(f.deaths)
	for url := range f.marked {
		all[url]++
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = f.store.SetMeta(ctx, flightName, text)
	}
	if err != nil {
		return fmt.Errorf("mark what is in flight: %w", err)
	}
	f.unwanted = false
	return nil
}

// deadly makes a subject the record of a page that is not read again.
func (s *subject) deadly(deaths int) {
	r := &s.record
	r.Kind, r.Problem = store.Error, problemDeadly
	r.Detail = fmt.Sprintf("it was being read at %d deaths of the process, and is given up", deaths)
}

// need is the share of memory that reading a page takes: all, if the page is suspected, so that no
// other is read with it.
func (p *Pipeline) need(page *crawler.Page, tree int64) int64 {
	if p.flight.suspect(page.Item.URL) > 0 {
		return 1 << 62
	}
	return costOf(len(page.Body), tree)
}
