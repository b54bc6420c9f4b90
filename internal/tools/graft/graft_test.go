package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestStability checks the figures of the extractor on generated pages. Generated pages are easier
// than real pages. The tool can be run by hand on real pages.
func TestStability(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	pages := madeArticles(1)
	if len(pages) != madeArticleCount {
		t.Fatalf("%d pages, want %d", len(pages), madeArticleCount)
	}
	grafts := graftAll(pages, 5, false, random)
	t.Logf("grafts %s", likeness(resemblances(grafts)))
	if all := resemblances(grafts); len(all) != 5*len(pages) || share(all, .8) < .95 || share(all, .9) < .92 {
		t.Errorf("grafts: %s", likeness(all))
	}
	if all := strangers(grafts); len(all) == 0 || share(all, .3) > .01 {
		t.Errorf("two articles in one template: %s", unlikeness(all))
	}
	if all := different(madeSite(1), 2000, random); len(all) != 2000 || mean(all) > .004 {
		t.Errorf("pages of one site: %s", unlikeness(all))
	}
}

const article = `Once there was a boat that nobody wanted to paint, because the harbour was cold and the brush was old and the paint had
gone to sleep. Then a girl came along the quay with a bucket of blue, and she asked nobody, and she painted it from bow to stern until
the evening. In the morning the whole harbour was awake and pointed, and the fog itself had a blue rim where it had leaned on the boat.`

// TestFindBox checks that the box is the smallest element that contains the article, and that a
// page without such an element is left out.
func TestFindBox(t *testing.T) {
	paragraphs := "<p>" + strings.ReplaceAll(article, ". ", ".</p><p>") + "</p>"
	for _, c := range []struct {
		why, page, box string
	}{
		{"a box of its own", `<div id=a><div id=b>` + paragraphs + `</div><div id=c>Menu</div></div>`, "b"},
		{"boxes in boxes", `<div id=a><div id=b><div id=c>` + paragraphs + `</div></div></div>`, "c"},
		{"with a little beside it", `<div id=a><div id=b><p>By nobody</p>` + paragraphs + `<p>Share</p></div><p>Footer</p></div>`, "b"},
		{"cut in two", `<div id=a><div id=b>` + paragraphs[:200] + `</p></div><div id=c><p>` + paragraphs[200:] + `</div></div>`, "a"},
		{"links inside words do not hide it", `<div id=a>` + strings.ReplaceAll(paragraphs, "harbour", "har<a href=x>bour</a>") + `</div>`, "a"},
		{"not on the page", `<div id=a><p>Something else altogether.</p></div>`, ""},
		{"only the body holds it", paragraphs, ""},
		{"lost in a page", `<div id=a>` + paragraphs + "<p>" + writer{rand.New(rand.NewPCG(4, 0))}.paragraph(200) + `</p></div>`, ""},
	} {
		p := newPage(c.why, []byte("<html><body>"+c.page+"</body></html>"), article)
		got := ""
		if p != nil {
			got = p.body.Attr[0].Val
		}
		if got != c.box {
			t.Errorf("%s: box %q, want %q", c.why, got, c.box)
		}
	}
}

// TestIn checks that a graft keeps the template's box, and that the template is unchanged
// afterwards.
func TestIn(t *testing.T) {
	pages := madeArticles(2)
	p, q := pages[0], pages[1]
	before := render(t, q)
	below := strings.SplitN(p.own.text, "\n", 3)[1] // text below the headline, because a graft has the headline of the template
	first := strings.Join(strings.Fields(below)[:8], " ")
	for _, ownBox := range []bool{false, true} {
		got := p.in(q, ownBox)
		if render(t, q) != before {
			t.Errorf("own box %v: the template has changed", ownBox)
		}
		if !strings.Contains(got.text, first) || strings.Contains(got.text, strings.SplitN(q.own.text, "\n", 4)[2]) {
			t.Errorf("own box %v: graft %q", ownBox, got.text)
		}
	}
}

func render(t *testing.T, p *page) string {
	var b strings.Builder
	if err := html.Render(&b, p.root); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFault checks that a passage that is in only one of two texts is attributed to the right page.
func TestFault(t *testing.T) {
	set := func(text string) extracted { return extracted{text: text, set: setOf(text, shingle)} }
	w := writer{rand.New(rand.NewPCG(3, 0))}
	body, other := w.paragraph(80), w.paragraph(60)
	half := strings.Join(strings.Fields(body)[:30], " ")
	for _, c := range []struct {
		own, graft, why string
		template        bool // whether the template is the cause
	}{
		{body, half, "in the template some of the article is lost", true},
		{half, body, "on the own page some of the article is lost", false},
		{body, body + other, "in the template text is taken that is not the article's", true},
		{body + other, body, "on the own page text is taken that is not the article's", false},
	} {
		own, template := &page{own: set(c.own), text: setOf(body, shingle)}, &page{}
		got := graft{article: own, template: template, extracted: set(c.graft)}.fault()
		if got.why != c.why || (got.page == template) != c.template {
			t.Errorf("got %q, want %q", got.why, c.why)
		}
	}
}

func TestFigures(t *testing.T) {
	all := []float64{1, .95, .9, .85, .1}
	if share(all, .9) != .6 || share(all, .3) != .8 || share(nil, 0) != 0 || mean([]float64{1, 0}) != .5 || mean(nil) != 0 {
		t.Error(share(all, .9), share(all, .3), share(nil, 0), mean(nil))
	}
	for _, n := range []int{0, 1, 2, 5} {
		if got := steps(n, 3, rand.New(rand.NewPCG(1, 1))); len(got) != max(0, min(3, n-1)) {
			t.Errorf("steps of %d: %v", n, got)
		}
	}
}
