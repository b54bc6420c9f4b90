package extract

import (
	"bytes"
	"encoding/binary"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"
)

// sniffed is the number of bytes examined at the start of a body, as in the WHATWG MIME Sniffing
// standard ("resource header").
const sniffed = 1445

// MediaType returns the media type that [Parse] uses to read a body, such as "text/html". It is the
// type in contentType, unless that is missing or meaningless (application/octet-stream), or the
// bytes contradict it. Then the bytes decide. For example, some servers send PDF as text/html.
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
		if isBinary(body, contentType) {
			return "application/octet-stream"
		}
		if declared == "text/plain" && beginsAsPage(body) {
			return "text/html"
		}
		return declared
	case declared == "" || declared == "application/octet-stream" || declared == "unknown/unknown" || declared == "application/unknown" || declared == "*/*":
		switch {
		case isBinary(body, contentType):
			return "application/octet-stream"
		case beginsAsMarkup(body):
			return "text/html"
		default:
			return "text/plain"
		}
	}
	return declared
}

// usualTypes holds the most common Content-Type headers, because parsing a header takes longer than
// reading a short text.
var usualTypes = map[string]string{"text/html; charset=utf-8": "text/html", "text/plain; charset=utf-8": "text/plain"}

// mediaType returns the type in a Content-Type header, or "" if the header does not begin with one.
// Invalid parameters are ignored, because many servers send them.
func mediaType(contentType string) string {
	if media := usualTypes[contentType]; media != "" {
		return media
	}
	first, _, _ := strings.Cut(contentType, ";")
	first, _, _ = strings.Cut(first, ",")
	if media, _, err := mime.ParseMediaType(first); err == nil && strings.Contains(media, "/") {
		return media
	}
	return ""
}

func isMarkup(media string) bool {
	return media == "text/html" || media == "application/xhtml+xml"
}

func isText(media string) bool {
	return isMarkup(media) || media == "text/plain" || media == "text/markdown"
}

// magics lists the first bytes of formats that servers send with the wrong type. They are from
// sections 6 and 7 of the WHATWG MIME Sniffing standard. Those of archives and programs are from
// the formats' own specifications.
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

// magic returns the media type that the first bytes of a body prove, or "". If a prefix has only
// letters and digits, binary data must follow it, because text may begin with "ID3".
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
	isOther := func(r rune) bool { return !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') }
	return s != "GIF87a" && s != "GIF89a" && !strings.ContainsFunc(s, isOther)
}

// hasControls reports whether the beginning of a body has control characters that do not occur in
// text. The standard calls them "binary data bytes".
func hasControls(body []byte) bool {
	return slices.ContainsFunc(body[:min(len(body), sniffed)], func(c byte) bool {
		return c < 0x09 || c == 0x0b || 0x0e <= c && c <= 0x1a || 0x1c <= c && c <= 0x1f
	})
}

// isBinary reports whether a body is not text in any encoding: more than one byte in thirty at its
// start is a control character. Text may contain a few. UTF-16 is not binary if it is recognized,
// although its ASCII characters have NUL bytes.
func isBinary(body []byte, contentType string) bool {
	if _, ok := utf16Name(body, contentType); ok {
		return false
	}
	head := body[:min(len(body), 4*sniffed)]
	found := 0
	for eight := range slices.Chunk(head, 8) {
		if len(eight) == 8 && controls(binary.LittleEndian.Uint64(eight)) == 0 {
			continue
		}
		for _, c := range eight {
			if c < 0x09 || 0x0e <= c && c <= 0x1a || 0x1c <= c && c <= 0x1f {
				found++
			}
		}
	}
	return found*30 > len(head)
}

func beginsAsPage(body []byte) bool {
	const doctype = "<!doctype html"
	head := start(body)
	head = bytes.ToLower(head[:min(len(head), len(doctype))])
	return bytes.HasPrefix(head, []byte(doctype)) || bytes.HasPrefix(head, []byte("<html"))
}

// beginsAsFeed reports whether a body begins like RSS or Atom; see section 7.3 of the standard.
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

// beginsAsMarkup reports whether a body begins like HTML, by the standard's table of tags, or like
// XHTML.
func beginsAsMarkup(body []byte) bool {
	if beginsAsPage(body) {
		return true
	}
	head := bytes.ToLower(start(body))
	if bytes.HasPrefix(head, []byte("<?xml")) {
		return bytes.Contains(head, []byte("<html")) || bytes.Contains(head, []byte("<!doctype html"))
	}
	tags := []string{"<head", "<script", "<iframe", "<h1", "<div", "<font", "<table", "<a", "<style", "<title", "<b", "<body", "<br", "<p", "<!--", "<meta", "<main", "<article", "<section"}
	return slices.ContainsFunc(tags, func(tag string) bool {
		rest, ok := bytes.CutPrefix(head, []byte(tag))
		return ok && (tag == "<!--" || len(rest) > 0 && bytes.IndexByte([]byte(" >\t\n\r/"), rest[0]) >= 0)
	})
}

// start returns the first bytes of a body as UTF-8, without a leading byte order mark or white
// space.
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
