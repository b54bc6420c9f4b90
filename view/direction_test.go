package view

import (
	"context"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"skink/internal/tools/storetest"
	"skink/store"
)

// TestDirection checks that crawled text does not change the direction of the page around it. Every
// Hebrew text is in an element that isolates it: a <bdi>, or an element with dir="auto".
func TestDirection(t *testing.T) {
	const hebrew = "שלום"
	fog, copied, failed := "https://a.example/"+hebrew, "https://b.example/"+hebrew, "https://c.example/"+hebrew
	s := storetest.NewMemory()
	e := entryOf(t, testPage{url: fog, title: hebrew + " (2024)", text: words(0, 100) + hebrew + " one\nThe same line in both"}, 0)
	r := &e.Record
	r.Description, r.Author, r.SiteName, r.Lang, r.PublishedAt, r.ModifiedAt, r.ContentType = hebrew, hebrew, hebrew, hebrew, hebrew, hebrew, hebrew
	r.H1, r.Location, r.Via, r.CanonicalURL, r.Canonicals, r.Detail, r.Bounds = []string{hebrew, hebrew}, fog, fog, fog, []string{fog, fog}, hebrew, hebrew
	r.Alternates, r.NeedsScripts, r.RenderError, r.Added, r.Removed = []store.Alternate{{Lang: hebrew, URL: fog}}, "empty", hebrew, hebrew, hebrew
	r.Archive.File = hebrew
	e.Out = store.PackLinks(fog, []store.Link{{URL: copied, Text: hebrew, Kind: store.LinkAnchor}})
	other := entryOf(t, testPage{url: copied, title: hebrew + " (2025)", text: words(0, 100) + hebrew + " two\nThe same line in both", leader: fog}, 1)
	other.Out = store.PackLinks(copied, []store.Link{{URL: fog, Text: hebrew, Kind: store.LinkAnchor}})
	commit(t, s, e, other, &store.Entry{Record: store.Record{ID: idOf(failed), URL: failed, Kind: store.Error, Fetch: store.Fetch{Problem: hebrew}}})

	v, server := newView(t, s, func(o *Options) { o.Moment, o.Name = momentOfTally, hebrew })
	v.readLinks()
	v.comparison.renew(v.life, func(_ context.Context) (*Alike, error) {
		return &Alike{Steps: []Step{{Similarity: 0.3, Clusters: 1, Pages: 2}}, Near: func(_ context.Context, _ store.Reader, similarity float64, _ int) (above, below []Pair, err error) {
			return []Pair{{URLs: [2]string{fog, fog}, Resemblance: similarity}}, nil, nil
		}}, nil
	})
	for _, path := range []string{
		"/overview", "/now", "/pages", "/pages?q=" + hebrew, "/page/" + idOf(fog).String(), "/page/" + idOf(copied).String(), "/page/" + idOf(failed).String(), "/clusters", "/cluster/" + idOf(fog).String(),
		"/compare?a=" + idOf(fog).String() + "&b=" + idOf(copied).String(), "/compare?a=" + idOf(fog).String() + "&b=" + idOf(failed).String(), "/map", "/similarity",
	} {
		doc, err := html.Parse(strings.NewReader(get(t, server, path)))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for n := range doc.Descendants() {
			if n.Type != html.TextNode || !strings.Contains(n.Data, hebrew) {
				continue
			}
			found++
			if !isolated(n) {
				t.Errorf("%s: %q is in <%s>", path, n.Data, n.Parent.Data)
			}
		}
		if found < 2 { // the title of the page, and the name of the store
			t.Errorf("%s has the text %d times", path, found)
		}
	}
}

// isolated reports whether an element around n isolates its direction. The text of an option is
// always isolated.
func isolated(n *html.Node) bool {
	for p := range n.Ancestors() {
		if p.Data == "bdi" || p.Data == "option" || slices.ContainsFunc(p.Attr, func(a html.Attribute) bool { return a.Key == "dir" && a.Val == "auto" }) {
			return true
		}
	}
	return false
}
