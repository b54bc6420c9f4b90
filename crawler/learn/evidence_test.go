package learn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// textOf calls [TextOf] with a text whose words are separated by spaces.
func textOf(text string) Text {
	var words []uint64
	for word := range strings.FieldsSeq(text) {
		words = append(words, xxh3.HashString(word))
	}
	return TextOf(text, words)
}

// fetch looks at each URL and, if it should be fetched, adds a page with the text that the function
// text returns for its index. It returns the fetched and the postponed URLs.
func (h *Host) fetch(urls []string, text func(int) string) (fetched, later []string) {
	for i, url := range urls {
		if a := h.Look(url, now); a.Rule != "" {
			later = append(later, url)
			continue
		}
		fetched = append(fetched, url)
		h.Judged(url, Verdict{Text: textOf(text(i)), At: now})
	}
	return fetched, later
}

func urls(n int, form string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(site+form, i))
	}
	return all
}

func same(int) string  { return "the same words" }
func own(i int) string { return fmt.Sprint("a text of its own: ", i) }
func after(n int) func(int) string {
	return func(i int) string {
		if i < n {
			return same(i)
		}
		return own(i)
	}
}

// URLs whose pattern gives copies are postponed, except for samples that get rarer. URLs whose
// pattern gives new texts are never postponed.
func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		name        string
		form        string
		text        func(int) string
		least, most int // bounds for the number of fetched URLs out of 1,000
	}{
		{"copies", "/print/%d", same, 20, 120},
		{"new texts", "/product/%d", own, 1000, 1000},
		{"pairs", "/mixed/%d", func(i int) string { return own(i / 2) }, 1000, 1000},
		{"copies of two texts in turn", "/mode?n=%d", func(i int) string { return own(i % 2) }, 20, 120},
		{"a parameter that matters after 20 pages", "/report/%d?annex=1", after(20), 970, 1000},
		{"one in ten is new", "/guide/%d?lang=de", func(i int) string { return own(i / 10) }, 300, 1000},
		{"ids with names of dates", "/browse?vendor=%d", own, 1000, 1000},
		{"far years, and nothing else", "/node/2%03d-05", own, 1000, 1000},
	} {
		fetched, _ := new(Host).fetch(urls(1000, c.form), c.text)
		if n := len(fetched); n < c.least || n > c.most {
			t.Errorf("%s: %d of 1000 were fetched, want %d to %d", c.name, n, c.least, c.most)
		}
	}
}

// Patterns distinguish URLs by the names of their parameters, and by the values of parameters that
// have few values.
func TestFinerPatterns(t *testing.T) {
	h := new(Host)
	for i := range 40 {
		id := fmt.Sprint(i)
		h.fetch([]string{site + "/view.php?id=" + id}, func(int) string { return "page " + id })
		h.fetch([]string{site + "/view.php?id=" + id + "&as=print"}, func(int) string { return "page " + id })
		h.fetch([]string{site + "/view.php?id=" + id + "&as=notes"}, func(int) string { return "notes on " + id })
	}
	for as, want := range map[string]bool{"": false, "&as=notes": false, "&as=print": true} {
		later := 0
		for _, url := range urls(100, "/view.php?id=9%d"+as) {
			if h.Look(url, now).Rule != "" {
				later++
			}
		}
		if got := later > 50; got != want || !want && later > 0 {
			t.Errorf("id and %q: %d of 100 postponed", as, later)
		}
	}
}

// The first page of any pattern may be new, so one new text is no evidence. A repository shows the
// same file for each commit. Such copies are postponed for all files together, although each file
// was new once.
func TestOneTextIsNoEvidence(t *testing.T) {
	h := new(Host)
	fetched := 0
	for commit := range 40 {
		for file := range fewValues {
			url := fmt.Sprintf("%s/tree/file%c.c?id=%d", site, 'a'+file, commit)
			got, _ := h.fetch([]string{url}, func(int) string { return fmt.Sprint("file ", file) })
			fetched += len(got)
		}
	}
	if most := fewValues + 6*minRow; fetched > most {
		t.Errorf("%d URLs of %d files were fetched, want at most %d", fetched, fewValues, most)
	}
}

// Samples get rarer while a pattern gives copies only, however many texts it gave before.
func TestSamplesGetRarer(t *testing.T) {
	h := new(Host)
	h.fetch(urls(200, "/page/%d.html;sid=1"), own)
	got, _ := h.fetch(urls(4000, "/page/1.html;sid=7%d"), same)
	if least, most := 100, 100+9*minRow; len(got) < least || len(got) > most {
		t.Errorf("%d of 4000 copies were fetched, want %d to %d", len(got), least, most)
	}
}

