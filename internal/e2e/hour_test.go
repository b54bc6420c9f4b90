package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/internal/cli"
)

// An hourSite is a site with a home page and some articles. It can behave differently in each round
// of a crawl.
type hourSite struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request) bool // guarded by mu: returns true if it has answered the request; nil if the site works normally
	edited map[string]int                                    // guarded by mu: version of the text at a path
	asked  int                                               // guarded by mu: number of requests for pages
	number int                                               // number of the site; all sites have different texts
}

const hourPages = 20 // number of articles

func newHourSite(t *testing.T) *hourSite {
	s := &hourSite{edited: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *hourSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path != "/robots.txt" && r.URL.Path != "/sitemap.xml" {
		s.asked++
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if s.answer != nil && s.answer(w, r) {
		return
	}
	var n int
	switch _, err := fmt.Sscanf(r.URL.Path, "/a/%d", &n); {
	case r.URL.Path == "/":
		fmt.Fprintf(w, "<title>Home</title><article><p>%s</p></article>", prose(100*s.number, s.edited["/"]))
		for i := range hourPages {
			fmt.Fprintf(w, "<a href=/a/%d>Article %d</a> ", i+1, i+1)
		}
	case err == nil && n > 0 && n <= hourPages:
		fmt.Fprintf(w, "<title>Article %d</title><article><p>%s</p></article>", n, prose(100*s.number+n, s.edited[r.URL.Path]))
	default:
		http.NotFound(w, r)
	}
}

// prose returns a text that differs for each number and version. An odd version shares most of its
// text with the previous version.
func prose(n, version int) string {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(version/2)))
	words := make([]string, 90)
	for i := range words {
		words[i] = fmt.Sprintf("w%cx%c%c", 'a'+rng.IntN(26), 'a'+rng.IntN(26), 'a'+rng.IntN(26))
	}
	if version%2 == 1 {
		words[20], words[21] = "little", "edit"
	}
	return strings.Join(words, " ")
}

// become changes the answers of the site from now on. If answer is nil, the site works normally
// again.
func (s *hourSite) become(answer func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.asked = answer, 0
}

// pagesOnly applies answer to all URLs except robots.txt and the sitemap.
func pagesOnly(answer func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml" {
			return false
		}
		answer(w, r)
		return true
	}
}

// slowly delays each answer, so that each page is judged before the next one is requested.
func slowly(answer func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		time.Sleep(100 * time.Millisecond)
		return answer(w, r)
	}
}

const sorryText = "<title>Maintenance</title><article><h1>We will be back soon</h1><p>This site is down for maintenance since this morning, and we expect it to be back within an hour or two. Thank you for your patience while our engineers look after the servers, the disks and the cables, so that everything will run faster than before when you come back to read on where you stopped. If it takes longer we will say so here.</p></article>"

var (
	maintenance = pagesOnly(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, sorryText) })
	incidents   = pagesOnly(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s<p>Incident %d of %s at 12:%02d</p>", strings.TrimSuffix(sorryText, "</article>"), rand.IntN(1e9), r.URL.Path, rand.IntN(60))
	})
	empties   = pagesOnly(func(w http.ResponseWriter, r *http.Request) {})
	shells    = pagesOnly(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<title>Shop</title><div id=app></div>") })
	loginForm = pagesOnly(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<title>Log in</title><h1>Please log in</h1><form><input name=user><input name=password type=password></form><p>You need an account to read this.</p>")
	})
	loginWall = pagesOnly(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			fmt.Fprint(w, "<title>Log in</title><h1>Please log in</h1><p>You need an account to read this.</p>")
			return
		}
		http.Redirect(w, r, "/login?next="+r.URL.Path, http.StatusFound)
	})
	busy = pagesOnly(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) })
)

// An hourCrawl is a store for repeated crawls of sites, together with its feed of changes.
type hourCrawl struct {
	t      *testing.T
	dir    string
	seeds  []string
	rounds int
}

func newHourCrawl(t *testing.T, sites ...*hourSite) *hourCrawl {
	c := &hourCrawl{t: t, dir: t.TempDir()}
	for _, s := range sites {
		c.seeds = append(c.seeds, s.URL+"/")
	}
	if len(sites) > 0 {
		c.round()
	}
	return c
}

