package ingest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/crawler"
	"skink/crawler/render"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/postgrestest"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/badger"
	"skink/store/postgres"
	"skink/store/precedence"
)

// again sets the times of a page to those of the nth visit after the first, and returns the page.
func again(p *crawler.Page, n int) *crawler.Page {
	p.Item.Due = time.Unix(1e9, 0).Add(time.Duration(n) * time.Hour)
	p.FetchedAt = p.Item.Due.Add(time.Second)
	return p
}

func answered(url string, status int, problem crawler.Problem) *crawler.Page {
	return &crawler.Page{Item: frontier.Item{URL: url}, FetchedAt: time.Unix(1e9, 0), Status: status, Problem: problem, Header: http.Header{}}
}

func notModified(url string) *crawler.Page {
	p := answered(url, 304, "")
	p.NotModified = true
	return p
}

func with(p *crawler.Page, header, value string) *crawler.Page {
	p.Header.Set(header, value)
	return p
}

// TestVisits checks the record of a page after several visits.
func TestVisits(t *testing.T) {
	const url = "https://example.com/"
	text := words(1, 100)
	first := func() *crawler.Page { return with(article(url, text), "ETag", `"one"`) }
	timeout := func() *crawler.Page { return answered(url, 0, crawler.ProblemTimeout) }
	for _, c := range []struct {
		name    string
		visits  []*crawler.Page
		want    string // kind, visit, words, missed, problem and earlier visits of the record
		changes bool   // whether the last visit counts as a change
	}{
		{"not modified", []*crawler.Page{first(), notModified(url)}, "page, not modified, 100 words, 0 missed, 0 earlier", false},
		{"the same", []*crawler.Page{first(), first()}, "page, same, 100 words, 0 missed, 0 earlier", false},
		{"the same words under another title", []*crawler.Page{first(), page(url, "<html lang=en><title>Another</title><article><p>"+text+"</p></article>")},
			"page, same, 100 words, 0 missed, 1 earlier", true},
		{"the same words by another author", []*crawler.Page{first(), page(url, "<html lang=en><title>T</title><meta name=author content=Somebody><article><p>"+text+"</p></article>")},
			"page, same, 100 words, 0 missed, 1 earlier", true},
		{"the same words in other letters", []*crawler.Page{first(), article(url, strings.ToUpper(text))}, "page, same, 100 words, 0 missed, 1 earlier", true},
		{"not to be indexed any more", []*crawler.Page{first(), noindex(first())}, "page, changed, 100 words, 0 missed, 1 earlier", true},
		{"changed", []*crawler.Page{first(), article(url, but(text, "other"))}, "page, changed, 100 words, 0 missed, 1 earlier", true},
		{"changed twice", []*crawler.Page{first(), article(url, words(2, 80)), article(url, words(3, 70))}, "page, changed, 70 words, 0 missed, 2 earlier", true},
		{"changed, and then not", []*crawler.Page{first(), article(url, words(2, 80)), notModified(url)}, "page, not modified, 80 words, 0 missed, 1 earlier", false},
		{"gone by 404", []*crawler.Page{first(), answered(url, 404, crawler.ProblemStatus)}, "error, gone, 0 words, 0 missed, status 404, 1 earlier", true},
		{"gone by 410", []*crawler.Page{first(), answered(url, 410, crawler.ProblemStatus)}, "error, gone, 0 words, 0 missed, status 410, 1 earlier", true},
		{"gone, and gone still", []*crawler.Page{first(), answered(url, 404, crawler.ProblemStatus), timeout()}, "error, gone, 0 words, 0 missed, status 404, 1 earlier", false},
		{"gone, and back", []*crawler.Page{first(), answered(url, 404, crawler.ProblemStatus), first()}, "page, new, 100 words, 0 missed, 2 earlier", true},
		{"failed once", []*crawler.Page{first(), timeout()}, "page, failed, 100 words, 1 missed, timeout, 0 earlier", false},
		{"failed twice by 503", []*crawler.Page{first(), timeout(), answered(url, 503, crawler.ProblemStatus)}, "page, failed, 100 words, 2 missed, status 503, 0 earlier", false},
		{"failed, and well", []*crawler.Page{first(), timeout(), notModified(url)}, "page, not modified, 100 words, 0 missed, 0 earlier", false},
		{"failed too often", []*crawler.Page{first(), timeout(), timeout(), timeout()}, "error, gone, 0 words, 0 missed, timeout, 1 earlier", true},
		{"forbidden by robots.txt", []*crawler.Page{first(), answered(url, 0, crawler.ProblemRobots)}, "page, failed, 100 words, 1 missed, robots.txt, 0 earlier", false},
		{"never had, and had", []*crawler.Page{timeout(), first()}, "page, new, 100 words, 0 missed, 0 earlier", true},
		{"never had at all", []*crawler.Page{timeout(), answered(url, 403, crawler.ProblemStatus)}, "error, new, 0 words, 0 missed, status 403, 0 earlier", false},
		{"moved", []*crawler.Page{first(), {Item: frontier.Item{URL: url}, Status: 301, Location: url + "new", Header: http.Header{}}}, "redirect, gone, 0 words, 0 missed, 1 earlier", true},
		{"a picture now", []*crawler.Page{first(), with(page(url, "\x89PNG\r\n\x1a\n"), "Content-Type", "image/png")}, "other, gone, 0 words, 0 missed, 1 earlier", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storetest.NewMemory()
			p := start(t, s, testOptions(t))
			defer p.Close()
			var before store.Cursor
			for n, page := range c.visits {
				var err error
				if before, err = s.End(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n > 0 {
					again(page, n)
				}
				handle(t, p, page)
			}
			r := content(t, s, url).Record
			same(t, "record", visited(&r), c.want)
			last := c.visits[len(c.visits)-1].FetchedAt
			if !r.Visited().Equal(last) {
				t.Errorf("visited at %v, want %v", r.Visited(), last)
			}
			changed := 0
			for range s.Changes(t.Context(), before, store.WantRecord) {
				changed++
			}
			if (changed == 1) != c.changes {
				t.Errorf("%d changes by the last visit, want one: %v", changed, c.changes)
			}
			tally, err := s.Tally(t.Context())
			if got := p.Tally(); err != nil || fmt.Sprint(got) != fmt.Sprint(tally) {
				t.Errorf("the pipeline counts %+v, the store %+v, %v", got, tally, err)
			}
		})
	}
}

