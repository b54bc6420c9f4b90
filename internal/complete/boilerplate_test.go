package complete

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/store"
)

// # A site with a template
//
// The tests below use hosts whose pages all end in a template of eight lines with 240 words. A
// page's own paragraphs come before the template.

// lines returns n different paragraphs of length words each.
func lines(seed uint64, n, length int) (all []string) {
	for i := range n {
		all = append(all, words(seed*1000+uint64(i), length))
	}
	return all
}

func templateOf(host string) []string { return lines(900+uint64(host[0]), 8, 30) }

// onHost returns a page of a host that ends in the template of the host.
func onHost(host, path, title string, own ...string) page {
	return page{url: "http://" + host + path, title: title, text: strings.Join(append(own, templateOf(host)...), "\n")}
}

// articles returns 25 pages of a host, each with 200 words of its own before the template.
func articles(host string) (pages []page) {
	for i := range 25 {
		pages = append(pages, onHost(host, fmt.Sprintf("/article/%d", i), fmt.Sprintf("Article %d", i), lines(uint64(i), 4, 50)...))
	}
	return pages
}

// leaflets returns 30 pages of a host, each with 60 words of its own. They share 300 words of terms
// and conditions before the template.
func leaflets(host string) (pages []page) {
	for i := range 30 {
		own := append([]string{words(700+uint64(i), 60)}, termsOf(host)...)
		pages = append(pages, onHost(host, fmt.Sprintf("/leaflet/%d", i), fmt.Sprintf("Leaflet %d", i), own...))
	}
	return pages
}

func termsOf(host string) []string { return lines(800+uint64(host[0]), 10, 30) }

// If too few words of a page remain without repeated blocks, the whole page is compared and shown.
// Contracts that are made of shared clauses are an example, because only the title of each is its
// own.
func TestTooLittleOfItsOwn(t *testing.T) {
	stock := lines(60, 40, 40)
	var contracts []page
	for i := range 300 {
		text := []string{fmt.Sprintf("Contract number n%d with the party p%d", i, i)}
		for k := range 12 {
			text = append(text, stock[(i*7+k*(1+i%3))%len(stock)])
		}
		contracts = append(contracts, page{url: fmt.Sprintf("http://a.test/contract/%d", i), title: fmt.Sprintf("Contract %d", i), text: strings.Join(text, "\n")})
	}
	rule := defaultRule(t)
	s := storeOf(t, rule, contracts...)
	w, whole := judge(t, s, Options{Rule: rule}), judge(t, s, Options{Rule: rule, WholeText: true})
	same(t, "clusters", clustersOf(t, w), clustersOf(t, whole))
	if left := w.LeftOut(); len(left) > 0 {
		t.Errorf("left out of the comparison: %+v", left)
	}
	full := 0
	for page, err := range w.Changes(t.Context(), "", store.WantText) {
		if err != nil {
			t.Fatal(err)
		}
		full += len(strings.Fields(page.Text))
	}
	if full < 300*480 {
		t.Errorf("the contracts have only %d words", full)
	}
}

// If only one of two pages has enough words left without repeated blocks, both are compared whole.
// So a copy finds its original even if the two numbers of words are just above and just below the
// limit.
func TestOneHasTooLittleOfItsOwn(t *testing.T) {
	own := words(7, 52)
	pages := []page{
		onHost("a.test", "/long", "Long", append([]string{own}, termsOf("a.test")...)...),
		onHost("a.test", "/short", "Short", append([]string{strings.Join(strings.Fields(own)[:46], " ")}, termsOf("a.test")...)...),
	}
	whole, without := judgeBoth(t, articles("a.test"), leaflets("a.test"), pages)
	if got, want := found(t, without)["a.test/long"], "0 exact, 1 near from 0.96"; got != want {
		t.Errorf("%q, want %q; whole texts: %v", got, want, found(t, whole))
	}
}

// sessions returns n copies of an article that differ in one line of four words.
func sessions(host string, n int, title func(i int) string) (pages []page) {
	for i := range n {
		own := append(lines(77, 4, 50), fmt.Sprintf("You are visitor n%d", i))
		pages = append(pages, onHost(host, fmt.Sprintf("/read?sid=%d", i), title(i), own...))
	}
	return pages
}

