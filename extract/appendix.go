package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// # What stands below an article
//
// Templates put other articles below an article, who wrote it, and what readers say. Each of these
// has a heading, and there are few such headings. A heading of this kind may also belong to a
// chapter. So its section is dropped only if enough text stands above it, and if it holds no more
// than three times that text. An article has no chapters with such headings: there the section is
// dropped however long it is. So are readers' comments.
//
// A company that tells something says at the end who it is: "About" and its name, above a paragraph
// or two. What tells that from a chapter is that it is the end.

// appendices are these headings, whole or as they begin, in lower case, in the languages most of
// the web is written in.
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

// remarks are the headings of readers' comments, without the number.
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
	appendixHeading = 64 // bytes of a heading
	appendixWords   = 10 // words of it
	appendixShare   = 3  // times what stands above it that a section may hold

	fewBlocks = 6 // blocks that a company ends with
	fewShare  = 4 // times those that stand above them
)

// dropAppendices drops the sections below the article in blocks[first:last] that their headings
// tell.
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

// abouts begin the heading of what a company says of itself below what it has to tell.
var abouts = []string{"about ", "über ", "à propos d", "acerca de ", "sobre ", "informazioni su ", "over "}

func isAbout(text []byte) bool {
	for _, a := range abouts {
		if len(text) > len(a) && string(text[:len(a)]) == a {
			return true
		}
	}
	return false
}

// fewLeft reports a line below which there are but a few blocks, the first of which runs.
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

// isAppendix reports the heading of what is below an article.
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

// isRemarks reports a heading of nothing but "comments" and how many.
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

// belowLinks is the first running paragraph below the links that a section begins with, and its end if
// there is none: what stands below the links belongs to the text again. The paragraph stands beside the
// heading or beside the links, for cards have paragraphs and headings of their own.
func (s *survey) belowLinks(i, end int32) int32 {
	above := s.elems[s.blocks[i].elem].parent // the box around the heading
	links := int32(-1)                        // the box around the links
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

// sectionEnd is the block after the section that begins with block i: the end of the box that
// begins with it and has more, or else of what follows it in its box, up to a heading of its rank.
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

// rank is 1 to 6 for a heading, 7 for a line that serves as one.
func (s *survey) rank(i int32) byte {
	if s.blocks[i].kind != heading {
		return '7'
	}
	if name := s.elems[s.blocks[i].elem].node.Data; len(name) == 2 {
		return name[1]
	}
	return '7'
}
