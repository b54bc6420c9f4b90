package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// # The root
//
// The root is the box whose text becomes the main text. A declared root, such as <article> or
// <main>, is used if it holds enough of the weight that pruning left: some pages have an empty
// <main>, or an <article> for each teaser. Otherwise descend walks from the top of the tree into
// the child that holds nearly all the weight, as long as there is one.
//
// After that, the column method may replace the root with a smaller box that holds most of the
// root's weight in paragraphs that are its own children: the column of an article. The boxes beside
// it are left out.
//
// Weaknesses: a page with several equal columns stays whole. If a wrapper contains only half of a
// text, the other half may be lost.

const (
	short      = 600  // bytes of running text; on a page with less, <main> is the root even if it has a small share of the weight
	nearlyAll  = 0.85 // descend enters a child that has at least this share of the weight
	minRuns    = 4    // minimum number of running paragraphs in a column
	linksTimes = 20   // an element with more than this many bytes of text for each byte outside links is a list of links

	columnShare  = 0.7 // minimum share of the root's weight in a column
	productShare = 0.8 // minimum share of the root's weight in a column of a product page
	loneShare    = 0.6 // minimum share of the weight in a column of an article, if no other element is nearly as heavy (see loneTimes)
	loneTimes    = 4   // a column chosen by loneShare weighs at least this many times as much as the second heaviest element
	loneRuns     = 2   // minimum number of running paragraphs in a column chosen by loneShare
)

func (s *survey) findRoot() { s.root, s.doc.Root = s.chooseRoot() }

// narrow replaces the root with its column, if it has one.
func (s *survey) narrow() {
	if !s.thread && !s.manual {
		s.root = s.column(s.root)
	}
}

// chooseRoot returns the index in elems of the element with the main text, or -1 for the whole page,
// and a Root constant.
func (s *survey) chooseRoot() (root int32, how string) {
	whole := s.whole().weight
	if i := s.only(hintBody); i >= 0 && s.holds(i, whole, 0.5) {
		return i, RootArticleBody
	}
	if i := s.titled(); i >= 0 && !s.thread {
		return i, RootArticle
	}
	if i := s.foremost(hintArticle); i >= 0 && !s.thread && s.holds(i, whole, 0.5) {
		return s.chapterOf(i), RootArticle
	}
	if i := s.only(hintMain); i >= 0 && (s.holds(i, whole, 0.4) || whole < 8*short) {
		if s.manual {
			return i, RootMain
		}
		return s.descend(i), RootMain
	}
	for i := int32(0); i < int32(len(s.elems)); i = s.elems[i].end {
		if j := s.descend(i); j != i {
			return j, RootDescent
		}
	}
	return -1, RootBody
}

// chapterOf returns the chapter of which a declared article is a section, or the article itself.
func (s *survey) chapterOf(article int32) int32 {
	for p, up := s.elems[article].parent, 0; p >= 0 && up < wrappers; p, up = s.elems[p].parent, up+1 {
		if s.isChapter(p, article) {
			return p
		}
	}
	return article
}

func (s *survey) holds(i int32, whole int, share float64) bool {
	return float64(s.within(i).weight) >= share*float64(whole)
}