// round crawls, and then reads the feed of changes. The result said is the crawl's output on
// standard error. The result changes describes the lines of the feed: the number of lines or the
// paths for each kind.
func (c *hourCrawl) round(more ...string) (said, changes string) {
	c.t.Helper()
	args := append([]string{"crawl", "--store", c.dir + "/store", "--delay", "0"}, more...)
	if c.rounds > 0 {
		args = append(args, "--recrawl", "0s")
	}
	c.rounds++
	_, said = c.run(append(args, c.seeds...)...)
	out, _ := c.run("export", "--store", c.dir+"/store", "--cursor", filepath.Join(c.dir, "cursor"))
	kinds := map[string][]string{}
	for line := range strings.Lines(out) {
		var l struct{ URL, Change string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			c.t.Fatal(err)
		}
		kinds[l.Change] = append(kinds[l.Change], regexp.MustCompile(`^https?://[^/]+`).ReplaceAllString(l.URL, ""))
	}
	var b []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		slices.Sort(kinds[kind])
		if n := len(kinds[kind]); n > 3 {
			b = append(b, fmt.Sprintf("%d %s", n, kind))
		} else {
			b = append(b, kind+" "+strings.Join(kinds[kind], " "))
		}
	}
	return said, strings.Join(b, ", ")
}

func (c *hourCrawl) run(args ...string) (out, said string) {
	c.t.Helper()
	var o, e bytes.Buffer
	code := cli.Run(c.t.Context(), args, cli.Console{In: strings.NewReader(""), Out: &o, Err: &e})
	if code != 0 && !strings.Contains(e.String(), "\nskink: no page was fetched: ") { // the exit code is an error if the store has no page left
		c.t.Fatalf("%v: exit code %d\n%s", args, code, &e)
	}
	return o.String(), e.String()
}

// TestBadHour revisits a site during an outage: every URL answers with the same page, with an empty
// page, or with a login form. The feed must not contain any of this, and the crawl must suspend the
// site after a few pages. After the outage, the feed must contain only real changes.
func TestBadHour(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request) bool
		most   int // largest number of requests for pages during the outage
	}{
		{"maintenance", maintenance, 10},
		{"maintenance with a number and the path", incidents, 10},
		{"empty answers", empties, 10},
		{"pages that scripts draw", shells, 10},
		{"a login form at every URL", loginForm, 10},
		{"redirects to a login form", loginWall, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := newHourSite(t)
			crawl := newHourCrawl(t, site)
			site.become(slowly(c.answer))
			said, changes := crawl.round()
			if changes != "" {
				t.Errorf("the feed of the bad hour has: %s", changes)
			}
			if site.asked > c.most {
				t.Errorf("asked for %d pages in the bad hour, want at most %d", site.asked, c.most)
			}
			host := strings.TrimPrefix(site.URL, "http://")
			if !strings.Contains(said, "suspended until the end of the run: "+host) {
				t.Errorf("the summary names no host that was left alone:\n%s", said)
			}
			if status, _ := crawl.run("status", "--store", crawl.dir+"/store"); !regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(host) + ` .*the last run suspended the host`).MatchString(status) {
				t.Errorf("the status does not say that the host was left alone:\n%s", status)
			}
			if rep, _ := crawl.run("report", "--store", crawl.dir+"/store"); !strings.Contains(rep, "was suspended by the last run") {
				t.Errorf("the report does not say that the host was left alone:\n%s", rep)
			}
			site.become(nil)
			site.edited["/a/3"], site.edited["/a/4"] = 1, 2
			said, changes = crawl.round()
			if want := "changed /a/3 /a/4"; changes != want {
				t.Errorf("after the bad hour the feed has %q, want %q\n%s", changes, want, said)
			}
			if strings.Contains(said, "suspended") {
				t.Errorf("the site is well, and the summary says:\n%s", said)
			}
			if status, _ := crawl.run("status", "--store", crawl.dir+"/store"); strings.Contains(status, "suspended") || !strings.Contains(status, "pending          0") {
				t.Errorf("the site is well, and the status says:\n%s", status)
			}
			if _, changes = crawl.round(); changes != "" {
				t.Errorf("nothing changed since, and the feed has %q", changes)
			}
		})
	}
}

