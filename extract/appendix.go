package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// # Sections below an article
//
// Below an article, templates add sections that are not part of it: related articles, a note about
// the author, readers' comments. Each begins with one of a small number of headings, such as
// "Related articles" or "About the author". dropAppendices drops these sections.
//
// A chapter of the text may have such a heading too. So a section is dropped only if enough text is
// above it, and if it has at most three times the weight of that text. These limits do not apply to
// a page that declares itself an article, because the chapters of articles do not have such
// headings. Readers' comments are dropped regardless of length.
//
// A press release ends with a paragraph or two about the company, under a heading such as "About
// Example Inc.". An article may have chapters with such headings. So such a section is dropped only
// if few blocks follow the heading.
//
// Weakness: the headings are a fixed list in about 13 languages. Other languages are not covered.

// appendices lists the headings of sections that are not part of an article, in lower case, grouped
// by first byte. A line matches a heading if it equals the heading, or begins with it and continues
// with a non-letter.
var appendices = byFirst(`
related articles
related posts
related content
related stories
related news
related reading
related reads
related resources
related insights
related topics
related links
related products
related pages
related publications
related studies
you may also like
you might also like
you may also be interested
you might also be interested
you might be interested
you may be interested
more like this
more from
more articles
more stories
more news
read next
read also
keep reading
recommended articles
recommended posts
recommended stories
recommended for you
suggested articles
latest articles
latest posts
latest news
latest stories
recent posts
recent articles
popular posts
popular articles
most read
most popular
trending now
top stories
don't miss
don’t miss
about the author
about author
about the writer
previous article
ähnliche artikel
ähnliche beiträge
weitere artikel
mehr zum thema
das könnte sie auch interessieren
das könnte dich auch interessieren
über den autor
articles similaires
articles liés
à lire aussi
lire aussi
sur le même sujet
vous aimerez aussi
à propos de l'auteur
à propos de l’auteur
artículos relacionados
noticias relacionadas
entradas relacionadas
también te puede interesar
te puede interesar
más noticias
sobre el autor
artigos relacionados
notícias relacionadas
posts relacionados
leia também
veja também
você pode gostar
você também pode gostar
mais notícias
sobre o autor
articoli correlati
leggi anche
potrebbe interessarti
ti potrebbe interessare
altri articoli
gerelateerde artikelen
lees ook
zobacz także
czytaj też
powiązane artykuły
похожие статьи
читайте также
смотрите также
по теме
関連記事
相关文章
相關文章
관련 기사
관련기사
`)

func byFirst(list string) (lines [256][]string) {
	for line := range strings.Lines(strings.TrimSpace(list)) {
		lines[line[0]] = append(lines[line[0]], strings.TrimSpace(line))
	}
	return lines
}

// remarks lists the words for "comments" and "replies". Such a word, alone or with a number ("12
// comments"), is the heading of readers' comments.
var remarks = words(`comment comments response responses reply replies kommentar kommentare commentaire commentaires comentario comentarios
comentário comentários commento commenti reacties komentarze комментарии комментариев комментария`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

const (
	appendixHeading = 64 // maximum length of a heading in bytes
	appendixWords   = 10
	appendixShare   = 3 // a dropped section weighs at most this many times as much as the text above it

	fewBlocks = 6 // maximum number of blocks in a section about a company
	fewShare  = 4 // the text above a section about a company must weigh more than this many times as much as the section
)

// dropAppendices drops the sections in blocks[first:last] that have a heading from appendices or
// remarks, except in threads, on product pages, and on pages with code.
func (s *survey) dropAppendices(first, last int32) {
	if s.thread || s.isProduct() || s.whole().code > 0 {
		return
	}
	var buf [2 * appendixHeading]byte
	dropped := false
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.dropped || b.size() > appendixHeading || b.kind != heading && b.kind != group && b.kind != para || b.words > appendixWords {
			continue
		}
		above := s.total(first, i).weight
		if above < 8*enough {
			continue
		}
		text := lower(buf[:0], s.text[b.start:b.end])
		appendix, remark := isAppendix(text), b.kind == heading && (s.isArticle() || s.blog) && isRemarks(text)
		end := i
		switch {
		case remark:
			end = s.sectionEnd(i, last)
		case appendix:
			end = s.belowLinks(i, s.sectionEnd(i, last))
		case s.isArticle() && isAbout(text) && s.fewLeft(i, last):
			end = last
		}
		if end == i {
			continue
		}
		if below := s.total(i, end).weight; !remark && !s.isArticle() && below > appendixShare*above {
			continue
		}
		s.drop(i, end)
		dropped = true
		i = end - 1
	}
	if dropped {
		s.recount()
	}
}

