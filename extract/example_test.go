package extract_test

import (
	"fmt"

	"skink/extract"
)

// This example prints the title, language, text and links of a page.
func ExampleParse() {
	doc, err := extract.Parse([]byte(`<html lang=en><title>The lamp</title><link rel=next href=2.html>
<nav><a href=/>Home</a> <a href=/about>About us</a></nav>
<article><h1>The lamp</h1><p>It was lit in 1884, in a gale, by a keeper who had rowed out to it; see
<a href=log.html rel=nofollow>his log</a>. It has burned every night since.</article>`), "text/html; charset=utf-8")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s (%s)\n%s\n", doc.Title, doc.Lang, doc.Text)
	for href, nofollow := range doc.Hrefs() {
		fmt.Println(href, nofollow)
	}
	// Output:
	// The lamp (en)
	// The lamp
	// It was lit in 1884, in a gale, by a keeper who had rowed out to it; see his log. It has burned every night since.
	// / false
	// /about false
	// log.html true
	// 2.html false
}
