package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/storetest"
	"skink/store"
)

// newSite serves a home page, an article and a copy of it, and a link that is broken.
func newSite(t *testing.T) *httptest.Server {
	text := func(word string) string {
		var b strings.Builder
		for i := range 80 {
			fmt.Fprintf(&b, "%s%d ", word, i)
		}
		return b.String()
	}
	pages := map[string]string{
		"/":     "<article><p>" + text("home") + `</p></article><a href=/one>One</a> <a href=/copy>Copy</a> <a href=/gone>Gone</a>`,
		"/one":  "<article><p>" + text("article") + "</p></article>",
		"/copy": "<article><p>" + text("article") + "</p></article>",
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page)
	}))
	t.Cleanup(site.Close)
	return site
}

// quickly returns options that crawl a site from its home page, one page at a time and without
// delays.
func quickly(site *httptest.Server) Options {
	opt := Defaults()
	opt.Crawl.Delay, opt.Crawl.PerHost, opt.Crawl.Parallel = 0, 1, 1
	opt.Seeds = Seeds{URLs: []string{site.URL + "/"}}
	return opt
}

// A run needs no command line: a site, a store in memory and options suffice. A second run finds
// nothing to do, and a third run visits all pages again.
func TestRun(t *testing.T) {
	site, s := newSite(t), &NamedStore{Store: storetest.NewMemory(), Name: "memory"}
	var messages bytes.Buffer
	out := Output{Out: io.Discard, Err: &messages}
	sum, err := Run(t.Context(), s, quickly(site), out)
	if err != nil {
		t.Fatal(err)
	}
	if !sum.Began || !sum.End.Over() || sum.Added.Unique != 2 || sum.Added.Exact != 1 || sum.URLs.Fetched != 3 || sum.URLs.Failed != 1 {
		t.Errorf("got %+v, want two unique pages, a copy and a broken link", sum)
	}
	for _, want := range []string{"Crawling 1 seed into memory\n", "3 pages in ", "saved in memory\n", "see the duplicates with: skink report --store memory\n"} {
		if !strings.Contains(messages.String(), want) {
			t.Errorf("the messages lack %q:\n%s", want, &messages)
		}
	}
	copies, err := s.Pages(t.Context(), []dedup.Hash{dedup.Hash(frontier.ID(site.URL + "/copy"))}, store.WantRecord)
	if err != nil || copies[0] == nil || copies[0].Record.DuplicateOf != site.URL+"/one" {
		t.Errorf("the copy: %+v, %v", copies, err)
	}

	messages.Reset()
	if sum, err := Run(t.Context(), s, quickly(site), out); err != nil || sum.Began {
		t.Errorf("the second run: %+v, %v", sum, err)
	}
	if !strings.Contains(messages.String(), "Nothing to do: the crawl in memory is finished, with 3 pages.") {
		t.Errorf("the second run says:\n%s", &messages)
	}

	opt := quickly(site)
	opt.Again.Recrawl = "0s" // an age of 0 selects all pages
	if sum, err = Run(t.Context(), s, opt, out); err != nil || sum.Visits[store.Same] != 3 || sum.Added.Pages() != 0 {
		t.Errorf("the third run visited %v, %v; want three pages unchanged", sum.Visits, err)
	}
}

// A run is killed before it has put back any page to visit again. The next run visits all pages again,
// although nothing tells it to do so. The run after that has nothing to do.
func TestRoundContinues(t *testing.T) {
	site, s := newSite(t), &NamedStore{Store: storetest.NewMemory(), Name: "memory"}
	out := Output{Out: io.Discard, Err: io.Discard}
	if _, err := Run(t.Context(), s, quickly(site), out); err != nil {
		t.Fatal(err)
	}
	killed := round{Asked: time.Now().UTC(), Again: Again{Recrawl: "0s", Retry: "failed", States: []frontier.State{frontier.Failed}}}
	if err := writeRound(t.Context(), s, killed); err != nil {
		t.Fatal(err)
	}
	sum, err := Run(t.Context(), s, quickly(site), out)
	if err != nil || !sum.End.Over() || sum.Visits[store.Same] != 3 || len(sum.Visits) != 2 {
		t.Errorf("the next run: %+v, %v; want visits to three pages and the broken link", sum, err)
	}
	if sum, err := Run(t.Context(), s, quickly(site), out); err != nil || sum.Began {
		t.Errorf("the run after that: %+v, %v; want nothing to do", sum, err)
	}
}

// The summary of a run states whether the run was stopped, and which limit it reached.
func TestRunEnds(t *testing.T) {
	site := newSite(t)
	opt := quickly(site)
	opt.Crawl.MaxPages = 1
	opt.Resume = func(end Ending) string { return "again after " + end.Limit }
	sum, err := Run(t.Context(), &NamedStore{Store: storetest.NewMemory(), Name: "memory"}, opt, Output{Out: io.Discard, Err: io.Discard})
	if err != nil || sum.End.Limit != "--max-pages 1" || sum.Again != "again after --max-pages 1" || sum.URLs.Pending == 0 {
		t.Errorf("with a limit: %+v, %v", sum, err)
	}

	ctx, stop := context.WithCancel(t.Context())
	opt = quickly(site)
	asked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stop()
		http.Error(w, "try later", http.StatusServiceUnavailable)
	}))
	defer asked.Close()
	opt.Seeds = Seeds{URLs: []string{asked.URL + "/"}}
	sum, err = Run(ctx, &NamedStore{Store: storetest.NewMemory(), Name: "memory"}, opt, Output{Out: io.Discard, Err: io.Discard})
	if err != nil || !sum.End.Interrupted || sum.URLs.Pending != 1 {
		t.Errorf("stopped: %+v, %v", sum, err)
	}
}

func TestAffordable(t *testing.T) {
	for _, c := range []struct {
		asked int
		files int64
		want  int
	}{
		{1024, 0, 1024}, // the process may open any number of files
		{1024, 1 << 20, 1024},
		{1024, 1024, 448},
		{16, 1024, 16},
		{1024, 64, 1},
	} {
		if got := affordable(c.asked, c.files); got != c.want {
			t.Errorf("%d connections with %d files: %d, want %d", c.asked, c.files, got, c.want)
		}
	}
}

// A run that stays goes through rounds until its context ends, and looks for pages that are due while a round lasts.
func TestForever(t *testing.T) {
	site, s := newSite(t), &NamedStore{Store: storetest.NewMemory(), Name: "memory"}
	opt := quickly(site)
	opt.Forever, opt.Crawl.Delay = true, 50*time.Millisecond
	opt.Again = Again{Recrawl: "due", Due: true, Schedule: Schedule{First: time.Second, Least: 100 * time.Millisecond, Most: 200 * time.Millisecond}}
	ctx, stop := context.WithCancel(t.Context())
	said := make(chan string, 100)
	go func() {
		for slept := 0; slept < 5; {
			if strings.HasPrefix(<-said, "Sleeping until") {
				slept++
			}
		}
		stop()
		for range said { // until the test ends
		}
	}()
	sum, err := Run(ctx, s, opt, Output{Out: io.Discard, Err: lines(said)})
	close(said)
	if err != nil || sum.All.Pages() != 3 || sum.URLs.Fetched == 0 {
		t.Errorf("got %+v, %v", sum, err)
	}
	if last, err := ReadSleep(t.Context(), s); err != nil || last == nil || last.Until.Before(last.Since) {
		t.Errorf("the last sleep is %+v, %v", last, err)
	}
}

type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}
