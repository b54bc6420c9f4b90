package ingest

import (
	"net/http"
	"slices"
	"strings"

	"skink/extract"
	"skink/frontier"
)

// # The Link header
//
// What <link> says in a document a server may say in the header of its answer (RFC 8288):
//
//	Link: <https://a.example/shoes>; rel="canonical", </de/shoes>; rel=alternate; hreflang=de
//
// Search engines heed rel=canonical and hreflang there as in the document, and some sites have them
// there alone. What the document says comes first. A field that is not well formed says nothing
// from the fault on.

// obeyLinks adds what the header of an answer from a URL says of other pages to what the document
// says of them. Such links are relative to the URL, whatever <base> the document has.
func obeyLinks(doc *extract.Document, header http.Header, url string) {
	if len(header["Link"]) == 0 {
		return
	}
	base, err := frontier.NewBase(url, "")
	if err != nil {
		return
	}
	for _, field := range header["Link"] {
		for l := range headerLinks(field) {
			to, err := base.Resolve(l.href)
			if err != nil || l.anchored {
				continue
			}
			rel := strings.Fields(strings.ToLower(l.rel))
			switch {
			case slices.Contains(rel, "canonical"):
				if doc.Canonical == "" {
					doc.Canonical = to
				}
				doc.Canonicals = append(doc.Canonicals, to)
			case slices.Contains(rel, "alternate") && l.hreflang != "":
				doc.Alternates = append(doc.Alternates, extract.Alternate{Hreflang: l.hreflang, Href: to})
			}
		}
	}
}

// A headerLink is a link of a Link header.
type headerLink struct {
	href, rel, hreflang string
	anchored            bool // it is about another page than that of the answer
}

// headerLinks are the links of one field.
func headerLinks(field string) func(yield func(headerLink) bool) {
	const space = " \t"
	return func(yield func(headerLink) bool) {
		for {
			field = strings.TrimLeft(field, space+",")
			rest, ok := strings.CutPrefix(field, "<")
			if !ok {
				return
			}
			var l headerLink
			if l.href, field, ok = strings.Cut(rest, ">"); !ok {
				return
			}
			for {
				rest, more := strings.CutPrefix(strings.TrimLeft(field, space), ";")
				if !more {
					break
				}
				name, value, behind := parameter(rest)
				field = behind
				switch { // of several the first counts
				case name == "rel" && l.rel == "":
					l.rel = value
				case name == "hreflang" && l.hreflang == "":
					l.hreflang = value
				case name == "anchor":
					l.anchored = true
				}
			}
			field = strings.TrimLeft(field, space)
			if field != "" && field[0] != ',' || !yield(l) {
				return
			}
		}
	}
}

// parameter takes the first parameter of a link off, and returns what is behind it. Its name is in
// small letters.
func parameter(s string) (name, value, rest string) {
	end := strings.IndexAny(s, "=;,")
	if end < 0 {
		return strings.ToLower(strings.TrimSpace(s)), "", ""
	}
	name = strings.ToLower(strings.TrimSpace(s[:end]))
	if s[end] != '=' {
		return name, "", s[end:]
	}
	s = strings.TrimLeft(s[end+1:], " \t")
	if !strings.HasPrefix(s, `"`) {
		if end = strings.IndexAny(s, ";,"); end < 0 {
			end = len(s)
		}
		return name, strings.TrimSpace(s[:end]), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return name, b.String(), s[i+1:]
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return name, b.String(), ""
}
