package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"skink/dedup"
	"skink/frontier"
)

func small() *web { return newWeb(options{hosts: 20, pages: 1000, seed: 3, port: 80}) }

// The same options give the same web, and another seed gives another web.
func TestDeterministic(t *testing.T) {
	describe := func(seed uint64) string {
		w := newWeb(options{hosts: 7, pages: 200, seed: seed, port: 80})
		var b strings.Builder
		fmt.Fprintln(&b, w.totals())
		for n := range w.pages {
			w.writePage(&b, n)
		}
		for a := range w.addresses() {
			fmt.Fprintln(&b, a)
		}
		return b.String()
	}
	first, again := describe(1), describe(1)
	if first != again {
		t.Error("one seed, two webs")
	}
	if first == describe(2) {
		t.Error("two seeds, one web")
	}
}

// Following all links from the start reaches all addresses and no others. So the truth describes
// the web as it is served.
func TestAllIsLinked(t *testing.T) {
	w := newWeb(options{hosts: 20, pages: 1000, seed: 3, port: 8080})
	server := newServer(w)
	get := func(url string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, url, nil)
		out := httptest.NewRecorder()
		defer func() { _ = recover() }() // the server panics to break off an answer
		server.ServeHTTP(out, r)
		return out.Result()
	}
	found := map[string]bool{}
	queue := []string{w.totals().URL}
	for len(queue) > 0 {
		url := queue[0]
		queue = queue[1:]
		if found[url] {
			continue
		}
		found[url] = true
		if strings.Contains(url, "/private/") {
			continue
		}
		resp := get(url)
		if resp != nil && resp.StatusCode == http.StatusServiceUnavailable {
			resp = get(url)
		}
		if resp == nil {
			continue
		}
		base, err := frontier.NewBase(url, "", "")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		links := append(hrefs(string(body)), resp.Header["Location"]...)
		for _, l := range links {
			to, err := base.Resolve(l)
			if err != nil {
				t.Fatalf("%s links to %q: %v", url, l, err)
			}
			queue = append(queue, to)
		}
	}
	var want []string
	for a := range w.addresses() {
		want = append(want, a.URL)
		if !found[a.URL] {
			t.Errorf("%s is not linked", a.URL)
		}
	}
	for url := range found {
		if !slices.Contains(want, url) {
			t.Errorf("%s is not in the truth", url)
		}
	}
	if asked := server.sofar(); asked.Pages != len(w.pages) || asked.Again != 0 || asked.Wrong != 0 {
		t.Errorf("asked for %+v", asked)
	}
}

func hrefs(page string) (all []string) {
	for {
		_, rest, ok := strings.Cut(page, `href="`)
		if !ok {
			return all
		}
		var href string
		href, page, _ = strings.Cut(rest, `"`)
		all = append(all, href)
	}
}

// Pages of one group have the resemblance that the comment in web.go states, and pages of different
// groups have no shingle in common.
func TestStories(t *testing.T) {
	w := small()
	set := func(n int) dedup.Set {
		var text dedup.Text
		text.Read([]byte(strings.Join(w.story(n), " ")))
		return text.Set(dedup.DefaultShingle)
	}
	first := map[int]int{}
	owner := map[uint64]int{}
	for n, p := range w.pages {
		own := set(n)
		for _, shingle := range own {
			if o, ok := owner[shingle]; ok && o != p.group {
				t.Fatalf("page %d shares a shingle with group %d", n, o)
			}
			owner[shingle] = p.group
		}
		o, ok := first[p.group]
		if !ok {
			first[p.group] = n
			continue
		}
		least := 1.0
		if p.form == near {
			least = 0.93
		}
		if r := dedup.Resemblance(own, set(o)); r < least || p.form == near && r == 1 {
			t.Errorf("pages %d and %d of a group that is %s resemble each other by %.3f", o, n, formNames[p.form], r)
		}
	}
}

// The totals agree with the list of addresses.
func TestTotals(t *testing.T) {
	w := small()
	kinds, total := map[string]int{}, w.totals()
	for a := range w.addresses() {
		kinds[a.Kind]++
	}
	got := fmt.Sprint(kinds)
	want := fmt.Sprint(map[string]int{"page": total.Pages, "error": total.Gone + total.Broken, "redirect": total.Redirects, "blocked": total.Blocked, "other": total.Other})
	if got != want || total.Pages != total.Unique+total.Exact+total.Near+total.Thin || total.Pages != 1000 {
		t.Errorf("listed %s, counted %s, %+v", got, want, total)
	}
	if total.Exact == 0 || total.Near == 0 || total.Thin == 0 || total.Gone == 0 || total.Redirects == 0 || total.Blocked == 0 || total.Other == 0 || total.Busy == 0 {
		t.Errorf("something is missing: %+v", total)
	}
}
