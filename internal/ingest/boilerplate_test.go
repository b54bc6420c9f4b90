package ingest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/crawler"
	"skink/dedup"
	"skink/report"
)

// # A site with a template
//
// Every page of a host ends in its template: eight lines, 240 words. Before that
// come the page's own paragraphs.

// lines are n different paragraphs of so many words.
func lines(seed uint64, n, length int) (all []string) {
	for i := range n {
		all = append(all, words(seed*1000+uint64(i), length))
	}
	return all
}

func templateOf(host string) []string { return lines(900+uint64(host[0]), 8, 30) }

// onHost is a page of a host, in its template.
func onHost(host, path, title string, own ...string) *crawler.Page {
	var b strings.Builder
	fmt.Fprintf(&b, "<html lang=en><title>%s</title><article>", title)
	for _, l := range append(own, templateOf(host)...) {
		fmt.Fprintf(&b, "<p>%s</p>\n", l)
	}
	return page("http://"+host+path, b.String())
}

// articles are 25 pages of 200 words of their own each.
func articles(host string) (pages []*crawler.Page) {
	for i := range 25 {
		pages = append(pages, onHost(host, fmt.Sprintf("/article/%d", i), fmt.Sprintf("Article %d", i), lines(uint64(i), 4, 50)...))
	}
	return pages
}

// stubs are 30 pages of 20 words of their own each.
func stubs(host string) (pages []*crawler.Page) {
	for i := range 30 {
		pages = append(pages, onHost(host, fmt.Sprintf("/stub/%d", i), fmt.Sprintf("Stub %d", i), words(500+uint64(i), 20)))
	}
	return pages
}

// sessions are copies of an article that differ in a line of four words.
func sessions(host string, n int, title func(i int) string) (pages []*crawler.Page) {
	for i := range n {
		own := append(lines(77, 4, 50), fmt.Sprintf("You are visitor n%d", i))
		pages = append(pages, onHost(host, fmt.Sprintf("/read?sid=%d", i), title(i), own...))
	}
	return pages
}

func plainTitle(int) string { return "An article" }

// found are the clusters of pages by their leaders: how many members of each
// verdict, and the least resemblance.
func found(t testing.TB, w *Whole) map[string]string {
	t.Helper()
	all := map[string]string{}
	for c, err := range w.Report().Clusters(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		exact, near, least := 0, 0, 1.
		for m, err := range c.Members {
			if err != nil {
				t.Fatal(err)
			}
			if m.Verdict == string(dedup.Exact) {
				exact++
			} else {
				near++
			}
			least = min(least, m.Resemblance)
		}
		all[strings.TrimPrefix(c.Leader.URL, "http://")] = fmt.Sprintf("%d exact, %d near from %.2f", exact, near, least)
	}
	return all
}

func judgeBoth(t testing.TB, pages ...[]*crawler.Page) (whole, without *Whole) {
	t.Helper()
	opt := testOptions(t)
	var all []*crawler.Page
	for _, p := range pages {
		all = append(all, p...)
	}
	s := crawl(t, opt, all...)
	whole, err := JudgeWhole(context.Background(), s, WholeOptions{Rule: opt.Rule, WholeText: true})
	if err != nil {
		t.Fatal(err)
	}
	return whole, judgeWhole(t, s, opt)
}

// wantFound checks some clusters; "" stands for no cluster.
func wantFound(t *testing.T, w *Whole, clusters int, want map[string]string) {
	t.Helper()
	got := found(t, w)
	if len(got) != clusters {
		t.Errorf("%d clusters, want %d: %v", len(got), clusters, got)
	}
	for leader, text := range want {
		if got[leader] != text {
			t.Errorf("%s: %q, want %q", leader, got[leader], text)
		}
	}
}

