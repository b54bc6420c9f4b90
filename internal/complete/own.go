package complete

import (
	"slices"
	"strings"

	"skink/dedup"
	"skink/store"
)

// Own is a page's text without the blocks before its first and behind its last own one, and how
// many those are. A block is its host's, and not the page's own, if it returns on many pages of a
// host. Such a block in the midst of a page stays: it may be a phrase of the trade that heads what
// follows ("Parameters"), and a text with holes is worse than one with a line too many. A page
// without any block of its own keeps all of them.
func (w *Whole) Own(page *store.Content) (text string, left int) {
	if len(w.repeated) == 0 || page.Text == "" {
		return page.Text, 0
	}
	var canon dedup.Text
	lines := strings.SplitAfter(page.Text, "\n")
	isOwn := func(line string) bool {
		number, ok := w.rule.Block(&canon, line, page.Record.Lang)
		return ok && !w.repeated[number]
	}
	first := slices.IndexFunc(lines, isOwn)
	if first < 0 {
		return page.Text, 0
	}
	last := len(lines) - 1
	for !isOwn(lines[last]) {
		last--
	}
	own := lines[first : last+1]
	return strings.TrimSuffix(strings.Join(own, ""), "\n"), len(lines) - len(own)
}