func visited(r *store.Record) string {
	problem := ""
	if r.Problem != "" {
		problem = r.Problem + ", "
	}
	return fmt.Sprintf("%s, %s, %d words, %d missed, %s%d earlier", r.Kind, r.Visit, r.Words, r.Missed, problem, len(r.Earlier))
}

// A visit that keeps a private text keeps it private, even if the visit was public.
func TestPrivateTextStays(t *testing.T) {
	const url = "https://example.com/"
	drawn := article(url, words(1, 100))
	drawn.Drawing = &render.Drawing{HTML: drawn.Body}
	failed := article(url, words(1, 20))
	failed.DrawError = "the browser crashed"
	for _, c := range []struct {
		name          string
		first, second *crawler.Page
		private       bool
	}{
		{"not modified", article(url, words(1, 100)), notModified(url), true},
		{"not rendered", drawn, failed, true},
		{"seen by a stranger", article(url, words(1, 100)), article(url, words(1, 100)), false},
		{"a redirect that a stranger gets too", moved(url), moved(url), false},
	} {
		s := storetest.NewMemory()
		p := start(t, s, testOptions(t))
		c.first.Private = true
		handle(t, p, c.first)
		handle(t, p, again(c.second, 1))
		if got := content(t, s, url).Record.Private; got != c.private {
			t.Errorf("%s: private %v, want %v", c.name, got, c.private)
		}
		p.Close()
	}
}

func moved(url string) *crawler.Page {
	return &crawler.Page{Item: frontier.Item{URL: url}, FetchedAt: time.Unix(1e9, 0), Status: 301, Location: url + "new", Header: http.Header{}}
}

