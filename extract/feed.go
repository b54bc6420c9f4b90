package extract

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

func isXML(media string) bool {
	switch media {
	case "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml", "text/xml":
		return true
	}
	return false
}

// feed returns a Document with links to the entries of an RSS or Atom feed, or nil if the body is
// not a feed. The text of an entry is not read, because it repeats the text of the linked page.
//
// RSS (0.9 to 2.0) has <item><link>address</link>, Atom (RFC 4287) has <entry><link href="address"
// rel="alternate"/>.
func feed(body []byte) *Document {
	d := &Document{Root: RootNone}
	seen := map[Link]bool{}
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict = false
	dec.CharsetReader = charset.NewReaderLabel
	depth, entry := 0, 0 // depths of the current element and of the open entry; entry is 0 if none is open
	root := ""
	link := false
	add := func(href string) {
		if l := (Link{Href: cleanHref(href), By: ByAnchor}); leadsSomewhere(l.Href) && !seen[l] {
			seen[l] = true
			d.Links = append(d.Links, l)
		}
	}
	var address strings.Builder
	for {
		token, err := dec.RawToken()
		if err != nil {
			if root == "" || err != io.EOF && len(d.Links) == 0 {
				return nil
			}
			return d
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			name := t.Name.Local
			switch {
			case depth == 1:
				if root = name; root != "rss" && root != "feed" && root != "RDF" {
					return nil
				}
			case name == "item" || name == "entry":
				entry = depth
			case name == "link" && entry > 0 && depth == entry+1:
				if href, ok := alternate(t.Attr); ok {
					add(href)
				} else if t.Name.Space == "" {
					link = true
					address.Reset()
				}
			}
		case xml.EndElement:
			if link && t.Name.Local == "link" {
				link = false
				add(strings.TrimSpace(address.String()))
			}
			if depth == entry {
				entry = 0
			}
			depth--
		case xml.CharData:
			if link {
				address.Write(t)
			}
		}
	}
}

// alternate returns the address of an Atom link. ok is true if the link leads to the entry's own
// page: its rel is "alternate" or missing.
func alternate(attrs []xml.Attr) (href string, ok bool) {
	rel := "alternate"
	for _, a := range attrs {
		switch a.Name.Local {
		case "href":
			href = a.Value
		case "rel":
			rel = a.Value
		}
	}
	return href, href != "" && rel == "alternate"
}
