package extract

// # Dates, tags and pointers around an article
//
// Three things around an article can be recognized in any language: a date, tags such as "Filed
// under: News, Sport", and links to other pages, such as "Read also: ...". This file drops them.
// Weakness: a list of two to six linked sources at the end of an article is dropped too.

const (
	datedWords = 16 // maximum number of words in a line with a date, which may also name the author and the section
	tagSpace   = 24 // maximum number of bytes before the links in a line, as in "Filed under: "
	tagWords   = 5  // maximum average number of words in a tag

	fewDates = 6 // maximum number of dated lines that are dropped; if a page has more, they belong to the text

	fewLinks = 6 // maximum number of links in a dropped list
	fewLists = 3 // maximum number of link lists that are dropped on a page; if there are more, they are the text
	listPart = 5 // the text must be at least this many times as long as the dropped lists
)

// dropDates drops short lines with a date above the first or below the last running paragraph,
// except in threads, where each post has a date.
func (s *survey) dropDates() {
	_, _, first, last := s.span(s.root)
	if s.thread || !s.hasLabels(first, last) {
		return
	}
	from, to := last, first
	for i := first; i < last; i++ {
		if b := &s.blocks[i]; !b.dropped && b.runs() && !s.isDated(b) {
			from, to = min(from, i), i
		}
	}
	var dated []int32
	for i := first; i < last; i++ {
		if b := &s.blocks[i]; !b.dropped && (i < from || i > to) && (b.kind == group || b.kind == para) && s.isDated(b) {
			dated = append(dated, i)
		}
	}
	if len(dated) > fewDates {
		return
	}
	for _, i := range dated {
		s.blocks[i].dropped = true
	}
}

// isDated reports whether b is a short line with a date in digits. Such a line has a year, and
// another number from 0 to 31, as in "25 November 2026".
func (s *survey) isDated(b *block) bool {
	if b.words > datedWords {
		return false
	}
	year, day := false, false
	text := s.text[b.start:b.end]
	for i := 0; i < len(text); i++ {
		digits, n := 0, 0
		for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
			digits++
			n = min(10*n+int(text[i]-'0'), 1e6)
		}
		year = year || digits == 4 && 1900 < n && n < 2100
		day = day || 1 <= digits && digits <= 2 && n <= 31
	}
	return year && day
}

// isTagLine reports whether b consists of at least three short links, such as tags, with little
// text between them.
func isTagLine(b *block) bool {
	if b.kind != group && b.kind != para || b.links < 3 || b.words > tagWords*(b.links+1) {
		return false
	}
	between := b.size() - b.link
	return 2*(b.links-1) <= between && between <= 3*b.links+tagSpace
}

// isPointer reports whether b consists of one link and at most a few other words, such as "Read
// also: ...".
func isPointer(b *block) bool {
	between := b.size() - b.link
	return (b.kind == group || b.kind == para) && b.links == 1 && between <= tagSpace && 2*between < b.link
}

// dropLinkLists drops an article's short lists whose items are all links, unless they are a large
// part of the article.
func (s *survey) dropLinkLists() {
	_, _, first, last := s.span(s.root)
	if !s.isArticle() || !s.hasLabels(first, last) {
		return
	}
	var lists []*elem
	size := 0
	for i := int32(0); i < int32(len(s.elems)); i++ {
		if e := &s.elems[i]; e.kind == list && e.first >= first && e.last <= last && s.isLinkList(e) {
			lists = append(lists, e)
			size += s.within(i).size
			i = e.end - 1
		}
	}
	if len(lists) > fewLists || size*listPart > s.total(first, last).size {
		return
	}
	for _, e := range lists {
		s.drop(e.first, e.last)
	}
}

func (s *survey) isLinkList(e *elem) bool {
	n := 0
	if e.last-e.first > 8*fewLinks {
		return false // the list is too long even without its dropped blocks
	}
	for _, b := range s.blocks[e.first:e.last] {
		switch {
		case b.dropped:
			continue
		case b.link*10 < b.size()*9 || n == fewLinks:
			return false
		}
		n++
	}
	return n >= 2
}