// Short pages in one template are all copies of one another, until the template is
// left out of what is compared. What was left out is said, with its pages.
func TestStubsDifferWithoutTemplate(t *testing.T) {
	whole, without := judgeBoth(t, articles("a.test"), stubs("a.test"))
	wantFound(t, whole, 1, map[string]string{"a.test/stub/0": "0 exact, 29 near from 0.85"})
	wantFound(t, without, 0, nil)

	left, err := without.Report().(report.LeftOutSource).LeftOut(t.Context())
	if err != nil || len(left) != 1 {
		t.Fatalf("left out: %+v, %v", left, err)
	}
	l := left[0]
	if l.Host != "a.test" || l.Pages != 55 || l.Blocks != 8 || l.Shortened != 55 || len(l.Top) != 8 {
		t.Errorf("left out: %+v", l)
	}
	for _, b := range l.Top {
		if b.Pages != 55 || !strings.Contains(strings.Join(templateOf("a.test"), "\n"), b.Text) {
			t.Errorf("left out: %+v", b)
		}
	}
	if left, _ := whole.Report().(report.LeftOutSource).LeftOut(t.Context()); left != nil {
		t.Errorf("nothing was to be left out, and %+v was", left)
	}
}

// Copies of an article on one host find each other: those with its very text, and
// those with a session in it. They are not taken for a template.
func TestCopiesOnOneHost(t *testing.T) {
	var exact []*crawler.Page
	for i := range 100 {
		exact = append(exact, onHost("a.test", fmt.Sprintf("/same?sid=%d", i), "The same", lines(78, 4, 50)...))
	}
	for _, c := range []struct {
		why   string
		title func(i int) string
	}{
		{"copies under one title", plainTitle},
		{"copies without a title", func(int) string { return "" }},
	} {
		t.Run(c.why, func(t *testing.T) {
			whole, without := judgeBoth(t, articles("a.test"), exact, sessions("a.test", 100, c.title))
			want := map[string]string{
				"a.test/read?sid=0": "0 exact, 99 near from 0.96",
				"a.test/same?sid=0": "99 exact, 0 near from 1.00",
			}
			wantFound(t, whole, 2, want)
			want["a.test/read?sid=0"] = "0 exact, 99 near from 0.99" // only the last line differs now
			wantFound(t, without, 2, want)
		})
	}
}

// Without any other page on the host, all its pages are copies of one.
func TestNothingButCopies(t *testing.T) {
	_, without := judgeBoth(t, sessions("a.test", 100, plainTitle))
	wantFound(t, without, 1, map[string]string{"a.test/read?sid=0": "0 exact, 99 near from 0.96"})
}

// Copies on other hosts find each other: on a mirror, short ones too, and in
// another template, where they did not while that was compared.
func TestCopiesAcrossHosts(t *testing.T) {
	var mirror []*crawler.Page
	for _, p := range append(articles("a.test"), stubs("a.test")...) {
		mirror = append(mirror, page(strings.Replace(p.Item.URL, "a.test", "mirror.test", 1), string(p.Body)))
	}
	whole, without := judgeBoth(t, articles("a.test"), stubs("a.test"), mirror, articles("b.test"))
	wantFound(t, whole, 26, map[string]string{
		"a.test/stub/0":    "1 exact, 58 near from 0.85",
		"a.test/article/0": "1 exact, 0 near from 1.00",
	})
	wantFound(t, without, 55, map[string]string{
		"a.test/stub/0":    "1 exact, 0 near from 1.00",
		"a.test/article/0": "1 exact, 1 near from 1.00",
	})
}

// What a host repeats is left out on others, too: a copy that brought the footer
// along finds its original, and the report says where that was left out.
func TestFooterThatTravels(t *testing.T) {
	own := lines(3, 4, 50) // of the article numbered 3
	copied := page("http://c.test/copied", "<title>Copied</title><article><p>"+strings.Join(append(own, templateOf("a.test")[:4]...), "</p><p>")+"</p></article>")
	whole, without := judgeBoth(t, articles("a.test"), []*crawler.Page{copied})
	wantFound(t, whole, 0, nil)
	wantFound(t, without, 1, map[string]string{"c.test/copied": "0 exact, 1 near from 1.00"})
	left, err := without.Report().(report.LeftOutSource).LeftOut(t.Context())
	if err != nil || len(left) != 2 || left[1].Host != "c.test" || left[1].Blocks != 0 || left[1].Shortened != 1 {
		t.Errorf("left out: %+v, %v", left, err)
	}
}

