package markup

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	for i := range len(href) {
		switch href[i] {
		case ':':
			return strings.ToLower(href[:i])
		case '/', '?', '#':
			return ""
		}
	}
	return ""
}

// misspelled reports whether a scheme is http or https with a mistake: it has only letters of these two, and no other
// scheme has both of t and p among them.
func misspelled(scheme string) bool {
	switch scheme {
	case "", "http", "https", "shttp":
		return false
	}
	return strings.Trim(scheme, "htps") == "" && strings.Contains(scheme, "t") && strings.Contains(scheme, "p")
}

func (r *reader) heading(n *html.Node) {
	level := int(n.Data[1] - '0')
	if r.level > 0 && level > r.level+1 {
		r.found(HeadingSkipped, "h"+strconv.Itoa(r.level)+" → h"+strconv.Itoa(level)+" "+textOf(n))
	}
	r.level = level
}

// unseen reports whether an image or a frame is in <noscript>, says that it is not shown, or only counts visits.
func (r *reader) unseen(n *html.Node) bool {
	width, height := node.Attr(n, "width"), node.Attr(n, "height")
	return r.inNoscript > 0 || width == "1" || height == "1" || width == "0" || node.HasAttr(n, "hidden") || strings.Contains(node.Attr(n, "style"), "none")
}

// longAlt is the largest number of characters of an alternative text. Screen readers read it in one go, and listeners
// cannot go back to a part of it.
const longAlt = 125

func (r *reader) image(n *html.Node) {
	src := node.Attr(n, "src")
	for _, f := range [...]string{src, node.Attr(n, "srcset")} {
		r.file(f)
	}
	if r.unseen(n) {
		return
	}
	width, height, style := node.Attr(n, "width"), node.Attr(n, "height"), node.Attr(n, "style")
	if src == "" {
		src = node.Attr(n, "data-src")
	}
	if !node.HasAttr(n, "alt") && !named(n) && !isDecoration(n) {
		r.found(ImageAlt, src)
	}
	if alt := node.Attr(n, "alt"); len(alt) > longAlt && utf8.RuneCountInString(alt) > longAlt {
		r.found(ImageAltLong, src)
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
	const phrases = "click here|click this|here|right here|more|read more|learn more|see more|more info|more information|this link|this page|" +
		"hier|hier klicken|klicken sie hier|mehr|mehr erfahren|mehr lesen|weiterlesen|" +
		"ici|cliquez ici|en savoir plus|lire la suite|aquí|haga clic aquí|leer más|más información"
	all := map[string]bool{}
	for phrase := range strings.SplitSeq(phrases, "|") {
		all[phrase] = true
	}
	return all
}()

// vagueShapes maps a first letter to a set of bits, one for each length of the texts in vague that begin with it.
var vagueShapes = func() (shapes [256]uint32) {
	for phrase := range vague {
		shapes[phrase[0]] |= 1 << len(phrase)
	}
	return shapes
}()

// longestVague is the length of the longest text in vague, in bytes.
const longestVague = 20

func isVague(text string) bool {
	return len(text) <= longestVague && vagueShapes[text[0]|0x20]&(1<<len(text)) != 0 && vague[strings.ToLower(text)] // 0x20 makes a capital letter small
}

func (r *reader) anchor(n *html.Node) {
	if n.DataAtom == atom.A && n.Namespace == "" {
		if name := node.Attr(n, "name"); name != "" {
			r.names = append(r.names, name)
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
	scheme := schemeOf(href)
	switch {
	case scheme != "" && isLocal(href):
		r.found(LinkLocal, href)
	case strings.IndexByte(href, '=') > 0 && mayBeSession(href) && session.MatchString(href):
		r.found(LinkSession, href)
	case misspelled(scheme):
		r.found(LinkScheme, href)
	}
	if n.DataAtom == atom.Area || n.Namespace != "" || hasText(n) || scheme == "javascript" || scripted(n) {
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
		switch key := n.Attr[i].Key; {
		case isBinding(key), strings.HasPrefix(key, "on"), strings.HasPrefix(key, "data-"),
			key == "role", key == "aria-controls", key == "aria-expanded", key == "aria-haspopup":
			return true
		}
	}
	return false
}

// bound reports whether a script framework probably sets an attribute or the text of an element.
func bound(n *html.Node) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return isBinding(a.Key) })
}

