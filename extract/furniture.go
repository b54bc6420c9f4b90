package extract

// # What stands around an article
//
// Three things stand around an article in every language, and can be told without knowing any
// language: when it was written, what it is filed under, and where to go next. What this gets
// wrong: a list of two to six sources that are links, at the end of an article, is dropped.

const (
	datedWords = 16 // words of a line with a date, beside a writer and a section
	tagSpace   = 24 // bytes in front of links: "Filed under: ", "Lesen Sie auch: "
	tagWords   = 5  // words of a tag, at most and on average

	fewDates = 6 // lines of when it was written; where there are more, they are entries of a history

	fewLinks = 6 // links of a list of where to go next
	fewLists = 3 // such lists, of which a text is not made
	listPart = 5 // times as much as is in these lists that is taken
)

// dropDates drops the lines above and below the text that say when it was written. Posts of a
// thread have theirs amid the text.
func (s *survey) dropDates(first, last int32) {
	if s.thread {
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

// isDated reports a short line with a date in figures: a year, and a day, a month or an hour.
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

// isTagLine reports a line of short links and what parts them.
func isTagLine(b *block) bool {
	if b.kind != group && b.kind != para || b.links < 3 || b.words > tagWords*(b.links+1) {
		return false
	}
	between := b.size() - b.link
	return 2*(b.links-1) <= between && between <= 3*b.links+tagSpace
}

// isPointer reports a line that is a link to somewhere else, and at most a word or two in front of
// it.
func isPointer(b *block) bool {
	between := b.size() - b.link
	return (b.kind == group || b.kind == para) && b.links == 1 && between <= tagSpace && 2*between < b.link
}

// dropLinkLists drops the short lists of an article of which every item is a link, unless there are
// so many that the article is made of them.
func (s *survey) dropLinkLists(first, last int32) {
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
		return false // not short, whatever was dropped of it
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
