package robots_test

import (
	"fmt"

	"skink/crawler/robots"
)

// A robots.txt has different rules for different agents.
func ExampleParse() {
	rules := robots.Parse([]byte(`
User-agent: *
Disallow: /

User-agent: skink
Crawl-delay: 2
Disallow: /search
Allow: /search/about$

Sitemap: https://example.com/sitemap.xml
`))
	agent := "skink/0.1 (+https://example.org/bot)"
	fmt.Println(rules.Allowed(agent, "https://example.com/news"))
	fmt.Println(rules.Allowed(agent, "https://example.com/search?q=skinks"))
	fmt.Println(rules.Allowed(agent, "https://example.com/search/about"))
	fmt.Println(rules.Allowed("otherbot", "https://example.com/news"))
	fmt.Println(rules.CrawlDelay(agent), rules.Sitemaps())
	// Output:
	// true
	// false
	// true
	// false
	// 2s [https://example.com/sitemap.xml]
}