// TestBadForGood revisits a site that permanently returns one page for all URLs. No old page may
// stay in the store. In the third run, the home page gets the new text. The other pages are gone,
// because URLs that do not exist return that text too.
func TestBadForGood(t *testing.T) {
	t.Parallel()
	const homeLeft = "changed /, 20 gone|20 gone, new /" // the home page is new if it was a duplicate at first
	for _, c := range []struct {
		name      string
		answer    func(http.ResponseWriter, *http.Request) bool
		goneAfter int
		want      []string // regular expressions for the changes in the feed of each round
		back      string   // regular expression for the changes after the site has recovered
	}{
		{"one text for all pages", maintenance, 3, []string{"", "", homeLeft, ""}, "changed /, 20 new"},
		{"one text with a number", incidents, 3, []string{"", "", homeLeft, `changed /(, \d+ gone|, gone( /a/\d+){1,3})?(, new /a/\d+)?`}, `.*\d new`}, // the copies of this text are near-duplicates, and one may lead others for a moment
		{"nothing", empties, 3, []string{"", "", "21 gone", ""}, "21 new"},
		{"a login form", loginForm, 2, []string{"", homeLeft, ""}, "changed /, 20 new"},
		{"gone at once", maintenance, 1, []string{homeLeft, ""}, "changed /, 20 new"},
		{"redirects to one page", loginWall, 2, []string{"", `2\d gone, new /login\?next=[^ ]*`, ""}, ".*21 new"}, // more than 21 if one of the copies led the others for a moment
		{"not found", pagesOnly(http.NotFound), 3, []string{"21 gone", ""}, "21 new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := newHourSite(t)
			crawl := newHourCrawl(t, site)
			site.become(c.answer)
			for i, want := range c.want {
				if said, changes := crawl.round("--gone-after", fmt.Sprint(c.goneAfter)); !regexp.MustCompile("^(" + want + ")$").MatchString(changes) {
					t.Errorf("round %d: the feed has %q, want %q\n%s", i+1, changes, want, said)
				}
			}
			site.become(nil)
			if said, changes := crawl.round(); !regexp.MustCompile("^" + c.back + "$").MatchString(changes) {
				t.Errorf("the site is back, and the feed has %q\n%s", changes, said)
			}
			if all, _ := crawl.run("export", "--store", crawl.dir+"/store"); strings.Count(all, "\n") != hourPages+1 {
				t.Errorf("the site is back, and the whole feed has %d pages, want %d", strings.Count(all, "\n"), hourPages+1)
			}
		})
	}
}

// TestOneBadPage revisits a site on which only one or two pages are bad. The site must never be
// suspended.
func TestOneBadPage(t *testing.T) {
	t.Parallel()
	sorry := "<title>Sorry</title><p>We are sorry, but there is no such page here any more. You may go back to where you came from."
	at := func(answer func(http.ResponseWriter, *http.Request) bool, paths ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			return slices.Contains(paths, r.URL.Path) && answer(w, r)
		}
	}
	soft := func(w http.ResponseWriter, r *http.Request) bool {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/a/%d", &n); err == nil && n != 5 && n <= hourPages || r.URL.Path == "/" {
			return false
		}
		return pagesOnly(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, sorry) })(w, r)
	}
	for _, c := range []struct {
		name  string
		first func(http.ResponseWriter, *http.Request) bool
		then  func(http.ResponseWriter, *http.Request) bool
		want  []string
	}{
		{"an empty page", nil, at(empties, "/a/5"), []string{"", "", "gone /a/5", ""}},
		{"a page is not found", nil, at(pagesOnly(http.NotFound), "/a/5"), []string{"gone /a/5", ""}},
		{"two pages have one text", nil, at(maintenance, "/a/5", "/a/6"), []string{"changed /a/[56], gone /a/[56]", ""}},
		{"three pages have one text", nil, at(maintenance, "/a/5", "/a/6", "/a/7"), []string{"", "", "changed /a/[567], gone /a/[567] /a/[567]", ""}},
		{"a page is moved", nil, at(pagesOnly(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/a/6", http.StatusMovedPermanently) }), "/a/5"), []string{"gone /a/5", ""}},
		{"tables of other figures", figures(1), figures(2), []string{"20 changed", ""}},
		{"a soft 404 on a host that is known for them", softFrom(soft, sorry), soft, []string{"", "", "gone /a/5", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := newHourSite(t)
			site.become(c.first)
			crawl := newHourCrawl(t, site)
			site.become(c.then)
			for i, want := range c.want {
				if said, changes := crawl.round(); !regexp.MustCompile("^"+want+"$").MatchString(changes) || strings.Contains(said, "suspended") {
					t.Errorf("round %d: the feed has %q, want %q\n%s", i+1, changes, want, said)
				}
			}
		})
	}
}

// figures returns a site whose articles are tables. Their words never change, but their figures
// change every day.
func figures(day uint64) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		var n uint64
		if _, err := fmt.Sscanf(r.URL.Path, "/a/%d", &n); err != nil || n > hourPages {
			return false
		}
		rng := rand.New(rand.NewPCG(n, day))
		fmt.Fprintf(w, "<title>Station %d</title><article><h1>Station %[1]d</h1><table>", n)
		for hour := range 24 {
			fmt.Fprintf(w, "<tr><td>hour %d<td>temperature %d<td>wind %d<td>rain %d", hour, rng.IntN(40), rng.IntN(99), rng.IntN(99))
		}
		fmt.Fprint(w, "</table></article>")
		return true
	}
}

