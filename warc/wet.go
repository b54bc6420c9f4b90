package warc

import "time"

// # WET
//
// Common Crawl's name for archives of texts: a warcinfo, and conversion records of type
// text/plain, each with the main text of a page in UTF-8.

// NewText begins the conversion record of a page's main text. refersTo is the id of the record
// with the page itself, and language what it is written in, by ISO 639-3 or BCP 47; "": not known.
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
