package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/complete"
	"skink/internal/tools/postgrestest"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/badger"
	"skink/store/postgres"
	"skink/store/precedence"
)

// articleOf returns an article with a canonical URL.
func articleOf(url, canonical, text string) *crawler.Page {
	return page(url, "<html lang=en><title>T</title><link rel=canonical href='"+canonical+"'><article><p>"+text+"</p></article>")
}

// If the canonical URL of a leader names another page of its cluster, that page becomes the leader,
// no matter in which order the pages arrive. No other page does.
func TestElected(t *testing.T) {
	text := words(1, 100)
	a, b, c, d := "https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"
	for _, test := range []struct {
		name   string
		first  []*crawler.Page
		second []*crawler.Page
		want   string
	}{
		{"the one that is named came last",
			[]*crawler.Page{articleOf(a, c, text), article(b, but(text, "b")), article(c, but(text, "c"))}, nil,
			c + " unique\n" + a + " near of " + c + " 0.978 by bands\n" + b + " near of " + c + " 0.978 by bands\n"},
		{"it came first",
			[]*crawler.Page{article(c, text), articleOf(a, c, text)}, nil,
			c + " unique\n" + a + " exact of " + c + " 1.000 by text\n"},
		{"it has the same words",
			[]*crawler.Page{articleOf(a, c, text), article(b, text), articleOf(c, c, text)}, nil,
			c + " unique\n" + a + " exact of " + c + " 1.000 by text\n" + b + " exact of " + c + " 1.000 by text\n"},
		{"it says something else",
			[]*crawler.Page{articleOf(a, c, text), article(b, text), article(c, words(2, 100))}, nil,
			a + " unique\n" + b + " exact of " + a + " 1.000 by text\n" + c + " unique\n"},
		{"it names a third", []*crawler.Page{articleOf(a, b, text), articleOf(b, c, but(text, "b"))}, nil,
			a + " unique\n" + b + " near of " + a + " 0.978 by bands\n"},
		{"two name each other", []*crawler.Page{articleOf(a, b, text), articleOf(b, a, but(text, "b"))}, nil,
			a + " unique\n" + b + " near of " + a + " 0.978 by bands\n"},
		{"it is not to be indexed", []*crawler.Page{articleOf(a, b, text), noindex(article(b, text))}, nil,
			a + " unique\n" + b + " exact of " + a + " 1.000 by text\n"},
		{"both are too short to be compared", []*crawler.Page{articleOf(a, b, words(3, 20)), article(b, words(3, 20))}, nil,
			b + " thin\n" + a + " exact of " + b + " 1.000 by text\n"},
		{"it is not there", []*crawler.Page{articleOf(a, b, text), article(c, text)}, nil,
			a + " unique\n" + c + " exact of " + a + " 1.000 by text\n"},
		{"a page follows the leader that it names",
			[]*crawler.Page{article(b, text), article(d, words(9, 50)+text), articleOf(c, d, text[:len(text)/2]+words(9, 50))}, nil,
			b + " unique\n" + d + " unique\n" + c + " unique\n"},
		{"a leader names one of its members when it is visited again",
			[]*crawler.Page{article(a, text), article(b, but(text, "b")), article(c, but(text, "c"))}, []*crawler.Page{articleOf(a, c, text)},
			c + " unique\n" + a + " near of " + c + " 0.978 by bands\n" + b + " near of " + c + " 0.978 by bands\n"},
		{"the page that was named is gone",
			[]*crawler.Page{articleOf(a, c, text), article(b, but(text, "b")), article(c, but(text, "c"))}, []*crawler.Page{answered(c, 404, crawler.ProblemStatus)},
			c + " error\n" + a + " unique\n" + b + " near of " + a + " 0.978 by bands\n"},
		{"a leader that is gone leaves members that name each other",
			[]*crawler.Page{article(a, text), articleOf(b, c, but(text, "b")), article(c, but(text, "c"))}, []*crawler.Page{answered(a, 404, crawler.ProblemStatus)},
			a + " error\n" + c + " unique\n" + b + " near of " + c + " 0.978 by bands\n"},
	} {
		for _, skip := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				s, err := badger.Open(filepath.Join(t.TempDir(), "store"), badger.Options{Create: true, Reserve: -1})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				opt := testOptions(t)
				opt.Order, opt.SkipDuplicates = new(precedence.Order), skip
				if skip && (len(test.second) > 0 || len(test.first) > 2) {
					t.Skip("members without their texts are fetched again first")
				}
				p := start(t, s, opt)
				defer p.Close()
				for n, page := range test.first {
					page.FetchedAt = page.FetchedAt.Add(time.Duration(n) * time.Second)
					handle(t, p, page)
				}
				for _, page := range test.second {
					handle(t, p, again(page, 1))
				}
				got := strings.SplitAfter(verdicts(t, s), "\n")
				want := strings.SplitAfter(test.want, "\n")
				slices.Sort(got)
				slices.Sort(want)
				same(t, "verdicts", strings.Join(got, ""), strings.Join(want, ""))
				tally, err := s.Tally(t.Context())
				if counted := p.Tally(); err != nil || counted.Unique != tally.Unique || counted.Near != tally.Near || counted.Exact != tally.Exact {
					t.Errorf("the pipeline counts %+v, the store %+v, %v", counted, tally, err)
				}
			})
		}
	}
}