// copies returns a site on which four articles have the same text.
func copies(version int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !slices.Contains([]string{"/a/5", "/a/6", "/a/7", "/a/8"}, r.URL.Path) {
			return false
		}
		fmt.Fprintf(w, "<title>Copy</title><article><p>%s</p></article>", prose(5, version))
		return true
	}
}

// If copies are all rewritten with one new text, they must be accepted as copies, because they were
// already copies of each other.
func TestRewrittenCopies(t *testing.T) {
	t.Parallel()
	site := newHourSite(t)
	site.become(copies(1))
	crawl := newHourCrawl(t, site)
	site.become(copies(3))
	for _, want := range []string{"17 same, 4 changed\n", "21 same\n"} {
		if said, _ := crawl.round(); !strings.Contains(said, "revisited 21 URLs: "+want) {
			t.Errorf("want %q, and the crawl says:\n%s", want, said)
		}
	}
}

// softFrom returns a site whose home page links to missing pages. For these it returns the page
// sorry with status 200. All articles exist.
func softFrom(soft func(http.ResponseWriter, *http.Request) bool, sorry string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/a/5":
			return false
		case r.URL.Path == "/":
			for i := range 8 {
				fmt.Fprintf(w, "<a href=/a/old%d>Old %d</a> ", i, i)
			}
			return false
		}
		return soft(w, r)
	}
}

// TestOneBadHost revisits two sites, one of which has an outage. The other must be visited
// normally.
func TestOneBadHost(t *testing.T) {
	t.Parallel()
	bad, good := newHourSite(t), newHourSite(t)
	good.number = 1
	crawl := newHourCrawl(t, bad, good)
	good.edited["/"], good.edited["/a/7"] = 1, 2
	bad.become(maintenance)
	said, changes := crawl.round()
	if want := "changed / /a/7"; changes != want || good.asked < 21 {
		t.Errorf("the feed has %q, want %q; the good site was asked for %d pages\n%s", changes, want, good.asked, said)
	}
	if strings.Count(said, "suspended until the end of the run: ") != 1 {
		t.Errorf("the summary says:\n%s", said)
	}
}

// A page that was gone before an outage must not return during the outage.
func TestDeadPagesStayDead(t *testing.T) {
	t.Parallel()
	site := newHourSite(t)
	crawl := newHourCrawl(t, site)
	site.become(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/a/1") {
			http.NotFound(w, r)
			return true
		}
		return false
	})
	if _, changes := crawl.round(); changes != "11 gone" {
		t.Fatalf("the feed has %q, want 11 gone", changes)
	}
	site.become(maintenance)
	if said, changes := crawl.round(); changes != "" {
		t.Errorf("in the bad hour the feed has %q\n%s", changes, said)
	}
}