// A page has a new text if it has a line that no other page of the host has. Another order of lines
// or words is not a new text. A file with the same bytes as another is a copy.
func TestCopies(t *testing.T) {
	list := []string{"one lamp", "two ropes", "three brushes", "four boats"}
	h := new(Host)
	for i, c := range []struct {
		v    Verdict
		copy bool
	}{
		{Verdict{Text: textOf(strings.Join(list, "\n"))}, false},
		{Verdict{Text: textOf(strings.Join(list, " "))}, true},
		{Verdict{Text: textOf("four boats\nthree brushes\ntwo ropes\none lamp")}, true},
		{Verdict{Text: textOf("three brushes\nfour boats")}, true},
		{Verdict{Text: textOf("four boats\nfive oars")}, false},
		{Verdict{Text: textOf("five oars\na boat"), Leader: site + "/", Exact: true}, true},
		{Verdict{Text: textOf("five oars\nanother boat"), Leader: site + "/"}, false},
		{Verdict{Soft: true, Text: textOf("sorry")}, true},
		{Verdict{File: true, Text: Body(group("a"))}, false},
		{Verdict{File: true, Text: Body(group("a"))}, true},
		{Verdict{}, true},
		{Verdict{Links: LinksOf(site+"/l", slices.Values([]string{site + "/x"}))}, false},
		{Verdict{Links: LinksOf(site+"/l", slices.Values([]string{site + "/x", site + "/l?page=2"}))}, true},
		{Verdict{Links: LinksOf(site+"/l", slices.Values([]string{site + "/pagea.php"}))}, true}, // a link to a page that was judged
	} {
		p := h.Patterns["/{word}.php"]
		before := Pattern{}
		if p != nil {
			before = *p
		}
		c.v.At = now
		h.Judged(fmt.Sprintf("%s/page%c.php", site, 'a'+i), c.v)
		if got := h.Patterns["/{word}.php"].Copies > before.Copies; got != c.copy {
			t.Errorf("page %d: a copy: %v, want %v", i, got, c.copy)
		}
	}
}

// After a sample with a new text, the postponed URLs of the pattern are fetched again.
func TestNewTextUndoes(t *testing.T) {
	h := new(Host)
	_, later := h.fetch(urls(100, "/x/%d"), same)
	if len(later) < 50 || h.Look(later[0], now).Rule != Copies {
		t.Fatalf("%d of 100 copies were postponed", len(later))
	}
	h.Judged(site+"/x/2000", Verdict{Text: textOf("another"), At: now})
	for _, url := range later {
		if a := h.Look(url, now); a.Rule != "" {
			t.Fatalf("after a new text %s is postponed for %v", url, a)
		}
	}
}

// Each URL counts only once as evidence.
func TestTeachesOnce(t *testing.T) {
	h := new(Host)
	for range 100 {
		h.Judged(site+"/x/1", Verdict{Text: textOf("same"), At: now})
	}
	if p := h.Patterns["/x/{n}"]; p.fetched() != 1 || h.Pages != 1 {
		t.Errorf("%+v, %d pages", p, h.Pages)
	}
}

// Near duplicates with some text of their own count as new texts, but only the first maxNear of a
// pattern.
func TestNear(t *testing.T) {
	h := new(Host)
	n := 0
	for i, url := range urls(20_000, "/n/%d") {
		if h.Look(url, now).Rule == "" {
			n++
			h.Judged(url, Verdict{Text: textOf(own(i)), Leader: site + "/", At: now})
		}
	}
	if n < maxNear || n > 4*maxNear {
		t.Errorf("%d of 20,000 near duplicates were fetched", n)
	}
}

