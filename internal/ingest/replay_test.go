package ingest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"skink/crawler"
	"skink/internal/tools/storetest"
)

// replayed returns pages in the form in which they are read from an archive.
func replayed(p *Pipeline, pages []*crawler.Page, before func(int) error) func(yield func(*Replayed, error) bool) {
	return func(yield func(*Replayed, error) bool) {
		for i, page := range pages {
			r := &Replayed{Page: page, Leads: new(crawler.Leads)}
			r.Before = func(context.Context) error { return before(i) }
			if !yield(r, nil) {
				return
			}
		}
	}
}

// The pages of an archive, including later visits to a page, are stored in order, with the same
// verdicts as if they were handled one by one.
func TestReplayInOrder(t *testing.T) {
	const n = 300
	bring := func() (pages []*crawler.Page) {
		for i := range n {
			name, text := committed(i)
			url := "https://example.com/" + name
			if i%7 == 6 { // another visit to a page, with another text
				url = fmt.Sprintf("https://example.com/%d", i-6)
			}
			pages = append(pages, again(article(url, text), i))
		}
		return pages
	}
	one := storetest.NewMemory()
	p := start(t, one, testOptions(t))
	handle(t, p, bring()...)
	p.Close()

	many := storetest.NewMemory()
	p = start(t, many, testOptions(t))
	defer p.Close()
	next := 0
	err := p.Replay(t.Context(), replayed(p, bring(), func(i int) error {
		if i != next {
			t.Errorf("page %d comes when page %d is due", i, next)
		}
		next++
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "verdicts", verdicts(t, many), verdicts(t, one))
	if next != n {
		t.Errorf("%d pages were stored, want %d", next, n)
	}
}

// If an error ends a replay, the pages before it are stored, and the pages after it are not.
func TestReplayFails(t *testing.T) {
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	defer p.Close()
	var pages []*crawler.Page
	for i := range 50 {
		name, text := committed(i)
		pages = append(pages, article("https://example.com/"+name, text))
	}
	errFull := errors.New("the disk is full")
	err := p.Replay(t.Context(), replayed(p, pages, func(i int) error {
		if i == 20 {
			return errFull
		}
		return nil
	}))
	if !errors.Is(err, errFull) || len(records(t, s)) != 20 {
		t.Errorf("%d pages are stored, %v; want 20 and %v", len(records(t, s)), err, errFull)
	}
}

// The numbers of pages that replays of archives have added are never negative. Their sum is the
// number of URLs that were ever pages, even if the archives have dates in the future.
func TestReplayCounts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := storetest.NewMemory()
		ever, added, n := map[string]bool{}, int64(0), rapid.SampledFrom([]int{0, 1 << 20}).Draw(r, "hours from 2001")
		for range rapid.IntRange(1, 4).Draw(r, "runs") {
			var pages []*crawler.Page
			for range rapid.IntRange(1, 8).Draw(r, "records") {
				n++
				url := fmt.Sprintf("https://example.com/%d", rapid.IntRange(0, 3).Draw(r, "url"))
				p := answered(url, 404, "status 404")
				if rapid.Bool().Draw(r, "page") {
					p, ever[url] = article(url, words(uint64(n), 80)), true
				}
				pages = append(pages, again(p, n))
			}
			p := start(t, s, testOptions(t))
			if err := p.Replay(t.Context(), replayed(p, pages, func(int) error { return nil })); err != nil {
				r.Fatal(err)
			}
			if err := p.Close(); err != nil {
				r.Fatal(err)
			}
			news := p.Added()
			if min(news.Unique, news.Exact, news.Near, news.Thin, news.Errors) < 0 {
				r.Errorf("a run added %+v", news)
			}
			added += news.Pages()
		}
		if added != int64(len(ever)) {
			r.Errorf("the runs added %d pages, and %d URLs were pages", added, len(ever))
		}
	})
}
