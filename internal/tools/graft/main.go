// Graft measures how stable the extracted main text is. A copy of an article on another site has
// the same sentences, but everything around them differs: the menu, the footer, the lists of
// related articles. So the tool takes the article of one page, puts it in place of the article of
// another page, and compares the texts that the extractor returns for both pages.
//
//	go run ./internal/tools/graft                          # with generated pages
//	go run ./internal/tools/graft -articles DIR -site DIR  # with real pages
//
// It prints three figures, each a resemblance of ten-word shingles:
//
//   - grafts: an article on its own page and in the template of another page. The two should be
//     recognized as duplicates.
//   - strangers: two articles in one template. They must not resemble each other.
//   - site: two different pages of one site.
//
// The -articles folder contains html/ID.html, and the text of each article in one of two forms. The
// first is ground-truth.json, {ID: {"articleBody"}}, as in Scrapinghub's article extraction
// benchmark. The second is ground-truth/ID.json, {"_internal": {"page_type": {"primary"}},
// "ground_truth": {"main_content"}}, as in the web content extraction benchmark of Foley, of which
// only pages of type article are used. The -site folder contains HTML files. With -worst N, the
// tool shows the N pages that cause the most bad grafts, each with the differences between the two
// texts.
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

func main() {
	o := options{out: os.Stdout}
	flag.StringVar(&o.articles, "articles", "", "folder of pages with the text of their articles; without it pages are made")
	flag.StringVar(&o.site, "site", "", "folder of a site's pages; without it pages are made")
	flag.IntVar(&o.templates, "templates", 10, "templates that each article is set into")
	flag.BoolVar(&o.ownBox, "own-box", false, "set an article into a template with the box around it, instead of into the template's own")
	flag.IntVar(&o.pairs, "pairs", 20_000, "pairs of a site's pages to compare")
	flag.Uint64Var(&o.seed, "seed", 1, "of what is drawn")
	flag.StringVar(&without, "without", "", "rule of the extractor to leave out; see extract.Rules")
	flag.IntVar(&o.worst, "worst", 0, "pages at fault to show, worst first")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "graft:", err)
		os.Exit(1)
	}
}

type options struct {
	articles, site          string
	templates, pairs, worst int
	ownBox                  bool
	seed                    uint64
	out                     io.Writer
}

func run(o options) error {
	pages, left, err := articlePages(o)
	if err != nil {
		return err
	}
	site, err := sitePages(o)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	grafts := graftAll(pages, o.templates, o.ownBox, random)
	twice := 0
	for _, p := range pages {
		if p.twice {
			twice++
		}
	}
	fmt.Fprintf(o.out, "articles   %d, and %d left out: no box holds the article and little else\n", len(pages), left)
	if twice > 0 {
		fmt.Fprintf(o.out, "templates  %d, the others hold their article twice\n", len(pages)-twice)
	}
	fmt.Fprintf(o.out, "grafts     %v\n", likeness(resemblances(grafts)))
	fmt.Fprintf(o.out, "strangers  %v\n", unlikeness(strangers(grafts)))
	fmt.Fprintf(o.out, "site       %d pages, %v\n", len(site), unlikeness(different(site, o.pairs, random)))
	spoilt := blame(grafts)
	for _, reason := range reasons(spoilt) {
		fmt.Fprintf(o.out, "below .8   %s\n", reason)
	}
	for _, b := range spoilt[:min(o.worst, len(spoilt))] {
		fmt.Fprintf(o.out, "\n%s", b.story())
	}
	return nil
}

func articlePages(o options) (pages []*page, left int, err error) {
	if o.articles == "" {
		return madeArticles(o.seed), 0, nil
	}
	return readArticles(o.articles)
}

func sitePages(o options) ([]string, error) {
	if o.site == "" {
		return madeSite(o.seed), nil
	}
	return readSite(o.site)
}
