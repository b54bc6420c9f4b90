package sitemap

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// # Lenient markup
//
// Sites often serve invalid XML: ampersands in URLs are not escaped, elements are not closed, bytes
// are not UTF-8, or the declared encoding is wrong. An XML parser stops at the first error, and
// keeps all open elements in memory. So the tokenizer of HTML divides a file into tags and texts. It
// never fails, and keeps one token in memory, of at most [MaxToken] bytes. Comments, processing
// instructions and document types are skipped. Entities that a file declares are never expanded, so
// they cannot multiply the size of the text.

// A piece is one tag of a file, or the text between two tags.
type piece struct {
	open, close bool              // the tag opens or closes an element; <a/> does both, and text neither
	name        string            // name of the tag in lower case, with its prefix; "" for text
	attributes  map[string]string // values of the attributes by their names in lower case
	text        []byte            // the text, unescaped; valid until the next piece
	long        bool              // the tag or text is longer than MaxText, and must not be used
}

type markup struct{ tokens *html.Tokenizer }

func newMarkup(r io.Reader) *markup {
	m := &markup{tokens: html.NewTokenizer(r)}
	m.tokens.SetMaxBuf(MaxToken)
	m.tokens.AllowCDATA(true)
	return m
}

func (m *markup) next() (piece, error) {
	for {
		kind := m.tokens.Next()
		raw := m.tokens.Raw()
		long := len(raw) > MaxText
		switch kind {
		case html.ErrorToken:
			if err := m.tokens.Err(); err != html.ErrBufferExceeded {
				return piece{}, err
			}
			return piece{}, ErrToken
		case html.TextToken:
			return piece{text: textOf(raw), long: long}, nil
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			m.tokens.NextIsNotRawText() // in HTML, <title> and <script> contain no tags
			name, more := m.tokens.TagName()
			p := piece{open: kind != html.EndTagToken, close: kind != html.StartTagToken, name: string(name), long: long}
			if more && !long {
				p.attributes = m.attributes()
			}
			return p, nil
		}
	}
}

func (m *markup) attributes() map[string]string {
	all := map[string]string{}
	for more := true; more; {
		var name, value []byte
		name, value, more = m.tokens.TagAttr()
		all[string(name)] = string(value)
	}
	return all
}

// textOf returns a text as it was meant: without the markers of a CDATA section, or unescaped.
func textOf(raw []byte) []byte {
	if section, is := bytes.CutPrefix(raw, []byte("<![CDATA[")); is {
		return bytes.TrimSuffix(section, []byte("]]>"))
	}
	if bytes.IndexByte(raw, '&') >= 0 {
		return []byte(unescape(string(raw)))
	}
	return raw
}

// unescape replaces numeric references and the five entities of XML, and leaves all other
// ampersands unchanged: "&copy=1" in a URL is a parameter.
func unescape(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "&")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, closed := strings.Cut(after, ";")
		if closed && len(name) <= len("#x10FFFF") && (strings.HasPrefix(name, "#") || xmlEntities[name]) {
			b.WriteString(html.UnescapeString("&" + name + ";"))
			s = rest
		} else {
			b.WriteByte('&')
			s = after
		}
	}
}

var xmlEntities = map[string]bool{"amp": true, "lt": true, "gt": true, "quot": true, "apos": true}
