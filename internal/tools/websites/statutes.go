package websites

import (
	"fmt"
	"strings"
)

// statutes returns a site with laws and their sections. The texts are short, the ids contain
// letters, and successive sections that were repealed have the same text.
func statutes(size int) *Site {
	s := &Site{Name: "statutes", Why: "/law/12/par/3a: short texts, runs of repealed paragraphs"}
	open := map[string]Answer{}
	var laws []link
	s.Texts = append(s.Texts, "repealed")
	for law, left := 1, size; left > 0; law++ {
		id := law
		if law%3 == 0 {
			id = 2000 + 97*law
		}
		href := fmt.Sprintf("/law/%d", id)
		whole := page{title: title(href), body: story("about "+href, between(80, 120, href)), site: "Laws"}
		for n := range 12 + draw(href, 10) {
			par := fmt.Sprintf("%s/par/%d", href, n+1)
			if n%7 == 3 {
				par += "a"
			}
			name := "law " + strings.TrimPrefix(par, "/law/")
			p := page{title: fmt.Sprintf("Paragraph %d", n+1), body: story(name, between(30, 160, name)), links: []link{{href, whole.title}}, site: "Laws"}
			if law%2 == 0 && n >= 4 && n < 10 {
				name, p.body, p.title = "repealed", "<p>(repealed)</p>", "Repealed"
			} else {
				s.Texts = append(s.Texts, name)
				left--
			}
			open[par] = show(name, p)
			whole.links = append(whole.links, link{par, fmt.Sprintf("Paragraph %d", n+1)})
		}
		open[href] = show("whole "+href, whole)
		s.Texts = append(s.Texts, "whole "+href)
		laws = append(laws, link{href, whole.title})
	}
	return lists(s, laws, open)
}