// abouts lists, in lower case, the beginnings of headings under which a company describes itself.
var abouts = []string{"about ", "über ", "à propos d", "acerca de ", "sobre ", "informazioni su ", "over "}

func isAbout(text []byte) bool {
	for _, a := range abouts {
		if len(text) > len(a) && string(text[:len(a)]) == a {
			return true
		}
	}
	return false
}

// fewLeft reports whether heading i is followed by only a few blocks that weigh little compared
// with the text above. The first of them must be running text.
func (s *survey) fewLeft(i, last int32) bool {
	n := 0
	for j := i + 1; j < min(last, i+5*fewBlocks) && n <= fewBlocks; j++ {
		if b := &s.blocks[j]; !b.dropped {
			if n == 0 && !b.runs() {
				return false
			}
			n++
		}
	}
	return 0 < n && n <= fewBlocks && s.total(i, last).weight*fewShare < s.total(0, i).weight
}

func lower(to, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		to = utf8.AppendRune(to, unicode.ToLower(r))
		text = text[n:]
	}
	return to
}

// isAppendix reports whether text, a line in lower case, is a heading from appendices.
func isAppendix(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	for _, a := range appendices[text[0]] {
		if len(text) >= len(a) && string(text[:len(a)]) == a {
			r, _ := utf8.DecodeRune(text[len(a):])
			return len(text) == len(a) || !unicode.IsLetter(r)
		}
	}
	return false
}

// isRemarks reports whether a line is the heading of readers' comments, such as "comments (12)":
// one word from remarks, and otherwise only digits and punctuation. The line must be in lower case.
func isRemarks(text []byte) bool {
	found := false
	for w := range bytes.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if found || !remarks[string(w)] {
			return false
		}
		found = true
	}
	return found
}

// belowLinks returns the block at which the article continues below a list of links. The section
// with the list is blocks[i:end], and block i is its heading. The article continues at the first
// running paragraph after the links that has the same parent as the heading or as the links.
// Paragraphs inside the cards of a list have a different parent. If there is no such paragraph,
// belowLinks returns end.
func (s *survey) belowLinks(i, end int32) int32 {
	above := s.elems[s.blocks[i].elem].parent // parent of the heading's element
	links := int32(-1)                        // parent of the element with the links
	for j := i + 1; j < end; j++ {
		b := &s.blocks[j]
		if b.dropped || b.elem < 0 {
			continue
		}
		e := &s.elems[b.elem]
		switch {
		case b.kind != heading && b.link*2 > b.size() && e.parent >= 0:
			if links = e.parent; b.kind == item {
				links = s.elems[links].parent
			}
		case b.kind == para && b.runs() && links >= 0 && (e.parent == links || e.parent == above):
			return j
		}
	}
	return end
}

// sectionEnd returns the index after the last block of the section whose heading is block i. If an
// element begins with the heading and has more blocks, the section is that element. Otherwise the
// section ends at the next heading of the same or a higher level inside the surrounding element, or
// at the end of that element. If block i is not a heading and no element begins with it, sectionEnd
// returns i.
func (s *survey) sectionEnd(i, last int32) int32 {
	box := s.blocks[i].elem
	for box >= 0 && s.elems[box].last == i+1 {
		box = s.elems[box].parent
	}
	if box < 0 {
		return last
	}
	for p := s.elems[box].parent; s.elems[box].first == i && p >= 0 && s.elems[p].first == i && s.elems[p].last <= last; p = s.elems[p].parent {
		box = p
	}
	end := min(s.elems[box].last, last)
	if s.elems[box].first == i {
		return end
	}
	if s.blocks[i].kind != heading {
		return i
	}
	rank := s.rank(i)
	for j := i + 1; j < end; j++ {
		if s.blocks[j].kind == heading && s.rank(j) <= rank {
			return j
		}
	}
	return end
}

func (s *survey) rank(i int32) byte {
	if s.blocks[i].kind != heading {
		return '7'
	}
	if name := s.elems[s.blocks[i].elem].node.Data; len(name) == 2 {
		return name[1]
	}
	return '7'
}
