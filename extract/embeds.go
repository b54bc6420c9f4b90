package extract

import (
	"cmp"
	"encoding/json"
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
	"skink/extract/stylesheet"
)

// embed adds to Document.Embeds the files that a browser fetches because of an element. An image
// is added in each of its sizes. Files that are loaded by scripts or named in a separate style
// sheet are not found.
func (s *survey) embed(n *html.Node) {
	if s.opt.Requisites {
		s.embedRequisites(n)
	}
	switch n.DataAtom {
	case atom.Img:
		s.addPicture(n, "alt")
	case atom.Script:
		s.addEmbed(node.Attr(n, "src"), ByScript, "")
	case atom.Link:
		s.embedLink(n)
	case atom.Source:
		if n.Parent != nil && n.Parent.DataAtom == atom.Picture {
			s.addPicture(n, "")
			return
		}
		s.addEmbed(node.Attr(n, "src"), ByMedia, "")
	case atom.Video:
		s.addEmbed(node.Attr(n, "src"), ByMedia, "")
		s.addEmbed(node.Attr(n, "poster"), ByImage, "")
	case atom.Audio, atom.Track, atom.Embed:
		s.addEmbed(node.Attr(n, "src"), ByMedia, "")
	case atom.Object:
		s.addEmbed(node.Attr(n, "data"), ByMedia, "")
	case atom.Input:
		if strings.EqualFold(node.Attr(n, "type"), "image") {
			s.addPicture(n, "alt")
		}
	}
}

// embedRequisites adds the files that change how an element looks, but whose absence is seldom a
// fault of the page: those that its styles name, preloaded files, the manifest of a web
// application, the picture for links to the page, and the parts of an inline SVG drawing that are in
// other files.
func (s *survey) embedRequisites(n *html.Node) {
	if style := node.Attr(n, "style"); style != "" {
		s.embedStyle(style)
	}
	switch {
	case n.DataAtom == atom.Style && n.FirstChild != nil:
		s.embedStyle(n.FirstChild.Data)
	case n.DataAtom == atom.Link && node.HasToken(node.Attr(n, "rel"), "preload"):
		s.addEmbed(node.Attr(n, "href"), preloadedBy(node.Attr(n, "as")), "")
		for href := range candidates(node.Attr(n, "imagesrcset")) {
			s.addEmbed(href, ByImage, "")
		}
	case n.DataAtom == atom.Link && node.HasToken(node.Attr(n, "rel"), "modulepreload"):
		s.addEmbed(node.Attr(n, "href"), ByScript, "")
	case n.DataAtom == atom.Link && node.HasToken(node.Attr(n, "rel"), "manifest"):
		s.addEmbed(node.Attr(n, "href"), ByStyle, "")
	case n.DataAtom == atom.Meta && isPreview(cmp.Or(node.Attr(n, "property"), node.Attr(n, "name"))):
		s.addEmbed(node.Attr(n, "content"), ByImage, "")
	case n.DataAtom == atom.Body, n.DataAtom == atom.Table, n.DataAtom == atom.Td, n.DataAtom == atom.Th:
		s.addEmbed(node.Attr(n, "background"), ByImage, "")
	case n.Namespace == "svg" && (n.Data == "image" || n.Data == "use" || n.Data == "feImage"):
		s.addEmbed(node.Attr(n, "href"), ByImage, "")
	}
}

// isPreview reports whether a <meta> names the picture that other sites show with a link to the page.
func isPreview(name string) bool {
	switch strings.ToLower(name) {
	case "og:image", "og:image:url", "og:image:secure_url", "twitter:image":
		return true
	}
	return false
}

func (s *survey) embedStyle(sheet string) {
	if !strings.Contains(sheet, "(") && !strings.Contains(sheet, "@") {
		return // the value has no url(), image-set() or @import
	}
	for href := range stylesheet.References([]byte(sheet)) {
		s.addEmbed(href, ByStyle, "")
	}
}

func preloadedBy(as string) By {
	switch strings.ToLower(as) {
	case "script":
		return ByScript
	case "image":
		return ByImage
	case "audio", "video", "track":
		return ByMedia
	}
	return ByStyle
}

// embedLink adds the style sheet or icon that a <link> names. It skips alternate style sheets,
// because browsers do not fetch them.
func (s *survey) embedLink(n *html.Node) {
	rel := node.Attr(n, "rel")
	switch {
	case rel == "" || node.HasToken(rel, "alternate"):
	case node.HasToken(rel, "stylesheet"):
		s.addEmbed(node.Attr(n, "href"), ByStyle, "")
	case node.HasToken(rel, "icon") || node.HasToken(rel, "apple-touch-icon"):
		s.addEmbed(node.Attr(n, "href"), ByImage, "")
	}
}

// addPicture adds an image in each of its sizes (src and srcset). alt is the name of the attribute
// with the alternative text, or "".
func (s *survey) addPicture(n *html.Node, alt string) {
	text := node.Attr(n, alt)
	s.addEmbed(node.Attr(n, "src"), ByImage, text)
	for href := range candidates(node.Attr(n, "srcset")) {
		s.addEmbed(href, ByImage, text)
	}
}

// candidates yields the addresses of a srcset attribute, such as "small.png 1x, large.png 2x". The
// rules are those of HTML 4.8.4.2, "parse a srcset attribute". An address ends at white space. Its
// descriptor, such as 2x, ends at a comma outside parentheses. So an address may contain commas.
func candidates(srcset string) iter.Seq[string] {
	const space = " \t\n\f\r"
	return func(yield func(string) bool) {
		for rest := srcset; ; {
			if rest = strings.TrimLeft(rest, space+","); rest == "" {
				return
			}
			end := strings.IndexAny(rest, space)
			if end < 0 {
				end = len(rest)
			}
			href := rest[:end]
			rest = rest[end:]
			if bare := strings.TrimRight(href, ","); bare != href {
				href = bare // no descriptor follows, because the comma is directly after the address
			} else {
				rest = behindComma(rest)
			}
			if !yield(href) {
				return
			}
		}
	}
}

// behindComma returns the part of s after the first comma outside parentheses, or "" if there is no
// such comma.
func behindComma(s string) string {
	open := false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '(':
			open = true
		case c == ')':
			open = false
		case c == ',' && !open:
			return s[i+1:]
		}
	}
	return ""
}

func (s *survey) addEmbed(href string, by By, alt string) {
	if href = cleanHref(href); !leadsSomewhere(href) {
		return
	}
	known := len(s.embeds)
	if s.embeds[href] = true; len(s.embeds) == known {
		return
	}
	s.doc.Embeds = append(s.doc.Embeds, Embed{Href: href, By: by, Alt: oneLineOf(alt, maxLinkText)})
}

// ManifestFiles returns the addresses of the pictures in the manifest of a web application (W3C Web
// Application Manifest), as written. It returns nil if the bytes are no manifest.
func ManifestFiles(manifest []byte) (hrefs []string) {
	type pictures []struct{ Src string }
	var m struct {
		Icons, Screenshots pictures
		Shortcuts          []struct{ Icons pictures }
	}
	_ = json.Unmarshal(manifest, &m) // bytes that are no manifest leave m empty
	all := append(m.Icons, m.Screenshots...)
	for _, s := range m.Shortcuts {
		all = append(all, s.Icons...)
	}
	for _, p := range all {
		hrefs = append(hrefs, p.Src)
	}
	return hrefs
}
