package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// Labels are dropped only on pages with running text, because on other pages labels are a large part
// of the content. They also stay in reference manuals, where the name of a parameter looks like a
// label.

const enough = 400 // labels are dropped only on pages with at least this many bytes of running text

func (s *survey) findText(d *Document) {
	if d.Title == "" && s.h1 != "" {
		d.Title, d.TitleFrom = s.h1, "h1"
	}
	s.recount()
	s.findEntries()
	d.Root = RootBody
	for _, r := range rules {
		if r.Name != s.opt.without {
			r.apply(s)
		}
	}
	_, _, first, last := s.span(s.root)
	d.Text = s.take(first, last)
	if d.Text == "" {
		s.fallBack(d)
	}
	if s.isShell() {
		s.headline = -1
		d.Text, d.Root = s.take(0, 0), RootNone
	}
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
	for i := range s.outermost(func(i int32) bool { return s.elems[i].mark&(markNever|markNav|markClass|markPlace) != 0 }) {
		s.drop(s.elems[i].first, s.elems[i].last)
	}
	d.Root = RootFallback
	d.Text = s.take(0, int32(len(s.blocks)))
	if d.Text == "" {
		d.Root = RootNone
	}
}

// hasLabels reports whether labels may be dropped in blocks[first:last] of the root: enough of the
// content must be running text. Product pages and threads of short answers have more labels, so a
// smaller share is required there. The first call decides for all rules.
func (s *survey) hasLabels(first, last int32) bool {
	if s.labels == nil {
		found := !s.manual && s.isRunning(first, last)
		s.labels = &found
	}
	return *s.labels
}

func (s *survey) isRunning(first, last int32) bool {
	whole, running, code := 0, 0, 0
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.dropped || b.isMenu() {
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
	prose := 3
	if s.isProduct() || s.thread {
		prose = 2
	}
	return running >= enough && running*5 >= whole*prose && code*20 <= whole
}

// placeHeadline drops the headline of an article, because it is in Title. On other sites, copies of
// the article may have a different headline, or none in their main text. Without the headline, the
// copies have the same text. It also drops the teasers above the headline, such as a strip of the
// latest articles below the menu, unless a running paragraph without a link is there, because that is
// the article's introduction. On other pages, it adds the <h1> to the main text if it is above the
// text with no running text in between.
func (s *survey) placeHeadline() {
	_, _, first, last := s.span(s.root)
	if !s.isArticle() {
		if s.h1Block >= 0 && s.h1Block < first && s.total(s.h1Block, first).runs == 0 {
			s.headline = s.h1Block
		}
		return
	}
	intro, found := false, false
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		intro = intro || !b.dropped && b.runs() && b.link == 0
		if b.kind != heading || !strings.Contains(s.doc.Title, string(s.text[b.start:b.end])) {
			continue
		}
		if !intro && !found && s.rank(i) <= '2' && b.words > label {
			if found = true; s.total(first, i).runs >= 2 && s.total(i, last).weight >= 8*enough {
				s.drop(first, i)
				s.recount()
			}
		}
		if s.elems[b.elem].node.DataAtom == atom.H1 {
			b.dropped = true
			return
		}
	}
}

// dropOrphans drops headings whose content was dropped entirely.
func (s *survey) dropOrphans() {
	_, _, first, last := s.span(s.root)
	if !s.hasLabels(first, last) {
		return
	}
	lost, kept := last, false // the first block between heading i and the next heading that was dropped, and whether any was kept
	for i := last - 1; i >= first; i-- {
		b := &s.blocks[i]
		switch {
		case b.kind == heading && !b.dropped:
			box := s.around(b.elem, func(e int32) bool { return s.elems[e].last > s.elems[e].first+1 }) // the smallest box that has more than the heading
			b.dropped = !kept && box >= 0 && lost < min(last, s.elems[box].last)
			lost, kept = last, false
		case b.dropped:
			lost = i
		default:
			kept = true
		}
	}
}
