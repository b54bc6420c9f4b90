package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// addLink notes where an element points to.
func (s *survey) addLink(n *html.Node) {
	key := "href"
	if n.DataAtom == atom.Iframe || n.DataAtom == atom.Frame {
		key = "src"
	}
	href := cleanHref(attr(n, key))
	if !leadsSomewhere(href) {
		return
	}
	rel := strings.TrimSpace(attr(n, "rel"))
	l := Link{Href: href, Rel: rel, NoFollow: hasToken(rel, "nofollow")}
	if s.links[l] {
		return
	}
	s.links[l] = true
	s.doc.Links = append(s.doc.Links, l)
}

var space = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// cleanHref drops what the URL standard drops before it reads an address: white space around it, tabs and line ends in it.
func cleanHref(href string) string {
	for i := range len(href) {
		if href[i] <= ' ' {
			return space.Replace(strings.Trim(href, " \t\n\f\r"))
		}
	}
	return href // nearly always, and for less
}

// leadsSomewhere reports an address that may be a page: not this one's own fragment, not a script, a mail or a call.
func leadsSomewhere(href string) bool {
	if href == "" || href[0] == '#' {
		return false
	}
	scheme, _, ok := strings.Cut(href, ":")
	if !ok || len(scheme) > 10 {
		return true
	}
	switch strings.ToLower(scheme) {
	case "javascript", "mailto", "tel", "data", "sms", "callto", "blob", "about":
		return false
	}
	return true
}
