package websites

import (
	"fmt"
	"net/url"
)

// templated returns a shop whose pages consist mostly of terms of sale: 35 words about a product,
// and 400 words that are on every page. A missing product also gets status 200 and a page with
// these terms.
func templated(size int) *Site {
	const categories = 10
	gone := size / 8
	s := &Site{Name: "templated shop", Why: "35 own words beside a template of 400, which the not-found page has too"}
	s.Texts = append(names("product %d", 1, size+1), names("category %d", 0, categories)...)
	s.Texts = append(s.Texts, "home")
	terms := "<section class=\"terms\"><h2>Terms of sale</h2>" + story("terms of sale", 400) + "</section>"
	s.Open = func(u *url.URL, _ int) Answer {
		p := page{site: "Shop", menu: to("/category/%d", 0, categories)}
		if u.Path == "/" {
			p.title, p.body = "Our shop", story("welcome to the shop", 120)
			return show("home", p)
		}
		if rest, ok := after(u, "/category/"); ok && u.RawQuery == "" {
			if c := number(rest); c >= 0 && c < categories {
				p.title = title(fmt.Sprint("category ", c))
				p.body = story(fmt.Sprint("category ", c), 60)
				for n := 1 + c; n <= size+gone; n += categories {
					p.links = append(p.links, link{fmt.Sprintf("/product/%d", n), title(fmt.Sprint("product ", n))})
				}
				return show(fmt.Sprintf("category %d", c), p)
			}
		}
		rest, ok := after(u, "/product/")
		if n := number(rest); ok && u.RawQuery == "" && n >= 1 && n <= size {
			name := fmt.Sprintf("product %d", n)
			p.title = title(name)
			p.body = "<div class=\"description\">" + story(name, 35) + "</div>" + terms
			return show(name, p)
		}
		p.title = "Product not found"
		p.body = "<div class=\"description\"><p>We are sorry, but the product that you are looking for is no longer available in our shop.</p></div>" + terms
		return Answer{Text: "sorry", Sorry: true, Body: p.html()}
	}
	return s
}
