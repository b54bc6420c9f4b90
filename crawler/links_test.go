package crawler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"skink/crawler/folder"
	"skink/frontier"
)

// hrefs returns the links of a document. Links that begin with "nofollow:" have rel=nofollow.
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

// TestLeads checks the items for the links of a page. Tests with real pages are in internal/ingest.
func TestLeads(t *testing.T) {
	found := hrefs("/a#top", "a", "", "#top", "nofollow:/paid", "http://other.test/", "mailto:x@y", "http://[", "http://other.test/#again")
	for _, c := range []struct {
		name          string
		item          frontier.Item
		base          string
		opt           Options
		items, beyond string
	}{
		{"each once, not the page itself", frontier.Item{URL: "http://a.test/"}, "", Options{}, "http://a.test/a@1 http://a.test/paid@1", "http://other.test/ scope: beyond --scope host"},
		{"one step deeper", frontier.Item{URL: "http://a.test/", Depth: 3}, "", Options{MaxDepth: 4}, "http://a.test/a@4 http://a.test/paid@4", "http://other.test/ scope: beyond --scope host"},
		{"too deep", frontier.Item{URL: "http://a.test/", Depth: 4}, "", Options{MaxDepth: 4}, "", "http://a.test/a depth: beyond --max-depth 4 http://a.test/paid depth: beyond --max-depth 4 http://other.test/ scope: beyond --scope host"},
		{"nofollow is obeyed", frontier.Item{URL: "http://a.test/"}, "", Options{ObeyNoFollow: true}, "http://a.test/a@1", "http://other.test/ scope: beyond --scope host"},
		{"another base", frontier.Item{URL: "http://a.test/"}, "/sub/", Options{}, "http://a.test/a@1 http://a.test/sub/a@1 http://a.test/sub/@1 http://a.test/paid@1", "http://other.test/ scope: beyond --scope host"},
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

// Without a scope, links are neither followed nor listed in Beyond.
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

// If a page has more than MaxLinks links, the others are ignored.
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

// TestManyHosts checks that the hosts of very many items are found, each of them once.
func TestManyHosts(t *testing.T) {
	leads := Leads{Items: make([]frontier.Item, 100_000)}
	for i := range leads.Items {
		leads.Items[i].URL = fmt.Sprintf("http://h%d.test/", i/2)
	}
	same(t, "hosts", len(leads.hosts(nil)), 50_000)
}

// If the new URL of a seed cannot be stored, the crawl ends. Otherwise, a resumed crawl would have
// only the old URL as a seed.
func TestSeedNotRemembered(t *testing.T) {
	errDisk := errors.New("no space left")
	opt := Options{Scope: newScope(t, ScopeHost, nil, nil, "http://a.test/"), OnSeed: func(_, _ string) error { return errDisk }}
	moved := &Page{Item: frontier.Item{URL: "http://a.test/"}, Status: 301, Location: "http://www.a.test/"}
	if _, err := LeadsOf(moved, &opt); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
}

// Links and redirects into a folder are followed only if they are from pages of the folder.
func TestLeadsIntoFolders(t *testing.T) {
	folders := []folder.Site{{Host: "one.localhost", Dir: "/one"}, {Host: "two.localhost", Dir: "/two"}}
	for _, c := range []struct {
		from, to string
		opt      Options
		want     bool
	}{
		{"http://one.localhost/a", "http://one.localhost/b", Options{Folders: folders}, true},
		{"http://one.localhost/a", "http://two.localhost/b", Options{Folders: folders}, false},
		{"http://evil.test/", "http://one.localhost/b", Options{Folders: folders}, false},
		{"http://one.localhost/a", "http://evil.test/", Options{Folders: folders}, true},
	} {
		c.opt.Scope, c.opt.Referrers = newScope(t, ScopeAny, nil, nil), true
		for _, page := range []*Page{{Item: item(c.from)}, {Item: item(c.from), Location: c.to}} {
			leads, err := LeadsOf(page, &c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if err := leads.Follow(hrefs(c.to)); err != nil {
				t.Fatal(err)
			}
			if len(leads.Items) == 1 && leads.Items[0].From != c.from {
				t.Errorf("%s leads to %+v (redirect to %q)", c.from, leads.Items[0], page.Location)
			}
			if got := len(leads.Items) == 1; got != c.want || len(leads.Items)+len(leads.Beyond) != 1 {
				t.Errorf("%s leads to %s: %v, want %v (redirect to %q)", c.from, c.to, got, c.want, page.Location)
			}
		}
	}
}

// Targets lists the target of every link if Links asks for it, including links that are not
// followed.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		name           string
		obey           bool
		links          Links
		files          []string
		items, targets string
	}{
		{"each in its turn", false, hrefs("/a", "http://b.test/", "/a#2", "mailto:x", "/", "/c"), nil, "http://a.test/a@1 http://a.test/c@1",
			"http://a.test/a=0 http://b.test/=1 http://a.test/a=0 =-1 http://a.test/=-1 http://a.test/c=5"},
		{"files are not followed", false, hrefs("/a"), []string{"/a.css", "/a", "/a.css"}, "http://a.test/a@1",
			"http://a.test/a=0 http://a.test/a.css=1 http://a.test/a=0 http://a.test/a.css=1"},
		{"nofollow is obeyed", true, hrefs("nofollow:/n", "/a", "/n"), nil, "http://a.test/a@1 http://a.test/n@1",
			"http://a.test/n=0 http://a.test/a=1 http://a.test/n=0"},
		{"a page that forbids it", false, Links{Hrefs: hrefs("/a").Hrefs, NoFollow: true}, nil, "", "http://a.test/a=0"},
	} {
		opt := Options{Scope: newScope(t, ScopeHost, nil, nil, "http://a.test/"), ObeyNoFollow: c.obey}
		leads, err := LeadsOf(&Page{Item: frontier.Item{URL: "http://a.test/"}}, &opt)
		if err != nil {
			t.Fatal(err)
		}
		c.links.Files, c.links.Targets = slices.Values(c.files), true
		if err := leads.Follow(c.links); err != nil {
			t.Fatal(err)
		}
		var targets []string
		for _, target := range leads.Targets {
			targets = append(targets, fmt.Sprintf("%s=%d", target.URL, target.First))
		}
		if got := listed(leads.Items); got != c.items {
			t.Errorf("%s: items are %s, want %s", c.name, got, c.items)
		}
		if got := strings.Join(targets, " "); got != c.targets {
			t.Errorf("%s: targets are %s, want %s", c.name, got, c.targets)
		}
	}
}

// TestRequire checks which files of a page become requisites, and that the number of steps from a
// page to a requisite is limited.
func TestRequire(t *testing.T) {
	opt := Options{Requisites: true, CheckAssets: true, Scope: newScope(t, ScopeHost, nil, []string{`\.mp4$`}, "http://a.test/"), Folders: []folder.Site{{Host: "disk.localhost", Dir: "/disk"}}}
	files := []string{"/a.css?utm_source=x", "http://cdn.test/b.css", "/a.css?utm_source=x", "/big.mp4", "http://disk.localhost/c.css", "http://[", "data:,x", "/linked.png"}
	requisites := func(item frontier.Item) (all []string) {
		leads, err := LeadsOf(&Page{Item: item}, &opt)
		if err != nil {
			t.Fatal(err)
		}
		links := hrefs("/linked.png")
		links.Files = slices.Values(files)
		if err := leads.Follow(links); err != nil {
			t.Fatal(err)
		}
		for _, it := range leads.Items {
			if it.Kind == frontier.Requisite {
				all = append(all, fmt.Sprintf("%s@%d+%d", it.URL, it.Depth, it.Hops))
			}
		}
		return all
	}
	for _, c := range []struct {
		from frontier.Item
		want []string
	}{
		{frontier.Item{URL: "http://a.test/", Depth: 2}, []string{"http://a.test/a.css?utm_source=x@3+0", "http://cdn.test/b.css@3+0"}},
		{frontier.Item{URL: "http://cdn.test/x.css", Depth: 3, Hops: 1, Kind: frontier.Requisite}, []string{"http://cdn.test/a.css?utm_source=x@3+2", "http://cdn.test/b.css@3+2"}},
		{frontier.Item{URL: "http://cdn.test/x.css", Depth: 3, Hops: MaxHops, Kind: frontier.Requisite}, nil},
	} {
		if got := requisites(c.from); !slices.Equal(got, c.want) {
			t.Errorf("from %+v: got %q, want %q", c.from, got, c.want)
		}
	}
	moved, err := LeadsOf(&Page{Item: frontier.Item{URL: "http://a.test/x.png", Depth: 1, Kind: frontier.Requisite}, Location: "http://cdn.test/x.png"}, &opt)
	if err != nil || len(moved.Items) != 1 || moved.Items[0].Kind != frontier.Requisite || moved.Items[0].Hops != 1 {
		t.Errorf("a redirect leads to %+v (%v)", moved.Items, err)
	}
}