// storesOf returns a function for each kind of store that opens an empty store of this kind.
func storesOf(t *testing.T) map[string]func(*testing.T) store.Store {
	server := postgrestest.Start(t)
	n := 0
	return map[string]func(*testing.T) store.Store{
		"memory": func(*testing.T) store.Store { return storetest.NewMemory() },
		"folder": func(t *testing.T) store.Store {
			s, err := badger.Open(filepath.Join(t.TempDir(), "store"), badger.Options{Create: true, Reserve: -1})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"postgres": func(t *testing.T) store.Store {
			n++
			at, err := postgres.ParseAddress(server.URL(fmt.Sprint("elect", n)))
			if err != nil {
				t.Fatal(err)
			}
			s, err := postgres.Open(t.Context(), at, postgres.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
}

// A page without noindex leads its cluster, whichever page came first and in whichever kind of
// store. If a later visit finds noindex on the leader, another page leads. The same holds for public
// and private pages.
func TestWithheldNeverLeads(t *testing.T) {
	stores := storesOf(t)
	if os.Getenv("SKINK_LONG") == "" {
		delete(stores, "postgres") // each test makes a schema there, which takes processor time
	}
	for name, hide := range map[string]func(*crawler.Page) *crawler.Page{"noindex": noindex, "private": private} {
		t.Run(name, func(t *testing.T) { neverLeads(t, stores, hide) })
	}
}

func private(p *crawler.Page) *crawler.Page {
	p.Private = true
	return p
}

// A leader that becomes private passes the lead to a public page, even if the server says that it has
// not changed.
func TestPrivateAndNotModified(t *testing.T) {
	a, b := "https://a.example/", "https://b.example/"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Order = new(precedence.Order)
	p := start(t, s, opt)
	handle(t, p, article(a, words(1, 100)), article(b, words(1, 100)), again(private(notModified(a)), 1))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got := verdicts(t, s); !strings.Contains(got, a+" exact of "+b) || !strings.Contains(got, b+" unique") {
		t.Errorf("verdicts: %s", got)
	}
}

// neverLeads checks that a page leads its cluster rather than a page that hide has changed.
func neverLeads(t *testing.T, stores map[string]func(*testing.T) store.Store, hide func(*crawler.Page) *crawler.Page) {
	text := words(1, 100)
	a, b, c := "https://a.example/", "https://b.example/", "https://c.example/"
	for _, test := range []struct {
		name  string
		pages []*crawler.Page
		then  *crawler.Page // visited again after all pages
		want  string
	}{
		{"exact", []*crawler.Page{hide(article(a, text)), article(b, text)}, nil, a + " exact of " + b + " 1.000 by text; " + b + " unique"},
		{"near", []*crawler.Page{hide(article(a, text)), article(b, but(text, "b"))}, nil, a + " near of " + b + " 0.978 by bands; " + b + " unique"},
		{"thin", []*crawler.Page{hide(article(a, words(3, 20))), article(b, words(3, 20))}, nil, a + " exact of " + b + " 1.000 by text; " + b + " thin"},
		{"two", []*crawler.Page{hide(article(a, text)), hide(article(b, but(text, "b"))), article(c, text)}, nil,
			a + " exact of " + c + " 1.000 by text; " + b + " near of " + c + " 0.978 by bands; " + c + " unique"},
		{"only such pages", []*crawler.Page{hide(article(a, text)), hide(article(b, text))}, nil, ""},
		{"the leader gets noindex", []*crawler.Page{article(a, text), article(b, text)}, hide(article(a, text)), a + " exact of " + b + " 1.000 by text; " + b + " unique"},
		{"the leader loses text and gets noindex", []*crawler.Page{article(a, text), article(b, text)}, hide(article(a, but(text, "a"))), a + " near of " + b + " 0.978 by bands; " + b + " unique"},
		{"a member loses noindex", []*crawler.Page{hide(article(a, text)), article(b, text)}, article(a, text), a + " unique; " + b + " exact of " + a + " 1.000 by text"},
		{"the leader of public pages is gone", []*crawler.Page{article(a, text), hide(article(b, text)), article(c, text)}, answered(a, 404, crawler.ProblemStatus),
			a + " error; " + b + " exact of " + c + " 1.000 by text; " + c + " unique"},
	} {
		for kind, open := range stores {
			for _, reversed := range []bool{false, true} {
				if reversed && test.then != nil {
					continue
				}
				s := open(t)
				opt := testOptions(t)
				opt.Order = new(precedence.Order)
				p := start(t, s, opt)
				order := slices.Clone(test.pages)
				if reversed {
					slices.Reverse(order)
				}
				for n, page := range order {
					came := *page
					came.FetchedAt = came.FetchedAt.Add(time.Duration(n) * time.Second)
					handle(t, p, &came)
				}
				if test.then != nil {
					handle(t, p, again(test.then, 1))
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				want := test.want
				if want == "" {
					want = order[0].Item.URL + " unique; " + order[1].Item.URL + " exact of " + order[0].Item.URL + " 1.000 by text"
				}
				lines := strings.Split(strings.TrimSpace(verdicts(t, s)), "\n")
				slices.Sort(lines)
				wanted := strings.Split(want, "; ")
				slices.Sort(wanted)
				same(t, fmt.Sprintf("%s, %s, reversed %v: verdicts", test.name, kind, reversed), strings.Join(lines, "; "), strings.Join(wanted, "; "))
				w, err := complete.Judge(t.Context(), s, complete.Options{Rule: opt.Rule})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range records(t, s) {
					now, err := w.Pages(t.Context(), []dedup.Hash{r.ID}, store.WantRecord)
					if test.want == "" {
						continue // the order of the crawl decides, which a comparison ignores
					}
					if err != nil || now[0].Record.DuplicateOf != r.DuplicateOf || now[0].Record.Verdict != r.Verdict {
						t.Errorf("%s, %s: complete has %s, the crawl %s", test.name, kind, verdict(&now[0].Record), verdict(r))
					}
				}
				s.Close()
			}
		}
	}
}

// TestKilledWhileElecting stops the replacement of a leader after each of its commits. The URL of
// the page stays pending. When it is fetched again, the verdicts are the same as without the
// interruption.
func TestKilledWhileElecting(t *testing.T) {
	text := words(1, 100)
	a, b, c, d := "https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"
	for _, how := range []string{"arrives", "visited", "named", "public"} { // the page with that canonical URL arrives last; a later visit finds the canonical URL; a page that joins the cluster names another member; the first page without noindex arrives last
		var want string
		again := how == "visited"
		for left := 10; left >= 0; left-- {
			s := &stoppedStore{storetest.NewMemory(), 1 << 30}
			opt := testOptions(t)
			opt.Order = new(precedence.Order)
			p := start(t, s, opt)
			first, last := []*crawler.Page{articleOf(a, c, text), article(b, but(text, "b"))}, article(c, but(text, "c"))
			if again {
				first, last = []*crawler.Page{article(a, text), article(b, but(text, "b")), article(c, but(text, "c"))}, articleOf(a, c, text)
			}
			if how == "public" {
				first = []*crawler.Page{noindex(article(a, text)), noindex(article(b, but(text, "b")))}
			}
			if how == "named" {
				first, last = []*crawler.Page{article(a, text), article(b, but(text, "b")), article(c, but(text, "c"))}, articleOf(d, c, but(text, "d"))
				last.FetchedAt = last.FetchedAt.Add(-2 * time.Hour) // this page would lead if it named no other page
			}
			for n, page := range first {
				page.FetchedAt = page.FetchedAt.Add(time.Duration(n) * time.Second)
				handle(t, p, page)
			}
			last.FetchedAt = last.FetchedAt.Add(time.Hour)
			if again {
				last.Item.Due = last.FetchedAt.Add(-time.Minute)
			}
			if _, err := s.Requeue(t.Context(), []frontier.Item{last.Item}); err != nil {
				t.Fatal(err)
			}
			s.left = left
			err := p.Handle(t.Context(), last, new(crawler.Leads))
			p.Close()
			state, stateErr := s.State(t.Context(), last.Item.URL)
			if stateErr != nil || (err == nil) != (state == frontier.Fetched) {
				t.Fatalf("after %d commits: %v, and the state is %d, %v", left, err, state, stateErr)
			}
			if err != nil {
				s.left = 1 << 30
				p = start(t, s, opt)
				handle(t, p, last)
				p.Close()
			}
			got := strings.SplitAfter(verdicts(t, s), "\n")
			slices.Sort(got)
			if want == "" {
				want = strings.Join(got, "")
				if !strings.Contains(want, a+" near of "+c) || !strings.Contains(want, b+" near of "+c) {
					t.Fatalf("nobody was elected:\n%s", want)
				}
			}
			same(t, fmt.Sprintf("%s, stopped after %d commits: verdicts", how, left), strings.Join(got, ""), want)
		}
	}
}

// A page that was to replace a leader is visited again before the leader yields. The leader then stays, and so do its
// members, which are not fetched again.
func TestLeaderStays(t *testing.T) {
	text := words(1, 100)
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.SkipDuplicates = true
	p := start(t, s, opt)
	defer p.Close()
	a, b, c := "https://a.example/", "https://b.example/", "https://c.example/"
	for _, page := range []*crawler.Page{article(a, text), article(b, text), article(c, words(500, 100))} {
		handle(t, p, page)
	}
	leader, err := p.elections.store.record(t.Context(), dedup.HashOf([]byte(a)))
	if err != nil {
		t.Fatal(err)
	}
	late, err := p.elections.store.record(t.Context(), dedup.HashOf([]byte(c)))
	if err != nil {
		t.Fatal(err)
	}
	j := &judgement{record: *late, over: takeover{leader: leader.ID, text: leader.Hash}}
	j.record.Hash = leader.Hash // the hash that the page had when it was judged
	if err := p.elections.depose(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if state, err := s.State(t.Context(), b); err != nil || state == frontier.Pending {
		t.Errorf("the member is fetched again: %d, %v", state, err)
	}
}

// visitDuring handles pages one after another. At the given moment of the last one, it starts
// another visit. The last one goes on once the other visit has made the call until, or is done.
func visitDuring(t *testing.T, pages []*crawler.Page, moment func(call string) bool, meanwhile *crawler.Page, until string) string {
	memory, opt := storetest.NewMemory(), testOptions(t)
	opt.Order = new(precedence.Order)
	var armed, visited atomic.Bool
	reached, done := make(chan struct{}, 99), make(chan error, 1)
	var p *Pipeline
	p = start(t, &steppedStore{memory, func(string) {}, func(call string) {
		switch {
		case call == until && visited.Load():
			reached <- struct{}{}
		case armed.Load() && moment(call) && visited.CompareAndSwap(false, true):
			go func() {
				done <- p.Handle(context.Background(), meanwhile, new(crawler.Leads))
				reached <- struct{}{}
			}()
			<-reached
		}
	}}, opt)
	for n, page := range pages {
		armed.Store(n == len(pages)-1)
		handle(t, p, page)
	}
	if err := errors.Join(<-done, p.Close()); err != nil {
		t.Fatal(err)
	}
	return verdicts(t, memory)
}

// at returns a page that was fetched the given time after the others.
func at(p *crawler.Page, after time.Duration) *crawler.Page {
	p.FetchedAt = p.FetchedAt.Add(after)
	return p
}

// A leader becomes public while a page with noindex takes its place. It does not follow that page.
func TestLeaderBecomesPublic(t *testing.T) {
	thin := words(3, 20)
	a, b, c := "https://a.example/", "https://b.example/", "https://c.example/"
	pages := []*crawler.Page{noindex(article(a, thin)), noindex(at(article(b, thin), 1)), noindex(at(article(c, thin), -1))}
	got := visitDuring(t, pages, func(call string) bool { return call == "Commit "+c }, again(article(a, thin), 1), "Commit "+a)
	if !strings.Contains(got, a+" thin\n") {
		t.Errorf("a public page follows a page with noindex:\n%s", got)
	}
}

// A public page joins a cluster whose leader has just lost its text and got noindex. The other
// members would lead before it, but they leave the cluster.
func TestMembersLeave(t *testing.T) {
	text, thin := words(1, 100), words(3, 20)
	a, b, c, d := "https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"
	pages := []*crawler.Page{article(a, text), at(article(b, text), 1), at(article(c, text), 2), again(noindex(article(a, thin)), 1)}
	got := visitDuring(t, pages, func(call string) bool { return call == "Commit "+a }, again(article(d, thin), 1), "")
	if !strings.Contains(got, d+" thin\n") || !strings.Contains(got, a+" exact of "+d) {
		t.Errorf("a public page follows a page with noindex:\n%s", got)
	}
}

// A page is elected, but has another text by now. Another page is elected.
func TestElectedPageLeaves(t *testing.T) {
	text := words(1, 100)
	a, b, c := "https://a.example/", "https://b.example/", "https://c.example/"
	pages := []*crawler.Page{article(a, text), article(b, but(text, "b")), at(articleOf(c, b, but(text, "c")), -1)}
	written := false
	got := visitDuring(t, pages, func(call string) bool {
		written = written || call == "Commit "+c
		return written && call == "Members"
	}, again(article(b, words(2, 100)), 1), "")
	if !strings.Contains(got, c+" unique\n") || !strings.Contains(got, a+" near of "+c) {
		t.Errorf("the page that should lead does not:\n%s", got)
	}
}

// A page is elected, but another page takes its place before the old leader yields. That page then
// follows the old leader, and so does the elected page. It is elected again.
func TestElectedPageIsReplaced(t *testing.T) {
	text := words(1, 100)
	a, b, c, d := "https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"
	pages := []*crawler.Page{article(a, text), at(article(b, but(text, "b")), 2), at(articleOf(c, b, but(text, "c")), -1)}
	got := visitDuring(t, pages, func(call string) bool { return call == "Commit "+b }, at(article(d, but(text, "b")), 1), "")
	if !strings.Contains(got, b+" unique\n") || !strings.Contains(got, a+" near of "+b) {
		t.Errorf("the page that should lead does not:\n%s", got)
	}
}

// The page that should lead has no kept text, so it is fetched again. By then it has another text, and
// the next page is fetched, to lead.
func TestElectedPageIsFetched(t *testing.T) {
	text := words(1, 100)
	s, opt := storetest.NewMemory(), testOptions(t)
	opt.Order, opt.SkipDuplicates = new(precedence.Order), true
	p := start(t, s, opt)
	defer p.Close()
	a, b, c := "https://a.example/", "https://b.example/", "https://c.example/"
	handle(t, p, article(a, text), at(article(b, text), 1), again(noindex(article(a, text)), 1), at(article(c, text), 2))
	handle(t, p, again(article(b, words(2, 100)), 2))
	if state, err := s.State(t.Context(), c); err != nil || state != frontier.Pending {
		t.Errorf("%s: state %d, %v\n%s", c, state, err, verdicts(t, s))
	}
}

// When a page is judged again, its links stay in the store.
func TestJudgedAgainKeepsLinks(t *testing.T) {
	text := words(1, 100)
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	defer p.Close()
	a, b := "https://a.example/", "https://b.example/"
	handle(t, p, article(a, text))
	follow(t, p, new(crawler.Options), page(b, "<html lang=en><title>T</title><article><p>"+text+"</p></article><a href=/there>there</a>"))
	handle(t, p, again(answered(a, 404, crawler.ProblemStatus), 1))
	pages, err := s.Pages(t.Context(), []dedup.Hash{dedup.HashOf([]byte(b))}, store.WantLinks)
	if err != nil || pages[0].Record.Follows() || len(pages[0].Links) != 1 || pages[0].Links[0].URL != b+"there" {
		t.Errorf("%+v, %v", pages[0], err)
	}
}

// A page that declares another language than the language of its text does not lead a page that
// arrived at the same time and declares no language.
func TestOtherLanguage(t *testing.T) {
	const text = "Der Leuchtturm steht seit hundert Jahren auf der Klippe, und der Wärter kennt jedes Schiff, das an ihm vorbeifährt. "
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Order = new(precedence.Order)
	p := start(t, s, opt)
	defer p.Close()
	long := strings.Repeat(text, 4)
	handle(t, p, page("https://a.example/", "<html lang=en><title>T</title><article><p>"+long+"</p></article>"),
		page("https://a.example/de/leuchtturm", "<html lang=de><title>T</title><article><p>"+long+"</p></article>"))
	if r := content(t, s, "https://a.example/").Record; !r.OtherLang || r.DuplicateOf != "https://a.example/de/leuchtturm" {
		t.Errorf("%s declares another language: %v", verdict(&r), r.OtherLang)
	}
}
