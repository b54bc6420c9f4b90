package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// metadata reads <html lang>, <title>, <base>, <link> and <meta> into the Document. If several
// elements set the same field, the first one wins, except for robots, site name and Open Graph
// values.
func (s *survey) metadata(n *html.Node) {
	d := s.doc
	switch n.DataAtom {
	case atom.Html:
		setOnce(&d.Lang, node.Attr(n, "lang"))
		setOnce(&d.Lang, node.Attr(n, "xml:lang"))
	case atom.Title:
		if n.Namespace == "" && n.FirstChild != nil && (d.Title == "" || s.ogTitle) {
			d.Title, s.ogTitle = oneSpace(n.FirstChild.Data), false
			d.TitleFrom = ""
		}
	case atom.Base:
		setOnce(&d.Base, cleanHref(node.Attr(n, "href")))
	case atom.Link:
		s.relation(n)
	case atom.Meta:
		s.meta(n)
	}
}

// relation reads the rel of a <link> or an <a>. Both may have rel=next and rel=prev; canonical and
// alternate are read only on <link>.
func (s *survey) relation(n *html.Node) {
	d := s.doc
	rel := node.Attr(n, "rel")
	if rel == "" {
		return
	}
	href := cleanHref(node.Attr(n, "href"))
	if href == "" {
		return
	}
	if node.HasToken(rel, "next") {
		setOnce(&d.Next, href)
	}
	if node.HasToken(rel, "prev") || node.HasToken(rel, "previous") {
		setOnce(&d.Prev, href)
	}
	if n.DataAtom != atom.Link {
		return
	}
	if node.HasToken(rel, "canonical") {
		setOnce(&d.Canonical, href)
		if len(d.Canonicals) < maxCanonicals && !slices.Contains(d.Canonicals, href) {
			d.Canonicals = append(d.Canonicals, href)
		}
	}
	if node.HasToken(rel, "alternate") && !node.HasToken(rel, "stylesheet") {
		d.Alternates = append(d.Alternates, Alternate{
			Href: href, Type: mediaType(node.Attr(n, "type")), Hreflang: strings.TrimSpace(node.Attr(n, "hreflang")), Title: oneSpace(node.Attr(n, "title")),
		})
	}
}

// nearHeadline is the number of lines below the <h1> within which a <time> counts as the
// publication date.
const nearHeadline = 4

// time records the datetime of a <time> that is marked as the publication date or is right below
// the <h1>.
func (s *survey) time(n *html.Node) {
	if s.nearH1 == "" && s.h1Block >= 0 && len(s.blocks)-int(s.h1Block) <= nearHeadline {
		s.nearH1 = oneSpace(node.Attr(n, "datetime"))
	}
	if s.published == "" && (node.HasToken(node.Attr(n, "itemprop"), "datePublished") || node.HasAttr(n, "pubdate") || node.HasToken(node.Attr(n, "class"), "published")) {
		s.published = oneSpace(node.Attr(n, "datetime"))
	}
}

func (s *survey) meta(n *html.Node) {
	d := s.doc
	content := node.Attr(n, "content")
	name := node.Attr(n, "name")
	if name == "" {
		name = node.Attr(n, "property")
	}
	if name == "" {
		name = node.Attr(n, "itemprop")
	}
	switch name := strings.ToLower(strings.TrimSpace(name)); name {
	default:
		s.robotsOf(name, content)
	case "robots":
		ask := AskOf(content)
		d.NoIndex, d.NoFollow = d.NoIndex || ask.NoIndex, d.NoFollow || ask.NoFollow
	case "description":
		if text := oneSpace(content); text != "" && (d.Description == "" || s.ogDescription) {
			d.Description, s.ogDescription = text, false
			d.SharedOnly = false
		}
	case "og:site_name":
		d.SiteName = oneSpace(content)
	case "application-name":
		setOnce(&d.SiteName, oneSpace(content))
	case "author":
		setOnce(&d.Author, oneSpace(content))
	case "article:published_time", "datepublished", "date", "dc.date", "dcterms.date", "dc.date.issued", "dcterms.created":
		setOnce(&d.Published, oneSpace(content))
	case "article:modified_time", "datemodified", "og:updated_time":
		setOnce(&d.Modified, oneSpace(content))
	case "og:title":
		if d.Title == "" {
			if d.Title, s.ogTitle = oneSpace(content), true; d.Title != "" {
				d.TitleFrom = "og:title"
			}
		}
	case "og:description":
		if d.Description == "" {
			d.Description, s.ogDescription = oneSpace(content), true
			d.SharedOnly = d.Description != ""
		}
	}
	switch equiv := node.Attr(n, "http-equiv"); {
	case strings.EqualFold(equiv, "content-language"):
		setOnce(&d.Lang, content)
	case strings.EqualFold(equiv, "refresh"):
		if href := Refresh(content); href != "" {
			s.addHref(href, "", ByRefresh)
		}
	}
}

// robotsOf records a <meta> such as <meta name=googlebot content=noindex>. The element is ignored
// if content has neither noindex nor nofollow. If two elements have the same name, both apply.
func (s *survey) robotsOf(name, content string) {
	ask := AskOf(content)
	if ask == (Ask{}) || name == "" {
		return
	}
	if s.doc.Asks == nil {
		s.doc.Asks = map[string]Ask{}
	}
	before := s.doc.Asks[name]
	s.doc.Asks[name] = Ask{ask.NoIndex || before.NoIndex, ask.NoFollow || before.NoFollow}
}

// AskOf reads directives for crawlers, such as noindex, which are separated by commas.
func AskOf(directives string) (ask Ask) {
	for directive := range strings.SplitSeq(directives, ",") {
		switch directive = strings.TrimSpace(directive); {
		case strings.EqualFold(directive, "noindex"):
			ask.NoIndex = true
		case strings.EqualFold(directive, "nofollow"):
			ask.NoFollow = true
		case strings.EqualFold(directive, "none"):
			ask = Ask{true, true}
		}
	}
	return ask
}

func setOnce(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// oneSpace collapses each run of white space into a single space, and removes invisible characters.
func oneSpace(s string) string {
	var w writer
	w.write(s)
	w.flush()
	return string(w.text)
}
