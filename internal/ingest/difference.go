package ingest

import (
	"strings"
)

// These constants limit how much of a change a record keeps: just enough to show what the change is
// about.
const (
	maxShown  = 400 // maximum number of bytes of the added text, and of the removed text
	maxBefore = 3   // number of unchanged words shown on each side
)

// difference compares two versions of a page's text, and returns the added and the removed text, in
// whole lines. If as many lines were added as removed, only the differing words are returned, with
// a few unchanged words around them. Both results are truncated to maxShown bytes.
func difference(was, is string) (added, removed string) {
	gone, came := without(was, is), without(is, was)
	if len(gone) == len(came) {
		for i := range gone {
			gone[i], came[i] = core(gone[i], came[i])
		}
	}
	return shown(came), shown(gone)
}

// without returns the lines of text that are not in other. Repeated lines are counted: if text has
// a line three times and other has it once, the line is returned twice.
func without(text, other string) (lines []string) {
	have := map[string]int{}
	for line := range strings.Lines(other) {
		have[strings.TrimSpace(line)]++
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if have[line]--; have[line] < 0 && line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// core removes the words that two blocks share at the beginning and at the end, except for
// maxBefore words on each side.
func core(a, b string) (string, string) {
	x, y := strings.Fields(a), strings.Fields(b)
	most := min(len(x), len(y))
	head := 0
	for head < most && x[head] == y[head] {
		head++
	}
	tail := 0
	for tail < most-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	cut := func(words []string) string {
		from, to := max(head-maxBefore, 0), len(words)-max(tail-maxBefore, 0)
		s := strings.Join(words[from:to], " ")
		if from > 0 {
			s = "… " + s
		}
		if to < len(words) {
			s += " …"
		}
		return s
	}
	return cut(x), cut(y)
}

func shown(lines []string) string {
	s := strings.Join(lines, "\n")
	if len(s) > maxShown {
		s = cut(s, maxShown-len("…")) + "…"
	}
	return s
}
