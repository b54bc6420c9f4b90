package report_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"skink/report"
)

// A report must not run or load anything, whatever was crawled. It may contain only the elements
// and attributes in these lists. None of them runs code, and only the href of a link contains an
// address.
func TestHTMLIsInert(t *testing.T) {
	allowed := map[string][]string{
		"html": {"lang"}, "meta": {"charset", "http-equiv", "content", "name"},
		"a":       {"href", "rel"},
		"th":      {"scope", "class"},
		"section": {"aria-label", "aria-labelledby"},
		"h2":      {"id"},
		"details": {"class", "open"},
		"div":     {"class", "tabindex", "role", "aria-label", "aria-labelledby"},
		"span":    {"class"}, "i": {"class"},
		"svg":  {"class", "viewBox", "preserveAspectRatio", "aria-hidden", "focusable"},
		"rect": {"class", "x", "y", "width", "height"},
		"p":    {"class"}, "ul": {"class"}, "dl": {"class"}, "td": {"class"}, "figure": {"class"}, "figcaption": {"class"}, "small": {"class", "aria-hidden"},
	}
	elements := strings.Fields(`html head meta title style body header main section h1 h2 p ul li a bdi small dl dt dd
		div span i svg rect figure figcaption table thead tbody tr th td details summary wbr`)
	inert := func(n *html.Node) {
		if n.Type != html.ElementNode {
			return
		}
		if !slices.Contains(elements, n.Data) {
			t.Errorf("element <%s>", n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(allowed[n.Data], a.Key) {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
		if n.Data == "style" {
			for _, bad := range []string{"@import", "@font-face", "url(", "<", "\\"} {
				if strings.Contains(n.FirstChild.Data, bad) {
					t.Errorf("style sheet has %s", bad)
				}
			}
		}
	}
	for _, src := range []report.Source{report.FromStore(nasty(t)), untranslated(t)} {
		for n := range parse(t, writeSource(t, src, report.Options{Format: report.HTML})).Descendants() {
			inert(n)
		}
	}
}

// Only http and https URLs may become links, and a link must not reveal the page that contains it.
func TestHTMLLinks(t *testing.T) {
	var got []string
	for n := range parse(t, write(t, nasty(t), report.Options{Format: report.HTML})).Descendants() {
		if n.Type != html.ElementNode || n.Data != "a" {
			continue
		}
		got = append(got, attr(n, "href"))
		if rel := attr(n, "rel"); rel != "noopener noreferrer nofollow" {
			t.Errorf("%s: rel=%q", attr(n, "href"), rel)
		}
	}
	want := []string{
		"https://example.com/a?x=1&y=2", "https://mirror.example:8443/a", "https://example.com/b", "https://example.com/c",
		"https://mirror.example:8443/latin1", "https://xn--e1afmkfd.example/%D0%B0", "https://example.com/hidden",
	}
	if !slices.Equal(got, want) {
		t.Errorf("links\n got %q\nwant %q", got, want)
	}
}

// If a list is too long for a browser, the page must show the number of omitted entries.
func TestHTMLCountsTheRest(t *testing.T) {
	hosts := make([]report.Host, 40)
	for i := range hosts {
		hosts[i] = report.Host{Host: fmt.Sprintf("h%02d.example", i), Pages: 1, Unique: 1}
	}
	for _, test := range []struct {
		name string
		src  fake
		top  int
		want []string
	}{
		{"clusters", fake{clusters: 1500, members: 2}, 0, []string{"Not shown: 500 smaller clusters with 1,000 duplicates."}},
		{"one cluster", fake{clusters: 3, members: 1}, 2, []string{"Not shown: 1 smaller cluster with 1 duplicate."}},
		{"members", fake{clusters: 1, members: 1503}, 0, []string{"1,503 duplicates", "Not shown: 1,003 more pages of this cluster."}},
		{"hosts", fake{hosts: hosts, clusters: 1, members: 1}, 10, []string{"10 more hosts</summary>", "18 more hosts not listed"}},
	} {
		var b bytes.Buffer
		if err := report.Write(context.Background(), &b, test.src, report.Options{Format: report.HTML, Top: test.top}); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: page does not say %q", test.name, want)
			}
		}
	}
}

func parse(t *testing.T, page []byte) *html.Node {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
