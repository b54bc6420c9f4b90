package websites

import (
	"fmt"
	"net/url"
)

// numbers returns a site whose pages have numeric ids of all lengths. Some of them look like a year
// and a month.
func numbers(size int) *Site {
	s := &Site{Name: "numbers", Why: "ids of 1 to 12 digits, and ids like a year and a month: /thread/5123/2"}
	open := map[string]Answer{}
	var hrefs []link
	add := func(href string) {
		name := "page " + href
		if _, known := open[href]; known {
			return
		}
		open[href] = show(name, page{title: title(name), body: story(name, between(80, 300, name))})
		s.Texts = append(s.Texts, name)
		hrefs = append(hrefs, link{href, title(name)})
	}
	rng := luck("numbers")
	for n, low := 0, 1; n < size/2; n++ {
		add(fmt.Sprintf("/p/%d", low+rng.IntN(9*low)))
		if low *= 10; low > 1e11 {
			low = 1
		}
	}
	for n := range size / 6 {
		id := 1000 + rng.IntN(8999)
		add(fmt.Sprintf("/thread/%d/%d", id, 1+n%12))
		add(fmt.Sprintf("/node/%04d-%02d", 2050+rng.IntN(7000), 1+n%12))
		add(fmt.Sprintf("/part/%d%02d%02d", 2050+rng.IntN(900), 1+n%12, 1+n%28))
	}
	return lists(s, hrefs, open)
}

// lists adds to s pages that list links, 40 per page. The responses in open, keyed by path and
// query, become part of the site.
func lists(s *Site, links []link, open map[string]Answer) *Site {
	const onPage = 40
	for n := 0; n*onPage < len(links) || n == 0; n++ {
		p := page{title: fmt.Sprintf("Contents, page %d", n+1), body: "<p>All that there is here, in the order in which it came.</p>" + list(links[n*onPage:min((n+1)*onPage, len(links))])}
		if (n+1)*onPage < len(links) {
			p.links = []link{{fmt.Sprintf("/contents/%d", n+2), "next"}}
		}
		answer := show(fmt.Sprintf("contents %d", n+1), p)
		open[fmt.Sprintf("/contents/%d", n+1)] = answer
		if n == 0 {
			open["/"] = answer
		}
		s.Texts = append(s.Texts, answer.Text)
	}
	s.Open = func(u *url.URL, _ int) Answer {
		if a, ok := open[key(u)]; ok {
			return a
		}
		return notFound()
	}
	return s
}
