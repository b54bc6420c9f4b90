package view

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/internal/tools/storetest"
	"skink/store"
)

// linksTo returns the packed links of a page to numbered pages of a.example.
func linksTo(from string, pages ...int) []byte {
	var all []store.Link
	for i, p := range pages {
		all = append(all, store.Link{URL: numbered(p), Text: fmt.Sprintf("to %d of %d", i, len(pages)), Kind: store.LinkAnchor})
	}
	return store.PackLinks(from, all)
}

func numbered(i int) string { return fmt.Sprintf("https://a.example/%d", i) }

// linkedPage returns an entry for a numbered page with links.
func linkedPage(t testing.TB, i int, to ...int) *store.Entry {
	e := entryOf(t, testPage{url: numbered(i), title: fmt.Sprint("Page ", i), text: words(i, i+60)}, i)
	e.Out = linksTo(e.Record.URL, to...)
	return e
}

// counted returns a view that has read the links of all pages.
func counted(t testing.TB, s store.Reader) *View {
	v, _ := newView(t, s, nil)
	v.readLinks()
	if err := v.incoming.now().Failed; err != nil {
		t.Fatal(err)
	}
	return v
}

// fromOf returns the URLs of the recorded pages that link to a page, and the number of all pages
// that link to it.
func (v *View) fromOf(page int) (urls []string, all int) {
	v.index.look(func(r *rows) {
		row, ok := r.find(idOf(numbered(page)))
		if !ok {
			return
		}
		var from []uint32
		from, all = v.incoming.now().result.linking(r.at(row).first)
		for _, f := range from {
			u, _ := r.strings(int(f))
			urls = append(urls, string(u))
		}
	})
	return urls, all
}

// TestInward checks that a view knows for each page the other pages that link to it, each once, in
// the order of their last visits. Some pages are visited several times.
func TestInward(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const pages = 12
		s := storetest.NewMemory()
		var order []int // the visited pages, in the order of their last visits
		links := map[int][]int{}
		for range rapid.IntRange(1, 20).Draw(r, "visits") {
			p := rapid.IntRange(0, pages-1).Draw(r, "page")
			links[p] = rapid.SliceOfN(rapid.IntRange(0, pages+2), 0, 8).Draw(r, "links")
			order = append(slices.DeleteFunc(order, func(o int) bool { return o == p }), p)
			e := linkedPage(t, p, links[p]...)
			e.Revisit = true
			commit(t, s, e)
		}
		v := counted(t, s)
		for to := range pages {
			var want []string
			for _, from := range order {
				if from != to && slices.Contains(links[from], to) && slices.Contains(order, to) {
					want = append(want, numbered(from))
				}
			}
			if got, all := v.fromOf(to); !slices.Equal(got, want) || all != len(want) {
				r.Fatalf("%v link to %d, want %v of %v", got, to, want, links)
			}
		}
	})
}

// TestInwardIsBounded checks that, for a page with many incoming links, a view records only the
// first pages that link to it, and the number of all such pages.
func TestInwardIsBounded(t *testing.T) {
	s := storetest.NewMemory()
	commit(t, s, linkedPage(t, 0))
	for i := range maxInward + 50 {
		commit(t, s, linkedPage(t, i+1, 0, 0))
	}
	v := counted(t, s)
	from, all := v.fromOf(0)
	if len(from) != maxInward || all != maxInward+50 || from[0] != numbered(1) {
		t.Errorf("%d of %d are noted, from %s on", len(from), all, from[0])
	}
}

// TestLinksIn checks that a page about a URL shows which pages link to the URL, and that the form
// on it updates the links.
func TestLinksIn(t *testing.T) {
	s := storetest.NewMemory()
	commit(t, s, linkedPage(t, 0), linkedPage(t, 1, 0, 2), linkedPage(t, 2))
	v, server := newView(t, s, nil)
	path := "/page/" + idOf(numbered(0)).String()
	var body string
	for body = get(t, server, path); strings.Contains(body, "are being read"); time.Sleep(time.Millisecond) {
		body = get(t, server, path)
	}
	in := func(body string) string { return body[strings.Index(body, `id="in"`):] }
	for _, want := range []string{"1 page links to this page", "Page 1", "to 0 of 2", "<td>link</td>", "Find the links again"} {
		if !strings.Contains(in(body), want) {
			t.Errorf("it does not say %q\n%s", want, in(body))
		}
	}
	if body := get(t, server, "/page/"+idOf(numbered(1)).String()); !strings.Contains(body, "No page links to this page.") {
		t.Error("a page to which none links does not say so")
	}

	commit(t, s, linkedPage(t, 3, 0))
	token := regexp.MustCompile(`name="token" value="(\w+)"`).FindStringSubmatch(body)[1]
	if got := post(t, server, path+"/in", nil, ""); got != 403 {
		t.Errorf("without its token the form is answered with %d", got)
	}
	if got := post(t, server, "/page/guess/in", url.Values{"token": {token}}, ""); got != 404 {
		t.Errorf("for no page the form is answered with %d", got)
	}
	v.index.looked = time.Time{} // makes the view read the store again
	if got := post(t, server, path+"/in", url.Values{"token": {token}}, ""); got != 303 {
		t.Errorf("the form is answered with %d", got)
	}
	for body = get(t, server, path); !strings.Contains(body, "2 pages link to this page"); time.Sleep(time.Millisecond) {
		body = get(t, server, path)
	}
}
