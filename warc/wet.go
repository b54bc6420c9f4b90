package warc

import (
	"net/url"
	"strings"
	"time"
)

// # WET
//
// WET is Common Crawl's name for archives of texts. They have a warcinfo, and conversion records of
// type text/plain, each with the main text of a page in UTF-8.

// NewText returns the conversion record of a page's main text. refersTo is the id of the record
// with the page itself. language is the language of the text by ISO 639-3 or BCP 47, or "" if it is
// not known.
func NewText(uri string, date time.Time, text, refersTo, language string) *Record {
	r := New(Conversion, uri, date, "text/plain", []byte(text))
	if refersTo != "" {
		r.Header.Add("WARC-Refers-To", refersTo)
	}
	if language != "" {
		r.Header.Add("WARC-Identified-Content-Language", language)
	}
	return r
}

// nameURN begins the URI of a text whose name is not a URL, such as the path of a file. The
// namespace is not registered.
const nameURN = "urn:skink:"

// URIOf returns the URI of a text by its name: the name itself if it is a URL of the web.
func URIOf(name string) string {
	if scheme, _, _ := strings.Cut(name, "://"); strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") {
		return name
	}
	return nameURN + strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

// NameOf returns the name for which [URIOf] gives a URI. ok reports whether the name is not a URL.
func NameOf(uri string) (name string, ok bool) {
	escaped, ok := strings.CutPrefix(uri, nameURN)
	if !ok {
		return uri, false
	}
	name, err := url.PathUnescape(escaped)
	return name, err == nil
}