// only returns the single outermost element with text and the given hint, or -1 if there is none or
// more than one.
func (s *survey) only(hint rootHint) int32 {
	found := int32(-1)
	for i := range s.outermost(func(i int32) bool { return s.elems[i].roots&hint != 0 && s.within(i).size > 0 }) {
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// titled returns the outermost <article> around the page's <h1>. It returns -1 if there is none, if
// it has little text, or if less than nine tenths of the text outside it is readers' comments.
func (s *survey) titled() int32 {
	if s.h1Block < 0 {
		return -1
	}
	found := int32(-1)
	for i := s.blocks[s.h1Block].elem; i >= 0; i = s.elems[i].parent {
		if s.elems[i].roots&hintArticle != 0 {
			found = i
		}
	}
	if found < 0 || s.within(found).weight < 8*enough {
		return -1
	}
	if rest := s.whole().weight - s.within(found).weight; s.comments(found)*10 < rest*9 {
		return -1
	}
	return found
}

// comments returns the weight of the readers' comments outside an article: elements marked as
// comments, and rows of elements with the same class and running text.
func (s *survey) comments(article int32) (weight int) {
	for i := int32(0); i < int32(len(s.elems)); {
		e := &s.elems[i]
		switch {
		case i == article:
			i = e.end
		case article > i && article < e.end:
			i++
		case e.mark&markComments != 0 || s.isRowOfPosts(i):
			weight += s.within(i).weight
			i = e.end
		default:
			i++
		}
	}
	return weight
}

const fewPosts = 3 // minimum number of elements of one class in a row of posts

// isRowOfPosts reports whether several children of element i have the same class and running text,
// and together at least three quarters of its weight.
func (s *survey) isRowOfPosts(i int32) bool {
	class, posts, weight := "", 0, 0
	for j := i + 1; j < s.elems[i].end; j = s.elems[j].end {
		in := s.within(j)
		if in.runs == 0 {
			continue
		}
		switch name := firstClass(s.elems[j].node); {
		case posts == 0:
			class = name
		case name != class:
			continue
		}
		posts++
		weight += in.weight
	}
	return class != "" && posts >= fewPosts && weight*4 >= s.within(i).weight*3
}

// foremost returns the heaviest outermost element with the given hint, if every other such element
// has less than a fifth of its weight. Otherwise it returns -1. So it finds an article among cards,
// but does not pick one post of a thread.
func (s *survey) foremost(hint rootHint) int32 {
	found, most, next := int32(-1), 0, 0
	for i := range s.outermost(func(i int32) bool { return s.elems[i].roots&hint != 0 }) {
		switch w := s.within(i).weight; {
		case w > most:
			found, most, next = i, w, most
		case w > next:
			next = w
		}
	}
	if next*5 >= most {
		return -1
	}
	return found
}

// descend walks from element i into the child that holds nearly all the weight, as long as there is
// one, and returns the last element. It does not enter one of several similar elements, such as a
// long post of a thread. It stops if code is next to the child, because code belongs to the text.
func (s *survey) descend(i int32) int32 {
	for {
		next := s.heavyChild(i)
		if next < 0 || s.oneOfMany(i, next) || s.leaves(i, next) || s.within(next).code < s.within(i).code {
			return i
		}
		switch s.elems[next].kind {
		case group, cell, table, row:
			i = next
		default:
			return i
		}
	}
}

// heavyChild returns the child that holds nearly all the weight of an element, or -1.
func (s *survey) heavyChild(i int32) int32 {
	whole := s.within(i)
	if whole.weight < 8*short {
		return s.longChild(i, whole)
	}
	return s.child(i, func(j int32) bool { return s.holds(j, whole.weight, nearlyAll) })
}

// longChild is like heavyChild for an element with little running text. It compares the bytes
// outside links instead of the weight, because on such a page a single sentence, such as a legal
// notice, may have most of the weight. It returns -1 for a list of links.
func (s *survey) longChild(i int32, whole sum) int32 {
	if whole.own()*linksTimes < whole.size || whole.own() <= 0 {
		return -1
	}
	return s.child(i, func(j int32) bool { return float64(s.within(j).own()) >= nearlyAll*float64(whole.own()) })
}

func (s *survey) oneOfMany(i, child int32) bool {
	return firstClass(s.elems[child].node) != "" && s.hasTwin(i, child, func(j int32) bool { return s.within(j).size > 0 })
}

// hasTwin reports whether child, which is inside element i, has a sibling with the same name and
// first class for which like returns true.
func (s *survey) hasTwin(i, child int32, like func(int32) bool) bool {
	node := s.elems[child].node
	class := firstClass(node)
	return s.child(i, func(j int32) bool {
		n := s.elems[j].node
		return j != child && n.Data == node.Data && firstClass(n) == class && like(j)
	}) >= 0
}

func firstClass(n *html.Node) string {
	for class := range strings.FieldsSeq(node.Attr(n, "class")) {
		return class
	}
	return ""
}

// column returns the element inside root that holds most of the root's weight in its own
// paragraphs, lists and tables. If no element holds enough, it returns root. For an article a
// smaller share is enough, because the teasers and forms around it are spread over many elements.
func (s *survey) column(root int32) int32 {
	from, to, first, last := s.span(root)
	type own struct{ weight, runs int }
	owns := make([]own, to-from)
	whole := 0
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.dropped {
			continue
		}
		whole += b.weight()
		if e, paragraph := s.boxOf(b); e >= from {
			o := &owns[e-from]
			o.weight += b.weight()
			if paragraph && b.runs() {
				o.runs++
			}
		}
	}
	at, best, next := root, own{}, 0
	for i, o := range owns {
		switch {
		case o.weight > best.weight:
			at, best, next = from+int32(i), o, best.weight
		case o.weight > next:
			next = o.weight
		}
	}
	if at == root || s.within(at).code < s.total(first, last).code {
		return root // the column would lack some of the code
	}
	share := float64(best.weight) / float64(max(whole, 1))
	switch {
	case share >= productShare && best.runs >= minRuns:
	case s.isText() && share >= columnShare && best.runs >= minRuns:
	case s.isArticle() && share >= loneShare && best.runs >= loneRuns && best.weight >= loneTimes*next:
	default:
		return root
	}
	if s.isSection(at, root) {
		return root
	}
	for i := at; i > root; i = s.elems[i].parent {
		if p := s.elems[i].parent; p >= 0 && s.leaves(p, i) {
			return root
		}
	}
	return at
}

// leaves reports whether replacing element i with its child would lose some of the text. It would
// if the child is a section of a chapter (see isChapter), or if the page's headline or paragraphs are
// outside the child (see leavesHeadline and leavesProse). It also would if element i is the declared article or main part of
// the page, and has running paragraphs or sections of text beside the child.
func (s *survey) leaves(i, child int32) bool {
	if s.isChapter(i, child) || s.leavesHeadline(i, child) || s.leavesProse(i, child) {
		return true
	}
	if !s.isAllDeclared(i) {
		return false
	}
	for k := s.elems[i].first; k < s.elems[i].last; k++ {
		if b := &s.blocks[k]; !s.isArticle() && b.elem == i && !b.dropped && b.runs() {
			return true
		}
	}
	for j := i + 1; j < s.elems[i].end; j = s.elems[j].end {
		if j == child || s.within(j).runs == 0 {
			continue
		}
		switch s.elems[j].kind {
		case para, list:
			return true
		case group:
			if s.isSectionBeside(j, child) {
				return true
			}
		}
	}
	return false
}

// isSectionBeside reports whether element i is a section of the same text as its sibling element.
// This is true of two <section>s without a class, and of two elements that begin with headings of
// the same level. It is also true of a text section with a running paragraph, if the sibling has no
// heading.
func (s *survey) isSectionBeside(i, box int32) bool {
	if k := s.kindOfBox(i); k == (boxKind{name: atom.Section}) && k == s.kindOfBox(box) {
		return true
	}
	if !s.isTextSection(i) {
		return false
	}
	if s.isHeaded(box) {
		return s.rank(s.headOf(i)) == s.rank(s.headOf(box))
	}
	return s.hasParagraph(i, -1)
}

// hasParagraph reports whether any child of element i, except other, is a running paragraph.
func (s *survey) hasParagraph(i, other int32) bool {
	return s.child(i, func(j int32) bool { return j != other && s.elems[j].kind == para && s.within(j).runs > 0 }) >= 0
}

// isAllDeclared reports whether element i is a declared <article> or <main>, or contains all the
// running text of one.
func (s *survey) isAllDeclared(i int32) bool {
	for p := i; p >= 0 && s.within(p).runs == s.within(i).runs; p = s.elems[p].parent {
		if s.elems[p].isDeclared() {
			return true
		}
	}
	return false
}

// leavesHeadline reports whether the page's <h1> is in element i but outside child, along with
// running text that would be lost. The <h1> must be in an <article>, or have a paragraph beside it.
// For example, a shop's short description may be beside the long text of its terms. On an article
// page, a paragraph beside the <h1> does not count, because it is an introduction.
func (s *survey) leavesHeadline(i, child int32) bool {
	e := &s.elems[child]
	if s.h1Block < s.elems[i].first || s.h1Block >= s.elems[i].last || e.first <= s.h1Block && s.h1Block < e.last {
		return false
	}
	box := s.elems[s.blocks[s.h1Block].elem].parent
	if !s.isArticle() && box >= 0 && s.hasParagraph(box, child) {
		return true
	}
	for ; box > i && s.elems[box].roots&hintArticle == 0; box = s.elems[box].parent {
	}
	return box > i && (child < box || child >= s.elems[box].end) && s.within(box).runs > 0
}

func (e *elem) isDeclared() bool { return e.roots&(hintArticle|hintMain) != 0 }

func (s *survey) isInDeclared(i int32) bool {
	return s.around(i, func(i int32) bool { return s.elems[i].isDeclared() }) >= 0
}

// isSection reports whether element i, or an element around it inside root, is one section of a
// longer text: a section of a chapter, or one of several similar elements that each begin with a
// heading. Such an element may be much longer than the other sections, but is not a column.
func (s *survey) isSection(i, root int32) bool {
	for ; i > root && i >= 0; i = s.elems[i].parent {
		p := s.elems[i].parent
		if p < 0 || !s.isHeaded(i) {
			continue
		}
		if s.isChapter(p, i) {
			return true
		}
		if node := s.elems[i].node; firstClass(node) == "" && node.DataAtom != atom.Section {
			continue
		}
		if s.hasTwin(p, i, s.isHeaded) {
			return true
		}
	}
	return false
}

func (s *survey) isHeaded(i int32) bool { return s.headOf(i) >= 0 }

// headOf returns the index of the heading with which an element begins, or -1 if it begins with
// another block.
func (s *survey) headOf(i int32) int32 {
	for j := s.elems[i].first; j < s.elems[i].last; j++ {
		if b := &s.blocks[j]; !b.dropped {
			if b.kind == heading {
				return j
			}
			break
		}
	}
	return -1
}

// boxOf returns the innermost element of kind group around a block. paragraph reports whether no
// list item, table cell or code is between the block and this element.
func (s *survey) boxOf(b *block) (e int32, paragraph bool) {
	paragraph = true
	for e = b.elem; e >= 0 && s.elems[e].kind != group; e = s.elems[e].parent {
		switch s.elems[e].kind {
		case item, cell, pre:
			paragraph = false
		}
	}
	return e, paragraph
}

// span returns the ranges elems[from:to] and blocks[first:last] of a root. A root of -1 means the
// whole page.
func (s *survey) span(root int32) (from, to, first, last int32) {
	if root < 0 {
		return 0, int32(len(s.elems)), 0, int32(len(s.blocks))
	}
	e := &s.elems[root]
	return root, e.end, e.first, e.last
}

// isChapter reports whether a child of element i is a section of a chapter: element i begins with a
// heading and has running text before the child, and the child begins with a heading of a lower
// level, or has code and no heading. It is false on articles, where the text before the child is an
// introduction that copies of the article lack.
func (s *survey) isChapter(i, child int32) bool {
	first := s.elems[child].first
	if s.isArticle() || !s.isHeaded(i) || s.total(s.elems[i].first, first).runs == 0 {
		return false
	}
	if !s.isHeaded(child) {
		return s.within(child).code > 0
	}
	return s.rank(s.headOf(i)) < s.rank(s.headOf(child))
}

// leavesProse reports whether element i has running paragraphs without links beside child, such as
// a commit message above its changes, or at least two rows of data. Paragraphs do not count if the child has
// some of its own, because what is beside them may be teasers. In a manual those count, because
// nothing else is there.
func (s *survey) leavesProse(i, child int32) bool {
	if s.isArticle() || !s.isText() {
		return false
	}
	e, prose, rows := &s.elems[child], s.manual || !s.hasProse(child), 0
	for k := s.elems[i].first; k < s.elems[i].last; k++ {
		b := &s.blocks[k]
		switch {
		case e.first <= k && k < e.last || b.dropped:
		case prose && b.runs() && b.link == 0:
			return true
		case b.words > label && b.link == 0 && s.isRowOfData(b.elem):
			rows++
		}
	}
	return rows > 1
}

func (s *survey) hasProse(i int32) bool {
	return slices.ContainsFunc(s.blocks[s.elems[i].first:s.elems[i].last], func(b block) bool { return !b.dropped && b.kind == para && b.runs() })
}
