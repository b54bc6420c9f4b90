package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skink/dedup"
	"skink/store"
)

// # Text that changes at every visit
//
// A captcha, a counter or "retrieved at" makes no other page. A passage that was another at each of
// the last restlessVisits visits is ignored: if nothing else differs from the text that is kept, the
// page is the same. The record names the passage ([store.Restless]), and report --changes lists it.
//
// A passage is a line that differs, or a run of lines. The nearest lines that stayed name its place.
// It is ignored only if it is short, because long text that is rewritten for every visit is news.
// When it stays as it is for a visit, it counts as text again, and the page has changed.
//
// Its known weakness: a short passage that somebody really changes between any two visits, such as
// a price, is ignored from the third change on.
const (
	restlessVisits = 3       // two changes in a row may be edits, also of a page that is visited rarely
	restlessWords  = 30      // of a passage at most that differ, on each side: more than captchas and times have
	mostRestless   = 8       // passages of a page: one with more is another page each time
	mostCompared   = 1 << 20 // pairs of lines that are compared to find the passages of a page
	restlessText   = 120     // bytes of a passage that the record shows
)

// isRestless says whether a page differs from the text that is kept in nothing but restless
// passages. It notes in the subject's record what passages changed.
func (p *Pipeline) isRestless(ctx context.Context, s *subject) (bool, error) {
	was, err := p.content(ctx, s.before.ID)
	if err != nil || was == nil || !was.Kept {
		return false, err
	}
	text, err := s.plainText()
	if err != nil {
		return false, err
	}
	found, all := passages(linesOf(was.Text), linesOf(text))
	only := all && len(found) > 0
	known := map[int]bool{} // entries of the visit before that were found again
	for i := range found {
		f := &found[i]
		f.Visits = 1
		for j, e := range s.before.Restless {
			if known[j] || e.After != f.After && e.Before != f.Before {
				continue
			}
			known[j] = true
			if f.Visits = e.Visits + 1; e.Now == f.Now {
				f.Visits = 0
			}
			break
		}
		only = only && f.Visits >= restlessVisits
	}
	if !all { // they may stand among the other changes
		for j, e := range s.before.Restless {
			if !known[j] && len(found) < mostRestless {
				found = append(found, e)
			}
		}
	}
	s.record.Restless = found
	return only, nil
}

func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// passages lists the short passages in which two texts differ, as they are in the second. all says
// whether there is no other difference.
func passages(was, is []string) (found []store.Restless, all bool) {
	head := 0
	for head < min(len(was), len(is)) && was[head] == is[head] {
		head++
	}
	tail := 0
	for tail < min(len(was), len(is))-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	a, b := was[head:len(was)-tail], is[head:len(is)-tail]
	if len(a)*len(b) > mostCompared {
		return nil, false
	}
	all = true
	place := func(line int, away int) dedup.Hash {
		text := ""
		if line >= 0 && line < len(is) {
			text = is[line]
		}
		return dedup.HashOf(fmt.Appendf(nil, "%d %s", away, text))
	}
	for _, d := range differing(a, b) {
		whole := span{d.a, d.aEnd, d.b, d.bEnd}
		parts := []span{whole}
		if n := d.aEnd - d.a; n == d.bEnd-d.b { // line by line
			parts = parts[:0]
			for k := range n {
				parts = append(parts, span{d.a + k, d.a + k + 1, d.b + k, d.b + k + 1})
			}
		}
		for _, d := range parts {
			now := strings.Join(b[d.b:d.bEnd], "\n")
			gone, came := core(strings.Join(a[d.a:d.aEnd], "\n"), now)
			if len(strings.Fields(gone)) > restlessWords+2*mostBefore || len(strings.Fields(came)) > restlessWords+2*mostBefore || len(found) == mostRestless {
				all = false
				continue
			}
			found = append(found, store.Restless{
				After: place(head+whole.b-1, d.b-whole.b), Before: place(head+whole.bEnd, whole.bEnd-d.bEnd),
				Now: dedup.HashOf([]byte(now)), Text: cut(came, restlessText),
			})
		}
	}
	return found, all
}

// A span is lines of two texts between lines that both have.
type span struct{ a, aEnd, b, bEnd int }

// differing lists the spans in which two lists of lines differ, by their longest common
// subsequence.
func differing(a, b []string) (spans []span) {
	longest := make([][]int32, len(a)+1) // of a[i:] and b[j:]
	for i := range longest {
		longest[i] = make([]int32, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			if longest[i][j] = max(longest[i+1][j], longest[i][j+1]); a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	at := span{}
	end := func(i, j int) {
		if at.aEnd, at.bEnd = i, j; at.a < i || at.b < j {
			spans = append(spans, at)
		}
		at.a, at.b = i+1, j+1
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			end(i, j)
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	end(len(a), len(b))
	return spans
}
