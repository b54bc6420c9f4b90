package markup

import (
	"cmp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

func (r *reader) meta(n *html.Node) {
	name := node.Attr(n, "name")
	if name == "" {
		name = node.Attr(n, "property")
	}
	content := node.Attr(n, "content")
	switch name = strings.ToLower(strings.TrimSpace(name)); {
	case name == "viewport":
		r.viewport = true
	case name == "description" && strings.TrimSpace(content) != "":
		if r.descriptions++; r.descriptions > 1 {
			r.found(SeveralDescriptions, content)
		}
	case name == "referrer":
		r.facts.Referrer = true
	case strings.HasPrefix(name, "og:") || strings.HasPrefix(name, "twitter:"):
		r.sharing.read(name, strings.TrimSpace(content))
	}
	switch strings.ToLower(node.Attr(n, "http-equiv")) {
	case "content-security-policy":
		r.facts.Policy += content + ";"
	case "refresh":
		if _, _, ok := node.Refresh(content); ok && node.Around(n, "noscript") == nil {
			r.found(Reload, content)
		}
	}
}

func (r *reader) link(n *html.Node) {
	rel, href := node.Attr(n, "rel"), strings.TrimSpace(node.Attr(n, "href"))
	switch {
	case href == "" || rel == "":
	case node.HasToken(rel, "canonical"):
		if r.inBody > 0 && !r.headScript {
			r.found(CanonicalInBody, href)
		}
		switch scheme := schemeOf(href); {
		case scheme == "":
			r.found(CanonicalRelative, href)
		case scheme != "http" && scheme != "https":
			r.found(CanonicalScheme, href)
		}
	case node.HasToken(rel, "stylesheet") || node.HasToken(rel, "icon"):
		r.file(href)
	}
}

// schemeOf returns the scheme of an address in lower case, or "" if the address is relative.
func schemeOf(href string) string {
	end := strings.IndexAny(href, ":/?#")
	if end < 0 || href[end] != ':' {
		return ""
	}
	return strings.ToLower(href[:end])
}

func (r *reader) heading(n *html.Node) {
	level := int(n.Data[1] - '0')
	if r.level > 0 && level > r.level+1 {
		r.found(HeadingSkipped, "h"+strconv.Itoa(r.level)+" → h"+strconv.Itoa(level)+" "+textOf(n))
	}
	r.level = level
}

// image checks an image. It ignores images in <noscript>, and one-pixel images, which only
// count visits.
func (r *reader) image(n *html.Node) {
	src := node.Attr(n, "src")
	for _, f := range [...]string{src, node.Attr(n, "srcset")} {
		r.file(f)
	}
	width, height, style := node.Attr(n, "width"), node.Attr(n, "height"), node.Attr(n, "style")
	if r.inNoscript > 0 || width == "1" || height == "1" || width == "0" || node.HasAttr(n, "hidden") || strings.Contains(style, "none") {
		return
	}
	if src == "" {
		src = node.Attr(n, "data-src")
	}
	if !node.HasAttr(n, "alt") && !named(n) && !isDecoration(n) {
		r.found(ImageAlt, src)
	}
	if (width == "" || height == "") && !strings.Contains(style, "width") && !strings.Contains(style, "height") && !strings.Contains(style, "aspect-ratio") {
		r.found(ImageSize, src)
	}
}

// named reports whether an element has a name for readers who cannot see it.
func named(n *html.Node) bool {
	return node.Attr(n, "aria-label") != "" || node.Attr(n, "aria-labelledby") != "" || node.Attr(n, "title") != ""
}

// isHidden reports whether an element, or one around it, says that it is not shown.
func isHidden(n *html.Node) bool {
	for p := n; p != nil; p = p.Parent {
		style := strings.ReplaceAll(strings.ToLower(node.Attr(p, "style")), " ", "")
		if node.HasAttr(p, "hidden") || p.DataAtom == atom.Template || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
			return true
		}
	}
	return false
}

func isDecoration(n *html.Node) bool {
	role := node.Attr(n, "role")
	return role == "presentation" || role == "none" || node.Attr(n, "aria-hidden") == "true"
}

// vague lists link text that does not say where the link leads.
var vague = func() map[string]bool {
	all := map[string]bool{}
	for text := range strings.SplitSeq(
		"click here|click this|here|right here|more|read more|learn more|see more|more info|more information|this link|this page|"+
			"hier|hier klicken|klicken sie hier|mehr|mehr erfahren|mehr lesen|weiterlesen|"+
			"ici|cliquez ici|en savoir plus|lire la suite|aquí|haga clic aquí|leer más|más información", "|") {
		all[text] = true
	}
	return all
}()

// longestVague is the length of the longest text in vague, in bytes.
const longestVague = 20

func isVague(text string) bool {
	if len(text) > longestVague {
		return false
	}
	var lower [longestVague]byte
	for i := range len(text) {
		if lower[i] = text[i]; 'A' <= text[i] && text[i] <= 'Z' {
			lower[i] += 'a' - 'A'
		}
	}
	return vague[string(lower[:len(text)])]
}

func (r *reader) anchor(n *html.Node) {
	if n.DataAtom == atom.A && n.Namespace == "" {
		if name := node.Attr(n, "name"); name != "" {
			r.ids = append(r.ids, name)
		}
	}
	href := strings.TrimSpace(node.Attr(n, "href"))
	if href == "" {
		return
	}
	if strings.HasPrefix(href, "#") {
		if IsAnchor(href[1:]) && !scripted(n) {
			r.fragments = append(r.fragments, href[1:])
		}
		return
	}
	switch {
	case isLocal(href):
		r.found(LinkLocal, href)
	case hasSession(href):
		r.found(LinkSession, href)
	}
	if n.DataAtom == atom.Area || n.Namespace != "" || hasText(n) || schemeOf(href) == "javascript" || scripted(n) {
		return
	}
	if text := textOf(n); text == "" {
		if !named(n) && !isDecoration(n) && !isHidden(n) && !hasPicture(n) {
			r.found(LinkEmpty, href)
		}
	} else if isVague(text) && !named(n) {
		r.found(LinkVague, text+": "+href)
	}
}

