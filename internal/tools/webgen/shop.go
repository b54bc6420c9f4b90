package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
)

// # A shop with crawler traps
//
// A shop has four hosts with the usual crawler traps. Each page has one of a known number of texts,
// and the pages with the same text form a group. A crawler that has fetched one page of each group
// has all texts; each further page is a copy.
//
//   - shop.localhost: products, each in a category. The list of a category has a URL for every
//     combination of two facets and a sort order. Every one of these URLs returns the same text,
//     except for a few combinations with a text of their own. Each product also has URLs with a
//     session id in the query or in the path: lists add these ids to links, and products pass them
//     on. Each product has a print view, and a few of these have more text than the product. A
//     calendar covers a century and has a few events.
//   - mirror.localhost: the same products, under the same paths.
//   - soft.localhost: fifty pages, and hundreds of links to missing pages, all of which get status
//     200 and the same text.
//   - plain.localhost: only pages with different texts. It shows the cost of learning URL patterns
//     on a site without duplicates.
//
// The shop's robots.txt names a sitemap index, whose sitemaps list all products and some pages that
// nothing links to.
type shop struct {
	seed     uint64
	port     int
	products int
}

const (
	shopCategories = 20
	shopSessions   = 10
	shopOrphans    = 30
	softPages      = 50
	softGone       = 300
	firstYear      = 1950
	lastYear       = 2050
)

var facets = []struct {
	name   string
	values []string
}{
	{"color", []string{"", "red", "blue"}},
	{"size", []string{"", "s", "m", "l"}},
	{"sort", []string{"", "price", "name", "new", "sold"}},
}

func (s *shop) origin(host string) string {
	return fmt.Sprintf("http://%s.localhost:%d", host, s.port)
}

type shopPage struct {
	group string // name of the page's group; "" if there is no such page
	links []string
}

func (s *shop) page(host, path, query string) shopPage {
	switch host {
	case "shop", "mirror":
		return s.shopPage(host, path, query)
	case "soft":
		return s.softPage(path)
	case "plain":
		return s.plainPage(path)
	}
	return shopPage{}
}

func (s *shop) shopPage(host, path, query string) shopPage {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case path == "/":
		p := shopPage{group: "home"}
		for c := range shopCategories {
			p.links = append(p.links, fmt.Sprintf("/category/%d", c))
		}
		if host == "shop" {
			p.links = append(p.links, "/calendar/2026/1")
		}
		return p
	case host == "mirror" && parts[0] != "product" && parts[0] != "category":
		return shopPage{}
	case parts[0] == "category" && len(parts) == 2:
		return s.category(host, number(parts[1]), query)
	case parts[0] == "product" && len(parts) == 2:
		return s.product(host, number(parts[1]), "", query)
	case parts[0] == "s" && len(parts) == 4 && len(parts[1]) == 16 && parts[2] == "product":
		return s.product(host, number(parts[3]), "/s/"+parts[1], "")
	case parts[0] == "print" && len(parts) == 2:
		return s.print(number(parts[1]))
	case parts[0] == "calendar" && len(parts) == 3:
		return s.calendar(number(parts[1]), number(parts[2]))
	case parts[0] == "left-over" && len(parts) == 2:
		if n := number(parts[1]); n >= 0 && n < shopOrphans {
			return shopPage{group: fmt.Sprintf("orphan %d", n), links: []string{"/"}}
		}
	}
	return shopPage{}
}

// number parses a decimal number, and returns -1 if s is not one.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// luck returns a pseudo-random number below n that depends only on the seed and name.
func (s *shop) luck(name string, n int) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", s.seed, name)
	return int(h.Sum64() % uint64(n))
}

func (s *shop) session(n int) string {
	rng := rand.New(rand.NewPCG(s.seed, uint64(n)+77))
	return fmt.Sprintf("%016x", rng.Uint64()|1<<63)
}

// category returns the product list of category c. A query changes only the list's links, except
// for a few queries with their own text.
func (s *shop) category(host string, c int, query string) shopPage {
	if c < 0 || c >= shopCategories {
		return shopPage{}
	}
	p := shopPage{group: fmt.Sprintf("category %d", c)}
	if host == "shop" && query != "" && s.luck(fmt.Sprint("facet ", c, query), 200) == 0 {
		p.group += "?" + query
	}
	for id := c; id < s.products; id += shopCategories {
		p.links = append(p.links, fmt.Sprintf("/product/%d", id))
		if host == "shop" {
			p.links = append(p.links,
				fmt.Sprintf("/product/%d?sid=%s", id, s.session(1000+s.luck(fmt.Sprint(c, query), 4))),
				fmt.Sprintf("/s/%s/product/%d", s.session(s.luck(fmt.Sprint(c, query), shopSessions)), id))
		}
	}
	if host == "shop" {
		p.links = append(p.links, s.combinations(c)...)
	}
	return p
}

