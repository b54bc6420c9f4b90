package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/crawler"
	"skink/dedup"
	"skink/feed"
	"skink/feed/release"
	"skink/frontier"
	"skink/internal/complete"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/precedence"
)

// The crawl, the comparison of all pages and the feed choose the same leaders as package
// precedence (in the comparison of all pages without times), no matter in which order the pages arrive and when their sitemap is read. All pages
// of a cluster resemble each other, so that the expected clusters are known.
func TestAllAgree(t *testing.T) {
	hosts := []string{"https://a.test", "http://a.test", "http://b.test", "http://c.test"}
	rapid.Check(t, func(r *rapid.T) {
		order, err := precedence.Add(t.Context(), storetest.NewMemory(), rapid.SampledFrom([][]string{nil, {"/2"}}).Draw(r, "prefer"), []string{"b.test", "a.test"})
		if err != nil {
			r.Fatal(err)
		}
		texts := []string{words(1, 100), words(2, 100), words(3, 20)}
		var urls, listed []string
		for i := range 8 {
			url := fmt.Sprintf("%s/%d", rapid.SampledFrom(hosts).Draw(r, "host"), i)
			urls = append(urls, url)
			if rapid.IntRange(0, 3).Draw(r, "listed") == 0 {
				listed = append(listed, url)
			}
		}
		var pages []*crawler.Page
		clusters := map[int][]precedence.Standing{}
		inCluster := map[string]int{}
		for _, url := range urls {
			n := rapid.IntRange(0, len(texts)-1).Draw(r, "text")
			text, names := texts[n], rapid.SampledFrom(append(urls, url, url, url)).Draw(r, "canonical")
			if n < 2 && rapid.Bool().Draw(r, "near") {
				text = but(text, fmt.Sprint("own", len(pages)))
			}
			page := articleOf(url, names, text)
			page.FetchedAt = page.FetchedAt.Add(time.Duration(rapid.IntRange(0, 4).Draw(r, "fetched")) * time.Minute)
			hidden := rapid.IntRange(0, 3).Draw(r, "noindex") == 0
			if hidden {
				page = noindex(page)
			}
			pages = append(pages, page)
			standing := precedence.Standing{URL: url, NoIndex: hidden, Place: order.Place(url), Listed: slices.Contains(listed, url), Seen: page.FetchedAt.UTC()}
			if names != url {
				standing.Names = names
			}
			clusters[n], inCluster[url] = append(clusters[n], standing), n
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "order"), 1))
		rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		sitemap := rapid.IntRange(0, len(pages)).Draw(r, "the sitemap is read before this page")

		want, whole := map[string]string{}, map[string]string{} // URL of each page's leader, by the URL of the page; whole is that of the comparison of all pages, which knows no times
		for _, url := range urls {
			all := slices.Clone(clusters[inCluster[url]])
			want[url] = all[precedence.Leader(all)].URL
			for i := range all {
				all[i].Seen = time.Time{}
			}
			whole[url] = all[precedence.Leader(all)].URL
		}
		ctx := context.Background()
		s := storetest.NewMemory()
		orderOf(r, s, order)
		opt := testOptions(t)
		opt.Order = order
		p, err := New(ctx, &shaky{Store: s, rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 2))}, opt)
		if err != nil {
			r.Fatal(err)
		}
		atOnce := rapid.Bool().Draw(r, "at once")
		errs := make(chan error, len(pages)+1)
		step := func(do func() error) {
			if atOnce {
				go func() { errs <- do() }()
			} else {
				errs <- do()
			}
		}
		for i, page := range pages {
			if i == sitemap {
				step(func() error { return p.Handle(ctx, sitemapOf(listed), new(crawler.Leads)) })
			}
			step(func() error { return p.Handle(ctx, page, new(crawler.Leads)) })
		}
		if sitemap == len(pages) {
			step(func() error { return p.Handle(ctx, sitemapOf(listed), new(crawler.Leads)) })
		}
		for range len(pages) + 1 {
			if err := <-errs; err != nil {
				r.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			r.Fatal(err)
		}
		w, err := complete.Judge(ctx, s, complete.Options{Rule: opt.Rule})
		if err != nil {
			r.Fatal(err)
		}
		for _, c := range []struct {
			name      string
			got, want map[string]string
		}{{"crawl", ledBy(r, s), want}, {"complete", ledBy(r, w), whole}, {"feed", fed(r, s), want}, {"feed of complete", fed(r, w), whole}} {
			if !maps.Equal(c.got, c.want) {
				r.Errorf("%s: %v\nwant %v", c.name, c.got, c.want)
			}
		}
	})
}

// sitemapOf returns a sitemap that lists the given URLs.
func sitemapOf(urls []string) *crawler.Page {
	return &crawler.Page{
		Item: frontier.Item{URL: "https://a.test/sitemap.xml", Kind: frontier.Sitemap}, FetchedAt: time.Now(), Status: 200,
		Listed: &crawler.Listed{Pages: len(urls), URLs: urls},
	}
}

// orderOf sets the order of hosts in a store.
func orderOf(t *rapid.T, s store.Store, o *precedence.Order) {
	if _, err := precedence.Add(context.Background(), s, o.Prefers(), []string{"b.test", "a.test"}); err != nil {
		t.Fatal(err)
	}
}

// ledBy returns the URL of each page's leader, by the URL of the page. A leader has its own URL.
func ledBy(t *rapid.T, s store.Reader) map[string]string {
	led := map[string]string{}
	for page, err := range s.Changes(context.Background(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		if page.Record.Kind != store.Page {
			continue
		}
		if led[page.Record.URL] = page.Record.URL; page.Record.Follows() {
			led[page.Record.URL] = page.Record.DuplicateOf
		}
	}
	return led
}

// fed returns the same as ledBy, but from a feed of all pages. It also checks that a feed of unique
// pages has only the leaders.
func fed(t *rapid.T, s store.Reader) map[string]string {
	var all, unique bytes.Buffer
	for out, opt := range map[*bytes.Buffer]feed.Options{&all: {Filter: release.Filter{Include: release.All}}, &unique: {}} {
		if _, err := feed.Write(context.Background(), out, s, opt); err != nil {
			t.Fatal(err)
		}
	}
	led, leaders := map[string]string{}, 0
	for line := range strings.Lines(all.String()) {
		var d feed.Document
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if led[d.URL] = d.URL; d.DuplicateOf != "" {
			led[d.URL] = d.DuplicateOf
			continue
		}
		leaders++
		if d.NoIndex {
			leaders--
			continue
		}
		if d.Verdict != dedup.Thin && d.Verdict != dedup.Unique || !strings.Contains(unique.String(), `"url":"`+d.URL+`"`) {
			t.Errorf("%s is %s, and not in the feed", d.URL, d.Verdict)
		}
	}
	if n := strings.Count(unique.String(), "\n"); n != leaders {
		t.Errorf("%d pages are in the feed, want %d", n, leaders)
	}
	return led
}