// The record of a changed page has its earlier version, the resemblance, and the added and removed
// text. It has the validators of the last answer.
func TestChangedPage(t *testing.T) {
	const url = "https://example.com/"
	text := words(1, 100)
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	defer p.Close()
	handle(t, p, with(article(url, text), "Last-Modified", "Sat, 01 Mar 2025 12:30:00 GMT"))
	was := content(t, s, url)
	handle(t, p, again(with(article(url, but(text, "other")), "ETag", `"two"`), 1))
	r := content(t, s, url).Record
	if r.ETag != `"two"` || r.Modified != "" || was.Record.Modified == "" || r.Visit != store.Altered {
		t.Errorf("record %+v after %+v", r, was.Record)
	}
	v := r.Earlier[0]
	if v.Resemblance != 90./92 || v.Hash != was.Record.Hash || v.Words != 100 || !v.At.Equal(was.Record.FetchedAt) || len(v.Sketch) != 4*dedup.Minima || v.Verdict != dedup.Unique {
		t.Errorf("earlier visit %+v, want that of %+v", v, was.Record)
	}
	word, _, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(r.Added, "other ") || !strings.HasPrefix(r.Removed, word+" ") || len(r.Added) > 50 {
		t.Errorf("added %q, removed %q", r.Added, r.Removed)
	}
	for n := range 20 {
		handle(t, p, again(article(url, words(uint64(n+2), 60)), n+2))
	}
	if r := content(t, s, url).Record; len(r.Earlier) != store.MaxVisits || !r.FirstFetched().Equal(was.Record.FetchedAt) {
		t.Errorf("%d earlier visits, first %v", len(r.Earlier), r.FirstFetched())
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct{ was, is, added, removed string }{
		{"a\nb\nc", "a\nc", "", "b"},
		{"a\nc", "a\nb\nc", "b", ""},
		{"a\na", "a", "", "a"},
		{"1 2 3 4 5 6 7 8 9", "1 2 3 4 x 6 7 8 9", "… 2 3 4 x 6 7 8 …", "… 2 3 4 5 6 7 8 …"},
		{"one\n1 2 3", "two\n1 2 3", "two", "one"},
		{"", strings.Repeat("é", 1000), strings.Repeat("é", (maxShown-3)/2) + "…", ""},
		{"same", "same", "", ""},
	} {
		if added, removed := difference(c.was, c.is); added != c.added || removed != c.removed {
			t.Errorf("difference(%q, %q) = %q, %q; want %q, %q", c.was, c.is, added, removed, c.added, c.removed)
		}
	}
}

// When a leader changes, the members of its cluster are judged again, the earliest first.
func TestLeaderChanges(t *testing.T) {
	text, thin := words(1, 100), words(2, 20)
	a, b, c, d := "https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"
	gone := func(url string) *crawler.Page { return answered(url, 404, crawler.ProblemStatus) }
	for _, test := range []struct {
		name   string
		first  []*crawler.Page
		second []*crawler.Page
		want   string
	}{
		{"its exact copies are led by the first of them",
			[]*crawler.Page{article(a, text), article(b, text), article(c, text)}, []*crawler.Page{gone(a)},
			a + " error\n" + b + " unique\n" + c + " exact of " + b + " 1.000 by text\n"},
		{"near pages too",
			[]*crawler.Page{article(a, text), article(b, but(text, "b")), article(c, but(text, "c")), article(d, but(text, "b"))}, []*crawler.Page{article(a, words(9, 100))},
			a + " unique\n" + b + " unique\n" + c + " near of " + b + " 0.978 by bands\n" + d + " exact of " + b + " 1.000 by text\n"},
		{"one that changed little leads on",
			[]*crawler.Page{article(a, text), article(b, text)}, []*crawler.Page{article(a, but(text, "a"))},
			a + " unique\n" + b + " near of " + a + " 0.978 by bands\n"},
		{"one that becomes a copy of another takes none along",
			[]*crawler.Page{article(d, words(9, 100)), article(a, text), article(b, text)}, []*crawler.Page{article(a, words(9, 100))},
			d + " unique\n" + a + " exact of " + d + " 1.000 by text\n" + b + " unique\n"},
		{"what is thin leads its copies",
			[]*crawler.Page{article(a, thin), article(b, thin), article(c, thin), article(d, thin)}, []*crawler.Page{gone(a)},
			a + " error\n" + b + " thin\n" + c + " exact of " + b + " 1.000 by text\n" + d + " exact of " + b + " 1.000 by text\n"},
		{"what may be fed leads before what may not",
			[]*crawler.Page{article(a, text), noindex(article(b, text)), article(c, text)}, []*crawler.Page{gone(a)},
			a + " error\n" + c + " unique\n" + b + " exact of " + c + " 1.000 by text\n"},
		{"one that is not to be indexed any more leads none that is",
			[]*crawler.Page{article(a, text), article(b, text)}, []*crawler.Page{noindex(article(a, text))},
			a + " unique\n" + b + " unique\n"},
		{"a member that changes leads itself",
			[]*crawler.Page{article(a, text), article(b, text)}, []*crawler.Page{article(b, words(9, 100))},
			a + " unique\n" + b + " unique\n"},
		{"all change, one after another",
			[]*crawler.Page{article(a, text), article(b, text), article(c, text)}, []*crawler.Page{gone(a), article(b, words(8, 100)), article(c, words(8, 100))},
			a + " error\n" + b + " unique\n" + c + " exact of " + b + " 1.000 by text\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := badger.Open(filepath.Join(t.TempDir(), "store"), badger.Options{Create: true, Reserve: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			p := start(t, s, testOptions(t))
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
		})
	}
}

