package extract

import (
	"strings"
	"testing"
)

func TestMediaType(t *testing.T) {
	for _, test := range []struct{ name, body, contentType, want string }{
		{"declared", "<p>a", "text/html; charset=utf-8", "text/html"},
		{"capitals and a broken parameter", "<p>a", "Text/HTML; charset", "text/html"},
		{"two types in one header", "<p>a", "text/html, text/html", "text/html"},
		{"no semicolon before the charset", "<p>a", "text/html charset=utf-8", "text/html"},
		{"no slash", "<!doctype html>", "html; charset=utf-8", "text/html"},
		{"a name in front", "<p>a", "Content-Type: text/html", "text/html"},
		{"a slash too many", "one", "text/html/plain", "text/plain"},
		{"a quote that does not end", "<p>a", "text/html; charset=\"utf-8", "text/html"},
		{"a blank before the slash", "<!doctype html>", "text /html; charset=utf-8", "text/html"},
		{"half a type", "<!doctype html>", "text/; charset=utf-8", "text/html"},
		{"any type", "<!doctype html>", "*/*; q=0.8", "text/html"},
		{"only a charset", "<p>a", "; charset=utf-8", "text/html"},
		{"XHTML", "<?xml version='1.0'?><html/>", "application/xhtml+xml", "application/xhtml+xml"},
		{"XHTML undeclared", "<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>", "", "text/html"},
		{"XML is not a page", "<?xml version='1.0'?><rss/>", "application/xml", "application/xml"},
		{"page without a type", "\n <!DOCTYPE HTML>", "", "text/html"},
		{"page as octets", "<html>", "application/octet-stream", "text/html"},
		{"page as text", "<!doctype html>", "text/plain", "text/html"},
		{"markup as text", "<p>a</p>", "text/plain", "text/plain"},
		{"fragment without a type", "<p>a</p>", "", "text/html"},
		{"comment first", "<!-- a --><p>b", "", "text/html"},
		{"a word in angle brackets", "<pay attention>", "", "text/plain"},
		{"text without a type", "one two", "", "text/plain"},
		{"empty", "", "", "text/plain"},
		{"PDF as page", "%PDF-1.4", "text/html", "application/pdf"},
		{"PDF without a type", "%PDF-1.4", "", "application/pdf"},
		{"picture as page", "\x89PNG\r\n\x1a\n\x00\x00", "text/html", "image/png"},
		{"zip as text", "PK\x03\x04\x14\x00", "text/plain", "application/zip"},
		{"film", "\x00\x00\x00\x20ftypisom", "", "video/mp4"},
		{"sound", "ID3\x03\x00", "", "audio/mpeg"},
		{"a text about sound", "ID3 is a tag", "", "text/plain"},
		{"NULs as page", "<html>" + strings.Repeat("\x00\x01\x02\x03", 50), "text/html", "application/octet-stream"},
		{"a stray NUL", "<html>" + strings.Repeat("words ", 50) + "\x00", "text/html", "text/html"},
		{"UTF-16 is full of NULs", "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00", "", "text/html"},
		{"picture", "", "image/png", "image/png"},
	} {
		if got := MediaType([]byte(test.body), test.contentType); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