func plainTitle(int) string { return "An article" }

// found describes the clusters by the URLs of their leaders: the numbers of exact and near members,
// and the least resemblance.
func found(t testing.TB, w *Whole) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, c := range clusters(t, w) {
		exact, near, least := 0, 0, 1.
		for _, m := range c.members {
			if m.Verdict == dedup.Exact {
				exact++
			} else {
				near++
			}
			least = min(least, m.Resemblance)
		}
		all[strings.TrimPrefix(c.leader.URL, "http://")] = fmt.Sprintf("%d exact, %d near from %.2f", exact, near, least)
	}
	return all
}

// judgeBoth judges pages twice: by their whole texts, and without the blocks that are repeated on many pages of a host.
func judgeBoth(t testing.TB, pages ...[]page) (whole, without *Whole) {
	t.Helper()
	rule := defaultRule(t)
	s := storeOf(t, rule, slices.Concat(pages...)...)
	return judge(t, s, Options{Rule: rule, WholeText: true}), judge(t, s, Options{Rule: rule})
}

// wantFound checks the number of clusters, and the descriptions of some. An empty description means
// that the page leads no cluster.
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

// Short pages in one template are near-duplicates of each other only as long as the template is
// compared. LeftOut reports the ignored blocks with the number of pages.
func TestLeafletsDifferWithoutTemplate(t *testing.T) {
	whole, without := judgeBoth(t, articles("a.test"), leaflets("a.test"))
	wantFound(t, whole, 1, map[string]string{"a.test/leaflet/0": "0 exact, 29 near from 0.82"})
	wantFound(t, without, 0, nil)

	left := without.LeftOut()
	if len(left) != 1 {
		t.Fatalf("left out: %+v", left)
	}
	l := left[0]
	if l.Host != "a.test" || l.Pages != 55 || l.Blocks != 18 || l.Shortened != 55 || len(l.Top) != 18 {
		t.Errorf("left out: %+v", l)
	}
	for _, b := range l.Top {
		if !strings.Contains(strings.Join(append(templateOf("a.test"), termsOf("a.test")...), "\n"), b.Text) {
			t.Errorf("left out: %+v", b)
		}
	}
	if left := whole.LeftOut(); left != nil {
		t.Errorf("nothing was to be left out, and %+v was", left)
	}
}

// Copies of an article on one host are found, both exact copies and copies with a session number in
// the text. Their common blocks are not mistaken for a template.
func TestCopiesOnOneHost(t *testing.T) {
	var exact []page
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
			want["a.test/read?sid=0"] = "0 exact, 99 near from 0.99" // without the template, only the last line differs
			wantFound(t, without, 2, want)
		})
	}
}

// If a host has nothing but copies of one article, all its pages form one cluster.
func TestNothingButCopies(t *testing.T) {
	_, without := judgeBoth(t, sessions("a.test", 100, plainTitle))
	wantFound(t, without, 1, map[string]string{"a.test/read?sid=0": "0 exact, 99 near from 0.96"})
}

// Copies on other hosts are found. On a mirror, that includes pages with few words of their own. A
// copy in another template is found only if the templates are left out.
func TestCopiesAcrossHosts(t *testing.T) {
	var mirror []page
	for _, p := range append(articles("a.test"), leaflets("a.test")...) {
		p.url = strings.Replace(p.url, "a.test", "mirror.test", 1)
		mirror = append(mirror, p)
	}
	whole, without := judgeBoth(t, articles("a.test"), leaflets("a.test"), mirror, articles("b.test"))
	wantFound(t, whole, 26, map[string]string{
		"a.test/leaflet/0": "1 exact, 58 near from 0.82",
		"a.test/article/0": "1 exact, 0 near from 1.00",
	})
	wantFound(t, without, 55, map[string]string{
		"a.test/leaflet/0": "1 exact, 0 near from 1.00",
		"a.test/article/0": "1 exact, 1 near from 1.00",
	})
}