// The crawl of a site with endlessly many URLs comes to an end, unless each of them has a new text.
func TestEndless(t *testing.T) {
	month := func(at int) string { return fmt.Sprintf("%s/calendar/%d/%02d/", site, at/12, at%12+1) }
	for _, c := range []struct {
		name  string
		start string
		page  func(url string, visit int) (v Verdict, links []string)
		most  int
	}{
		{"sessions in paths", site + "/", func(_ string, visit int) (Verdict, []string) {
			var links []string
			for i := range 11 {
				links = append(links, fmt.Sprintf("%s/page%c.html;sid=%d", site, 'a'+i, visit))
			}
			return Verdict{Text: textOf(own(visit % 11))}, links
		}, 300},
		{"calendar with empty months", month(2026 * 12), func(url string, _ int) (Verdict, []string) {
			var year, m int
			_, _ = fmt.Sscanf(url, site+"/calendar/%d/%d/", &year, &m)
			at := 12*year + m - 1
			return Verdict{Text: textOf(url), Leader: site + "/x"}, []string{month(at - 1), month(at + 1), month(at + 12)}
		}, 100},
		{"folders that repeat", site + "/a/", func(url string, _ int) (Verdict, []string) {
			return Verdict{Text: textOf(url), Leader: site + "/x"}, []string{url + "a/b/"}
		}, 100},
	} {
		crawl := newCrawl(c.start, c.page)
		crawl.run(5000)
		if n := len(crawl.records); n > c.most {
			t.Errorf("%s: %d fetches, want %d at most", c.name, n, c.most)
		}
	}
}

// A forum is fetched as a whole, although the numbers of its threads and of their pages could be
// dates, whatever the numbers are.
func TestForum(t *testing.T) {
	for _, first := range []int{5000, 1990, 1, 2020, 9900} {
		const threads = 211
		crawl := newCrawl(site+"/", func(url string, _ int) (Verdict, []string) {
			var links []string
			if url == site+"/" {
				for id := first; id < first+threads; id++ {
					links = append(links, fmt.Sprintf("%s/thread/%d/1", site, id))
				}
			}
			var id, page int
			if _, err := fmt.Sscanf(url, site+"/thread/%d/%d", &id, &page); err == nil && page <= id%7 {
				links = append(links, fmt.Sprintf("%s/thread/%d/%d", site, id, page+1))
			}
			return Verdict{Text: textOf(url)}, links
		})
		crawl.run(5000)
		if n := len(crawl.records); n != len(crawl.known) || n < threads {
			t.Errorf("threads from %d: fetched %d of %d pages", first, n, len(crawl.known))
		}
	}
}

// A testCrawl is a crawl of one host without a network.
type testCrawl struct {
	site     *Host
	page     func(url string, visit int) (v Verdict, links []string)
	queue    []string
	known    map[string]bool
	later    []string
	forced   map[string]bool // URLs of chunks, which are fetched against the advice
	records  []record
	decision []string

	kept   []byte // the evidence as last written to the store
	cursor int    // the written evidence includes all records before this index
}

type record struct {
	url string
	v   Verdict
}

func newCrawl(start string, page func(string, int) (Verdict, []string)) *testCrawl {
	return &testCrawl{site: new(Host), page: page, queue: []string{start}, known: map[string]bool{start: true}, forced: map[string]bool{}}
}

// run looks at the given number of URLs. If fewer are left, it looks at all of them, and returns
// false.
func (c *testCrawl) run(steps int) bool {
	for range steps {
		if len(c.queue) == 0 && !c.sweep() {
			return false
		}
		url := c.queue[0]
		c.queue = c.queue[1:]
		if a := c.site.Look(url, now); a.Rule != "" && !c.forced[url] {
			c.later = append(c.later, url)
			c.decision = append(c.decision, url+" "+a.String())
			continue
		}
		c.decision = append(c.decision, url)
		v, links := c.page(url, len(c.records))
		v.At = now
		c.records = append(c.records, record{url, v})
		c.site.Judged(url, v)
		for _, link := range links {
			if !c.known[link] {
				c.known[link] = true
				c.queue = append(c.queue, link)
			}
		}
	}
	return true
}

// sweep queues the postponed URLs that should be fetched now, and reports whether there are any.
func (c *testCrawl) sweep() bool {
	s, chunks, left := c.site.Sweep(), map[Advice][]string{}, []string{}
	for _, url := range c.later {
		switch a, chunk := s.Look(url, now); {
		case a.Rule == "":
			c.queue = append(c.queue, url)
			continue
		case len(chunks[a]) < chunk:
			chunks[a] = append(chunks[a], url)
		}
		left = append(left, url)
	}
	c.later = left
	if len(c.queue) > 0 {
		return true
	}
	for a, urls := range chunks {
		urls = urls[:min(len(urls), s.Size(a))]
		for _, url := range urls {
			c.forced[url] = true
			c.later = slices.DeleteFunc(c.later, func(other string) bool { return other == url })
		}
		c.queue = append(c.queue, urls...)
		c.site.Queued(a, len(urls))
		c.keep(0)
	}
	slices.Sort(c.queue)
	return len(c.queue) > 0
}