// A page whose text was not kept is fetched again when its leader has changed, even if the server
// has answered that the page was not modified.
func TestLeaderChangesWithoutTexts(t *testing.T) {
	text := words(1, 100)
	a, b := "https://a.example/", "https://b.example/"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.SkipDuplicates = true
	p := start(t, s, opt)
	defer p.Close()
	for _, url := range []string{a, b} {
		if _, err := s.Discover(t.Context(), []frontier.Item{{URL: url}}); err != nil {
			t.Fatal(err)
		}
		handle(t, p, with(article(url, text), "ETag", `"e"`))
	}
	handle(t, p, again(answered(a, 404, crawler.ProblemStatus), 1))
	for n := 2; n < 4; n++ {
		grant, err := s.Claim(t.Context(), "me", 1, time.Hour)
		if err != nil || len(grant.Hosts) == 0 {
			t.Fatalf("nothing to fetch: %+v, %v", grant, err)
		}
		items, err := s.Take(t.Context(), grant.Hosts[0].Claim, 1)
		if err != nil || len(items) != 1 || items[0].URL != b || items[0].ETag != "" {
			t.Fatalf("to be fetched: %+v, %v", items, err)
		}
		if n == 2 { // the answer to a request from before the change: not modified
			handle(t, p, again(notModified(b), n))
		} else {
			handle(t, p, &crawler.Page{Item: items[0], FetchedAt: time.Now(), Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: article(b, text).Body})
		}
		if err := s.Return(t.Context(), grant.Hosts[0].Claim, frontier.Rest{}); err != nil {
			t.Fatal(err)
		}
	}
	if r := content(t, s, b).Record; r.Verdict != dedup.Unique || r.NoText {
		t.Errorf("%s is %s of %s", b, r.Verdict, r.DuplicateOf)
	}
}

// A stoppedStore fails after a number of commits, as if the process had been killed.
type stoppedStore struct {
	store.Store
	left int
}

var errStopped = errors.New("killed")

func (s *stoppedStore) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	if s.left--; s.left < 0 {
		return nil, errStopped
	}
	return s.Store.Commit(ctx, entries)
}

