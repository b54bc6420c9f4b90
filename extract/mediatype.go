package extract

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"
)

// sniffed is how much of a body is looked at, as in the WHATWG MIME Sniffing standard ("resource
// header").
const sniffed = 1445

// MediaType says what [Parse] would take the body for: the declared type, or one found in the bytes
// where none is declared, where it says nothing (application/octet-stream), or where the bytes
// contradict it: servers send PDF as text/html.
func MediaType(body []byte, contentType string) string {
	declared := mediaType(contentType)
	if kind := magic(body); kind != "" {
		return kind
	}
	if (isMarkup(declared) || declared == "" || declared == "text/plain") && beginsAsFeed(body) {
		return "application/xml"
	}
	switch {
	case isMarkup(declared) || declared == "text/plain" || declared == "text/markdown":
		if binary(body, contentType) {
			return "application/octet-stream"
		}
		if declared == "text/plain" && beginsAsPage(body) {
			return "text/html"
		}
		return declared
	case declared == "" || declared == "application/octet-stream" || declared == "unknown/unknown" || declared == "application/unknown" || declared == "*/*":
		switch {
		case binary(body, contentType):
			return "application/octet-stream"
		case beginsAsMarkup(body):
			return "text/html"
		default:
			return "text/plain"
		}
	}
	return declared
}

// mediaType is the type of a Content-Type header, without its parameters, which are wrong too often
// to insist on.
func mediaType(contentType string) string {
	if media, _, err := mime.ParseMediaType(contentType); err == nil {
		return media
	}
	media, _, _ := strings.Cut(contentType, ";")
	media, _, _ = strings.Cut(media, ",")
	return strings.ToLower(strings.TrimSpace(media))
}

func isMarkup(media string) bool {
	return media == "text/html" || media == "application/xhtml+xml"
}

func isText(media string) bool {
	return isMarkup(media) || media == "text/plain" || media == "text/markdown"
}

// magics are the first bytes of formats that servers send under wrong names; from the WHATWG MIME
// Sniffing standard, sections 6 and 7, and for the archives and programs from the formats' own
// specifications.
var magics = []struct{ prefix, media string }{
	{"%PDF-", "application/pdf"},
	{"%!PS-Adobe-", "application/postscript"},
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
	{"\x00\x00\x01\x00", "image/x-icon"},
	{"II*\x00", "image/tiff"},
	{"MM\x00*", "image/tiff"},
	{"ID3", "audio/mpeg"},
	{"OggS\x00", "application/ogg"},
	{"fLaC", "audio/flac"},
	{"\x1a\x45\xdf\xa3", "video/webm"},
	{"PK\x03\x04", "application/zip"},
	{"\x1f\x8b\x08", "application/gzip"},
	{"BZh", "application/x-bzip2"},
	{"\xfd7zXZ\x00", "application/x-xz"},
	{"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"},
	{"\x28\xb5\x2f\xfd", "application/zstd"},
	{"Rar!\x1a\x07", "application/x-rar-compressed"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"},
	{"\x7fELF", "application/x-elf"},
	{"\x00asm", "application/wasm"},
	{"wOFF", "font/woff"},
	{"wOF2", "font/woff2"},
	{"SQLite format 3\x00", "application/vnd.sqlite3"},
}

// magic is the type the first bytes prove, "" if none. A prefix of letters alone proves nothing
// unless bytes that no text holds follow: a page may begin with "ID3".
func magic(body []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(body, []byte(m.prefix)) && (!letters(m.prefix) || hasControls(body)) {
			return m.media
		}
	}
	switch {
	case len(body) >= 12 && bytes.HasPrefix(body, []byte("RIFF")) && hasControls(body):
		switch string(body[8:12]) {
		case "WEBP":
			return "image/webp"
		case "WAVE":
			return "audio/wave"
		case "AVI ":
			return "video/avi"
		}
	case len(body) >= 12 && string(body[4:8]) == "ftyp" && body[0] == 0:
		return "video/mp4"
	}
	return ""
}

func letters(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return false
		}
	}
	return s != "GIF87a" && s != "GIF89a"
}

// hasControls reports control characters that no text has, the "binary data bytes" of the standard.
func hasControls(body []byte) bool {
	for _, c := range body[:min(len(body), sniffed)] {
		if c < 0x09 || c == 0x0b || 0x0e <= c && c <= 0x1a || 0x1c <= c && c <= 0x1f {
			return true
		}
	}
	return false
}

// binary reports a body that is no text in any encoding a page is written in. A page may hold a
// stray control character; one byte in thirty is a program or a picture. UTF-16 is full of NULs and
// is let through where it is known.
func binary(body []byte, contentType string) bool {
	if _, ok := utf16Name(body, contentType); ok {
		return false
	}
	head := body[:min(len(body), 4*sniffed)]
	controls := 0
	for _, c := range head {
		if c < 0x09 || 0x0e <= c && c <= 0x1a || 0x1c <= c && c <= 0x1f {
			controls++
		}
	}
	return controls*30 > len(head)
}

// beginsAsPage reports a whole page, sent under whatever name.
func beginsAsPage(body []byte) bool {
	const doctype = "<!doctype html"
	head := start(body)
	head = bytes.ToLower(head[:min(len(head), len(doctype))])
	return bytes.HasPrefix(head, []byte(doctype)) || bytes.HasPrefix(head, []byte("<html"))
}

// beginsAsFeed reports RSS or Atom, as section 7.3 of the standard tells it from a page.
func beginsAsFeed(body []byte) bool {
	head := start(body)
	for {
		head = bytes.TrimLeft(head, " \t\r\n")
		switch {
		case bytes.HasPrefix(head, []byte("<?")):
			_, head, _ = bytes.Cut(head, []byte("?>"))
		case bytes.HasPrefix(head, []byte("<!--")):
			_, head, _ = bytes.Cut(head, []byte("-->"))
		default:
			return bytes.HasPrefix(head, []byte("<rss")) || bytes.HasPrefix(head, []byte("<feed")) || bytes.HasPrefix(head, []byte("<rdf:RDF"))
		}
	}
}

// beginsAsMarkup reports what the standard's table of tags takes for HTML where no type is
// declared, and XHTML.
func beginsAsMarkup(body []byte) bool {
	if beginsAsPage(body) {
		return true
	}
	head := bytes.ToLower(start(body))
	if bytes.HasPrefix(head, []byte("<?xml")) {
		return bytes.Contains(head, []byte("<html")) || bytes.Contains(head, []byte("<!doctype html"))
	}
	for _, tag := range []string{"<head", "<script", "<iframe", "<h1", "<div", "<font", "<table", "<a", "<style", "<title", "<b", "<body", "<br", "<p", "<!--", "<meta", "<main", "<article", "<section"} {
		if rest, ok := bytes.CutPrefix(head, []byte(tag)); ok && (tag == "<!--" || len(rest) > 0 && bytes.IndexByte([]byte(" >\t\n\r/"), rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// start is the beginning of a body after a byte order mark and white space, as UTF-8 if it is
// UTF-16.
func start(body []byte) []byte {
	head := body[:min(len(body), sniffed)]
	if name, ok := utf16Name(body, ""); ok {
		head = decodeAs(head, name)
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	head = bytes.TrimLeft(head, " \t\r\n\f")
	if !utf8.Valid(head) {
		head = bytes.ToValidUTF8(head, []byte("?"))
	}
	return head
}