// TestBusyForAll revisits a site that answers 503 to all requests. The crawl must give up after
// some requests and say so in the summary. The next run must visit all pages.
func TestBusyForAll(t *testing.T) {
	long(t) // the back-off between two requests is half a minute
	t.Parallel()
	site := newHourSite(t)
	crawl := newHourCrawl(t, site)
	site.become(busy)
	said, changes := crawl.round()
	host := strings.TrimPrefix(site.URL, "http://")
	if changes != "" || site.asked > 7 || !strings.Contains(said, "suspended until the end of the run: "+host+": the server was too busy to respond to 6 requests in a row (status 503)") {
		t.Errorf("the feed has %q, asked for %d pages\n%s", changes, site.asked, said)
	}
	site.become(nil)
	site.edited["/a/3"] = 1
	said, changes = crawl.round()
	if changes != "changed /a/3" || site.asked != 21 || strings.Contains(said, "suspended") {
		t.Errorf("the feed has %q, asked for %d pages\n%s", changes, site.asked, said)
	}
}

// TestBadHourInArchive judges the archive of a crawl that was repeated during an outage. The result
// must equal that of the crawl, both while the pages are kept and after they are gone.
func TestBadHourInArchive(t *testing.T) {
	t.Parallel()
	for _, goneAfter := range []string{"2", "9"} {
		t.Run(goneAfter, func(t *testing.T) {
			t.Parallel()
			site := newHourSite(t)
			crawl := newHourCrawl(t)
			crawl.seeds = []string{site.URL + "/"}
			kept := []string{"--warc", filepath.Join(crawl.dir, "kept"), "--gone-after", goneAfter}
			crawl.round(kept...)
			site.become(func(w http.ResponseWriter, r *http.Request) bool { return r.URL.Path != "/" && maintenance(w, r) })
			for range 2 {
				said, changes := crawl.round(kept...)
				t.Logf("%s\n%s", changes, said)
			}
			crawl.run("crawl", "--store", crawl.dir+"/again", "--from", filepath.Join(crawl.dir, "kept"), "--gone-after", goneAfter)
			want, _ := crawl.run("export", "--store", crawl.dir+"/store")
			got, _ := crawl.run("export", "--store", crawl.dir+"/again")
			if g, w := sortedLines(got), sortedLines(want); g != w {
				t.Errorf("the archive gives %d lines, the crawl has %d\n%.2000s", strings.Count(got, "\n"), strings.Count(want, "\n"), differing(g, w))
			}
		})
	}
}

// Pages that were gone during one visit must return, even if their texts are similar. Four pages
// have the same text. Four others are tables with the same words and different figures each time.
func TestGoneReturns(t *testing.T) {
	t.Parallel()
	site := startTwin(t, 0)
	table := func(n, day int) string {
		var rows strings.Builder
		for hour := range 24 {
			fmt.Fprintf(&rows, "<tr><td>%02d:00<td>temperature<td>%d<td>wind<td>%d", hour, 1000*day+100*n+hour, 5000*day+70*n+hour)
		}
		return "<!DOCTYPE html><title>Station</title><h1>Measurements</h1><table>" + rows.String() + "</table>"
	}
	put := func(day int) {
		links := ""
		for n := range 4 {
			same, figures := fmt.Sprintf("/same/%d", n), fmt.Sprintf("/figures/%d", n)
			links += "<a href=" + same + ">a</a> <a href=" + figures + ">b</a> "
			site.put(same, essay("story", "", ""))
			site.put(figures, table(n, day))
		}
		site.put("/", essay("home", "", links))
	}
	dir := t.TempDir()
	put(1)
	crawlTwins(t, dir, site.url("/"))
	first := exportedVerdicts(t, dir)
	if len(first) != 9 {
		t.Fatalf("%d pages, want 9", len(first))
	}
	for n := range 4 {
		site.drop(fmt.Sprintf("/same/%d", n))
		site.drop(fmt.Sprintf("/figures/%d", n))
	}
	crawlTwins(t, dir, "--recrawl", "0s", "--gone-after", "1")
	if got := exportedVerdicts(t, dir); len(got) != 1 {
		t.Errorf("%d pages while eight are gone, want 1", len(got))
	}
	put(2)
	crawlTwins(t, dir, "--recrawl", "0s", "--gone-after", "1")
	if got := exportedVerdicts(t, dir); !maps.Equal(got, first) {
		t.Errorf("after the return the verdicts are\n%v, want\n%v", got, first)
	}
}