// A page on which everything returns is like other such pages, and like no page
// that has something of its own.
func TestNothingOfItsOwn(t *testing.T) {
	template := templateOf("a.test")
	turned := append(template[1:], template[0])
	empty := []*crawler.Page{
		onHost("a.test", "/empty/1", "Nothing here"),
		page("http://a.test/empty/2", "<html lang=en><title>Nor here</title><article><p>"+strings.Join(turned, "</p>\n<p>")+"</p>\n"),
	}
	_, without := judgeBoth(t, articles("a.test"), stubs("a.test"), empty)
	wantFound(t, without, 1, map[string]string{"a.test/empty/1": "0 exact, 1 near from 0.93"})
}

// Titles that many different pages share do not make copies of them.
func TestOneTitleForAll(t *testing.T) {
	pages := articles("a.test")
	for i := range 30 {
		pages = append(pages, onHost("a.test", fmt.Sprintf("/stub/%d", i), "Our shop", words(500+uint64(i), 20)))
	}
	pages = append(pages, onHost("a.test", "/about", "Our shop", lines(99, 4, 50)...))
	_, without := judgeBoth(t, pages)
	wantFound(t, without, 0, nil)
}

// What is left out, and the clusters, do not depend on the order of the crawl.
func TestLeftOutKnowsNoOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pages := mixedSite(rt)
		opt := testOptions(t)
		say := func() string {
			w := judgeWhole(t, crawl(t, opt, pages...), opt)
			left, err := w.Report().(report.LeftOutSource).LeftOut(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%+v\n%s", left, clustersOf(t, w))
		}
		want := say()
		rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 5)).Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		if got := say(); got != want {
			rt.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
	})
}

// mixedSite is pages of two hosts: with own paragraphs, shared ones, copies and
// the template.
func mixedSite(t *rapid.T) (pages []*crawler.Page) {
	for i := range rapid.IntRange(20, 60).Draw(t, "pages") {
		host := rapid.SampledFrom([]string{"a.test", "a.test", "b.test"}).Draw(t, "host")
		title := rapid.SampledFrom([]string{"", "One title", fmt.Sprint("Page ", i)}).Draw(t, "title")
		var own []string
		for range rapid.IntRange(0, 3).Draw(t, "paragraphs") {
			own = append(own, words(uint64(rapid.SampledFrom([]int{1, 2, 3, 100 + i}).Draw(t, "paragraph")), 25))
		}
		p := onHost(host, fmt.Sprintf("/%d", i), title, own...)
		if rapid.IntRange(0, 9).Draw(t, "hidden") == 0 {
			noindex(p)
		}
		pages = append(pages, p)
	}
	return pages
}

// A thin page stays thin, and copies whose texts were not kept stay what they were.
func TestLeftOutKeepsVerdicts(t *testing.T) {
	opt := testOptions(t)
	opt.SkipDuplicates = true
	pages := append(articles("a.test"), onHost("a.test", "/article/copy", "A copy", lines(3, 4, 50)...),
		page("http://a.test/thin", "<title>Thin</title><article><p>"+words(4, 30)))
	s := crawl(t, opt, pages...)
	w := judgeWhole(t, s, opt)
	wantFound(t, w, 0, nil)
	same(t, "verdicts", verdicts(t, w), verdicts(t, s))
	for _, r := range records(t, w) {
		if r.URL == "http://a.test/article/copy" && (r.Verdict != dedup.Exact || !r.NoText) {
			t.Errorf("%+v", r)
		}
	}
	if tally, err := w.Tally(t.Context()); err != nil || tally.Skipped != 1 || tally.Thin != 1 {
		t.Errorf("%+v, %v", tally, err)
	}
}
