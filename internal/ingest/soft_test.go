package ingest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/precedence"
)

// missed lets a pipeline handle pages with the same text at several URLs, and returns the URL that
// it wants to probe because of them.
func missed(t *testing.T, s store.Store, p *Pipeline, sorry string, urls ...string) (probe string) {
	t.Helper()
	for _, url := range urls {
		if _, err := s.Discover(t.Context(), []frontier.Item{{URL: url, Depth: 1}}); err != nil {
			t.Fatal(err)
		}
		page := article(url, sorry)
		page.Item.Depth = 1
		handle(t, p, page)
	}
	probe, err := p.Probe(t.Context(), urls[0])
	if err != nil || probe == "" {
		t.Fatalf("the probe is %q, %v", probe, err)
	}
	return probe
}

// TestSoft compares pages with the answer of their host to a URL that cannot exist.
func TestSoft(t *testing.T) {
	const host = "https://a.example"
	long := words(1, 100)
	canonical := func(url string) *crawler.Page { return articleOf(url, host+"/old/login", long) }
	for _, c := range []struct {
		name   string
		answer func(probe string) *crawler.Page
		url    string
		depth  int
		want   store.RecordKind
	}{
		{"the same words", nil, host + "/old/17", 1, store.Error},
		{"a seed", nil, host + "/old/17", 0, store.Page},
		{"the home page", nil, host + "/", 1, store.Page},
		{"on another host", nil, "https://b.example/old/17", 1, store.Page},
		{"of another pattern", nil, host + "/new/17", 1, store.Page},
		{"what the answer names as its own", canonical, host + "/old/login", 1, store.Page},
		{"an honest host", func(probe string) *crawler.Page { return answered(probe, 404, crawler.ProblemStatus) }, host + "/old/17", 1, store.Page},
		{"a redirect", func(probe string) *crawler.Page { return answered(probe, 302, "") }, host + "/old/17", 1, store.Page},
		{"nothing at all", func(probe string) *crawler.Page { return article(probe, "") }, host + "/old/17", 1, store.Page},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storetest.NewMemory()
			opt := testOptions(t)
			opt.Learn = NewBook(s)
			p := start(t, s, opt)
			defer p.Close()
			var urls []string
			for i := range 5 {
				urls = append(urls, fmt.Sprintf("%s/old/%d", host, i))
				if c.want == store.Page && c.answer != nil && c.url == host+"/old/login" {
					urls[i] = fmt.Sprintf("%s/old/gone-%c", host, 'a'+i)
				}
			}
			probe := missed(t, s, p, long, urls...)
			answer := article(probe, long)
			if c.answer != nil {
				answer = c.answer(probe)
			}
			if err := p.probed(t.Context(), answer); err != nil {
				t.Fatal(err)
			}
			page := article(c.url, long)
			page.Item.Depth = c.depth
			handle(t, p, page)
			r := content(t, s, c.url).Record
			if r.Kind != c.want || (r.Problem == string(crawler.ProblemSoft)) != (c.want == store.Error) || c.want == store.Error && (r.Fed() || r.Words > 0) {
				t.Errorf("record %+v", r)
			}
			if r, err := p.store.record(t.Context(), dedup.HashOf([]byte(probe))); r != nil || err != nil {
				t.Errorf("the probe has a record: %+v, %v", r, err)
			}
		})
	}
}

// Several copies are a reason to probe, no matter in which order they arrive. The page with the
// lowest URL leads the others, so the leader may change with each page.
func TestSoftInAnyOrder(t *testing.T) {
	for _, order := range []string{"12345", "54321", "43215", "21543"} {
		s := storetest.NewMemory()
		opt := testOptions(t)
		opt.Learn, opt.Order = NewBook(s), new(precedence.Order)
		p := start(t, s, opt)
		defer p.Close()
		var urls []string
		for _, n := range order {
			urls = append(urls, "https://a.example/old/"+string(n))
		}
		missed(t, s, p, words(1, 100), urls...)
	}
}

