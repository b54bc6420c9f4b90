package websites

import (
	"fmt"
	"strings"
)

// A page holds the text and links of one page of a website. Its html method adds the rest.
type page struct {
	lang  string // "" means English
	title string
	site  string // name of the site, shown in the header
	body  string // HTML inside the article
	menu  []link // navigation of the site
	links []link // links below the article
	head  string // further elements for the <head>
	foot  string // HTML below the links
}

// robots returns a robots meta element with the given content, such as "noindex".
func robots(content string) string {
	return fmt.Sprintf("<meta name=\"robots\" content=\"%s\">\n", content)
}

type link struct{ href, text string }

func (p page) html() string {
	lang, site := p.lang, p.site
	if lang == "" {
		lang = "en"
	}
	if site == "" {
		site = "Example"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s - %s</title>\n%s</head>\n<body>\n", lang, escape(p.title), site, p.head)
	fmt.Fprintf(&b, "<header><a class=\"logo\" href=\"/\">%s</a>\n<nav class=\"menu\">%s</nav></header>\n", site, list(p.menu))
	fmt.Fprintf(&b, "<main>\n<article>\n<h1>%s</h1>\n%s</article>\n", escape(p.title), p.body)
	if len(p.links) > 0 {
		fmt.Fprintf(&b, "<nav class=\"links\">%s</nav>\n", list(p.links))
	}
	fmt.Fprintf(&b, "</main>\n%s<footer><p>Copyright %s. All rights reserved.</p></footer>\n</body>\n</html>\n", p.foot, site)
	return b.String()
}

func list(links []link) string {
	if len(links) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<ul>")
	for _, l := range links {
		fmt.Fprintf(&b, "\n<li><a href=\"%s\">%s</a></li>", escape(l.href), escape(l.text))
	}
	b.WriteString("\n</ul>")
	return b.String()
}

// to returns a link for each number from first to end-1. The URL of a link is form, formatted with
// its number.
func to(form string, first, end int) (links []link) {
	for n := first; n < end; n++ {
		href := fmt.Sprintf(form, n)
		links = append(links, link{href, title(href)})
	}
	return links
}

// names returns the results of formatting form with each number from first to end-1.
func names(form string, first, end int) (texts []string) {
	for n := first; n < end; n++ {
		texts = append(texts, fmt.Sprintf(form, n))
	}
	return texts
}
