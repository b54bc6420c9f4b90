package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/storetest"
	"skink/store"
)

// placed returns an entry for a page of a folder, with links to the pages at other URLs.
func placed(url string, depth int, links ...string) *store.Entry {
	var all []store.Link
	for _, to := range links {
		all = append(all, store.Link{URL: to, Kind: store.LinkAnchor})
	}
	r := store.Record{ID: idOf(url), URL: url, Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{Depth: depth}}
	return &store.Entry{Record: r, State: frontier.Fetched, Revisit: true, Out: store.PackLinks(url, all)}
}

// treeOf returns the lines of the tree of a store: indent, name, smaller folders, pages, duplicates, links within, out and in.
func treeOf(t testing.TB, s store.Reader) (lines []string, drawn *tree) {
	drawn = counted(t, s).incoming.now().result.tree
	for _, f := range drawn.Folders {
		lines = append(lines, fmt.Sprintf("%s%s %d %d %d %d/%d/%d %.1f", strings.Repeat("  ", f.Level), f.Name, f.Merged, f.Pages, f.Duplicates, f.Within, f.Out, f.In, f.Depth()))
	}
	return lines, drawn
}

// TestTree checks the folders of a site of one host. A folder that has only one folder is not drawn, and the seventh name
// of a path counts as part of the sixth.
func TestTree(t *testing.T) {
	s := storetest.NewMemory()
	at := func(path string) string { return "https://a.example/" + path }
	copied := placed(at("docs/v1/b"), 2)
	copied.Record.Verdict, copied.Record.Leader = dedup.Exact, idOf(at("docs/v1/a"))
	commit(t, s, placed(at(""), 0, at("docs/v1/a"), at("docs/v2/a?x=/y/"), at("deep/1/2/3/4/5/6/7")), placed(at("docs/v1/a"), 1, at(""), at("docs/v1/b"), at("docs/v1/b"), at("docs/v1/a"), at("gone")),
		copied, placed(at("docs/v2/a?x=/y/"), 1, at("docs/v1/a"), at("docs/v1/b")), placed(at("deep/1/2/3/4/5/6/7"), 1))
	commit(t, s, placed(at(""), 0, at("docs/v1/a"), at("docs/v2/a?x=/y/"), at("deep/1/2/3/4/5/6/7"))) // the page counts once
	lines, drawn := treeOf(t, s)
	want := []string{
		"a.example/ 0 1 0 0/3/1 0.0",
		"  deep/1/2/3/4/5/ 0 1 0 0/0/1 1.0",
		"  docs/ 0 0 0 0/0/0 0.0",
		"    v1/ 0 2 1 1/1/3 1.5",
		"    v2/ 0 1 0 0/2/1 1.0",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if a := drawn.Arcs[0]; a.From.Name != "v2/" || a.To.Name != "v1/" || a.Links != 2 || a.Width != "6.00" {
		t.Errorf("the largest arc is %+v", a)
	}

	_, server := newView(t, s, nil)
	var body string
	for body = get(t, server, "/map"); strings.Contains(body, "are being read"); time.Sleep(time.Millisecond) {
		body = get(t, server, "/map")
	}
	for _, want := range []string{
		`<text x="48" y="122">v1/</text>`, `<title>v2/ to v1/: 2 links</title>`, `<a href="/pages?q=a.example%2fdocs%2fv1%2f&amp;kind=page">`,
		`<td class="share"><span>50.0%</span>`, "Data as of",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not have %q:\n%s", want, body)
		}
	}
	if got := post(t, server, "/map", nil, ""); got != 403 {
		t.Errorf("without its token the form is answered with %d", got)
	}
}

// TestTreeOfMany checks the tree of random sites: few folders, each page and each link in one of them, and no folder left
// out that has more pages than a drawn one.
func TestTreeOfMany(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := storetest.NewMemory()
		names := rapid.SampledFrom([]string{"", "a/", "b/", "a-b/", "c/", "d/"})
		var urls []string
		for i := range rapid.IntRange(0, 120).Draw(r, "pages") {
			urls = append(urls, fmt.Sprintf("https://h%d.example/%s%s%s%d", rapid.IntRange(0, 2).Draw(r, "host"), names.Draw(r, "1"), names.Draw(r, "2"), names.Draw(r, "3"), i))
		}
		links := 0
		for _, url := range urls {
			to := rapid.SliceOfNDistinct(rapid.SampledFrom(urls), 0, 3, rapid.ID).Draw(r, "links")
			commit(t, s, placed(url, 0, to...))
			for _, other := range to {
				if other != url {
					links++
				}
			}
		}
		_, drawn := treeOf(t, s)
		pages, all, out, in := 0, 0, 0, 0
		for _, f := range drawn.Folders {
			pages, all, out, in = pages+int(f.Pages), all+int(f.Within+f.Out), out+int(f.Out), in+int(f.In)
		}
		if len(drawn.Folders) > maxFolders || pages != len(urls) || all != links || out != in || len(drawn.Arcs) > maxArcs {
			r.Fatalf("%d folders with %d of %d pages and %d of %d links, %d out, %d in", len(drawn.Folders), pages, len(urls), all, links, out, in)
		}
		for _, url := range urls {
			key := strings.TrimPrefix(url[:strings.LastIndexByte(url, '/')+1], "https://")
			lowest := ""
			for _, f := range drawn.Folders {
				if strings.HasPrefix(key, f.Key) && len(f.Key) > len(lowest) {
					lowest = f.Key
				}
			}
			at := slices.IndexFunc(drawn.Folders, func(f *folder) bool { return f.Key == lowest })
			if at < 0 || drawn.Folders[at].Pages == 0 {
				r.Fatalf("%s is in %q, which has no pages", url, lowest)
			}
		}
	})
}

// A page of the view about 20,000 pages in 20,000 folders is as small as that of a small site.
func TestTreeIsBounded(t *testing.T) {
	x := newIndex(nil, nil, nil, t.Context())
	for i := range 20_000 {
		x.rows.add(&store.Content{Record: placed(fmt.Sprintf("https://h%d.example/%d/%d/", i%50, i%1000, i), 1).Record})
	}
	s := x.newTree()
	s.draw()
	pages, merged := int64(0), 0
	for _, f := range s.Folders {
		pages, merged = pages+f.Pages, merged+f.Merged
	}
	if len(s.Folders) != maxFolders || pages != 20_000 || merged != 1+50+1000+20_000-maxFolders {
		t.Errorf("%d folders with %d pages, and %d others", len(s.Folders), pages, merged)
	}
}
