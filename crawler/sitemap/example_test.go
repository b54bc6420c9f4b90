package sitemap_test

import (
	"fmt"
	"strings"

	"skink/crawler/sitemap"
)

func ExampleRead() {
	file := `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
		<url><loc>https://example.com/</loc><lastmod>2026-01-31</lastmod></url>
		<url><loc>https://example.com/about</loc></url>
	</urlset>`
	for entry, err := range sitemap.Read(strings.NewReader(file)) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(entry.URL)
	}
	// Output:
	// https://example.com/
	// https://example.com/about
}
