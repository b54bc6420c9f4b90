package extract

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"
)

// # Sections below an article
//
// Below an article, templates add sections that are not part of it, such as related articles and a
// note about the author. Each begins with one of a small number of headings. A chapter of the text
// may have such a heading too. So a section is dropped only if enough text is above it, and if it
// has at most appendixShare times the weight of that text.
//
// Weakness: the headings are a fixed list. Other languages are not covered.

// appendixList holds a comment, and how such headings begin.
//
//go:embed appendices.txt
var appendixList string

// appendices holds the beginnings of such headings by their first byte.
var appendices = func() (begins [256][]string) {
	_, list, _ := strings.Cut(appendixList, "\n\n")
	for begin := range strings.Lines(list) {
		begins[begin[0]] = append(begins[begin[0]], strings.TrimSuffix(begin, "\n"))
	}
	return begins
}()

const (
	appendixHeading = 64 // maximum length of such a heading in bytes
	appendixShare   = 3  // a section weighs at most this many times as much as the text above it, except on articles
)

// dropAppendices drops the sections below an article. It drops nothing on pages with code.
func (s *survey) dropAppendices() {
	if !s.isText() || s.manual || s.whole().code > 0 {
		return
	}
	dropped := false
	for i := int32(0); i < int32(len(s.blocks)); i++ {
		above := s.sums[i].weight
		if above < 8*enough || !s.isAppendix(&s.blocks[i]) {
			continue
		}
		end := s.sectionEnd(i)
		if below := s.total(i, end).weight; below > 0 && (s.isArticle() || below <= appendixShare*above) {
			s.drop(i, end)
			dropped, i = true, end-1
		}
	}
	if dropped {
		s.recount()
	}
}

func (s *survey) isAppendix(b *block) bool {
	if b.dropped || b.size() > appendixHeading || b.words >= sentence || b.kind != heading && b.kind != group && b.kind != para {
		return false
	}
	text := bytes.Trim(s.text[b.start:b.end], " 0123456789()")
	if len(text) == 0 || text[0] < utf8.RuneSelf && appendices[text[0]|0x20] == nil { // 0x20 makes a capital letter small
		return false
	}
	line := string(bytes.ToLower(text))
	return slices.ContainsFunc(appendices[line[0]], func(begin string) bool { return strings.HasPrefix(line, begin) })
}

// sectionEnd returns the index after the last block of the section whose heading is block i. If an
// element begins with the heading and has more blocks, the section is that element. Otherwise it
// ends with the surrounding element, at the next heading of the same or a higher level there, or at a
// running paragraph below a list of links. If block i is not a heading and no element begins with
// it, sectionEnd returns i.
func (s *survey) sectionEnd(i int32) int32 {
	box := s.around(s.blocks[i].elem, func(e int32) bool { return s.elems[e].last != i+1 })
	if box < 0 {
		return i
	}
	for p := s.elems[box].parent; p >= 0 && s.elems[p].first == i; p = s.elems[p].parent {
		box = p
	}
	end := s.elems[box].last
	if s.elems[box].first == i {
		return end
	}
	if s.blocks[i].kind != heading {
		return i
	}
	linked := false
	for j := i + 1; j < end; j++ {
		b := &s.blocks[j]
		beside := s.elems[b.elem].parent == s.elems[s.blocks[i].elem].parent
		if b.kind == heading && s.rank(j) <= s.rank(i) || b.kind == para && b.runs() && linked && beside {
			return j
		}
		linked = linked || b.link*2 > b.size()
	}
	return end
}