func (s *shop) combinations(c int) (links []string) {
	queries := []string{""}
	for _, f := range facets {
		var longer []string
		for _, q := range queries {
			for _, v := range f.values {
				next := q
				if v != "" {
					next = strings.TrimPrefix(q+"&"+f.name+"="+v, "&")
				}
				longer = append(longer, next)
			}
		}
		queries = longer
	}
	for _, q := range queries[1:] {
		links = append(links, fmt.Sprintf("/category/%d?%s", c, q))
	}
	return links
}

// product returns the page of a product. Its links to other products have the same session id.
func (s *shop) product(host string, id int, session, query string) shopPage {
	if id < 0 || id >= s.products || query != "" && !strings.HasPrefix(query, "sid=") {
		return shopPage{}
	}
	p := shopPage{group: fmt.Sprintf("product %d", id)}
	if query != "" {
		query = "?" + query
	}
	p.links = append(p.links,
		fmt.Sprintf("%s/product/%d%s", session, (id+1)%s.products, query),
		fmt.Sprintf("%s/product/%d%s", session, s.luck(fmt.Sprint("next ", id), s.products), query),
		fmt.Sprintf("/category/%d", id%shopCategories))
	if host == "shop" {
		p.links = append(p.links, fmt.Sprintf("/print/%d", id))
	}
	return p
}

// print returns the print view of a product. A few print views have more text than the product
// page.
func (s *shop) print(id int) shopPage {
	switch {
	case id < 0 || id >= s.products:
		return shopPage{}
	case s.printsMore(id):
		return shopPage{group: fmt.Sprintf("print %d", id)}
	}
	return shopPage{group: fmt.Sprintf("product %d", id)}
}

func (s *shop) printsMore(id int) bool { return s.luck(fmt.Sprint("print ", id), 150) == 0 }

func (s *shop) calendar(year, month int) shopPage {
	if year < firstYear || year > lastYear || month < 1 || month > 12 {
		return shopPage{}
	}
	p := shopPage{group: "no events"}
	if s.hasEvent(year, month) {
		p.group = fmt.Sprintf("events %d %d", year, month)
	}
	at := year*12 + month - 1
	for _, next := range []int{at - 1, at + 1} {
		p.links = append(p.links, fmt.Sprintf("/calendar/%d/%d", next/12, next%12+1))
	}
	return p
}

func (s *shop) hasEvent(year, month int) bool {
	return year >= 2025 && year <= 2026 && s.luck(fmt.Sprint("event ", year, month), 2) == 0
}

// softPage returns a page of soft.localhost. For an unknown path, its group is "sorry".
func (s *shop) softPage(path string) shopPage {
	p := shopPage{group: "sorry"}
	switch n, isPage := strings.CutPrefix(path, "/page/"); {
	case path == "/":
		p.group = "soft home"
		for n := range softPages {
			p.links = append(p.links, fmt.Sprintf("/page/%d", n))
		}
	case isPage && number(n) >= 0 && number(n) < softPages:
		p.group = "soft " + n
		for i := range softGone / softPages {
			p.links = append(p.links, fmt.Sprintf("/old/%d", number(n)*softGone/softPages+i))
		}
	}
	return p
}

// plainPage returns a page of plain.localhost, where each page has a different text.
func (s *shop) plainPage(path string) shopPage {
	n := number(strings.TrimPrefix(path, "/text/"))
	if path == "/" {
		n = 0
	}
	if n < 0 || n >= s.products {
		return shopPage{}
	}
	p := shopPage{group: fmt.Sprintf("plain %d", n)}
	for next := 2*n + 1; next <= 2*n+2 && next < s.products; next++ {
		p.links = append(p.links, fmt.Sprintf("/text/%d", next))
	}
	return p
}

func (s *shop) groups() []string {
	all := []string{"home", "no events", "soft home", "sorry"}
	name := func(form string, n int) { all = append(all, fmt.Sprintf(form, n)) }
	for c := range shopCategories {
		name("category %d", c)
		for _, link := range s.combinations(c) {
			_, query, _ := strings.Cut(link, "?")
			if group := s.category("shop", c, query).group; strings.Contains(group, "?") {
				all = append(all, group)
			}
		}
	}
	for id := range s.products {
		name("product %d", id)
		name("plain %d", id)
		if s.printsMore(id) {
			name("print %d", id)
		}
	}
	for n := range shopOrphans {
		name("orphan %d", n)
	}
	for n := range softPages {
		name("soft %d", n)
	}
	for at := firstYear * 12; at < (lastYear+1)*12; at++ {
		if s.hasEvent(at/12, at%12+1) {
			all = append(all, fmt.Sprintf("events %d %d", at/12, at%12+1))
		}
	}
	return all
}

func (s *shop) words(group string) []string {
	rng := rand.New(rand.NewPCG(s.seed, uint64(s.luck(group, 1<<60))))
	words := make([]string, minWords+rng.IntN(minWords))
	for i := range words {
		words[i] = vocabulary[rng.IntN(len(vocabulary))]
	}
	return words
}