// TestKilledWhileSettling interrupts a visit that changes a leader after each of its commits, and
// repeats the visit. When the URL has ended, all members of the cluster have the same verdicts as
// without the interruption.
func TestKilledWhileSettling(t *testing.T) {
	text := words(1, 100)
	a := "https://a.example/"
	visit := func() *crawler.Page { return again(article(a, words(9, 100)), 1) }
	var want string
	for left := 10; left >= 0; left-- {
		s := &stoppedStore{storetest.NewMemory(), 1 << 30}
		if _, err := s.Discover(t.Context(), []frontier.Item{{URL: a}}); err != nil {
			t.Fatal(err)
		}
		p := start(t, s, testOptions(t))
		for n, page := range []*crawler.Page{article(a, text), article("https://b.example/", but(text, "b")), article("https://c.example/", text), article("https://d.example/", but(text, "b"))} {
			page.FetchedAt = page.FetchedAt.Add(time.Duration(n) * time.Second)
			handle(t, p, page)
		}
		if _, err := s.Requeue(t.Context(), []frontier.Item{visit().Item}); err != nil {
			t.Fatal(err)
		}
		s.left = left
		err := p.Handle(t.Context(), visit(), new(crawler.Leads))
		p.Close()
		state, stateErr := s.State(t.Context(), a)
		if stateErr != nil || (err == nil) != (state == frontier.Fetched) {
			t.Fatalf("after %d commits: %v, and the state is %d, %v", left, err, state, stateErr)
		}
		if err != nil {
			s.left = 1 << 30
			p = start(t, s, testOptions(t))
			handle(t, p, visit())
			p.Close()
		}
		got := strings.SplitAfter(verdicts(t, s), "\n")
		slices.Sort(got)
		if want == "" {
			want = strings.Join(got, "")
		}
		same(t, fmt.Sprintf("verdicts after %d commits", left), strings.Join(got, ""), want)
	}
}

// TestKilledWhileCopying interrupts a page after each of its commits, while it takes over the
// verdict of another page whose leader is changing. The page's URL stays pending until its verdict
// was checked against the change. When the URL is fetched again, the verdicts are the same as
// without the interruption.
func TestKilledWhileCopying(t *testing.T) {
	text := words(1, 100)
	a, b, c := "https://a.example/", "https://b.example/", "https://c.example/"
	for left := 4; left >= 0; left-- {
		s := &stoppedStore{storetest.NewMemory(), 1 << 30}
		p := start(t, s, testOptions(t))
		handle(t, p, article(a, text), article(b, but(text, "b")))
		changed := again(article(a, words(9, 100)), 1)
		s.left = 1 // the leader gets other words, but its member is not judged again
		if err := p.Handle(t.Context(), changed, new(crawler.Leads)); !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		s.left = 1 << 30
		copied := again(article(c, but(text, "b")), 2)
		if _, err := s.Discover(t.Context(), []frontier.Item{copied.Item}); err != nil {
			t.Fatal(err)
		}
		v, share, err := p.readAndVisit(t.Context(), copied, new(crawler.Leads))
		if err != nil {
			t.Fatal(err)
		}
		meanwhile, commit := false, p.writer(v, copied)
		err = p.commit(t.Context(), v, func(ctx context.Context, e *store.Entry) (store.Outcome, error) {
			if !meanwhile { // give the member another text, so that the page can no longer share its verdict
				handle(t, p, again(article(b, words(8, 100)), 2), changed)
				meanwhile, s.left = true, left
			}
			return commit(ctx, e)
		})
		share.Release()
		p.Close()
		state, stateErr := s.State(t.Context(), c)
		if stateErr != nil || (err == nil) != (state == frontier.Fetched) {
			t.Errorf("after %d commits: %v, and the state is %d, %v", left, err, state, stateErr)
		}
		if err != nil {
			s.left = 1 << 30
			p = start(t, s, testOptions(t))
			handle(t, p, copied)
			p.Close()
		}
		got := strings.SplitAfter(verdicts(t, s), "\n")
		slices.Sort(got)
		same(t, fmt.Sprintf("verdicts after %d commits", left), strings.Join(got, ""), a+" unique\n"+b+" unique\n"+c+" unique\n")
	}
}

// A page does not take over the verdict of a copy without a kept text whose leader has changed.
// That copy is put back into the frontier, to be judged again.
func TestCopyOfWhatIsPutBack(t *testing.T) {
	text := words(1, 100)
	a, b, c := "https://a.example/", "https://b.example/", "https://c.example/"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.SkipDuplicates = true
	p := start(t, s, opt)
	defer p.Close()
	handle(t, p, article(a, text), article(b, but(text, "b")), again(article(a, words(9, 100)), 1))
	handle(t, p, again(article(c, but(text, "b")), 2))
	if r := content(t, s, c).Record; r.Verdict != dedup.Unique {
		t.Errorf("%s", verdict(&r))
	}
	handle(t, p, again(article(b, but(text, "b")), 3))
	if r := content(t, s, b).Record; r.Verdict != dedup.Exact || r.DuplicateOf != c {
		t.Errorf("%s", verdict(&r))
	}
}

