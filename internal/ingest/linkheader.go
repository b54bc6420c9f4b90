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
// A server may send links in the header of its response instead of <link> elements in the page (RFC
// 8288):
//
//	Link: <https://a.example/shoes>; rel="canonical", </de/shoes>; rel=alternate; hreflang=de
//
// Search engines support rel=canonical and hreflang in the header too, and some sites have them
// only there. If the header and the document both have a canonical URL, the one in the document
// counts. A malformed field is parsed up to the first error.

// obeyLinks adds the canonical URL and the alternates from the response header to a document. A
// canonical URL in the document takes precedence. Links in a header are relative to the page's URL,
// so the document's <base> does not apply.
//
// A Refresh header leads to another page like <meta http-equiv=refresh>.
func obeyLinks(doc *extract.Document, header http.Header, url string) {
	for _, content := range header["Refresh"] {
		if href := extract.Refresh(content); href != "" {
			doc.Links = append(doc.Links, extract.Link{Href: href, By: extract.ByRefresh})
		}
	}
	if len(header["Link"]) == 0 {
		return
	}
	base, err := frontier.NewBase(url, "", "")
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

type headerLink struct {
	href, rel, hreflang string
	anchored            bool // an anchor parameter says that the link is from another page
}

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
				switch { // of several parameters with the same name, only the first counts
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

// The returned name is in lower case.
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
