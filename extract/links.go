package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// addLink notes where an element points to. here reports that it is a place on the page itself.
func (s *survey) addLink(n *html.Node) (here bool) {
	key := "href"
	if n.DataAtom == atom.Iframe || n.DataAtom == atom.Frame {
		key = "src"
	}
	href := cleanHref(attr(n, key))
	if !leadsSomewhere(href) {
		return href != "" && href[0] == '#'
	}
	by := ByAnchor
	if key == "src" {
		by = ByFrame
	}
	at := s.addHref(href, strings.TrimSpace(attr(n, "rel")), by)
	if l := &s.doc.Links[at]; l.Text == "" {
		l.Text = says(n, maxLinkText)
	}
	return false
}

// A linkKey is what two links have in common of which only the first is listed.
type linkKey struct{ href, rel string }

// addHref notes an address, and returns which of the links it is.
func (s *survey) addHref(href, rel string, by By) (at int) {
	key := linkKey{href, rel}
	if at, ok := s.links[key]; ok {
		return at
	}
	at = len(s.doc.Links)
	s.links[key] = at
	s.doc.Links = append(s.doc.Links, Link{Href: href, Rel: rel, NoFollow: hasToken(rel, "nofollow"), By: by})
	return at
}

// refresh is the address in what <meta http-equiv=refresh> says, "" if there is none: a number of
// seconds, and after a semicolon or a comma an address, mostly with "url=" and in quotes. A browser
// goes there by itself.
func refresh(content string) string {
	i := strings.IndexAny(content, ";,")
	if i < 0 || strings.Trim(content[:i], " \t\n\f\r.0123456789") != "" {
		return ""
	}
	href := cleanHref(content[i+1:])
	if len(href) >= 3 && strings.EqualFold(href[:3], "url") {
		if after, ok := strings.CutPrefix(cleanHref(href[3:]), "="); ok {
			href = cleanHref(after)
		}
	}
	if href != "" && (href[0] == '"' || href[0] == '\'') {
		href, _, _ = strings.Cut(href[1:], href[:1])
	}
	return cleanHref(href)
}

var space = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// cleanHref drops what the URL standard drops before it reads an address: white space around it,
// tabs and line ends in it.
func cleanHref(href string) string {
	for i := range len(href) {
		if href[i] <= ' ' {
			return space.Replace(strings.Trim(href, " \t\n\f\r"))
		}
	}
	return href // nearly always, and for less
}

// leadsSomewhere reports an address that may be a page: not this one's own fragment, not a script,
// a mail or a call.
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