// If a leader gets noindex, its public copies get another leader. A copy with noindex keeps its
// leader.
func TestLeaderThatHides(t *testing.T) {
	text := words(1, 100)
	a, b, c, d := "https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	defer p.Close()
	handle(t, p, article(a, text), article(b, but(text, "b")), article(c, text), noindex(article(d, text)))
	handle(t, p, again(noindex(article(a, text)), 1))
	for _, want := range []struct {
		url     string
		verdict dedup.VerdictKind
		leader  string
	}{{a, dedup.Unique, ""}, {b, dedup.Unique, ""}, {c, dedup.Near, b}, {d, dedup.Exact, a}} {
		if r := content(t, s, want.url).Record; r.Verdict != want.verdict || r.DuplicateOf != want.leader {
			t.Errorf("%s", verdict(&r))
		}
	}
}

// TestSettled makes random visits to a few pages with a few texts, from several goroutines. It
// checks that the leader of every duplicate is a leading page, and that the resemblance in its
// record is right. Pauses in the store let the visits interleave in many ways. With the smaller
// number of texts, most pages are copies of pages that change.
func TestSettled(t *testing.T) {
	checkVisits(t, func(*rapid.T) (workers []store.Store, reader store.Store) {
		s := storetest.NewMemory()
		return []store.Store{s}, s
	})
}

// TestSettledByWorkers does the same as TestSettled, with one or two workers on a server.
func TestSettledByWorkers(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("SKINK_LONG=short runs it")
	}
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue && os.Getenv("SKINK_LONG") == "short" {
		_ = f.Value.Set("8") // each makes a schema
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	server := postgrestest.Start(t)
	n := 0
	checkVisits(t, func(r *rapid.T) (workers []store.Store, reader store.Store) {
		n++
		at, err := postgres.ParseAddress(server.URL(fmt.Sprint("store", n)))
		if err != nil {
			r.Fatal(err)
		}
		open := func(opt postgres.Options) store.Store {
			s, err := postgres.Open(context.Background(), at, opt)
			if err != nil {
				r.Fatal(err)
			}
			return s
		}
		for range rapid.IntRange(1, 2).Draw(r, "workers") {
			workers = append(workers, open(postgres.Options{Create: true}))
		}
		return workers, open(postgres.Options{ReadOnly: true})
	})
}

// A steppedStore calls a function before and after each call that matters for verdicts. The argument
// is the name of the method. That of Commit is followed by the URL of the first entry.
type steppedStore struct {
	store.Store
	before, after func(call string)
}

func (s *steppedStore) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	s.before("Lookup")
	defer s.after("Lookup")
	return s.Store.Lookup(ctx, asks)
}

func (s *steppedStore) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	call := "Commit " + entries[0].Record.URL
	s.before(call)
	defer s.after(call)
	return s.Store.Commit(ctx, entries)
}

func (s *steppedStore) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	s.before("Pages")
	defer s.after("Pages")
	return s.Store.Pages(ctx, ids, want)
}

func (s *steppedStore) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		s.before("Members")
		defer s.after("Members")
		s.Store.Members(ctx, leaders)(yield)
	}
}

// pausing returns a store that pauses before and after each call, so that concurrent visits
// interleave in many ways.
func pausing(r *rapid.T, s store.Store) store.Store {
	const most = 5 // steps of 50 µs, plus one
	pauses := rapid.SliceOfN(rapid.IntRange(0, most), 50, 50).Draw(r, "pauses")
	var calls atomic.Uint64
	pause := func(string) {
		if n := pauses[calls.Add(1)%uint64(len(pauses))]; n > 1 {
			time.Sleep(time.Duration(n-1) * 50 * time.Microsecond)
		} else if n == 1 {
			runtime.Gosched()
		}
	}
	return &steppedStore{s, pause, pause}
}

