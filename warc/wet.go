package warc

import (
	"net/url"
	"strings"
	"time"
)

// # WET
//
// WET is Common Crawl's name for WARC files that contain text. A WET file begins with a warcinfo
// record. Then, for each page, it has a conversion record of type text/plain with the page's main
// text in UTF-8.

// NewText returns a conversion record with the main text of a page. language is the code of the text's language in ISO
// 639-3 or BCP 47, or "" if unknown.
func NewText(uri string, date time.Time, text, language string) *Record {
	r := New(Conversion, uri, date, "text/plain", []byte(text))
	if language != "" {
		r.Header.Add("WARC-Identified-Content-Language", language)
	}
	return r
}

// nameURN is the prefix that turns the name of a text into a URI if the name is not a URL but, for
// example, a file path. The URN namespace "skink" is not registered.
const nameURN = "urn:skink:"

// URIOf returns the URI for a text called name: name itself if it is an http or https URL, and
// otherwise a URN such as "urn:skink:folder/file.txt".
func URIOf(name string) string {
	if scheme, _, _ := strings.Cut(name, "://"); strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") {
		return name
	}
	return nameURN + strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

// NameOf is the inverse of [URIOf]: it returns the name of the text with the given URI. ok is true
// if the URI is a URN made by URIOf, and false if the name is the URI itself.
func NameOf(uri string) (name string, ok bool) {
	escaped, ok := strings.CutPrefix(uri, nameURN)
	if !ok {
		return uri, false
	}
	name, err := url.PathUnescape(escaped)
	return name, err == nil
}
