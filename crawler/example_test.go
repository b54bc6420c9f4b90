package crawler_test

import (
	"fmt"

	"skink/crawler"
)

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
