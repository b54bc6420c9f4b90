package ingest

import (
	"strings"
)

// What a record keeps of a change is for a person to see what it was about, not to undo it.
const (
	mostShown  = 400 // bytes of what came, and of what went
	mostBefore = 3   // words that stayed, shown on each side
)

// difference says what one text has that the other has not: which blocks, or which words of a block
// where the other text has another block in its place. Each is cut to [mostShown] bytes.
func difference(was, is string) (added, removed string) {
	gone, came := without(was, is), without(is, was)
	if len(gone) == len(came) {
		for i := range gone {
			gone[i], came[i] = core(gone[i], came[i])
		}
	}
	return shown(came), shown(gone)
}

// without lists the lines of one text that the other has not, each as often as the other lacks it.
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

// core leaves out of two blocks the words with which both begin and end, but for a few.
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
		from, to := max(head-mostBefore, 0), len(words)-max(tail-mostBefore, 0)
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
	if len(s) > mostShown {
		s = cut(s, mostShown-len("…")) + "…"
	}
	return s
}