// isBinding reports whether frameworks use the name of an attribute: it begins with "@", ":", "v-", "x-", "ng-" or "hx-".
func isBinding(key string) bool {
	if key == "" {
		return false
	}
	switch key[0] {
	case '@', ':':
		return true
	case 'v', 'x':
		return strings.HasPrefix(key[1:], "-")
	case 'n', 'h':
		return strings.HasPrefix(key, "ng-") || strings.HasPrefix(key, "hx-")
	}
	return false
}

// mayBeSession is false for nearly all links without a session id, and much faster than session.
func mayBeSession(href string) bool {
	return strings.Contains(href, "sess") || strings.Contains(href, "SESS") || strings.Contains(href, "Sess")
}

// session matches a link with a session id.
var session = regexp.MustCompile(`(?i)[;?](.*[;?&])?(jsessionid=|phpsessid=|aspsessionid)`)

// OnThisMachine reports whether a host, with or without a port, is the machine of whoever opens it. On such a site,
// [LinkLocal] is no fault.
func OnThisMachine(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasPrefix(name, "127.") || strings.HasPrefix(host, "[::1]")
}

// isLocal reports whether an address is a file or leads to this machine.
func isLocal(href string) bool {
	host, is := strings.CutPrefix(href, "http://")
	if !is {
		host, is = strings.CutPrefix(href, "https://")
	}
	if !is {
		return strings.HasPrefix(href, "file:") && href != "file:"
	}
	return slices.ContainsFunc([]string{"localhost", "127.0.0.1", "[::1]"}, func(local string) bool {
		rest, is := strings.CutPrefix(host, local)
		return is && (rest == "" || rest[0] == '/' || rest[0] == ':')
	})
}

// maxRead is the maximum number of nodes visited to collect the text of an element.
const maxRead = 100

func textOf(root *html.Node) string {
	if c := root.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return oneLine(c.Data, maxExample)
	}
	var b strings.Builder
	left := maxRead
	for n := range root.Descendants() {
		if left--; left < 0 || b.Len() > maxExample {
			break
		}
		switch of := n.Parent.DataAtom; {
		case n.Type == html.TextNode && of != atom.Script && of != atom.Style:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && n.DataAtom == atom.Img:
			b.WriteString(" " + node.Attr(n, "alt") + node.Attr(n, "aria-label") + node.Attr(n, "title"))
		case n.Type == html.ElementNode:
			b.WriteString(node.Attr(n, "aria-label") + node.Attr(n, "title") + node.Attr(n, "alt") + node.Attr(n, "value"))
		}
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

// button checks a button. A custom element in it may have text of its own, as may the rest of a button with many nodes.
func (r *reader) button(n *html.Node) {
	if textOf(n) != "" || hasPicture(n) || bound(n) || r.inNoscript > 0 {
		return
	}
	left := maxRead
	for d := range n.Descendants() {
		if left--; left < 0 || d.Type == html.ElementNode && (bound(d) || strings.Contains(d.Data, "-") || d.DataAtom == atom.Slot) {
			return
		}
	}
	r.field(n, ButtonEmpty)
}

// field records a fault of a form element unless it has a name. A label may be anywhere in the page.
func (r *reader) field(n *html.Node, fault Fault) {
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
	id := node.Attr(n, "id")
	r.fields = append(r.fields, field{fault, id, strings.TrimSpace(n.Data + " " + cmp.Or(node.Attr(n, "name"), id, node.Attr(n, "class")))})
}
