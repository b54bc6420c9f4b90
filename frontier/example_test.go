package frontier_test

import (
	"fmt"

	"skink/frontier"
)

// A Base resolves the links of a page.
func ExampleBase() {
	base, err := frontier.NewBase("https://example.com/docs/", "", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, href := range []string{"intro.html#first", "../", "?page=2", "mailto:jo@example.com"} {
		url, err := base.Resolve(href)
		fmt.Println(url, err != nil)
	}
	// Output:
	// https://example.com/docs/intro.html false
	// https://example.com/ false
	// https://example.com/docs/?page=2 false
	//  true
}
