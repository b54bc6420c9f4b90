package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// # The root
//
// The root is the box whose text is the page's. Markup that names it is believed if the box holds
// enough of the running text that pruning left, for pages have empty <main>s, and <article>s that
// are teasers. Otherwise the tree shows the root: it is found from the top down, as long as one
// child holds nearly all. In the end one box may hold most of the running text in paragraphs of its
// own. That box is the column of an article, and what lies beside it in the root is left behind.
//
// What it gets wrong: pages of several equal columns stay whole. A text that is cut in two by a
// wrapper around one half loses the other half.

const (
	short      = 600  // bytes of running text; a page with less trusts <main> whatever its share
	nearlyAll  = 0.85 // of a box's weight in one child
	minRuns    = 4    // paragraphs that make a column
	linksTimes = 20   // bytes of a list of links to one outside of links

	columnShare  = 0.7 // of a root's weight that a column holds
	productShare = 0.8 // the same of a product's page
	loneShare    = 0.6 // the same of an article, where no other box comes near
	loneTimes    = 4   // times as much as any other that a lone column holds
	loneRuns     = 2   // paragraphs of it
)

// findRoot is the box of the main text, -1 for the whole page.
func (s *survey) findRoot() (root int32, how string) {
	root, how = s.chooseRoot()
	if !s.thread && !s.manual {
		root = s.column(root)
	}
	return root, how
}

