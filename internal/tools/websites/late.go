package websites

import "fmt"

// On the three sites in this file, a parameter has no effect on the first pages of a crawl, but
// matters on many later pages. A crawler must not judge all later pages by the first ones.

// equalPages is the number of pages on which the parameter has no effect.
const equalPages = 20

// pairs adds to s pages with and without a parameter, and lists that link to all of them. own
// reports whether page n has its own text for a value of the parameter.
func pairs(s *Site, pages int, path, parameter string, values []string, own func(n int, value string) bool, lang func(value string) string) *Site {
	open := map[string]Answer{}
	var hrefs []link
	for n := 1; n <= pages; n++ {
		bare := fmt.Sprintf(path, n)
		base := "page " + bare
		add := func(href, text, language string) {
			body := storyIn(language, text, between(80, 300, text))
			open[href] = show(text, page{title: title(text), body: body, links: []link{{"/", "Contents"}}})
			hrefs = append(hrefs, link{href, title(text)})
		}
		add(bare, base, "en")
		s.Texts = append(s.Texts, base)
		for _, v := range values {
			text, language := base, "en"
			if own(n, v) {
				text, language = base+" "+v, lang(v)
				s.Texts = append(s.Texts, text)
			}
			add(bare+"?"+parameter+"="+v, text, language)
		}
	}
	return lists(s, hrefs, open)
}

func english(string) string { return "en" }

// lateParameter returns a site with reports. Each of the later ones has an annex. For an early
// report, the annex link leads to the report itself.
func lateParameter(size int) *Site {
	s := &Site{Name: "late parameter", Why: "?annex=1 begins to matter after 20 pages"}
	return pairs(s, size/2, "/report/%d", "annex", []string{"1"}, func(n int, _ string) bool { return n > equalPages }, english)
}

// colours returns a site with items. Each of the later ones has a different page for each colour.
func colours(size int) *Site {
	s := &Site{Name: "colours", Why: "?colour= came later: the first 20 items ignore it"}
	return pairs(s, size/3, "/item/%d", "colour", []string{"red", "green", "blue"}, func(n int, _ string) bool { return n > equalPages }, english)
}

// languages returns a site with an English text for each page. A quarter of the later pages have
// been translated into French, and a tenth into German. For the other pages, ?lang= returns the
// English text.
func languages(size int) *Site {
	s := &Site{Name: "languages", Why: "?lang=de gives the English text but for a few pages"}
	one := map[string]int{"de": 10, "fr": 4}
	return pairs(s, size, "/guide/%d", "lang", []string{"de", "fr"}, func(n int, lang string) bool {
		return n > equalPages && draw(fmt.Sprint("translated ", n, lang), one[lang]) == 0
	}, func(lang string) string { return lang })
}