func checkVisits(t *testing.T, open func(*rapid.T) (workers []store.Store, reader store.Store)) {
	opt := testOptions(t)
	opt.Order = new(precedence.Order)
	one, other, thin := words(1, 100), words(2, 100), words(3, 20)
	many := []string{one, other, thin, but(one, "x"), but(one, "y"), but(other, "x"), ""}
	few := []string{one, but(one, "x"), but(one, "x"), but(one, "y"), other, thin, thin}
	excerpts := []string{words(4, 60), words(4, 60) + one, other + words(4, 60), but(words(4, 60), "x"), one, ""}
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SampledFrom([][]string{many, few, excerpts}).Draw(r, "texts")
		opt := opt
		opt.Rule.Contained = rapid.SampledFrom([]float64{0, .9}).Draw(r, "contained")
		stores, reader := open(r)
		defer reader.Close()
		var workers []*Pipeline
		for _, s := range stores {
			defer s.Close()
			p, err := New(context.Background(), pausing(r, s), opt)
			if err != nil {
				r.Fatal(err)
			}
			defer p.Close()
			workers = append(workers, p)
		}
		rarely := rapid.SampledFrom([]int{1, 5}).Draw(r, "rarely")
		rounds := rapid.IntRange(1, 5).Draw(r, "rounds")
		for n := range rounds {
			var pages []*crawler.Page
			for i := range 6 {
				url := fmt.Sprintf("https://h%d.example/", i)
				text := rapid.SampledFrom(texts).Draw(r, "text")
				page := article(url, text)
				switch {
				case text == "":
					page = answered(url, 404, crawler.ProblemStatus)
				case rapid.IntRange(0, rarely).Draw(r, "noindex") == 0:
					noindex(page)
				}
				page.Private = rapid.IntRange(0, rarely).Draw(r, "private") == 0
				page = again(page, n+1)
				page.FetchedAt = page.FetchedAt.Add(time.Duration(i))
				pages = append(pages, page)
			}
			errs := make(chan error, len(pages))
			for i, page := range pages {
				p := workers[i%len(workers)]
				go func() { errs <- p.Handle(context.Background(), page, new(crawler.Leads)) }()
			}
			for range pages {
				if err := <-errs; err != nil {
					r.Fatal(err)
				}
			}
			checkSettled(r, workers[0], reader)
		}
	})
}

// checkSettled checks that the resemblance in each verdict is right, that no page is led by one that
// is withheld more, and that no two unique pages have the same text. (Two pages too short to be compared may both lead, if one of them was judged
// while the other was waiting to be judged again.)
func checkSettled(r *rapid.T, p *Pipeline, s store.Store) {
	unique := map[dedup.Hash]*store.Record{}
	for page, err := range s.Changes(context.Background(), "", store.WantText|store.WantSketch) {
		if err != nil {
			r.Fatal(err)
		}
		m := &page.Record
		if !m.Follows() {
			if m.Verdict == dedup.Unique {
				if first := unique[m.Hash]; first != nil {
					r.Errorf("%s and %s have one text", verdict(first), verdict(m))
				}
				unique[m.Hash] = m
			}
			continue
		}
		pages, err := s.Pages(context.Background(), []dedup.Hash{m.Leader}, store.WantText)
		if err != nil || pages[0] == nil {
			r.Fatalf("%s follows %s, of which nothing is known: %v", m.URL, m.DuplicateOf, err)
		}
		l := &pages[0].Record
		if l.Follows() || l.Verdict != dedup.Unique && l.Verdict != dedup.Thin || precedence.Withheld(l) > precedence.Withheld(m) {
			r.Errorf("%s follows %s", verdict(m), verdict(l))
		}
		one, other := p.opt.reread(&page.Content), p.opt.reread(pages[0])
		got := dedup.Resemblance(one.shingles.asSet(), other.shingles.asSet())
		if got != m.Resemblance || (m.Verdict == dedup.Exact) != (m.Hash == l.Hash) {
			r.Errorf("%s: resemblance is %.3f", verdict(m), got)
		}
		if share, ok := p.opt.Rule.Contains(wordRuns(page.Text), wordRuns(pages[0].Text)); p.opt.Rule.Contained > 0 && m.Verdict == dedup.Near && (!ok || share != m.Containment) {
			r.Errorf("%s: the leader contains %.3f of it", verdict(m), share)
		}
	}
}