func (s *survey) chooseRoot() (root int32, how string) {
	whole := s.whole().weight
	if i := s.only(hintBody); i >= 0 && s.holds(i, whole, 0.5) {
		return i, RootArticleBody
	}
	if i := s.titled(); i >= 0 && !s.thread {
		return i, RootArticle
	}
	if i := s.foremost(hintArticle); i >= 0 && !s.thread && s.holds(i, whole, 0.5) {
		return i, RootArticle
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

func (s *survey) holds(i int32, whole int, share float64) bool {
	return float64(s.within(i).weight) >= share*float64(whole)
}

// only is the one outermost box with a hint and text, -1 if there are none or several.
func (s *survey) only(hint rootHint) int32 {
	found := int32(-1)
	for i := int32(0); i < int32(len(s.elems)); {
		if s.elems[i].roots&hint == 0 || s.within(i).size == 0 {
			i++
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
		i = s.elems[i].end
	}
	return found
}

// titled is the one outermost <article> that has the page's <h1>, -1 if there is none, or if something
// else than readers' comments outweighs it.
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

// comments weighs what stands outside an article and is said by several: boxes that are named so,
// and rows of boxes of one kind with running text in each.
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

const fewPosts = 3 // boxes of one kind that are posts

// isRowOfPosts reports a box with several boxes of one class, each with running text, and little else.
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

// foremost is the outermost box with a hint beside which all others are small: an article among the
// cards of related ones, but no thread of posts.
func (s *survey) foremost(hint rootHint) int32 {
	found, most, next := int32(-1), 0, 0
	for i := int32(0); i < int32(len(s.elems)); {
		if s.elems[i].roots&hint == 0 {
			i++
			continue
		}
		switch w := s.within(i).weight; {
		case w > most:
			found, most, next = i, w, most
		case w > next:
			next = w
		}
		i = s.elems[i].end
	}
	if next*5 >= most {
		return -1
	}
	return found
}

// descend goes down while one child holds nearly all. It does not go into one of several of a kind,
// for a long post is not its thread. It does not go past code either, for text has code and a menu
// has none.
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

// heavyChild is the child that holds nearly all of a box's weight, -1 if none does.
func (s *survey) heavyChild(i int32) int32 {
	whole := s.within(i)
	if whole.weight < 8*short {
		return s.longChild(i, whole)
	}
	for j := i + 1; j < s.elems[i].end; j = s.elems[j].end {
		if s.holds(j, whole.weight, nearlyAll) {
			return j
		}
	}
	return -1
}

// longChild is the same for a short page, by all that is no link. An author's or a lawyer's
// sentence among labels is not what a stub says. Nor is the one line that is no link what a list of
// links says.
func (s *survey) longChild(i int32, whole sum) int32 {
	if whole.own()*linksTimes < whole.size {
		return -1
	}
	for j := i + 1; j < s.elems[i].end; j = s.elems[j].end {
		if in := s.within(j); whole.own() > 0 && float64(in.own()) >= nearlyAll*float64(whole.own()) {
			return j
		}
	}
	return -1
}

// oneOfMany reports a child of i that has siblings of its name and first class.
func (s *survey) oneOfMany(i, child int32) bool {
	return firstClass(s.elems[child].node) != "" && s.hasTwin(i, child, func(j int32) bool { return s.within(j).size > 0 })
}

// hasTwin reports a child of i that has a sibling of its name and first class of which like is
// true.
func (s *survey) hasTwin(i, child int32, like func(int32) bool) bool {
	node := s.elems[child].node
	class := firstClass(node)
	for j := i + 1; j < s.elems[i].end; j = s.elems[j].end {
		if n := s.elems[j].node; j != child && n.Data == node.Data && firstClass(n) == class && like(j) {
			return true
		}
	}
	return false
}

func firstClass(n *html.Node) string {
	for class := range strings.FieldsSeq(attr(n, "class")) {
		return class
	}
	return ""
}

// column is the box inside root that holds most of its weight in paragraphs, lists and tables of
// its own, if that is enough; else it is root. An article is one such box. Around it lie teasers,
// forms and who wrote it, each paragraph in a box of its own, so there less is enough.
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
		return root // see descend
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

// leaves reports that to go from a box to a child of it leaves some of the text behind. The child is
// a section of a chapter, or the box is the declared article or main part of the page, and has running
// paragraphs beside the child, or sections of text with headings of the child's rank.
func (s *survey) leaves(i, child int32) bool {
	if s.isChapter(i, child) || s.leavesHeadline(i, child) {
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

// isSectionBeside reports a section of text beside a box: two <section>s without a class, two with headings
// of one rank, or the section begins with a heading and has a paragraph of its own.
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

// hasParagraph reports a running paragraph right in a box, other than one.
func (s *survey) hasParagraph(i, other int32) bool {
	for j := i + 1; j < s.elems[i].end; j = s.elems[j].end {
		if j != other && s.elems[j].kind == para && s.within(j).runs > 0 {
			return true
		}
	}
	return false
}

// isAllDeclared reports a declared box, or the one in it that has all of its running text.
func (s *survey) isAllDeclared(i int32) bool {
	for p := i; p >= 0 && s.within(p).runs == s.within(i).runs; p = s.elems[p].parent {
		if s.elems[p].isDeclared() {
			return true
		}
	}
	return false
}

// leavesHeadline reports that the page's <h1> stands beside the child, in an <article> with running text,
// or in a box with a running paragraph of its own: what a shop says of one thing may be short beside the
// terms that it says everywhere. Beside the headline of an article stands what introduces it.
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

// isDeclared reports what the page declares its article or its main part.
func (e *elem) isDeclared() bool { return e.roots&(hintArticle|hintMain) != 0 }

// isInDeclared reports a box that is, or is in, a declared one.
func (s *survey) isInDeclared(i int32) bool {
	for ; i >= 0; i = s.elems[i].parent {
		if s.elems[i].isDeclared() {
			return true
		}
	}
	return false
}

// isSection reports a box that is, or is in, a section of a chapter or one of several of a kind
// that each begin with a heading: of the sections of a text, one may be much longer than the
// others.
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

// isHeaded reports a box that begins with a heading.
func (s *survey) isHeaded(i int32) bool { return s.headOf(i) >= 0 }

// headOf is the heading that a box begins with, -1 if it begins with something else.
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

// boxOf is the innermost box around a block that is no paragraph, list or table; paragraph says
// that there is no list, table or code between.
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

// span is the elements and the blocks of a root.
func (s *survey) span(root int32) (from, to, first, last int32) {
	if root < 0 {
		return 0, int32(len(s.elems)), 0, int32(len(s.blocks))
	}
	e := &s.elems[root]
	return root, e.end, e.first, e.last
}

// isChapter reports that a child of i is a section of it: a heading and running text stand in i,
// and the child begins with a heading of a lower rank. An article has what introduces it there,
// which copies of it leave out.
func (s *survey) isChapter(i, child int32) bool {
	first := s.elems[child].first
	if s.isArticle() || !s.isHeaded(i) || !s.isHeaded(child) || s.total(s.elems[i].first, first).runs == 0 {
		return false
	}
	return s.rank(s.headOf(i)) < s.rank(s.headOf(child))
}
