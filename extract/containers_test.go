package extract_test

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"skink/extract"
)

// # Words kept
//
// The template of a documentation generator puts the text of a page into one container. This test
// reads pages of 27 generators and compares the words of the extracted text with the words of the
// container. The table generators in generators_test.go lists the containers, and the elements
// inside them that are not text.
//
// The words of a container are found without the rules under test. A CSS selector finds the
// container, a second selector removes elements that are not text, and the rest is split at every
// character that is neither a letter nor a digit. Content that is not displayed is not counted:
// scripts, styles, labels in drawings, and hidden elements.
//
//	kept    words of the container that the extracted text has, too, each as often as in both
//	share   kept / words of the container
//	outside words of the extracted text that the container does not have, / words of the text
//	chrome  words of the extracted text that only the removed elements have, / words of the text
//
// The words are compared without their order, so a lost word that also occurs outside the container
// counts as kept. The golden files of TestGolden check the order.
//
// The share alone would reward an extractor that keeps the whole page, so outside has an upper
// bound. Chrome is only printed, because on the index page of a manual the table of contents is the
// text.
//
// There are two tiers. The golden files in testdata/containers were made with the real generators;
// the README.md beside them names sources and licences. The second tier are documentation packages
// of Debian, unpacked into the folder that SKINK_DOCS names; without it that tier is skipped.
// SKINK_LONG=full reads all pages of the packages, not only a sample.
//
// A page below goalWorst needs a line with the reason in testdata/containers/reasons.txt.

// bounds holds the limits of a tier (one of the two sets of pages). The goal in both tiers is a
// share of at least .99, at least .98 for each generator, at least .90 on the worst page, and at
// most .02 from outside.
type bounds struct {
	share   float64 // least share of the container's words that must be kept, over all pages
	server  float64 // least share over the pages of a generator
	worst   float64 // least share on a single page, unless reasons.txt has a reason
	outside float64 // largest share of extracted words from outside the container
}

var (
	goldenBounds = bounds{share: .99, server: .98, worst: .90, outside: .02}
	debianBounds = bounds{share: .99, server: .98, worst: .90, outside: .005}
)

const (
	goalWorst  = .90 // a page with a lower share is logged
	fewWords   = 30  // a page with fewer words in its container is not counted
	sampleSize = 60  // number of pages per package
)

// TestContainers measures the kept words of the golden files.
func TestContainers(t *testing.T) {
	measurePages(t, goldenPages(t), goldenBounds)
}

func goldenPages(t *testing.T) (pages []page) {
	for _, g := range generators {
		found, err := filepath.Glob(filepath.Join("testdata/containers", g.name, "*.html"))
		if err != nil || len(found) == 0 && len(g.debian) == 0 {
			t.Errorf("%s: %d pages, %v", g.name, len(found), err)
		}
		for _, path := range found {
			name, _ := filepath.Rel("testdata/containers", path)
			pages = append(pages, page{g, path, filepath.ToSlash(name)})
		}
	}
	return pages
}

// TestContainersDebian measures the kept words of Debian's documentation packages.
func TestContainersDebian(t *testing.T) {
	if os.Getenv("SKINK_DOCS") == "" {
		t.Skip("SKINK_DOCS does not name a folder with unpacked documentation packages")
	}
	measurePages(t, debianPages(t), debianBounds)
}

func debianPages(t *testing.T) (pages []page) {
	root := os.Getenv("SKINK_DOCS")
	for _, g := range generators {
		for _, pattern := range g.debian {
			dirs, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil {
				t.Fatal(err)
			}
			if len(dirs) == 0 {
				t.Logf("%s: no %s in %s", g.name, pattern, root)
			}
			for _, dir := range dirs {
				found := pagesOf(t, root, dir, g)
				if os.Getenv("SKINK_LONG") != "full" {
					found = sample(found)
				}
				pages = append(pages, found...)
			}
		}
	}
	if len(pages) == 0 {
		t.Fatalf("no page in SKINK_DOCS %s: unpack the packages that .ci/run names there with dpkg -x", root)
	}
	return pages
}

// A page is an HTML file that a documentation generator has made. Its name is the path that is used
// in reasons.txt.
type page struct {
	by   generator
	path string
	name string
}

