package extract

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// plain returns the Document for plain text. Each line is a block. The Document has no title, and
// it has no links, because a URL in plain text is not a link.
func (o Options) plain(text []byte, media, charset string) *Document {
	d := &Document{MediaType: media, Charset: charset, Root: RootPlain}
	if o.Verbatim {
		d.Text = string(text)
	} else {
		d.Text = plainText(text)
	}
	if d.Text == "" {
		d.Root = RootNone
	}
	if !o.SkipLang {
		d.Lang = lang(d)
	}
	return d
}

// plainText cleans text as a writer cleans the lines of a <pre>. It removes empty lines, white
// space at the ends of lines, and invisible characters. It is faster than a writer, because it
// copies whole runs of printable characters instead of single words.
func plainText(text []byte) string {
	var out strings.Builder
	out.Grow(len(text))
	var space []byte // white space to write if another character of the line follows
	begun := false   // whether a character of the line has been written
	wraps := false   // whether one more space must be written after the bytes in space
	write := func(b []byte) {
		if !begun && out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.Write(space)
		if wraps {
			out.WriteByte(' ')
		}
		out.Write(b)
		space, begun, wraps = space[:0], true, false
	}
	for i := 0; i < len(text); {
		start, c := i, text[i]
		i++
		switch {
		case ' ' < c && c < 0x7f, plainLetter(text[start:]) > 0:
			i = start + printable(text[start:])
			run := text[start:i]
			word := bytes.TrimRight(run, " \t")
			write(word)
			space = append(space, run[len(word):]...)
		case c == ' ' || c == '\t':
			if begun && !wraps {
				space = append(space, c)
			}
		case c == '\n':
			space, begun, wraps = space[:0], false, false
		case c == '\r' || c == '\f' || c == '\v':
			wraps = begun
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[start:])
			i = start + size
			switch {
			case invisible(r):
			case unicode.IsSpace(r):
				if begun && !wraps {
					space = append(space, ' ')
				}
			case r == utf8.RuneError:
				write([]byte("\ufffd"))
			default:
				write(text[start:i])
			}
		}
	}
	return out.String()
}

// printable returns the length of the run of ASCII characters, spaces, tabs and plain letters at the
// beginning of b. White space at its end is included.
func printable(b []byte) int {
	for i := 0; ; {
		i += printableASCII(b[i:])
		switch n := plainLetter(b[i:]); {
		case n > 0:
			i += n
		case i < len(b) && b[i] == '\t':
			i++
		default:
			return i
		}
	}
}

// plainLetter returns the length of the character at the beginning of b, if it is in one of two
// large ranges in which nearly all characters are visible: U+00C0 to U+07FF, with the alphabets from
// Latin to Arabic, and U+3040 to U+CFFF, with kana, Han and most of Hangul. Otherwise, and for the
// two invisible characters in these ranges, it returns 0.
func plainLetter(b []byte) int {
	switch {
	case len(b) >= 2 && 0xC3 <= b[0] && b[0] <= 0xDF && b[1]&0xC0 == 0x80:
		if r := rune(b[0]&0x1F)<<6 | rune(b[1]&0x3F); !invisible(r) {
			return 2
		}
	case len(b) >= 3 && (0xE4 <= b[0] && b[0] <= 0xEC || b[0] == 0xE3 && b[1] >= 0x81) && b[1]&0xC0 == 0x80 && b[2]&0xC0 == 0x80:
		return 3
	}
	return 0
}

// printableASCII returns the number of printable ASCII characters, including spaces, at the
// beginning of b. It looks at eight bytes at once.
func printableASCII(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if marks := controls(x) | (x|(x+each))&highs; marks != 0 { // adding 1 sets the highest bit of DEL
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(b) && ' ' <= b[i] && b[i] < 0x7f {
		i++
	}
	return i
}

// Each constant repeats one byte eight times, for arithmetic on eight bytes in one 64-bit word.
const (
	each  = 0x0101010101010101
	highs = 0x80 * each // the highest bit of each byte
)

// controls marks those of eight bytes that are below 0x20. The lowest mark is the highest bit of
// the first such byte. If there is none, the result is 0. Higher marks may be wrong, because the
// subtraction borrows from the next byte.
func controls(eight uint64) uint64 { return (eight - ' '*each) &^ eight & highs }

// strip fills d from a page that cannot be parsed into a tree. The main text then consists of all
// text between tags, including the menus.
func strip(text []byte, d *Document) {
	s := &survey{doc: d, links: map[linkKey]int{}}
	z := html.NewTokenizer(bytes.NewReader(text))
	var skip atom.Atom // element, such as <script>, whose text is being skipped; 0 if none
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			s.flush()
			d.Root = RootStripped
			d.Text = joinBlocks(&s.writer, nil)
			if d.Text == "" {
				d.Root = RootNone
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
			skip = s.stripTag(z, n)
		case html.EndTagToken:
			skip = 0
			name, _ := z.TagName()
			if kindOf(&html.Node{Data: string(name), DataAtom: atom.Lookup(name)}) != inline {
				s.flush()
			}
		case html.TextToken:
			if skip == 0 {
				s.write(string(z.Text()))
			}
		}
	}
}

// stripTag handles a start tag. It returns the element's name if the text in the element must be
// skipped, or else 0.
func (s *survey) stripTag(z *html.Tokenizer, n *html.Node) atom.Atom {
	switch n.DataAtom {
	case atom.A, atom.Area, atom.Iframe, atom.Frame:
		s.addLink(n)
	case atom.Title:
		if z.Next() == html.TextToken {
			setOnce(&s.doc.Title, oneSpace(string(z.Text())))
		}
	case atom.Html, atom.Meta, atom.Link, atom.Base:
		s.metadata(n)
	}
	switch kindOf(n) {
	case skipped:
		return n.DataAtom
	case inline:
	case lineBreak:
		s.lineBreak()
	default:
		s.flush()
	}
	return 0
}
