package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/dedup/language"
)

// A block is one line of the page's text: a paragraph, a heading, a list item, a table row, or a
// line of a <pre>.
type block struct {
	start, end int   // the block's text is text[start:end] of the writer
	words      int   // number of words; in scripts without spaces, each pair of characters counts as one
	link       int   // number of bytes inside <a>, including the spaces between words
	links      int   // number of <a> elements that begin in the block
	code       int   // number of bytes inside <code>, without the spaces between words
	kind       kind  // kind of the element around the block
	elem       int32 // index in survey.elems of the element around the block; -1 if none
	dropped    bool  // not part of the main text
	again      bool  // the text counts at another block with the same text
	taken      bool  // part of the main text
}

func (b *block) size() int { return b.end - b.start }

// A writer collects the text of a page in one buffer, with white space collapsed, and records where
// each block begins and ends. It writes a separator only when more text follows, so no block begins
// or ends with a separator, and no block is empty.
type writer struct {
	text   []byte
	blocks []block

	open    bool // the last block has not ended
	pending byte // separator to write before the next text: 0, ' ' or '\t'
	inWord  bool // the last character written was part of a word
	lone    int  // number of characters in scripts without spaces in the open block
	br      bool // a <br> has occurred since the last text

	kind  kind  // kind of the current element, for new blocks
	elem  int32 // index of the current element, for new blocks
	pre   int   // number of open <pre> and similar elements, which preserve line ends
	link  int   // number of open <a> elements
	fresh bool  // the innermost <a> has no text yet
	code  int   // number of open <code> elements

	joint byte // character to write if the next text would continue a number; 0 if none
}

func (w *writer) write(s string) {
	if w.joint != 0 {
		if w.open && w.pending == 0 && endsInDigit(w.text) && startsNumber(s) {
			w.put(string(w.joint), false)
			w.inWord = w.joint != ' '
		}
		w.joint = 0
	}
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
			if i++; w.pre == 0 && (c == ' ' || c == '\n' || c == '\t') { // skip indentation
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
			w.put(s[i:i+size], language.StandsAlone(r))
		}
		i += size
	}
}

// line returns the end of the run of ASCII words at s[i], and the number of words in it. Single
// spaces separate the words, so the run can be copied unchanged. This is a fast path: most text
// consists of such runs.
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

func isScript(n *html.Node) bool { return n.DataAtom == atom.Sup || n.DataAtom == atom.Sub }

// script begins a <sup> or a <sub>. Its digits must not continue a number, so 10<sup>6</sup> becomes
// 10^6. A reference mark, which is only a link, is written as it is.
func (w *writer) script(n *html.Node) {
	switch {
	case n.DataAtom == atom.A, w.pre > 0, w.code > 0, n.PrevSibling == nil && n.NextSibling == nil && n.Parent != nil && n.Parent.DataAtom == atom.A:
		w.joint = 0
	case n.DataAtom == atom.Sup:
		w.joint = '^'
	case n.DataAtom == atom.Sub:
		w.joint = '_'
	}
}

// endScript ends a <sup> or a <sub>. A space separates its digits from a number that follows.
func (w *writer) endScript() {
	if w.joint != 0 || w.pre > 0 || w.code > 0 { // no text is in the element, or it is program code
		w.joint = 0
		return
	}
	w.joint = ' '
}

func endsInDigit(text []byte) bool {
	r, _ := utf8.DecodeLastRune(text)
	return unicode.IsDigit(r)
}

// startsNumber reports whether a text starts with a digit, or with a sign and a digit.
func startsNumber(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	if strings.ContainsRune("+-−–", r) {
		r, _ = utf8.DecodeRuneInString(s[size:])
	}
	return unicode.IsDigit(r)
}

// separate handles ASCII white space and control characters. Any amount of white space becomes one
// space, except in <pre>.
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

// put appends text that has no white space. alone reports whether s is a character of a script
// without spaces; see [language.StandsAlone].
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
	if w.code > 0 {
		b.code += len(s)
	}
	if w.link > 0 {
		b.link += len(s)
		if w.fresh {
			b.links++
			w.fresh = false
		}
	}
}

func (w *writer) flush() {
	w.br, w.pending = false, 0
	if !w.open {
		return
	}
	w.open = false
	for n := len(w.text); n > 0 && (w.text[n-1] == ' ' || w.text[n-1] == '\t'); n-- {
		w.text = w.text[:n-1] // only <pre> can leave white space at the end
	}
	w.blocks[len(w.blocks)-1].end = len(w.text)
}

// lineBreak handles <br>. The first <br> becomes a space, because many pages wrap lines with it. A
// second <br> directly after it ends the block.
func (w *writer) lineBreak() {
	if w.pre > 0 || w.br {
		w.flush()
		return
	}
	w.br = w.open
	w.inWord = false
	w.space()
}

// cell begins a table cell in a row that is one block: a tab separates its text from the previous
// cell.
func (w *writer) cell() {
	w.inWord = false
	if w.open {
		w.pending = '\t'
	}
}

// invisible reports whether a character has no width and separates no words. Such characters are
// soft hyphens, zero-width characters, direction marks and controls.
func invisible(r rune) bool {
	switch {
	case r == 0xad || r == 0x34f || r == 0x61c || r == 0x180e || r == 0xfeff:
		return true
	case 0x80 <= r && r < 0xa0:
		return r != 0x85 // U+0085, next line, is white space
	case 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r && r <= 0x206f:
		return true
	case 0xfff0 <= r && r <= 0xfffb || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef:
		return true // interlinear annotation marks and noncharacters
	case 0xfe00 <= r && r <= 0xfe0f:
		return true // variation selectors
	case 0xe0000 <= r && r < 0xe0200:
		return true // tags and more variation selectors
	}
	return false
}

// countWords approximates the number of words in a text. It counts the runs between white space,
// and each character of a script without spaces.
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
		case language.StandsAlone(r):
			words++
			inWord = false
		case !inWord && !(0x3000 <= r && r < 0x3040): // ignore Chinese and Japanese punctuation
			words++
			inWord = true
		}
		i += size
	}
	return words
}

// joinBlocks returns the text of the blocks, one per line. If keep is not nil, it leaves out blocks
// for which keep returns false.
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