// pagesOf lists the pages in a package's folder, without the index pages that the generator adds.
func pagesOf(t *testing.T, root, dir string, g generator) (pages []page) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if name := filepath.ToSlash(rel); err == nil && !g.isIndex(name) {
			pages = append(pages, page{g, path, name})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// sample selects pages by the hash of their name, so that adding a page to a package changes at
// most one page of the sample.
func sample(pages []page) []page {
	hash := func(p page) uint64 {
		h := fnv.New64a()
		h.Write([]byte(p.name))
		return h.Sum64()
	}
	slices.SortFunc(pages, func(a, b page) int { return cmp.Compare(hash(a), hash(b)) })
	return pages[:min(len(pages), sampleSize)]
}

// A measured holds the word counts of one page or of several.
type measured struct {
	pages, low            int    // low is the number of pages with a share below .95
	words, kept           int    // words of the container, and those of them that the extracted text has
	text, outside, chrome int    // words of the extracted text: all, those from outside, and those of removed elements
	lost                  string // beginnings of the longest lost passages; filled only if there is a single page
	worst                 string
	worstShare            float64
}

func (m measured) share() float64 { return ratio(m.kept, m.words) }

func ratio(a, b int) float64 { return float64(a) / float64(max(b, 1)) }

func (m *measured) add(name string, p measured) {
	if share := p.share(); m.worst == "" || share < m.worstShare {
		m.worst, m.worstShare = name, share
	}
	if p.share() < .95 {
		m.low++
	}
	m.pages++
	m.words += p.words
	m.kept += p.kept
	m.text += p.text
	m.outside += p.outside
	m.chrome += p.chrome
}

func measurePages(t *testing.T, pages []page, within bounds) {
	reasons := readReasons(t)
	var all measured
	table := &strings.Builder{}
	row := func(name string, m measured) {
		fmt.Fprintf(table, "%-12s %5d %8d %8d %6.4f %6d   %6.4f %6.4f  %.3f %s\n", name, m.pages, m.words, m.kept, m.share(), m.low,
			ratio(m.outside, m.text), ratio(m.chrome, m.text), m.worstShare, m.worst)
	}
	fmt.Fprintf(table, "%-12s %5s %8s %8s %6s %6s  %7s %6s  %s\n", "", "pages", "words", "kept", "share", "<.95", "outside", "chrome", "worst page")
	for _, g := range generators {
		var sum measured
		for _, p := range pages {
			if p.by.name != g.name {
				continue
			}
			m := measure(t, p, extract.Options{})
			if m.words < fewWords {
				continue
			}
			if m.share() < goalWorst && reasons[p.name] == "" {
				t.Logf("%s: keeps %d of %d words (%.3f); lost:%s", p.name, m.kept, m.words, m.share(), m.lost)
				if m.share() < within.worst {
					t.Errorf("%s: keeps %.3f, want %v, or a reason in reasons.txt", p.name, m.share(), within.worst)
				}
			}
			sum.add(p.name, m)
			all.add(p.name, m)
		}
		if sum.pages > 0 {
			row(g.name, sum)
			if sum.share() < within.server {
				t.Errorf("%s: %.4f of the words are kept, want %v", g.name, sum.share(), within.server)
			}
		}
	}
	row("all", all)
	t.Logf("words of the container that are kept\n%s", table)
	if all.share() < within.share {
		t.Errorf("%.4f of the words are kept, want %v", all.share(), within.share)
	}
	if outside := ratio(all.outside, all.text); outside > within.outside {
		t.Errorf("%.4f of the extracted words are from outside the container, want at most %v", outside, within.outside)
	}
}

// measure compares the extracted text of a page with its container.
func measure(t *testing.T, p page, opt extract.Options) measured {
	body, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := opt.Parse(body, "text/html")
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	truth, chrome := container(t, p, body)
	return compare(truth, chrome, split(doc.Text))
}

// compare counts the words of an extracted text by origin: the container (in), the elements in it
// that are not text (out), or elsewhere.
func compare(in, out, extracted []string) (m measured) {
	truth, chrome, text := bagOf(in), bagOf(out), bagOf(extracted)
	m.words, m.text = truth.size(), text.size()
	m.lost = lost(in, extracted)
	m.kept = text.take(truth)
	m.chrome = text.take(chrome)
	m.outside = m.text - m.kept - m.chrome
	return m
}

// container returns the words of a page's container, and the words of the elements in it that are
// not text.
func container(t *testing.T, p page, body []byte) (truth, chrome []string) {
	utf8, err := charset.NewReader(bytes.NewReader(body), "text/html")
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	doc, err := goquery.NewDocumentFromReader(utf8)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	noText, hidden := map[*html.Node]bool{}, map[*html.Node]bool{}
	for _, n := range doc.Find(cmp.Or(p.by.noText, "no-such-element")).Nodes {
		noText[n] = true
	}
	for _, n := range doc.Find(hiddenElements).Nodes {
		hidden[n] = true
	}
	all := strings.Join(strings.Fields(doc.Text()), " ")
	doc.Find(cmp.Or(p.by.repeats, "no-such-element")).Each(func(_ int, e *goquery.Selection) {
		noText[e.Nodes[0]] = strings.Count(all, strings.Join(strings.Fields(e.Text()), " ")) > 1
	})
	var in, out strings.Builder
	for _, box := range doc.Find(p.by.container).Nodes {
		displayed(box, &in, &out, noText, hidden)
	}
	return split(in.String()), split(out.String())
}

const hiddenElements = `script, style, template, svg, [hidden], [style*="display:none"], [style*="display: none"]`

// displayed writes the displayed text below n to in. Text in the elements of noText is written to
// out.
func displayed(n *html.Node, in, out *strings.Builder, noText, hidden map[*html.Node]bool) {
	switch {
	case n.Type == html.TextNode:
		in.WriteString(n.Data)
		return
	case hidden[n]:
		return
	case noText[n]:
		in = out
	}
	apart := n.Type == html.ElementNode && !inline[n.Data]
	if apart {
		in.WriteByte(' ')
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		displayed(c, in, out, noText, hidden)
	}
	if apart {
		in.WriteByte(' ')
	}
}

// inline lists the elements that do not end a word.
var inline = setOf("a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q s samp small span strike strong sub sup time tt u var wbr")

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// split returns the words of a text.
func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// lost describes the three longest passages of truth that are missing in text, by their first
// words. A word is missing if no three consecutive words of truth that contain it are in text.
func lost(truth, text []string) string {
	trios := map[[3]string]bool{}
	for i := 3; i <= len(text); i++ {
		trios[[3]string(text[i-3:i])] = true
	}
	found := make([]bool, len(truth))
	for i := 3; i <= len(truth); i++ {
		if trios[[3]string(truth[i-3:i])] {
			found[i-3], found[i-2], found[i-1] = true, true, true
		}
	}
	var passages [][]string
	for i := 0; i < len(truth); i++ {
		from := i
		for i < len(truth) && !found[i] {
			i++
		}
		if from < i {
			passages = append(passages, truth[from:i])
		}
	}
	slices.SortStableFunc(passages, func(a, b []string) int { return len(b) - len(a) })
	var out strings.Builder
	for _, p := range passages[:min(len(passages), 3)] {
		fmt.Fprintf(&out, " %q (%d words)", strings.Join(p[:min(len(p), 8)], " "), len(p))
	}
	return out.String()
}

// A bag maps each word to the number of its occurrences.
type bag map[string]int

func bagOf(words []string) bag {
	b := bag{}
	for _, word := range words {
		b[word]++
	}
	return b
}

func (b bag) size() (n int) {
	for _, count := range b {
		n += count
	}
	return n
}

// take removes the words of other from b, and returns the number of removed words.
func (b bag) take(other bag) (n int) {
	for word, count := range other {
		taken := min(count, b[word])
		b[word] -= taken
		n += taken
	}
	return n
}

// readReasons returns the reasons for pages that keep less than goalWorst, by page name.
func readReasons(t *testing.T) map[string]string {
	text, err := os.ReadFile("testdata/containers/reasons.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, reason, ok := strings.Cut(line, ": ")
		if !ok {
			t.Errorf("reasons.txt: %q has no reason: write PAGE: REASON", line)
		}
		reasons[name] = reason
	}
	return reasons
}
