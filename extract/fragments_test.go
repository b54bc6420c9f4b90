package extract_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"skink/extract"
	"skink/extract/passage"
)

// TestFragments divides pages of documentation generators into passages. At least 98 % of the passages of ten
// generators must have a fragment, if SKINK_DOCS names their pages. Each fragment must be the id of an element that begins at or above the passage.
//
// The place of an element is the number of letters and digits of the page before it. A passage is found by its first
// characters. Some are not found, because the extracted text leaves out signs or writes a line twice.
func TestFragments(t *testing.T) {
	pages := goldenPages(t)
	if os.Getenv("SKINK_DOCS") != "" {
		pages = append(pages, debianPages(t)...)
	}
	type count struct{ passages, fragments, found int }
	counts := map[string]*count{}
	for _, p := range pages {
		body, err := os.ReadFile(p.path)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := extract.Parse(body, "text/html")
		if err != nil {
			t.Fatal(err)
		}
		var blocks []passage.Block
		for line := range strings.SplitSeq(doc.Text, "\n") {
			blocks = append(blocks, passage.Block{Text: line})
		}
		headings := map[string]bool{}
		for _, h := range doc.Headings {
			blocks[h.Line].Level, blocks[h.Line].ID = h.Level, h.ID
			headings[blocks[h.Line].Text] = h.Level > 0
		}
		root, err := html.Parse(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		places, text := map[string]int{}, &strings.Builder{}
		placesIn(root, places, text)
		c := counts[p.by.name]
		if c == nil {
			c = &count{}
			counts[p.by.name] = c
		}
		for _, part := range passage.Split(blocks, passage.DefaultWords) {
			c.passages++
			if part.Fragment == "" {
				continue
			}
			c.fragments++
			at, is := places[part.Fragment]
			if !is {
				t.Errorf("%s has no place %q", p.name, part.Fragment)
				continue
			}
			above := 0 // the innermost heading that begins the passage may have the place
			for line := range strings.SplitSeq(part.Text, "\n") {
				above += len(strings.Join(split(line), ""))
				if !headings[line] {
					break
				}
			}
			begin := strings.Join(split(part.Text), "")
			begin = begin[:min(len(begin), 40)]
			switch begins := strings.LastIndex(text.String(), begin); {
			case begins < 0, strings.Contains(p.name, "_source.html"): // the text leaves out the numbers of lines
			case begins+above < at:
				t.Errorf("%s: the place %q stands below the passage %q", p.name, part.Fragment, begin)
			default:
				c.found++
			}
		}
	}
	good, all := 0, count{}
	for _, g := range generators {
		if c := counts[g.name]; c != nil {
			share := ratio(c.fragments, c.passages)
			t.Logf("%-12s %5d passages, %.3f have a fragment", g.name, c.passages, share)
			if share >= .98 {
				good++
			}
			all.fragments, all.found = all.fragments+c.fragments, all.found+c.found
		}
	}
	if good < 10 && os.Getenv("SKINK_DOCS") != "" {
		t.Errorf("only %d generators have fragments for 98 %% of their passages, want 10", good)
	}
	if all.found < all.fragments*8/10 {
		t.Errorf("only %d of %d passages were found in their pages", all.found, all.fragments)
	}
}

// placesIn writes the letters and digits of a tree, and maps each id to the number of bytes before its element.
func placesIn(n *html.Node, places map[string]int, text *strings.Builder) {
	if n.Type == html.TextNode {
		text.WriteString(strings.Join(split(n.Data), ""))
	}
	for _, a := range n.Attr {
		if _, twice := places[a.Val]; !twice && (a.Key == "id" || a.Key == "name" && n.Data == "a") {
			places[a.Val] = text.Len()
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		placesIn(c, places, text)
	}
}
