package crawler

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"skink/frontier"
)

// hrefs are links of a document; those that begin with "nofollow:" say so.
func hrefs(all ...string) Links {
	return Links{Hrefs: func(yield func(string, bool) bool) {
		for _, h := range all {
			h, nofollow := strings.CutPrefix(h, "nofollow:")
			if !yield(h, nofollow) {
				return
			}
		}
	}}
}

// What a page leads to, as it will stand in the frontier. Real pages are in
// internal/ingest.
func TestLeads(t *testing.T) {
	found := hrefs("/a#top", "a", "", "#top", "nofollow:/paid", "http://other.test/", "mailto:x@y", "http://[", "http://other.test/#again")
	for _, c := range []struct {
		name          string
		item          frontier.Item
		base          string
		opt           Options
		items, beyond string
	}{
		{"each once, not the page itself", frontier.Item{URL: "http://a.test/"}, "", Options{}, "http://a.test/a@1 http://a.test/paid@1", "http://other.test/"},
		{"one step deeper", frontier.Item{URL: "http://a.test/", Depth: 3}, "", Options{MaxDepth: 4}, "http://a.test/a@4 http://a.test/paid@4", "http://other.test/"},
		{"too deep", frontier.Item{URL: "http://a.test/", Depth: 4}, "", Options{MaxDepth: 4}, "", "http://a.test/a http://a.test/paid http://other.test/"},
		{"nofollow is obeyed", frontier.Item{URL: "http://a.test/"}, "", Options{ObeyNoFollow: true}, "http://a.test/a@1", "http://other.test/"},
		{"another base", frontier.Item{URL: "http://a.test/"}, "/sub/", Options{}, "http://a.test/a@1 http://a.test/sub/a@1 http://a.test/sub/@1 http://a.test/paid@1", "http://other.test/"},
	} {
		c.opt.Scope = newScope(t, ScopeHost, nil, nil, "http://a.test/")
		leads, err := LeadsOf(&Page{Item: c.item}, &c.opt)
		if err != nil {
			t.Fatal(err)
		}
		found.Base = c.base
		if err := leads.Follow(found); err != nil {
			t.Fatal(err)
		}
		same(t, c.name+": items", listed(leads.Items), c.items)
		same(t, c.name+": beyond", strings.Join(leads.Beyond, " "), c.beyond)
	}
}

func listed(items []frontier.Item) string {
	var all []string
	for _, it := range items {
		all = append(all, fmt.Sprintf("%s@%d", it.URL, it.Depth))
	}
	return strings.Join(all, " ")
}

// Without a scope nothing is followed, nor noted as outside it.
func TestLeadsNowhere(t *testing.T) {
	leads, err := LeadsOf(&Page{Item: frontier.Item{URL: "http://a.test/"}, Location: "http://a.test/2"}, new(Options))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Leads{leads, new(Leads)} {
		if err := l.Follow(hrefs("/a", "http://b.test/")); err != nil || l.Items != nil || l.Beyond != nil {
			t.Errorf("leads to %v, %v (%v)", l.Items, l.Beyond, err)
		}
	}
}

// A page can have more links than anyone will follow.
func TestManyLinks(t *testing.T) {
	all := make([]string, MaxLinks+1000)
	for i := range all {
		all[i] = fmt.Sprint("/", i/2)
	}
	leads, err := LeadsOf(&Page{Item: frontier.Item{URL: "http://a.test/"}}, &Options{Scope: newScope(t, ScopeAny, nil, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if err := leads.Follow(hrefs(all...)); err != nil {
		t.Fatal(err)
	}
	same(t, "links", len(leads.Items), MaxLinks/2)
}

// A page can lead to a hundred thousand hosts.
func TestManyHosts(t *testing.T) {
	leads := Leads{Items: make([]frontier.Item, 100_000)}
	for i := range leads.Items {
		leads.Items[i].URL = fmt.Sprintf("http://h%d.test/", i/2)
	}
	same(t, "hosts", len(leads.hosts()), 50_000)
}

// A seed that cannot be remembered ends the crawl: resumed, it would stop at the
// old address.
func TestSeedNotRemembered(t *testing.T) {
	errDisk := errors.New("no space left")
	opt := Options{Scope: newScope(t, ScopeHost, nil, nil, "http://a.test/"), OnSeed: func(string) error { return errDisk }}
	moved := &Page{Item: frontier.Item{URL: "http://a.test/"}, Status: 301, Location: "http://www.a.test/"}
	if _, err := LeadsOf(moved, &opt); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
}

// TestLeadsIntoFolders: only a folder's own pages lead into it, by links and by
// redirects, unless it was opened to the others.
func TestLeadsIntoFolders(t *testing.T) {
	folders := []Folder{{"one.localhost", "/one"}, {"two.localhost", "/two"}}
	for _, c := range []struct {
		from, to string
		opt      Options
		want     bool
	}{
		{"http://one.localhost/a", "http://one.localhost/b", Options{Folders: folders}, true},
		{"http://one.localhost/a", "http://two.localhost/b", Options{Folders: folders}, false},
		{"http://evil.test/", "http://one.localhost/b", Options{Folders: folders}, false},
		{"http://one.localhost/a", "http://evil.test/", Options{Folders: folders}, true},
		{"http://evil.test/", "http://lost.localhost/b", Options{Away: []string{"lost.localhost"}}, false},
		{"http://evil.test/", "http://one.localhost/b", Options{Folders: folders, OpenFolders: true}, true},
		{"http://one.localhost/a", "http://two.localhost/b", Options{Folders: folders, OpenFolders: true}, true},
	} {
		c.opt.Scope = newScope(t, ScopeAny, nil, nil)
		for _, page := range []*Page{{Item: item(c.from)}, {Item: item(c.from), Location: c.to}} {
			leads, err := LeadsOf(page, &c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if err := leads.Follow(hrefs(c.to)); err != nil {
				t.Fatal(err)
			}
			if got := len(leads.Items) == 1; got != c.want || len(leads.Items)+len(leads.Beyond) != 1 {
				t.Errorf("%s leads to %s: %v, want %v (redirect to %q, open %v)", c.from, c.to, got, c.want, page.Location, c.opt.OpenFolders)
			}
		}
	}
}
