package ingest

import (
	"context"
	"encoding/json"
	"errors"
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
// counting one that would come now. Several workers may share it. Each writes its own marks, and
// looks at the others' as often as it writes, at least every readEvery. A host has one
// holder, so who comes to read a page that is marked by another took it over from one who died.
const flightName = "in flight"

const readEvery = time.Second

// problemDeadly is the problem of a page that was in flight at two deaths of the process.
const problemDeadly = "ends the process"

// A flight is the pages that are being read.
type flight struct {
	store Store

	mu      sync.Mutex
	deaths  map[string]int       // guarded by mu: at how many deaths pages were in flight that have not ended yet; others' marks are among them
	began   map[string]time.Time // guarded by mu: of those that are being read
	marked  map[string]bool      // guarded by mu: of those, which the store knows of
	ended   map[string]bool      // guarded by mu: those that have ended, of which the store still knows
	written map[string]int       // guarded by mu: what the store knows from here
	read    time.Time            // guarded by mu: when others' marks were looked at
}

// newFlight reads what was in flight when the store was last left.
func newFlight(ctx context.Context, s Store) (*flight, error) {
	f := &flight{store: s, began: map[string]time.Time{}, marked: map[string]bool{}, ended: map[string]bool{}, written: map[string]int{}}
	_, err := f.refresh(ctx, time.Now())
	return f, err
}

// refresh looks at the marks in the store. The caller holds mu.
func (f *flight) refresh(ctx context.Context, now time.Time) (text []byte, err error) {
	if text, err = f.store.Meta(ctx, flightName); err != nil {
		return nil, err
	}
	all := map[string]int{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, fmt.Errorf("read what was in flight: %w", err)
		}
	}
	for url := range f.ended {
		delete(all, url)
	}
	for url, n := range f.written {
		if all[url] == n { // the mark is our own
			all[url] = n - 1
		}
	}
	maps.DeleteFunc(all, func(_ string, n int) bool { return n <= 0 })
	f.deaths, f.read = all, now
	return text, nil
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
	if f.marked[url] || f.deaths[url] > 0 {
		f.ended[url] = true
	}
	delete(f.began, url)
	delete(f.marked, url)
	delete(f.deaths, url)
}

// look marks the pages that have been read for long, and forgets those that have ended.
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
		_, err := f.refresh(ctx, now)
		return err
	}
	return nil
}

// write is called with mu held.
func (f *flight) write(ctx context.Context) error {
	for {
		old, err := f.refresh(ctx, time.Now())
		if err != nil {
			return err
		}
		all, own := maps.Clone(f.deaths), map[string]int{}
		for url := range f.marked {
			all[url]++
			own[url] = all[url]
		}
		text, err := json.Marshal(all)
		if err == nil {
			err = f.store.SwapMeta(ctx, flightName, old, text)
		}
		switch {
		case errors.Is(err, store.ErrChanged):
			continue
		case err != nil:
			return fmt.Errorf("mark what is in flight: %w", err)
		}
		clear(f.ended)
		f.written = own
		return nil
	}
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
