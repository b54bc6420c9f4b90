package e2e

import (
	"fmt"
	"hash/fnv"
	"html"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A softSite is a site that answers requests for missing pages with status 200.
type softSite struct {
	name   string
	pages  map[string]string            // pages by path and query
	dead   []string                     // links to missing pages
	answer func(r *http.Request) string // body of the response for a missing page; "" means status 404
	found  bool                         // the missing pages must be recognised as soft 404s
	audit  bool                         // crawled with --audit, which asks each folder for one URL that cannot exist
	probes int                          // largest number of requested URLs to which no page links
}

// TestSoftSites crawls sites that answer requests for missing pages with status 200. It checks
// which of these answers are recognised as soft 404s, and that no page is mistaken for one.
func TestSoftSites(t *testing.T) {
	t.Parallel()
	for _, site := range softSites() {
		t.Run(site.name, func(t *testing.T) {
			asked, failed := site.crawl(t)
			lost, found, why := 0, 0, ""
			for url := range site.pages {
				switch {
				case failed[url] != "":
					lost, why = lost+1, url+": "+failed[url]
				case asked[url] == 0:
					lost, why = lost+1, url+" was not asked for"
				}
			}
			for _, url := range site.dead {
				if strings.HasPrefix(failed[url], "soft 404") {
					found++
				}
			}
			want := 0
			if site.found {
				want = len(site.dead)
			}
			t.Logf("%d of %d pages lost, %d of %d dead links found to be soft 404s", lost, len(site.pages), found, len(site.dead))
			if lost > 0 {
				t.Errorf("%d of %d pages are lost, such as %s", lost, len(site.pages), why)
			}
			if found != want {
				t.Errorf("%d of %d dead links are soft 404s, want %d", found, len(site.dead), want)
			}
			var probes []string
			for url := range asked {
				if site.pages[url] == "" && !slices.Contains(site.dead, url) {
					probes = append(probes, url)
				}
			}
			if len(probes) > site.probes {
				t.Errorf("nothing links to %q, want at most %d such URLs", probes, site.probes)
			}
		})
	}
}

// crawl returns the number of requests for each URL, and the reasons of failures by URL.
func (s *softSite) crawl(t *testing.T) (asked map[string]int, failed map[string]string) {
	var mu sync.Mutex
	asked, failed = map[string]int{}, map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		url := r.URL.RequestURI()
		if url == "/robots.txt" || url == "/sitemap.xml" {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		asked[url]++
		mu.Unlock()
		body := s.pages[url]
		if body == "" && s.name == "a redirect to the home page" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		if body == "" && s.answer != nil {
			body = s.answer(r)
		}
		if body == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	store := filepath.Join(t.TempDir(), "store")
	run(t, "crawl", "--quiet", "--store", store, "--delay", "0", "--parallel", "1", "--budget", "off", "--allow-private", "127.0.0.0/8", fmt.Sprintf("--audit=%v", s.audit), server.URL+"/")
	out, _ := run(t, "status", "--store", store, "--urls", "failed")
	for line := range strings.Lines(out) {
		url, why, _ := strings.Cut(line, "\t")
		failed[strings.TrimPrefix(url, server.URL)] = why
	}
	mu.Lock()
	defer mu.Unlock()
	return asked, failed
}

// softWords returns a text of n words that depends only on name.
func softWords(name string, n int) string {
	h := fnv.New64a()
	h.Write([]byte(name))
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	var b strings.Builder
	for range n {
		for range 2 + rng.IntN(3) {
			b.WriteByte("bdfgklmnprstvz"[rng.IntN(14)])
			b.WriteByte("aeiou"[rng.IntN(5)])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func softPage(title, text string) string {
	return "<!DOCTYPE html><html lang=en><title>" + html.EscapeString(title) + "</title><main><article><p>" + text + "</article></main></html>"
}

// softSites builds the sites. The home page of each site links alternately to pages and to missing
// pages.
func softSites() []softSite {
	const apology = "We are sorry. The page that you were looking for has been moved, or it has never been here. The editors cannot say more about the reasons, and there is nobody who could be asked. You may go back to where you came from, or begin again at the front page."
	always := func(body string) func(*http.Request) string { return func(*http.Request) string { return body } }
	links := func(form string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf(form, softWords(fmt.Sprint(form, i), 1)[:4]+fmt.Sprint(i)))
		}
		return all
	}
	pages := func(urls []string, page func(url string) string) map[string]string {
		all := map[string]string{}
		for _, url := range urls {
			all[url] = page(url)
		}
		return all
	}
	titled := func(url string) string { return softPage(softWords("title"+url, 3), softWords(url, 150)) }
	constant := func(url string) string { return softPage("Example", softWords(url, 150)) }
	terms := "</p><h2>Terms</h2><p>" + softWords("terms", 400)
	list := strings.Repeat("</p><p>The mill was mended by the miller.", 9) + softWords("list", 60)
	var numbered []string
	for n := range 300 {
		numbered = append(numbered, fmt.Sprintf("/product/%d", n+1))
	}
	number := func(form string, first, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf(form, first+i))
		}
		return all
	}
	all := []softSite{
		{name: "by path", pages: pages(links("/page/%s", 20), titled), dead: links("/page/x%s", 12), answer: always(softPage("Not found", apology)), found: true, probes: 1},
		{name: "in a directory of dead links", pages: pages(links("/page/%s", 20), titled), dead: links("/old/%s", 12), answer: always(softPage("Not found", apology)), found: true, probes: 1},
		{name: "by query, and the title repeats the name", pages: pages(links("/doku.php?id=%s", 20), titled), dead: links("/doku.php?id=missing_%s", 12),
			answer: func(r *http.Request) string {
				id := r.URL.Query().Get("id")
				return softPage(id+" [Wiki]", "<h1>This topic does not exist yet</h1><p>You have followed a link to a topic that does not exist yet. If permissions allow, you may create it by clicking on Create this page. "+id)
			}, found: true, probes: 1},
		{name: "a wiki says that there is no text", pages: pages(links("/index.php?title=%s", 20), titled), dead: links("/index.php?title=No_%s", 12),
			answer: func(r *http.Request) string {
				title := strings.ReplaceAll(r.URL.Query().Get("title"), "_", " ")
				return softPage(title+" - Wiki", "There is currently no text in this page. You can search for "+title+" in other pages, search the related logs, or create this page.")
			}, found: true, probes: 1},
		{name: "it repeats the URL", pages: pages(links("/page/%s", 20), titled), dead: links("/page/x%s", 12),
			answer: func(r *http.Request) string {
				return softPage("Nothing at "+r.URL.Path, apology+" You asked for "+r.URL.Path+", and "+strings.TrimPrefix(r.URL.Path, "/page/")+" is not here.")
			}, found: true, probes: 1},
		{name: "it tells the time", pages: pages(links("/page/%s", 20), titled), dead: links("/page/x%s", 12),
			answer: func(r *http.Request) string {
				return softPage("Not found", apology+fmt.Sprintf(" It is %s, and %d visitors are here.", softWords("time"+r.URL.Path, 1), len(r.URL.Path)*37))
			}, found: true, probes: 1},
		{name: "half of it is a changing choice", pages: pages(number("/article/%d", 1, 60), titled), dead: number("/article/%d", 100_000, 30),
			answer: func(r *http.Request) string {
				return softPage("No longer available", apology+"</p><p>"+softWords("choice"+r.URL.Path, 60))
			}, found: true, probes: 1},
		{name: "one title for everything", pages: pages(links("/page/%s", 20), constant), dead: links("/page/x%s", 12), answer: always(softPage("Example", apology)), found: true, probes: 1},
		{name: "the home page is the answer", pages: pages(links("/page/%s", 20), titled), dead: links("/page/x%s", 12), found: true, probes: 1},
		{name: "a redirect to the home page", pages: pages(links("/page/%s", 20), titled), dead: links("/page/x%s", 12)},
		{name: "a login form is the answer", pages: pages(append(links("/article/%s", 20), "/login"), titled), dead: links("/member/%s", 12), found: true, probes: 1},
		{name: "a shop with much text on each page", pages: pages(numbered, func(url string) string {
			return softPage(softWords("title"+url, 3), softWords(url, 35)+terms)
		}), dead: number("/product/%d", 5000, 30), answer: always(softPage("Not found", "We are sorry, but there is no such product. "+terms)), found: true, probes: 1},
		{name: "that shop with one title for everything", pages: pages(numbered, func(url string) string { return softPage("Shop", softWords(url, 35)+terms) }),
			dead: number("/product/%d", 5000, 30), answer: always(softPage("Shop", "We are sorry, but there is no such product. "+terms)), found: true, probes: 1},
		{name: "that shop with products of fifteen words", pages: pages(numbered, func(url string) string {
			return softPage(softWords("title"+url, 3), softWords(url, 15)+terms)
		}), dead: number("/product/%d", 5000, 30), answer: always(softPage("Not found", "We are sorry, but there is no such product. "+terms)), found: true, probes: 1},
		{name: "that shop with products of five words", pages: pages(numbered[:60], func(url string) string { return softPage("Shop", softWords(url, 5)+terms) }),
			dead: number("/product/%d", 5000, 30), answer: always(softPage("Shop", "No such product. "+terms)), found: true, probes: 1},
		{name: "an empty form is the answer of the shop", pages: pages(numbered[:60], func(url string) string { return softPage("Shop", softWords(url, 35)+terms) }),
			dead: number("/product/%d", 5000, 30), answer: always(softPage("Shop", terms)), found: true, probes: 1},
		{name: "a dictionary of thin entries", pages: pages(links("/word/%s", 60), func(url string) string { return softPage("Dictionary", softWords(url, 6)) }),
			dead: links("/word/x%s", 12), answer: always(softPage("Dictionary", "There is no such entry here.")), found: true, probes: 1},
		{name: "measured values", pages: pages(number("/station/%d", 1, 60), func(url string) string {
			return softPage("Station", fmt.Sprintf("The temperature is %d degrees, and the wind comes from %d degrees.", len(softWords(url, 9)), len(softWords(url+"w", 20))))
		}), dead: number("/station/%d", 5000, 12), answer: always(softPage("Station", "The temperature is 0 degrees, and the wind comes from 0 degrees.")), found: true, probes: 1},
		{name: "empty lists on a site with 404", pages: pages(number("/list/%d", 1, 40), func(url string) string {
			if len(softWords(url, 3))%2 == 0 {
				return softPage("List", "There are no items here.")
			}
			return softPage("List", softWords(url, 100))
		}), dead: number("/list/%d", 5000, 12), probes: 1},
		{name: "empty lists that have names", pages: pages(number("/list/%d", 1, 40), func(url string) string {
			return softPage("List", softWords("name"+url, 2)+": there are no items here.")
		}), dead: number("/list/%d", 5000, 12), answer: always(softPage("List", "there are no items here.")), found: true, probes: 1},
		{name: "a parameter that changes nothing", pages: pages(append(number("/item?id=1&from=%d", 1, 12), number("/item?id=%d&from=1", 2, 30)...), func(url string) string {
			id, _, _ := strings.Cut(url, "&")
			return titled(id)
		}), probes: 1},
		{name: "a name in the path that changes nothing", pages: pages(append(links("/item/1/%s", 12), links("/item/2/%s", 12)...), func(url string) string { return titled(url[:7]) }), probes: 0},
		{name: "an unknown value selects the default view", pages: pages(append(number("/list?color=%d", 1, 20), "/list"), func(url string) string {
			if url == "/list" || url > "/list?color=15" {
				return titled("/list")
			}
			return titled(url)
		}), answer: nil, probes: 1},
		{name: "views of one list with other headings", pages: pages(number("/timeline/%d", 1, 30), func(url string) string {
			if url < "/timeline/2" {
				return titled(url)
			}
			return softPage("Timeline", softWords(url, 5)+list)
		}), answer: always(softPage("Timeline", "All events"+list)), probes: 1},
		{name: "one of a folder in an audit", pages: pages(links("/page/%s", 9), titled), dead: []string{"/page/missing"}, answer: always(softPage("Not found", apology)), found: true, audit: true, probes: 1},
		{name: "one of a folder, and the home page is the answer", pages: pages(links("/page/%s", 9), titled), dead: []string{"/home"}, audit: true, probes: 2},
		{name: "the last page of a list", pages: pages(number("/list?page=%d", 1, 30), func(url string) string { return softPage("List", softWords(url, 30)) }), probes: 1},
	}
	for i := range all {
		s := &all[i]
		var urls []string
		for url := range s.pages {
			urls = append(urls, url)
		}
		slices.Sort(urls)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
		var list strings.Builder
		for n, url := range urls {
			fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a>", html.EscapeString(url), softWords("link"+url, 2))
			if each := max(1, len(s.dead)/max(1, len(urls))+1); n*each < len(s.dead) {
				for _, dead := range s.dead[n*each : min(len(s.dead), (n+1)*each)] {
					fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a>", html.EscapeString(dead), softWords("link"+dead, 2))
				}
			}
		}
		home := softPage("Welcome", softWords("home", 120)+"</p><nav><ul>"+list.String()+"</ul></nav>")
		s.pages["/"] = home
		switch s.name {
		case "the home page is the answer":
			s.answer = always(home)
		case "a login form is the answer":
			s.pages["/login"] = softPage("Log in", "Please log in with your name and your password. If you have no account yet, you can make one.")
			s.answer = always(s.pages["/login"])
		case "an unknown value selects the default view":
			s.answer = always(s.pages["/list"])
		case "the last page of a list":
			s.answer = always(s.pages["/list?page=30"])
		case "a parameter that changes nothing":
			s.answer = func(r *http.Request) string { return titled("/item?id=" + r.URL.Query().Get("id")) }
		case "a name in the path that changes nothing":
			s.answer = func(r *http.Request) string { return titled(r.URL.Path[:7]) }
		}
	}
	return all
}