// keep writes the evidence. The argument is the number of records since the cursor was read.
func (c *testCrawl) keep(ago int) {
	c.kept, _ = json.Marshal(c.site)
	c.cursor = max(c.cursor, len(c.records)-ago)
}

// kill drops the evidence in memory, reads the written evidence, and adds the records after the
// cursor.
func (c *testCrawl) kill(t *testing.T) {
	c.site = new(Host)
	if c.kept != nil {
		if err := json.Unmarshal(c.kept, c.site); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range c.records[c.cursor:] {
		c.site.Judged(r.url, r.v)
	}
}

// A crawl that is killed again and again makes the same decision about each URL as an undisturbed
// one. The written evidence is older than the last records, and already includes some of the
// records after the cursor.
func TestDecidesAsIfNeverKilled(t *testing.T) {
	page := func(url string, _ int) (Verdict, []string) {
		var n int
		_, _ = fmt.Sscanf(url[len(site):], "/item/%d", &n)
		var links []string
		for i := range 3 {
			links = append(links, fmt.Sprintf("%s/item/%d", site, (3*n+i+1)%400), fmt.Sprintf("%s/item/%d?print=1", site, (n+i)%400),
				fmt.Sprintf("%s/item/%d?lang=%c", site, (n+i)%400, 'a'+i), fmt.Sprintf("%s/list?from=2026-%02d", site, n%12+1))
		}
		text := own(n)
		if n%17 == 3 && strings.Contains(url, "lang=b") || n > 300 && strings.Contains(url, "lang=c") {
			text += " translated"
		}
		if strings.Contains(url, "/list") {
			text = "a list"
		}
		return Verdict{Text: textOf(text)}, links
	}
	calm := newCrawl(site+"/item/0", page)
	for calm.run(1000) {
	}
	if n := len(calm.decision); n < 1000 {
		t.Fatalf("only %d decisions", n)
	}
	postponed := slices.ContainsFunc(calm.decision, func(d string) bool { return strings.Contains(d, string(Copies)) })
	if !postponed {
		t.Fatal("nothing was postponed")
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := newCrawl(site+"/item/0", page)
		for c.run(1 + rng.IntN(300)) {
			if rng.IntN(2) == 0 {
				c.keep(rng.IntN(20))
			}
			c.kill(t)
		}
		for i, d := range calm.decision {
			if i >= len(c.decision) || c.decision[i] != d {
				t.Fatalf("seed %d: decision %d is not %s but %s", seed, i, d, append(c.decision, "missing")[min(i, len(c.decision))])
			}
		}
	}
}

// No URL makes the functions panic, cleaning a URL twice changes nothing more, and the evidence can
// be stored and read again.
func FuzzHost(f *testing.F) {
	f.Add("/a/b?c=d&utm_source=e;f=g", "/a/(S(x))/b;jsessionid=1", true)
	f.Add("00/(S(0));jsessionid=0", "", false)
	f.Add("/2031-05-01/x?date=&&=", "?", false)
	f.Add("/wiki/Special%3aX?title=Special:", "/x/feed//?C=N;O=A", false)
	f.Fuzz(func(t *testing.T, a, b string, same bool) {
		h := new(Host)
		for i, path := range []string{a, b, a + b, b + a} {
			url := site + "/" + path
			clean := Clean(url)
			if again := Clean(clean); again != clean {
				t.Fatalf("%q: %q, and then %q", url, clean, again)
			}
			h.Look(url, now)
			v := Verdict{Exact: true, Text: textOf(b), At: now}
			if same && i > 0 {
				v.Leader = site + "/"
			}
			h.Judged(url, v)
		}
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, new(Host)); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkLook(b *testing.B) {
	h := new(Host)
	h.fetch(urls(1000, "/forum/viewtopic.php?f=2&t=%d&view=print"), same)
	url := site + "/forum/viewtopic.php?f=2&t=5123&view=print"
	b.ReportAllocs()
	for b.Loop() {
		h.Look(url, now)
	}
}

func BenchmarkJudged(b *testing.B) {
	text := strings.Repeat(strings.Repeat("some words of a line ", 12)+"\n", 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	h := new(Host)
	for i := 0; b.Loop(); i++ {
		h.Judged(fmt.Sprint(site, "/forum/viewtopic.php?f=2&t=", i), Verdict{Text: textOf(text), At: now})
	}
}
