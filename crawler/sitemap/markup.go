package sitemap

import (
	"bufio"
	"bytes"
	"html"
	"io"
	"strings"
)

// # Lenient markup
//
// Sites often serve invalid XML: ampersands in URLs are not escaped, elements are not closed, bytes
// are not UTF-8, or the declared encoding is wrong. An XML parser stops at the first error. It also
// keeps whole comments, whole names and all open elements in memory. So this code splits the markup
// into pieces: tags, and the text between two tags. A piece that is longer than [MaxText] bytes is
// cut, and its rest is skipped. Comments, processing instructions and document types are skipped
// too. Entities that a file declares are never expanded, so they cannot multiply the size of the
// text.

// A piece is one tag of a file, or the text between two tags.
type piece struct {
	open, close bool   // the tag opens or closes an element; <a/> does both, and text neither
	name        string // name of the tag in lower case, with its prefix; "" for text
	tag         []byte // content of the tag after its name; valid until the next piece
	text        []byte // the text, unescaped; valid until the next piece
	cut         bool   // the tag or text was longer than MaxText, so its end is missing
}

type markup struct {
	in     *bufio.Reader
	keep   bytes.Buffer
	inText bool // the file ended in the middle of text, which may be incomplete
}

func (m *markup) next() (piece, error) {
	for {
		c, err := m.in.ReadByte()
		if err != nil {
			return piece{}, err
		}
		if c != '<' {
			_ = m.in.UnreadByte()
			return m.chars()
		}
		head, err := m.in.Peek(1)
		if err != nil {
			return piece{}, err
		}
		switch head[0] {
		case '!':
			p, found, err := m.declaration()
			if err != nil || found {
				return p, err
			}
		case '?':
			if err := m.past("?>"); err != nil {
				return piece{}, err
			}
		default:
			return m.tag()
		}
	}
}

func (m *markup) chars() (piece, error) {
	cut, err := m.until('<')
	m.inText = err != nil
	if err == nil {
		_ = m.in.UnreadByte()
	} else if err == io.EOF {
		err = nil // reading the next piece returns io.EOF
	}
	text := m.keep.Bytes()
	if bytes.IndexByte(text, '&') >= 0 {
		text = []byte(unescape(string(text)))
	}
	return piece{text: text, cut: cut}, err
}

// declaration parses <![CDATA[text]]>, and skips <!-- comments --> and document types.
func (m *markup) declaration() (p piece, isText bool, err error) {
	head, _ := m.in.Peek(len("![CDATA["))
	switch {
	case bytes.HasPrefix(head, []byte("!--")):
		_, _ = m.in.Discard(len("!--"))
		return p, false, m.past("-->")
	case string(head) == "![CDATA[":
		_, _ = m.in.Discard(len(head))
		cut, err := m.through("]]>", true)
		m.inText = err != nil
		return piece{text: m.keep.Bytes(), cut: cut}, true, err
	}
	return p, false, m.past(">") // declarations inside a DOCTYPE are parsed as further declarations and text
}

// tag reads up to the first > that is not inside quotes.
func (m *markup) tag() (piece, error) {
	m.keep.Reset()
	var quote byte
	cut := false
	for {
		c, err := m.in.ReadByte()
		switch {
		case err != nil:
			return piece{}, err
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return tagOf(m.keep.Bytes(), cut), nil
		case (c == '"' || c == '\'') && bytes.IndexByte(m.keep.Bytes(), '=') >= 0:
			quote = c
		}
		if cut = cut || m.keep.Len() == MaxText; !cut {
			m.keep.WriteByte(c)
		}
	}
}

// tagOf parses the text between < and >.
func tagOf(inner []byte, cut bool) piece {
	p := piece{open: true, cut: cut}
	if inner, p.close = bytes.CutPrefix(inner, []byte("/")); p.close {
		p.open = false
	} else {
		inner, p.close = bytes.CutSuffix(inner, []byte("/"))
	}
	end := bytes.IndexAny(inner, " \t\r\n")
	if end < 0 {
		end = len(inner)
	}
	p.name, p.tag = strings.ToLower(string(inner[:end])), inner[end:]
	return p
}

// attribute returns the value of an attribute of the tag, or "" if it has no such attribute.
func (p *piece) attribute(name string) string {
	rest := p.tag
	for {
		key, after, found := bytes.Cut(rest, []byte("="))
		if !found {
			return ""
		}
		after = bytes.TrimLeft(after, " \t\r\n")
		var value []byte
		if len(after) > 0 && (after[0] == '"' || after[0] == '\'') {
			value, rest, _ = bytes.Cut(after[1:], after[:1])
		} else if end := bytes.IndexAny(after, " \t\r\n"); end >= 0 {
			value, rest = after[:end], after[end:]
		} else {
			value, rest = after, nil
		}
		if strings.EqualFold(string(bytes.TrimSpace(key)), name) {
			return unescape(string(value))
		}
	}
}

// until reads up to and including the first byte equal to end. It keeps the bytes before that, up
// to MaxText. It returns true if there were more bytes than that.
func (m *markup) until(end byte) (cut bool, err error) {
	m.keep.Reset()
	for {
		part, err := m.in.ReadSlice(end)
		if err == nil {
			part = part[:len(part)-1]
		}
		room := MaxText - m.keep.Len()
		cut = cut || len(part) > room
		m.keep.Write(part[:min(len(part), room)])
		if err != bufio.ErrBufferFull {
			return cut, err
		}
	}
}

// past reads up to and including the string mark, and discards everything.
func (m *markup) past(mark string) error {
	_, err := m.through(mark, false)
	return err
}

// through reads up to and including the string mark, and keeps the bytes before it if keep is set.
func (m *markup) through(mark string, keep bool) (cut bool, err error) {
	m.keep.Reset()
	var tail []byte // the last len(mark) bytes read
	for {
		part, err := m.in.ReadSlice(mark[len(mark)-1])
		if err != nil && err != bufio.ErrBufferFull {
			return cut, err
		}
		if keep {
			room := MaxText + len(mark) - m.keep.Len()
			cut = cut || len(part) > room
			m.keep.Write(part[:min(len(part), room)])
		}
		tail = append(tail, part[max(len(part)-len(mark), 0):]...)
		tail = tail[max(len(tail)-len(mark), 0):]
		if string(tail) == mark {
			if keep && !cut {
				m.keep.Truncate(m.keep.Len() - len(mark))
			}
			return cut, nil
		}
	}
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
