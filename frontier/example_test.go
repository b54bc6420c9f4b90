package frontier_test

import (
	"context"
	"fmt"
	"time"

	"skink/frontier"
)

// A URL is discovered once, taken by a worker, and finished.
func ExampleMemory() {
	ctx := context.Background()
	front := frontier.NewMemory()
	for _, raw := range []string{"http://example.com", "HTTP://Example.com/#top", "http://example.com/%7Ejo"} {
		url, err := frontier.Canonical(raw)
		if err != nil {
			fmt.Println(err)
			return
		}
		n, _ := front.Discover(ctx, []frontier.Item{{URL: url}})
		fmt.Println(url, n)
	}
	grant, _ := front.Claim(ctx, "me", 1, time.Minute)
	claim := grant.Hosts[0].Claim
	items, _ := front.Take(ctx, claim, 10)
	front.End(ctx, frontier.Ending{Claim: claim, URL: items[0].URL, State: frontier.Fetched})
	front.Return(ctx, claim, frontier.Rest{})
	counts, _ := front.Counts(ctx)
	fmt.Println(len(items), "taken,", counts.Fetched, "fetched,", counts.Pending, "pending")
	// Output:
	// http://example.com/ 1
	// http://example.com/ 0
	// http://example.com/~jo 1
	// 2 taken, 1 fetched, 1 pending
}

// A Base resolves the links of a page.
func ExampleBase() {
	base, err := frontier.NewBase("https://example.com/docs/", "")
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
