package ingest

import (
	"fmt"
	"strings"

	"skink/dedup"
	"skink/internal/align"
	"skink/store"
)

// # Text that changes at every visit
//
// A new captcha, a counter or the time of the request is not a change to a page. A short passage
// that differed at each of the last restlessVisits visits is called restless, and is ignored. If
// nothing else differs from the kept text, the page is unchanged. The page's record contains the
// passage ([store.Restless]), and report --changes lists it.
//
// A passage is one or more consecutive lines that differ. It is identified by the nearest unchanged
// lines. Long passages are never ignored, because long text that changes at every visit is real
// content, such as news. If a passage is unchanged at a visit, it counts as text again, and the
// page has changed.
//
// Known weakness: A short passage with real changes between any two visits, such as a price, is
// ignored from the third change on.
const (
	restlessVisits = 3       // two changes in a row may be edits, even of a page that is visited rarely
	restlessWords  = 30      // maximum number of differing words in an ignored passage; captchas and times have fewer
	maxRestless    = 8       // maximum number of ignored passages on a page; with more, the page counts as changed
	maxCompared    = 1 << 20 // maximum number of line pairs compared to find the passages of a page
	restlessText   = 120     // maximum number of bytes of a passage in the record
)

// restlessIn returns the short passages in which a page's text differs from the kept text. The
// argument last contains the passages found at the last visit. The result only is true if nothing
// else differs, and each passage has changed at each of the last restlessVisits visits. If the text
// was not kept, restlessIn returns no passages.
func restlessIn(was *store.Content, last []store.Restless, text string) (found []store.Restless, only bool) {
	if was == nil || !was.Kept {
		return nil, false
	}
	found, all := passages(linesOf(was.Text), linesOf(text))
	only = all && len(found) > 0
	known := map[int]bool{} // indexes of the passages in last that were found again
	for i := range found {
		f := &found[i]
		f.Visits = 1
		for j, e := range last {
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
	if !all { // the other changes may hide passages of the last visit, so keep those
		for j, e := range last {
			if !known[j] && len(found) < maxRestless {
				found = append(found, e)
			}
		}
	}
	return found, only
}

func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// passages returns the short passages of the second text that differ from the first. The result all
// is true if there are no other differences.
func passages(was, is []string) (found []store.Restless, all bool) {
	head, tail := align.Ends(was, is)
	a, b := was[head:len(was)-tail], is[head:len(is)-tail]
	if len(a)*len(b) > maxCompared {
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
		if n := d.aEnd - d.a; n == d.bEnd-d.b { // compare line by line
			parts = parts[:0]
			for k := range n {
				parts = append(parts, span{d.a + k, d.a + k + 1, d.b + k, d.b + k + 1})
			}
		}
		for _, d := range parts {
			now := strings.Join(b[d.b:d.bEnd], "\n")
			gone, came := core(strings.Join(a[d.a:d.aEnd], "\n"), now)
			if len(strings.Fields(gone)) > restlessWords+2*maxBefore || len(strings.Fields(came)) > restlessWords+2*maxBefore || len(found) == maxRestless {
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

// A span is a range of lines in each of two texts, between two lines that are equal in both.
type span struct{ a, aEnd, b, bEnd int }

// differing returns the spans outside a longest common subsequence of two lists of lines.
func differing(a, b []string) (spans []span) {
	at := span{}
	end := func(i, j int) {
		if at.aEnd, at.bEnd = i, j; at.a < i || at.b < j {
			spans = append(spans, at)
		}
		at.a, at.b = i+1, j+1
	}
	for i, j := range align.Common(a, b) {
		if j >= 0 {
			end(i, j)
		}
	}
	end(len(a), len(b))
	return spans
}
