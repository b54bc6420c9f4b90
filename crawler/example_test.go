package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing/fstest"

	"skink/crawler"
	"skink/extract"
)

// All pages of a site, each with its title and what is wrong with it.
func ExampleWalk() {
	site := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"index.html":  {Data: []byte(`<title>Skinks</title><a href="scales.html">Scales</a> <a href="tails">Tails</a>`)},
		"scales.html": {Data: []byte(`<title>Overlapping scales</title><a href="/">Home</a> <a href="https://example.com/">More</a>`)},
	}))
	defer site.Close()

	opt := crawler.Defaults()
	opt.Delay = 0 // the site is ours
	err := crawler.Walk(context.Background(), []string{site.URL}, opt, func(p *crawler.Page) (crawler.Links, error) {
		doc, err := extract.Parse(p.Body, p.Header.Get("Content-Type"))
		if err != nil || p.Problem != "" {
			fmt.Println(p.Item.URL[len(site.URL):], p.Problem, p.Detail)
			return crawler.Links{}, nil
		}
		fmt.Println(p.Item.URL[len(site.URL):], doc.Title)
		return crawler.Links{Base: doc.Base, Hrefs: doc.Hrefs()}, nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// / Skinks
	// /scales.html Overlapping scales
	// /tails status 404 Not Found
}

// What a site says to whom.
func ExampleParseRobots() {
	robots := crawler.ParseRobots([]byte(`
User-agent: *
Disallow: /

User-agent: skink
Crawl-delay: 2
Disallow: /search
Allow: /search/about$

Sitemap: https://example.com/sitemap.xml
`))
	agent := "skink/0.1 (+https://example.org/bot)"
	fmt.Println(robots.Allowed(agent, "https://example.com/news"))
	fmt.Println(robots.Allowed(agent, "https://example.com/search?q=skinks"))
	fmt.Println(robots.Allowed(agent, "https://example.com/search/about"))
	fmt.Println(robots.Allowed("otherbot", "https://example.com/news"))
	fmt.Println(robots.CrawlDelay(agent), robots.Sitemaps())
	// Output:
	// true
	// false
	// true
	// false
	// 2s [https://example.com/sitemap.xml]
}
