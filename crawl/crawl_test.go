package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"skink/dedup"
	"skink/store"
	"skink/store/badger"
)

// site serves n pages, each of which links to the next.
func site(t *testing.T, n int) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &i); err != nil || i >= n {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "<title>%d</title><p>%s <a href=/%d>next</a>", i, strings.Repeat(fmt.Sprintf("word%d ", i), 30), i+1)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func open(t *testing.T) store.Store {
	s, err := badger.Open(t.TempDir(), badger.Options{Create: true, Temporary: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func hurried() Options {
	o := Defaults()
	o.Delay = 0
	return o
}

// A crawl whose function fails ends with the error. The next run continues the crawl, and passes
// the pages after the given position.
func TestContinue(t *testing.T) {
	s, url, enough := open(t), site(t, 6), errors.New("enough")
	var titles []string
	var at store.Cursor
	most := 3
	page := func(_ context.Context, p *store.Change) error {
		if len(titles) == most {
			return enough
		}
		if p.Record.Kind == store.Page {
			titles = append(titles, p.Record.Title)
			if !strings.Contains(p.Text, "word"+p.Record.Title) {
				t.Errorf("page %s has the text %q", p.Record.Title, p.Text)
			}
		}
		at = p.Cursor
		return nil
	}
	if err := Run(t.Context(), s, []string{url + "/0"}, hurried(), page); !errors.Is(err, enough) {
		t.Fatalf("the run ended with %v, want the error of the function", err)
	}
	most = 100
	opt := hurried()
	opt.After = at
	if err := Run(t.Context(), s, nil, opt, page); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(titles, " "); got != "0 1 2 3 4 5" {
		t.Errorf("got pages %s, want 0 to 5", got)
	}
}

// Without a store, Run passes the same pages, and leaves no file behind.
func TestNoStore(t *testing.T) {
	dir, pages := t.TempDir(), 0
	t.Setenv("TMPDIR", dir)
	err := Run(t.Context(), nil, []string{site(t, 6) + "/0"}, hurried(), func(_ context.Context, p *store.Change) error {
		if p.Record.Kind == store.Page {
			pages++
		}
		return nil
	})
	left, readErr := os.ReadDir(dir)
	if err != nil || readErr != nil || pages != 6 || len(left) > 0 {
		t.Errorf("%d pages, %v; files left: %v, %v", pages, err, left, readErr)
	}
}

// A caller's own store may embed another, and see what is committed.
type ownStore struct {
	store.Store
	urls sync.Map
}

func (s *ownStore) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	for _, e := range entries {
		s.urls.Store(e.Record.URL, true)
	}
	return s.Store.Commit(ctx, entries)
}

func TestOwnStore(t *testing.T) {
	s, url := &ownStore{Store: open(t)}, site(t, 6)
	if err := Run(t.Context(), s, []string{url + "/0"}, hurried(), nil); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if _, ok := s.urls.Load(fmt.Sprintf("%s/%d", url, i)); !ok {
			t.Errorf("page %d was not committed to the caller's store", i)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pages := 0
	err := Run(ctx, open(t), []string{site(t, 10_000) + "/0"}, hurried(), func(context.Context, *store.Change) error {
		pages++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || pages == 0 {
		t.Errorf("got error %v after %d pages, want %v", err, pages, context.Canceled)
	}
}

// A store that has pages and has lost its settings is refused, because it is unknown how its pages were
// judged.
func TestLostSettings(t *testing.T) {
	s := open(t)
	r := store.Record{ID: dedup.HashOf([]byte("https://example.com/")), URL: "https://example.com/", Kind: store.Page, Fetch: store.Fetch{Words: 60}, Judged: store.Judged{Verdict: dedup.Unique}}
	if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r}}); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), s, []string{site(t, 1) + "/0"}, hurried(), nil)
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "settings are lost") {
		t.Errorf("got error %v", err)
	}
	if set, err := store.ReadSettings(t.Context(), s); set != nil || err != nil {
		t.Errorf("the store has got settings: %+v, %v", set, err)
	}
}

func TestErrors(t *testing.T) {
	for seed, want := range map[string]string{
		"example.com:no": "seed: ",
		site(t, 0):       "status 404",
	} {
		if err := Run(t.Context(), open(t), []string{seed}, hurried(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("seed %s: got error %v, want %q", seed, err, want)
		}
	}
}