// hasText is a fast check that most links pass. It reports whether the first text node of a link is
// longer than every text in vague.
func hasText(n *html.Node) bool {
	c := n.FirstChild
	for c != nil && c.Type == html.ElementNode {
		c = c.FirstChild
	}
	return c != nil && c.Type == html.TextNode && len(c.Data) > longestVague && len(strings.TrimSpace(c.Data)) > longestVague
}

// scripted reports whether scripts probably handle clicks on an element, so its attributes do not
// show what a click does.
func scripted(n *html.Node) bool {
	for i := range n.Attr {
		key := n.Attr[i].Key
		if key == "" {
			continue
		}
		switch key[0] { // fast path: the common keys class, id, target and title match no case
		case '@', ':':
			return true
		case 'o':
			if strings.HasPrefix(key, "on") {
				return true
			}
		case 'd':
			if strings.HasPrefix(key, "data-") {
				return true
			}
		case 'v', 'x', 'n', 'h':
			if strings.HasPrefix(key, "v-") || strings.HasPrefix(key, "x-") || strings.HasPrefix(key, "ng-") || strings.HasPrefix(key, "hx-") {
				return true
			}
		case 'r', 'a':
			if key == "role" || key == "aria-controls" || key == "aria-expanded" || key == "aria-haspopup" {
				return true
			}
		}
	}
	return false
}

func isLocal(href string) bool {
	if len(href) < 6 || href[0] != 'h' && href[0] != 'f' {
		return false
	}
	if strings.HasPrefix(href, "file:") {
		return true
	}
	scheme, rest, ok := strings.Cut(href, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return false
	}
	for _, host := range [...]string{"localhost", "127.0.0.1", "[::1]"} {
		if after, ok := strings.CutPrefix(rest, host); ok && (after == "" || after[0] == '/' || after[0] == ':') {
			return true
		}
	}
	return false
}

func hasSession(href string) bool {
	if strings.IndexByte(href, '=') < 0 {
		return false
	}
	at := strings.IndexAny(href, ";?")
	if at < 0 {
		return false
	}
	query := strings.ToLower(href[at:])
	for _, name := range [...]string{"jsessionid=", "phpsessid=", "aspsessionid"} {
		if i := strings.Index(query, name); i > 0 && strings.IndexByte(";?&", query[i-1]) >= 0 {
			return true
		}
	}
	return false
}

// maxRead is the maximum number of nodes visited to collect the text of an element.
const maxRead = 100

func textOf(root *html.Node) string {
	if c := root.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return oneLine(c.Data, maxExample)
	}
	var b strings.Builder
	n := root.FirstChild
	for range maxRead {
		if n == nil || b.Len() > maxExample {
			break
		}
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && n.DataAtom == atom.Img:
			b.WriteString(" " + node.Attr(n, "alt") + node.Attr(n, "aria-label") + node.Attr(n, "title"))
		case n.Type == html.ElementNode:
			b.WriteString(node.Attr(n, "aria-label") + node.Attr(n, "title") + node.Attr(n, "alt") + node.Attr(n, "value"))
		}
		if n.FirstChild != nil && n.DataAtom != atom.Script && n.DataAtom != atom.Style {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
		}
		if n == root {
			break
		}
		n = n.NextSibling
	}
	return oneLine(b.String(), maxExample)
}

// hasPicture reports whether an element contains something other than text that may have a name: a
// frame, an object, or an image without an alt attribute. The missing attribute is reported as a
// separate fault.
func hasPicture(root *html.Node) bool {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Object, atom.Iframe, atom.Embed, atom.Video, atom.Canvas, atom.Math:
			return true
		case atom.Img:
			if !node.HasAttr(n, "alt") {
				return true
			}
		}
	}
	return false
}

// file checks the address, or list of addresses, of a file that browsers load with the page.
func (r *reader) file(href string) {
	if href = strings.TrimSpace(href); isHTTP(href) {
		r.found(InsecureFile, href)
	}
}

func (r *reader) script(n *html.Node) {
	r.file(node.Attr(n, "src"))
	if c := n.FirstChild; c != nil && len(n.Attr) > 0 && strings.EqualFold(strings.TrimSpace(node.Attr(n, "type")), "application/ld+json") {
		r.data.read(r, c.Data)
	}
}

func (r *reader) field(n *html.Node) {
	if n.DataAtom == atom.Input {
		switch strings.ToLower(node.Attr(n, "type")) {
		case "password":
			r.found(Password, node.Attr(n, "name"))
		case "hidden", "submit", "reset", "button", "image":
			return
		}
	}
	if named(n) || isDecoration(n) || node.HasAttr(n, "hidden") || strings.Contains(node.Attr(n, "style"), "none") || node.HasAttr(n, "aria-describedby") {
		return
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == atom.Label || node.HasAttr(p, "hidden") || strings.Contains(node.Attr(p, "style"), "display:none") {
			return
		}
	}
	r.fields = append(r.fields, node.Attr(n, "id"))
	r.fieldNames = append(r.fieldNames, strings.TrimSpace(n.Data+" "+cmp.Or(node.Attr(n, "name"), node.Attr(n, "id"))))
}
