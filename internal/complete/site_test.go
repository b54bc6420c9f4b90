package complete

import (
	"fmt"
	"strings"
)

// # A site with a template
//
// Tests use hosts whose pages all end in a template of eight lines with 240 words. A
// page's own paragraphs come before the template.

// lines returns n different paragraphs of length words each.
func lines(seed uint64, n, length int) (all []string) {
	for i := range n {
		all = append(all, words(seed*1000+uint64(i), length))
	}
	return all
}

func templateOf(host string) []string { return lines(900+uint64(host[0]), 8, 30) }

// onHost returns a page of a host that ends in the template of the host.
func onHost(host, path, title string, own ...string) page {
	return page{url: "http://" + host + path, title: title, text: strings.Join(append(own, templateOf(host)...), "\n")}
}

// articles returns 25 pages of a host, each with 200 words of its own before the template.
func articles(host string) (pages []page) {
	for i := range 25 {
		pages = append(pages, onHost(host, fmt.Sprintf("/article/%d", i), fmt.Sprintf("Article %d", i), lines(uint64(i), 4, 50)...))
	}
	return pages
}

// leaflets returns 30 pages of a host, each with 60 words of its own. They share 300 words of terms
// and conditions before the template.
func leaflets(host string) (pages []page) {
	for i := range 30 {
		own := append([]string{words(700+uint64(i), 60)}, termsOf(host)...)
		pages = append(pages, onHost(host, fmt.Sprintf("/leaflet/%d", i), fmt.Sprintf("Leaflet %d", i), own...))
	}
	return pages
}

func termsOf(host string) []string { return lines(800+uint64(host[0]), 10, 30) }

// sessions returns n copies of an article that differ in one line of four words.
func sessions(host string, n int, title func(i int) string) (pages []page) {
	for i := range n {
		own := append(lines(77, 4, 50), fmt.Sprintf("You are visitor n%d", i))
		pages = append(pages, onHost(host, fmt.Sprintf("/read?sid=%d", i), title(i), own...))
	}
	return pages
}

func plainTitle(int) string { return "An article" }