// Pages that were stored before the answer to the probe arrived are put back into the frontier, and
// are recorded as errors when they are fetched again. Pages of other hosts, and pages with words of
// their own, are not put back, although they have the same leader.
func TestSoftBefore(t *testing.T) {
	const host = "https://a.example"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	sorry := words(1, 100)
	kept := []string{"https://b.example/lost", host + "/old/99"}
	handle(t, p, article(kept[0], sorry))
	if _, err := s.Discover(t.Context(), []frontier.Item{{URL: kept[1], Depth: 1}}); err != nil {
		t.Fatal(err)
	}
	page := article(kept[1], sorry+" a word of its own")
	page.Item.Depth = 1
	handle(t, p, page)
	urls := []string{host + "/old/0", host + "/old/1", host + "/old/2", host + "/old/3"}
	answer := article(missed(t, s, p, sorry, urls...), sorry)
	if err := p.probed(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	for _, url := range kept {
		if state, err := s.State(t.Context(), url); err != nil || state == frontier.Pending && url != kept[0] {
			t.Errorf("%s: state %d, %v", url, state, err)
		}
	}
	for n, url := range urls {
		if state, err := s.State(t.Context(), url); err != nil || state != frontier.Pending {
			t.Errorf("%s: state %d, %v", url, state, err)
		}
		page := again(article(url, sorry), n+1)
		page.Item.Depth = 1
		handle(t, p, page)
		r := content(t, s, url).Record
		same(t, url, fmt.Sprint(r.Kind, ", ", r.Problem), "error, soft 404")
	}
	for _, url := range kept {
		if r := content(t, s, url).Record; r.Kind != store.Page {
			t.Errorf("%+v", r)
		}
	}
}

// If a single page has the text of the answer, it may be a real page that the host also shows for
// unknown URLs, so it is kept. If several pages have the text, all of them are put back.
func TestSoftOne(t *testing.T) {
	const host = "https://a.example"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	last := "The last page of the list."
	urls := []string{host + "/list/9", host + "/list/21", host + "/list/22", host + "/list/23"}
	pending := func() (n int) {
		for _, url := range urls {
			if state, err := s.State(t.Context(), url); err != nil {
				t.Fatal(err)
			} else if state == frontier.Pending {
				n++
			}
		}
		return n
	}
	for i := range 8 { // many pages that are too short to be compared are a reason to probe
		page := article(fmt.Sprintf("%s/list/%d", host, i), words(uint64(i), 9))
		page.Item.Depth = 1
		handle(t, p, page)
	}
	probe, err := p.Probe(t.Context(), host+"/list/1")
	if err != nil || probe == "" {
		t.Fatalf("the probe is %q, %v", probe, err)
	}
	if err := p.probed(t.Context(), article(probe, last)); err != nil {
		t.Fatal(err)
	}
	for i, url := range urls {
		if pending() > 0 {
			t.Errorf("%d pages are put back before %d say the same", pending(), i)
		}
		page := article(url, last)
		page.Item.Depth = 1
		handle(t, p, page)
		if r := content(t, s, url).Record; r.Kind != store.Page {
			t.Errorf("%+v", r)
		}
	}
	same(t, "pages put back", fmt.Sprint(pending()), fmt.Sprint(len(urls)))
}

// A page that had another text before is recorded as gone when it has the text of the answer, even
// if no other page has this text.
func TestSoftTurned(t *testing.T) {
	const url = "https://a.example/page"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	if _, err := s.Discover(t.Context(), []frontier.Item{{URL: url, Depth: 1}}); err != nil {
		t.Fatal(err)
	}
	visit := func(n int, text string) *store.Record {
		page := again(article(url, text), n)
		page.Item.Depth = 1
		handle(t, p, page)
		return &content(t, s, url).Record
	}
	visit(1, words(1, 100))
	same(t, "the page turns", string(visit(2, "We are sorry.").Kind), string(store.Page))
	probe, err := p.Probe(t.Context(), url)
	if err != nil || probe == "" {
		t.Fatalf("the probe is %q, %v", probe, err)
	}
	if err := p.probed(t.Context(), article(probe, "We are sorry.")); err != nil {
		t.Fatal(err)
	}
	if state, err := s.State(t.Context(), url); err != nil || state != frontier.Pending {
		t.Errorf("state %d, %v", state, err)
	}
	same(t, "it is fetched again", visit(3, "We are sorry.").Problem, string(crawler.ProblemSoft))
}

// A page that was read before the answer arrived, and stored after that, is put back too.
func TestSoftMeanwhile(t *testing.T) {
	const host = "https://a.example"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	probe := missed(t, s, p, "We are sorry.", host+"/old/0", host+"/old/1", host+"/old/2", host+"/old/3", host+"/old/4")
	page := article(host+"/old/17", "We are sorry.")
	page.Item.Depth = 1
	v, share, err := p.readAndVisit(t.Context(), page, new(crawler.Leads))
	if err != nil {
		t.Fatal(err)
	}
	defer share.Release()
	if err := p.probed(t.Context(), article(probe, "We are sorry.")); err != nil {
		t.Fatal(err)
	}
	if err := p.commit(t.Context(), v, p.writer(v, page)); err != nil {
		t.Fatal(err)
	}
	if state, err := s.State(t.Context(), page.Item.URL); err != nil || state != frontier.Pending {
		t.Errorf("state %d, %v", state, err)
	}
}

// The page from which the probe was made is fetched again meanwhile. If it was read before the answer arrived, it is put
// back once more after that visit, which found it unchanged.
func TestSoftAgainMeanwhile(t *testing.T) {
	const host = "https://a.example"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	probe := missed(t, s, p, "We are sorry.", host+"/old/0", host+"/old/1", host+"/old/2", host+"/old/3", host+"/old/4")
	from := ""
	for n := range 5 {
		url := fmt.Sprintf("%s/old/%d", host, n)
		if state, err := s.State(t.Context(), url); err != nil {
			t.Fatal(err)
		} else if state == frontier.Pending {
			from = url
		}
	}
	page := article(from, "We are sorry.")
	page.Item.Depth, page.Item.Due, page.FetchedAt = 1, time.Now(), time.Now().Add(time.Second)
	v, share, err := p.readAndVisit(t.Context(), page, new(crawler.Leads))
	if err != nil || v.kind != touched {
		t.Fatalf("visit %+v, %v", v, err)
	}
	defer share.Release()
	if err := p.probed(t.Context(), article(probe, "We are sorry.")); err != nil {
		t.Fatal(err)
	}
	if err := p.commit(t.Context(), v, p.writer(v, page)); err != nil {
		t.Fatal(err)
	}
	if state, err := s.State(t.Context(), from); err != nil || state != frontier.Pending {
		t.Errorf("state %d, %v", state, err)
	}
}

// If the process is killed, the next process counts pages that were stored after the book was last
// written.
func TestSoftKilled(t *testing.T) {
	const host = "https://a.example"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	last := "The last page of the list."
	for i := range 8 {
		page := article(fmt.Sprintf("%s/list/%d", host, i), words(uint64(i), 9))
		page.Item.Depth = 1
		handle(t, p, page)
	}
	probe, err := p.Probe(t.Context(), host+"/list/1")
	if err != nil || probe == "" {
		t.Fatalf("the probe is %q, %v", probe, err)
	}
	if err := p.probed(t.Context(), article(probe, last)); err != nil {
		t.Fatal(err)
	}
	if err := p.lessons.keep(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	urls := []string{host + "/list/21", host + "/list/22", host + "/list/23", host + "/list/24"}
	for i, url := range urls {
		if i == 3 { // the first process is killed, and writes nothing more
			opt.Learn = NewBook(s)
			p = start(t, s, opt)
			defer p.Close()
		}
		page := article(url, last)
		page.Item.Depth = 1
		handle(t, p, page)
	}
	for _, url := range urls {
		if state, err := s.State(t.Context(), url); err != nil || state != frontier.Pending {
			t.Errorf("%s: state %d, %v", url, state, err)
		}
	}
}

// A process may be killed after any page of a host, before and after the response to a probe. The
// next process finds the same soft 404s. In a shared store, the book of another worker has not been
// told of the pages that were stored before.
func TestKilledAroundProbe(t *testing.T) {
	const host, sorry = "https://a.example", "We are sorry, but there is no such page here."
	const real, gone = 6, 8
	for kind, open := range storesOf(t) {
		if kind == "postgres" && os.Getenv("SKINK_LONG") == "" {
			continue // each kill makes a schema there, which takes processor time
		}
		for kill := range real + gone + 3 { // after this many pages, and for the last two, after the response was recorded, or also written
			s := open(t)
			opt := testOptions(t)
			opt.Shared = kind == "postgres"
			begin := func() *Pipeline {
				opt.Learn = NewBook(s)
				opt.Learn.Shared = opt.Shared
				return start(t, s, opt)
			}
			all := []*Pipeline{begin()}
			last := func() *Pipeline { return all[len(all)-1] }
			ask := func(url string) {
				for {
					probe, err := last().Probe(t.Context(), url)
					if err != nil {
						t.Fatal(err)
					}
					if probe == "" {
						return
					}
					if late := kill - real - gone; late > 0 && len(all) == 1 { // killed before the pages were compared with the response
						if _, _, err := opt.Learn.Probed(t.Context(), learn.Soft{Probe: probe, Status: 200, Title: "T", Words: titleWords("T", probe), Text: sorry}); err != nil {
							t.Fatal(err)
						}
						if late == 2 {
							if err := last().lessons.keep(t.Context(), true); err != nil {
								t.Fatal(err)
							}
						}
						all = append(all, begin())
						return
					}
					if err := last().probed(t.Context(), article(probe, sorry)); err != nil {
						t.Fatal(err)
					}
				}
			}
			var urls []string
			for i := range real + gone + 1 {
				if i == kill {
					all = append(all, begin())
				}
				text := words(uint64(i), 100)
				url := fmt.Sprintf("%s/old/x%c", host, 'a'+i)
				if i >= real && i < real+gone {
					urls, text = append(urls, url), sorry
				}
				page := article(url, text)
				page.Item.Depth = 1
				handle(t, last(), page)
				ask(url)
			}
			for _, url := range urls {
				state, err := s.State(t.Context(), url)
				if r := content(t, s, url).Record; err != nil || state != frontier.Pending && !isSoft(&r) {
					t.Errorf("%s, killed after %d: %s is %s, state %d, %v", kind, kill, url, verdict(&r), state, err)
				}
			}
			for _, p := range all {
				p.Close()
			}
			s.Close()
		}
	}
}

// A process may be killed after a probe was requested, and before it was answered, when nothing else
// is left to fetch. The page from which the probe was made is then still in the frontier, so the next
// process asks again. Once there is an answer, nothing is left in the frontier.
func TestProbeWithoutAnswer(t *testing.T) {
	const host, sorry = "https://a.example", "We are sorry, but there is no such page here."
	for kind, open := range storesOf(t) {
		for _, status := range []int{200, 404, 0} {
			s := open(t)
			opt := testOptions(t)
			opt.Shared = kind == "postgres"
			var all []*Pipeline
			begin := func() *Pipeline {
				opt.Learn = NewBook(s)
				opt.Learn.Shared = opt.Shared
				all = append(all, start(t, s, opt))
				return all[len(all)-1]
			}
			pages := map[string]*crawler.Page{}
			var urls []string
			for i := range 6 {
				url, text := fmt.Sprintf("%s/old/x%c", host, 'a'+i), sorry
				if i == 5 { // one page with another text
					text = words(1, 100)
				}
				urls, pages[url] = append(urls, url), article(url, text)
				pages[url].Item.Depth = 1
			}
			p := begin()
			for _, url := range urls {
				handle(t, p, pages[url])
			}
			pending := func() (left []string) {
				for _, url := range urls {
					if state, err := s.State(t.Context(), url); err != nil {
						t.Fatal(err)
					} else if state == frontier.Pending {
						left = append(left, url)
					}
				}
				return left
			}
			asked, err := p.Probe(t.Context(), urls[0])
			if left := pending(); err != nil || asked == "" || len(left) != 1 {
				t.Fatalf("%s: after the probe %q, %q is in the frontier: %v", kind, asked, left, err)
			}
			p = begin() // the first process is killed
			from := pending()[0]
			handle(t, p, again(pages[from], 1))
			if probe, err := p.Probe(t.Context(), from); err != nil || probe != asked {
				t.Fatalf("%s: the next process asks for %q, want %q: %v", kind, probe, asked, err)
			}
			answer := article(asked, sorry)
			if status != 200 {
				answer = answered(asked, status, crawler.ProblemStatus)
			}
			if err := p.probed(t.Context(), answer); err != nil {
				t.Fatal(err)
			}
			if got, want := len(pending()), map[int]int{200: 5, 404: 0, 0: 1}[status]; got != want {
				t.Errorf("%s: after an answer with status %d, %d pages are in the frontier, want %d", kind, status, got, want)
			}
			for _, p := range all {
				p.Close()
			}
			s.Close()
		}
	}
}

// If a site shows its default view for unknown values of a parameter, that view is not a soft 404.
func TestSoftDefault(t *testing.T) {
	const host = "https://a.example"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Learn = NewBook(s)
	p := start(t, s, opt)
	defer p.Close()
	handle(t, p, article(host+"/list?color=red", words(1, 100)))
	probe := missed(t, s, p, words(2, 100), host+"/list?color=a", host+"/list?color=b", host+"/list?color=c", host+"/list?color=d", host+"/list?color=e")
	page := article(host+"/list", words(2, 100))
	handle(t, p, page)
	if err := p.probed(t.Context(), article(probe, words(2, 100))); err != nil {
		t.Fatal(err)
	}
	if soft, ok, err := opt.Learn.Soft(t.Context(), host+"/list?color=f"); ok || err != nil || learn.SamePattern(host+"/list", probe) {
		t.Errorf("%+v, %v", soft, err)
	}
}
