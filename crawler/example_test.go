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

// Print the title of each page of a site, and the problems of its broken links.
func ExampleWalk() {
	site := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"index.html":  {Data: []byte(`<title>Skinks</title><a href="scales.html">Scales</a> <a href="tails">Tails</a>`)},
		"scales.html": {Data: []byte(`<title>Overlapping scales</title><a href="/">Home</a> <a href="https://example.com/">More</a>`)},
	}))
	defer site.Close()

	opt := crawler.Defaults()
	opt.Delay = 0 // do this only for a server of your own
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
	// Unordered output:
	// / Skinks
	// /scales.html Overlapping scales
	// /tails status 404 Not Found
}
