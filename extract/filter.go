package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// The main text is found by a fixed sequence of rules. The last major step is the filter method,
// which drops single blocks of the root that are labels, such as "Share"; see labels.go. Labels
// stay on short pages, where they may be all of the text. They also stay in reference manuals,
// where the name of a parameter looks like a label.

const enough = 400 // labels are dropped only on pages with at least this many bytes of running text

func (s *survey) findText(d *Document) {
	if d.Title == "" && s.h1 != "" {
		d.Title, d.TitleFrom = s.h1, "h1"
	}
	s.dropMenuLines()
	s.recount()
	s.clearSections()
	s.dropRepeats()
	s.keepFlow()
	s.prune()
	s.restoreRepeats()
	s.dropCards()
	root, how := s.findRoot()
	_, _, first, last := s.span(root)
	s.dropAbove(d.Title, first, last)
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

// headlineAbove returns the block with the page's <h1> if it is above the main text with no running
// text in between. Otherwise it returns -1. It also returns -1 for articles, whose headline is only
// in Title; see dropTitle.
func (s *survey) headlineAbove(first int32) int32 {
	if s.isArticle() || s.h1Block < 0 || s.h1Block >= first || s.total(s.h1Block, first).runs > 0 {
		return -1
	}
	return s.h1Block
}

// take marks as main text the headline and all blocks in blocks[first:last] that were not dropped.
// It returns their text.
func (s *survey) take(first, last int32) string {
	for i := range s.blocks {
		b := &s.blocks[i]
		b.taken = (first <= int32(i) && int32(i) < last || int32(i) == s.headline) && !b.dropped
	}
	return joinBlocks(&s.writer, func(i int) bool { return s.blocks[i].taken })
}

// fallBack returns the text of the whole page outside elements marked as boilerplate, for a page
// whose main text is empty. If this text is empty too, the page counts as having no text. Using the
// text of its menus would make all such pages of a site look alike.
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
	// Enough of the content must be running text, because on other pages labels are a large part of
	// the content. Product pages and threads of short answers have more labels, so a smaller share is
	// required there.
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

// dropAbove drops the teasers above the headline of an article, such as a strip of the latest
// articles below the menu. It drops nothing if the text above has a running paragraph without a
// link, because that is the article's introduction.
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

// dropTitle drops the headline of an article, because it is in Title. On other sites, copies of the
// article may have a different headline, or none in their main text. Without the headline, the
// copies have the same text.
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

// dropOrphans drops headings whose content was dropped entirely.
func (s *survey) dropOrphans(first, last int32) {
	lost, kept := false, false // whether any block between heading i and the next heading was dropped, and whether any was kept
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
