package ingest

import (
	"net/http"
	"regexp"
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
		for link := linkValue.FindStringSubmatch(field); link != nil; link = linkValue.FindStringSubmatch(field) {
			field = field[len(link[0]):]
			has := map[string]string{}
			for _, p := range slices.Backward(linkParameter.FindAllStringSubmatch(link[2], -1)) {
				has[strings.ToLower(p[1])] = escaped.ReplaceAllString(p[2], "$1") + strings.TrimSpace(p[3]) // of several parameters with the same name, the first counts
			}
			to, err := base.Resolve(link[1])
			if _, anchored := has["anchor"]; err != nil || anchored { // an anchor says that the link is from another page
				continue
			}
			rel := strings.Fields(strings.ToLower(has["rel"]))
			switch {
			case slices.Contains(rel, "canonical"):
				if doc.Canonical == "" {
					doc.Canonical = to
				}
				doc.Canonicals = append(doc.Canonicals, to)
			case slices.Contains(rel, "alternate") && has["hreflang"] != "":
				doc.Alternates = append(doc.Alternates, extract.Alternate{Hreflang: has["hreflang"], Href: to})
			}
		}
	}
}

// linkValue matches the first link of a field: its target and its parameters. linkParameter matches one
// parameter: its name, and its value with or without quotes. escaped matches a character of a value in quotes.
var (
	linkValue     = regexp.MustCompile(`^[ \t,]*<([^>]*)>((?:[ \t]*;(?:[^",;]|"(?:\\.|[^"\\])*")*)*)[ \t]*(?:,|$)`)
	escaped       = regexp.MustCompile(`\\(.)`)
	linkParameter = regexp.MustCompile(`;[ \t]*([^ \t=;,"]+)[ \t]*(?:=[ \t]*(?:"((?:\\.|[^"\\])*)"|([^";,]*)))?`)
)

// robotsTag parses X-Robots-Tag headers. No standard describes them, but all large crawlers agree.
// Directives are separated by commas. Directives after "name:" are for the crawler of that name, up
// to the next name or the end of the field. The argument agent is this crawler's name in lower
// case.
func robotsTag(h map[string][]string, agent string) extract.Ask {
	var directives []string // for this crawler
	for _, value := range h["X-Robots-Tag"] {
		ours := true
		for part := range strings.SplitSeq(strings.ToLower(value), ",") {
			name, rest, named := strings.Cut(part, ":")
			if name = strings.TrimSpace(name); named && isAgent(name) {
				ours, part = name == agent, rest
			}
			if ours {
				directives = append(directives, part)
			}
		}
	}
	return extract.AskOf(strings.Join(directives, ","))
}

// isAgent reports whether the text before a colon is the name of a crawler. Otherwise it is a
// directive with a value, or the hour in a time such as 15:00.
func isAgent(name string) bool {
	switch name {
	case "", "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return false
	}
	return !strings.ContainsAny(name, " \t")
}
