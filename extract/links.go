package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// addLink adds the address of an <a>, <area>, <iframe> or <frame> to Document.Links.
func (s *survey) addLink(n *html.Node) {
	key := "href"
	if n.DataAtom == atom.Iframe || n.DataAtom == atom.Frame {
		key = "src"
	}
	href := cleanHref(node.Attr(n, key))
	if !leadsSomewhere(href) {
		return
	}
	by := ByAnchor
	if key == "src" {
		by = ByFrame
	}
	at := s.addHref(href, strings.TrimSpace(node.Attr(n, "rel")), by)
	l := &s.doc.Links[at]
	l.Text = WithLine(l.Text, says(n, maxLinkText), MaxLinkTexts)
}

// MaxLinkTexts is the maximum number of bytes of [Link].Text.
const MaxLinkTexts = 400

// WithLine returns a list of lines, separated by line feeds, with another line. It returns the list as it is if it
// has the line, if the line is empty, or if the list would have more than most bytes.
func WithLine(list, line string, most int) string {
	switch {
	case list == "":
		return line
	case line == "" || list == line || len(list)+1+len(line) > most:
		return list
	}
	for known := range strings.SplitSeq(list, "\n") {
		if known == line {
			return list
		}
	}
	return list + "\n" + line
}

// A linkKey identifies a link: Document.Links has at most one for each key.
type linkKey struct{ href, rel string }

// addHref adds an address to Document.Links if it is new, and returns its index.
func (s *survey) addHref(href, rel string, by By) (at int) {
	key := linkKey{href, rel}
	if at, ok := s.links[key]; ok {
		return at
	}
	at = len(s.doc.Links)
	s.links[key] = at
	s.doc.Links = append(s.doc.Links, Link{Href: href, Rel: rel, NoFollow: node.HasToken(rel, "nofollow"), By: by})
	return at
}

// Refresh returns the address in a Refresh header or in <meta http-equiv=refresh>. It returns "" if
// there is no address, or none that can be fetched.
func Refresh(content string) string {
	_, href, _ := node.Refresh(content)
	if href = cleanHref(href); !leadsSomewhere(href) {
		return ""
	}
	return href
}

// hiddenMail is in the addresses that Cloudflare writes in place of mailto: links. A script restores
// the links, and the addresses themselves have status 404.
const hiddenMail = "/cdn-cgi/l/email-protection"

var space = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// cleanHref removes the characters that the URL standard ignores: white space around an address,
// and tabs and line ends inside it.
func cleanHref(href string) string {
	for i := range len(href) {
		if href[i] <= ' ' {
			return space.Replace(strings.Trim(href, " \t\n\f\r"))
		}
	}
	return href // fast path for nearly all addresses
}

// leadsSomewhere reports whether an address may lead to another page. It is false for "#part", and
// for schemes such as javascript:, mailto: and tel:.
func leadsSomewhere(href string) bool {
	if path, _, _ := strings.Cut(href, "#"); path == "" || strings.HasSuffix(path, hiddenMail) {
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
