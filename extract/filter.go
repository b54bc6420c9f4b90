package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// The filter looks at the blocks that are left in the root, one by one, and drops the labels, see
// labels.go.
//
// It is not for short pages: where no running text stands beside them, labels are what a page says.
// Nor is it for references: the names of parameters, beside code, are labels too.

const enough = 400 // bytes of running text that make a page more than its labels

// findText sets the main text.
func (s *survey) findText(d *Document) {
	if d.Title == "" && s.h1 != "" {
		d.Title, d.TitleFrom = s.h1, "h1"
	}
	if len(s.scripts) > 0 {
		if s.recount(); s.whole().weight < 8*short {
			s.addTemplates()
		}
	}
	s.dropMenuLines()
	s.recount()
	s.clearSections()
	s.dropRepeats()
	s.keepFlow()
	s.prune()
	s.restoreRepeats()
	s.dropContents()
	s.dropCards()
	root, how := s.findRoot()
	_, _, first, last := s.span(root)
	s.dropAbove(d.Title, first, last)
	s.dropAppendices(first, last)
	s.filter(first, last)
	s.dropTitle(d.Title, first, last)
	s.headline = s.headlineAbove(first)
	d.Text = s.take(first, last)
	d.Root = how
	if d.Text == "" {
		s.fallBack(d)
	}
	if s.isShell() {
		s.headline = -1
		d.Text, d.Root = s.take(0, 0), RootNone
	}
}

// headlineAbove is the block of the page's <h1> if it stands above the main text, with no running
// text between; else it is -1. The headline of an article is no part of its text, see dropTitle.
func (s *survey) headlineAbove(first int32) int32 {
	if s.isArticle() || s.h1Block < 0 || s.h1Block >= first || s.total(s.h1Block, first).runs > 0 {
		return -1
	}
	return s.h1Block
}

// take makes the main text of the headline and of what is left of blocks[first:last].
func (s *survey) take(first, last int32) string {
	for i := range s.blocks {
		b := &s.blocks[i]
		b.taken = (first <= int32(i) && int32(i) < last || int32(i) == s.headline) && !b.dropped
	}
	return joinBlocks(&s.writer, func(i int) bool { return s.blocks[i].taken })
}

// fallBack takes all text but navigation where the main text came out empty. A page that is empty
// even then has no text: with its menus it would look like every other such page of its site.
func (s *survey) fallBack(d *Document) {
	for i := range s.blocks {
		s.blocks[i].dropped = false
	}
	s.headline = -1
	for i := int32(0); i < int32(len(s.elems)); i++ {
		if e := &s.elems[i]; e.mark&(markNever|markNav|markClass|markPlace) != 0 {
			s.drop(e.first, e.last)
			i = e.end - 1
		}
	}
	d.Root = RootFallback
	d.Text = s.take(0, int32(len(s.blocks)))
	if d.Text == "" {
		d.Root = RootNone
	}
}

func (s *survey) filter(first, last int32) {
	whole, running, code := 0, 0, 0
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.dropped {
			continue
		}
		whole += b.size()
		switch {
		case b.kind == pre:
			code += b.size()
		case b.runs():
			running += b.size()
		}
	}
	// Only prose: where less than three fifths run on, labels are half of what there is. Beside
	// what a shop says, and in threads of short answers, there are more of them.
	prose := 3
	if s.isProduct() || s.thread {
		prose = 2
	}
	if s.manual || running < enough || running*5 < whole*prose || code*20 > whole {
		return
	}
	s.dropLabels(first, last)
	s.dropOrphans(first, last)
}

// dropAbove drops the teasers above the headline of an article: the site's latest, in a strip below
// its menu. Each has its link, and what introduces an article has none.
func (s *survey) dropAbove(title string, first, last int32) {
	if !s.isArticle() {
		return
	}
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if !b.dropped && b.runs() && b.link == 0 {
			return
		}
		if b.kind != heading || s.rank(i) > '2' || b.words <= label || !strings.Contains(title, string(s.text[b.start:b.end])) {
			continue
		}
		if s.total(first, i).runs >= 2 && s.total(i, last).weight >= 8*enough {
			s.drop(first, i)
			s.recount()
		}
		return
	}
}

// dropTitle drops the headline of an article, which is its Title. Copies of one article in other
// templates have the headline elsewhere, in other words, or not at all.
func (s *survey) dropTitle(title string, first, last int32) {
	if !s.isArticle() {
		return
	}
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.kind == heading && s.elems[b.elem].node.DataAtom == atom.H1 && strings.Contains(title, string(s.text[b.start:b.end])) {
			b.dropped = true
			return
		}
	}
}

// dropOrphans drops headings that have lost everything below them.
func (s *survey) dropOrphans(first, last int32) {
	lost, kept := false, false // since the heading below
	for i := last - 1; i >= first; i-- {
		b := &s.blocks[i]
		switch {
		case b.kind == heading && !b.dropped:
			b.dropped = lost && !kept
			lost, kept = false, false
		case b.dropped:
			lost = true
		default:
			kept = true
		}
	}
}
