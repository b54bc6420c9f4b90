package extract

import (
	"unicode"
	"unicode/utf8"
)

// A block is a line of the page's text: a paragraph, a heading, a list item, a table row, a line of
// a <pre>.
type block struct {
	start, end int  // in writer.text
	words      int  // runs between white space; of a script without spaces, pairs of characters
	link       int  // bytes inside <a>, the spaces between its words too
	here       int  // the part of link that is inside links to places on the page
	links      int  // number of <a> that begin in it
	kind       kind // of the element it stands in
	elem       int32
	dropped    bool
	again      bool  // the page has shown it before
	copies     int32 // the block it says again, for which it may stand in; -1 where it may not
	taken      bool  // into the main text
}

func (b *block) size() int { return b.end - b.start }

// writer collects the text of a page, cleaned, in one buffer, and notes where the blocks are.
// Separators are written late, when text follows, so that no block begins or ends with one and none
// is empty.
type writer struct {
	text   []byte
	blocks []block

	open    bool // the last block may still grow
	pending byte // separator due before the next text: 0, ' ' or '\t'
	inWord  bool // the last character written was part of a word
	lone    int  // characters of scripts without spaces in the open block
	br      bool // a <br> since the last text

	kind  kind  // for new blocks
	elem  int32 // for new blocks
	pre   int   // depth of elements that keep their lines
	link  int   // depth of <a>
	here  int   // the depth at which the outermost <a> to a place on the page began, 0: in none
	fresh bool  // nothing was written since <a> began
	code  int   // depth of <code>
}

// write adds the text of a text node.
func (w *writer) write(s string) {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if j, words := w.line(s, i); j > i {
				w.put(s[i:j], false)
				w.blocks[len(w.blocks)-1].words += words - 1
				i = j
				continue
			}
			w.separate(c)
			if i++; w.pre == 0 && (c == ' ' || c == '\n' || c == '\t') { // indentation
				for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t') {
					i++
				}
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			w.put("\ufffd", false)
		case invisible(r):
		case unicode.IsSpace(r):
			w.separate(' ')
		default:
			w.put(s[i:i+size], standsAlone(r))
		}
		i += size
	}
}

// line is the end of the ASCII words from s[i] on that are one space apart, as they are to stay,
// and their number. Most of a text is such lines.
func (w *writer) line(s string, i int) (end, words int) {
	words = 1
	for end = i; end < len(s); end++ {
		if c := s[end]; ' ' < c && c < 0x7f {
			continue
		}
		if s[end] != ' ' || w.pre > 0 || end == i || end+1 == len(s) || s[end+1] <= ' ' || s[end+1] >= 0x7f {
			break
		}
		words++
	}
	return end, words
}

// separate handles ASCII white space and controls. A separator is one space whatever the source
// has, except in <pre>.
func (w *writer) separate(c byte) {
	switch {
	case c == '\n' && w.pre > 0:
		w.flush()
	case c == ' ' || c == '\t':
		w.inWord = false
		if w.pre > 0 && w.open && w.pending == 0 {
			w.text = append(w.text, c)
			return
		}
		w.space()
	case c == '\n' || c == '\r' || c == '\f' || c == '\v':
		w.inWord = false
		w.space()
	}
}

func (w *writer) space() {
	if w.open && w.pending == 0 {
		w.pending = ' '
	}
}

// put appends text without white space.
func (w *writer) put(s string, alone bool) {
	if !w.open {
		w.blocks = append(w.blocks, block{start: len(w.text), kind: w.kind, elem: w.elem})
		w.open, w.pending, w.inWord, w.lone = true, 0, false, 0
	}
	b := &w.blocks[len(w.blocks)-1]
	if w.pending != 0 {
		w.text = append(w.text, w.pending)
		w.pending, w.inWord = 0, false
		if w.link > 0 && !w.fresh {
			b.link++
		}
	}
	switch {
	case alone:
		if w.lone++; w.lone%2 == 1 {
			b.words++
		}
		w.inWord = false
	case !w.inWord:
		b.words++
		w.inWord = true
	}
	w.br = false
	w.text = append(w.text, s...)
	if w.link > 0 {
		b.link += len(s)
		if w.here > 0 {
			b.here += len(s)
		}
		if w.fresh {
			b.links++
			w.fresh = false
		}
	}
}

// flush ends the block.
func (w *writer) flush() {
	w.br, w.pending = false, 0
	if !w.open {
		return
	}
	w.open = false
	for n := len(w.text); n > 0 && (w.text[n-1] == ' ' || w.text[n-1] == '\t'); n-- {
		w.text = w.text[:n-1] // only <pre> leaves any
	}
	w.blocks[len(w.blocks)-1].end = len(w.text)
}

// lineBreak is a <br>: the first is a space, for many pages wrap lines with it; the second ends the
// block.
func (w *writer) lineBreak() {
	if w.pre > 0 || w.br {
		w.flush()
		return
	}
	w.br = w.open
	w.inWord = false
	w.space()
}

// cell begins a table cell in a row that is one block.
func (w *writer) cell() {
	w.inWord = false
	if w.open {
		w.pending = '\t'
	}
}

// invisible reports characters that show nothing and part nothing: soft hyphens, zero-width and
// direction marks, controls.
func invisible(r rune) bool {
	switch {
	case r == 0xad || r == 0x34f || r == 0x61c || r == 0x180e || r == 0xfeff:
		return true
	case 0x80 <= r && r < 0xa0:
		return r != 0x85 // next line, white space
	case 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r && r <= 0x206f:
		return true
	case 0xfff0 <= r && r <= 0xfffb || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef:
		return true // interlinear marks and what Unicode calls noncharacters
	case 0xfe00 <= r && r <= 0xfe0f:
		return true // variation selectors
	case 0xe0000 <= r && r < 0xe0200:
		return true // tags and more variation selectors
	}
	return false
}

// standsAlone reports the scripts written without spaces, whose every character counts as a word,
// as it does in the canonical text of package dedup: Han, kana, Thai, Lao and Khmer.
func standsAlone(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case r < 0xf00, 0x1780 <= r && r < 0x1800, 0x3040 <= r && r < 0x3100, 0x3400 <= r && r < 0xa000, 0xf900 <= r && r < 0xfb00, 0x20000 <= r && r < 0x40000:
		return unicode.IsLetter(r) || unicode.IsMark(r)
	}
	return false
}

// countWords counts roughly what a reader would call words, cheaply.
func countWords(text string) int {
	words, inWord := 0, false
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c <= ' ' {
				inWord = false
			} else if !inWord {
				inWord = true
				words++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case standsAlone(r):
			words++
			inWord = false
		case !inWord && !(0x3000 <= r && r < 0x3040): // the punctuation of the scripts above
			words++
			inWord = true
		}
		i += size
	}
	return words
}

// joinBlocks is the text of the blocks that keep accepts, all if it is nil, one a line.
func joinBlocks(w *writer, keep func(i int) bool) string {
	n := 0
	for i := range w.blocks {
		if keep == nil || keep(i) {
			n += w.blocks[i].size() + 1
		}
	}
	out := make([]byte, 0, n)
	for i := range w.blocks {
		if keep == nil || keep(i) {
			if len(out) > 0 {
				out = append(out, '\n')
			}
			out = append(out, w.text[w.blocks[i].start:w.blocks[i].end]...)
		}
	}
	return string(out)
}
