package complete

import (
	"slices"
	"strings"

	"skink/dedup"
	"skink/store"
)

// Own returns a page's text without the leading and trailing blocks that recur on many pages of a
// host. It also returns how many blocks and words it left out. Such a block in the middle of a page
// stays. It may be a common heading ("Parameters") of the text that follows, and a text with holes
// is worse than a text with a line too many. A page with too little text of its own to be compared
// keeps all of its text, as in the comparison.
func (w *Whole) Own(page *store.Content) (text string, blocks, words int) {
	if len(w.repeated) == 0 || page.Text == "" {
		return page.Text, 0, 0
	}
	var canon dedup.Text
	count := func(text string) int {
		w.rule.Read(&canon, text, page.Record.Lang)
		return canon.Len()
	}
	if left, shorter := w.without(&canon, page.Text, page.Record.Lang); !shorter || w.rule.Short(count(left)) {
		return page.Text, 0, 0
	}
	lines := strings.SplitAfter(page.Text, "\n")
	isOwn := func(line string) bool {
		number, ok := w.rule.Block(&canon, line, page.Record.Lang)
		return ok && !w.repeated[number]
	}
	first, last := slices.IndexFunc(lines, isOwn), len(lines)-1
	if first < 0 {
		return page.Text, 0, 0
	}
	for !isOwn(lines[last]) {
		last--
	}
	own := lines[first : last+1]
	text = strings.TrimSuffix(strings.Join(own, ""), "\n")
	return text, len(lines) - len(own), count(page.Text) - count(text)
}