// A block that one host repeats is left out on other hosts too. So a copy with the footer of its
// original finds the original, and LeftOut reports the shortened page of the other host.
func TestFooterThatTravels(t *testing.T) {
	own := lines(3, 4, 50) // the paragraphs of /article/3
	copied := page{url: "http://c.test/copied", title: "Copied", text: strings.Join(append(own, templateOf("a.test")[:4]...), "\n")}
	whole, without := judgeBoth(t, articles("a.test"), []page{copied})
	wantFound(t, whole, 0, nil)
	wantFound(t, without, 1, map[string]string{"c.test/copied": "0 exact, 1 near from 1.00"})
	left := without.LeftOut()
	if len(left) != 2 || left[1].Host != "c.test" || left[1].Blocks != 0 || left[1].Shortened != 1 {
		t.Errorf("left out: %+v", left)
	}
}

// Pages that consist of repeated blocks resemble each other, but not pages with enough words of
// their own.
func TestNothingOfItsOwn(t *testing.T) {
	template := templateOf("a.test")
	turned := append(template[1:], template[0])
	empty := []page{
		onHost("a.test", "/empty/1", "Nothing here"),
		{url: "http://a.test/empty/2", title: "Nor here", text: strings.Join(turned, "\n")},
	}
	_, without := judgeBoth(t, articles("a.test"), leaflets("a.test"), empty)
	wantFound(t, without, 1, map[string]string{"a.test/empty/1": "0 exact, 1 near from 0.93"})
}

// A title that many different pages share must not make them copies of each other.
func TestOneTitleForAll(t *testing.T) {
	pages := articles("a.test")
	for i := range 30 {
		pages = append(pages, onHost("a.test", fmt.Sprintf("/item/%d", i), "Our shop", words(500+uint64(i), 60)))
	}
	pages = append(pages, onHost("a.test", "/about", "Our shop", lines(99, 4, 50)...))
	_, without := judgeBoth(t, pages)
	wantFound(t, without, 0, nil)
}

// The ignored blocks and the clusters must not depend on the order of the crawl, nor on the memory.
func TestLeftOutKnowsNoOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pages := mixedSite(rt)
		rule := defaultRule(t)
		memory := int64(0)
		say := func() string {
			w := judge(t, storeOf(t, rule, pages...), Options{Rule: rule, Memory: memory})
			return fmt.Sprintf("%+v\n%s", w.LeftOut(), clustersOf(t, w))
		}
		want := say()
		memory = someMemory(rt)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 5)).Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		if got := say(); got != want {
			rt.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
	})
}

// mixedSite returns pages of two hosts, which consist of own and shared paragraphs and the template
// of the host. Some pages are copies.
func mixedSite(t *rapid.T) (pages []page) {
	for i := range rapid.IntRange(20, 60).Draw(t, "pages") {
		host := rapid.SampledFrom([]string{"a.test", "a.test", "b.test"}).Draw(t, "host")
		title := rapid.SampledFrom([]string{"", "One title", fmt.Sprint("Page ", i)}).Draw(t, "title")
		var own []string
		for range rapid.IntRange(0, 3).Draw(t, "paragraphs") {
			own = append(own, words(uint64(rapid.SampledFrom([]int{1, 2, 3, 100 + i}).Draw(t, "paragraph")), 25))
		}
		p := onHost(host, fmt.Sprintf("/%d", i), title, own...)
		if rapid.IntRange(0, 9).Draw(t, "hidden") == 0 {
			p = noindex(p)
		}
		pages = append(pages, p)
	}
	return pages
}

// A thin page stays thin, and a copy whose text was not stored keeps its verdict.
func TestLeftOutKeepsVerdicts(t *testing.T) {
	rule := defaultRule(t)
	copied := onHost("a.test", "/article/copy", "A copy", lines(3, 4, 50)...)
	copied.verdict, copied.noText = dedup.Exact, true
	thin := page{url: "http://a.test/thin", title: "Thin", text: words(4, 30), verdict: dedup.Thin}
	s := storeOf(t, rule, append(articles("a.test"), copied, thin)...)
	w := judge(t, s, Options{Rule: rule})
	wantFound(t, w, 0, nil)
	same(t, "verdicts", verdicts(t, w), verdicts(t, s))
}
