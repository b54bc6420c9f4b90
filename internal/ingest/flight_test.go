package ingest

import (
	"errors"
	"testing"
	"time"

	"skink/crawler"
	"skink/internal/tools/storetest"
	"skink/store"
)

// die leaves a store in the same state as a process that is killed while it reads a page, after
// longPage.
func die(t *testing.T, s store.Store, url string) {
	t.Helper()
	f, err := newFlight(t.Context(), s)
	if err == nil {
		err = f.begin(t.Context(), url)
	}
	if err == nil {
		err = f.look(t.Context(), time.Now().Add(longPage))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A page that was being read when the process died once is read again. After two deaths, it is
// recorded as the cause.
func TestDeadlyPage(t *testing.T) {
	for _, c := range []struct {
		deaths  int
		problem string
	}{{0, ""}, {1, ""}, {2, problemDeadly}, {3, problemDeadly}} {
		s := storetest.NewMemory()
		for range c.deaths {
			die(t, s, "http://a.test/deadly")
		}
		p := start(t, s, testOptions(t))
		for _, url := range []string{"http://a.test/deadly", "http://a.test/other"} {
			if err := p.Handle(t.Context(), page(url, words(1, 100)), new(crawler.Leads)); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		r, other := content(t, s, "http://a.test/deadly").Record, content(t, s, "http://a.test/other").Record
		if r.Problem != c.problem || other.Problem != "" {
			t.Errorf("after %d deaths: the problem is %q, want %q; of the other page %q", c.deaths, r.Problem, c.problem, other.Problem)
		}
		if text, err := s.Meta(t.Context(), InFlight); err != nil || c.deaths > 0 && string(text) != "{}" {
			t.Errorf("after %d deaths and an end, %s is in flight: %v", c.deaths, text, err)
		}
	}
}

// The store gets no mark for a page that is read in less than longPage.
func TestFlightOfShortPages(t *testing.T) {
	s := storetest.NewMemory()
	f, err := newFlight(t.Context(), s)
	if err == nil {
		err = errors.Join(f.begin(t.Context(), "http://a.test/"), f.look(t.Context(), time.Now()))
	}
	if err != nil {
		t.Fatal(err)
	}
	f.end("http://a.test/")
	if text, err := s.Meta(t.Context(), InFlight); text != nil || err != nil {
		t.Errorf("%s was written: %v", text, err)
	}
}

// Two workers share a store, and distinguish their own marks from the marks of the other. A page
// that the other worker was reading when it died is suspect. A page that the worker is reading
// itself is not.
func TestFlightOfSeveralWorkers(t *testing.T) {
	s := storetest.NewMemory()
	var workers [2]*flight
	for i := range workers {
		f, err := newFlight(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		workers[i] = f
	}
	long := time.Now().Add(longPage)
	for i, url := range []string{"http://a.test/", "http://b.test/"} {
		if err := errors.Join(workers[i].begin(t.Context(), url), workers[i].look(t.Context(), long)); err != nil {
			t.Fatal(err)
		}
	}
	workers[1].end("http://b.test/")
	if err := errors.Join(workers[0].look(t.Context(), long.Add(2*readEvery)), workers[1].look(t.Context(), long.Add(2*readEvery))); err != nil {
		t.Fatal(err)
	}
	if n := workers[0].suspect("http://a.test/"); n != 0 {
		t.Errorf("who reads a page suspects it for %d deaths", n)
	}
	if n := workers[1].suspect("http://a.test/"); n != 1 {
		t.Errorf("who took a page over from the dead suspects it for %d deaths, want 1", n)
	}
	text, err := s.Meta(t.Context(), InFlight)
	if err != nil || string(text) != `{"http://a.test/":1}` {
		t.Errorf("in flight is %s: %v", text, err)
	}
}
