package ingest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skink/dedup"
	"skink/store"
)

// # Text that changes at every visit
//
// A new captcha, a counter or the time of the request is not a change to a page. A line is restless
// if only such words changed in it, and if it differed at each of the last restlessVisits visits. If
// nothing else differs from the kept text, the page is unchanged. The page's record contains the
// line ([store.Restless]), and report --changes lists it.
//
// The form of a word decides what it is, and a line is identified by its other words:
//
//   - A time is a time of day, a date, a duration in seconds, or the English name of a month or a
//     day of the week.
//   - A counter is a whole number that has become larger. A number with a currency is a price.
//   - A token has letters and digits in turns, such as a session id, or only capitals, such as a
//     captcha.
//
// All other words are text. If a line is unchanged at a visit, it counts as text again, and the page
// has changed.
//
// Known weakness: A price without a currency beside it is taken for a counter while it rises at
// every visit. Names of months in other languages are text.
const (
	restlessVisits = 3   // two changes in a row may be edits, even of a page that is visited rarely
	maxRestless    = 8   // maximum number of ignored lines on a page; with more, the page counts as changed
	restlessText   = 120 // maximum number of bytes of a line in the record
)

// restlessIn returns the lines in which only times, counters and tokens differ between the kept text
// and a page's text. The argument last contains the lines found at the last visit. The result only
// is true if nothing else differs, and each line has changed at each of the last restlessVisits
// visits. If the text was not kept, restlessIn returns no lines.
func restlessIn(was *store.Content, last []store.Restless, text string) (found []store.Restless, only bool) {
	if was == nil || !was.Kept {
		return nil, false
	}
	old, now := linesOf(was.Text), linesOf(text)
	only = slices.EqualFunc(old, now, func(a, b restlessLine) bool { return a.form == b.form })
	earlier := map[string][]restlessLine{} // the lines of the kept text that are not matched yet, by form
	for _, l := range old {
		earlier[l.form] = append(earlier[l.form], l)
	}
	for _, l := range now {
		same := earlier[l.form]
		if len(same) == 0 {
			continue
		}
		earlier[l.form] = same[1:]
		switch {
		case same[0].text == l.text:
		case len(found) == maxRestless || !slices.EqualFunc(same[0].counts, l.counts, func(old, now int) bool { return old <= now }):
			only = false
		default:
			found = append(found, store.Restless{Line: dedup.HashOf([]byte(l.form)), Now: dedup.HashOf([]byte(l.text)), Visits: 1, Text: cut(l.text, restlessText)})
		}
	}
	last = slices.Clone(last)
	for i := range found {
		f := &found[i]
		if j := slices.IndexFunc(last, func(e store.Restless) bool { return e.Line == f.Line }); j >= 0 {
			if f.Visits = last[j].Visits + 1; last[j].Now == f.Now {
				f.Visits = 0
			}
			last = slices.Delete(last, j, j+1)
		}
		only = only && f.Visits >= restlessVisits
	}
	return found, only && len(found) > 0
}

// A restlessLine is a line and its form: the line with the kind of each time, counter and token in
// place of the word. The counters of two lines with one form stand in the same order.
type restlessLine struct {
	text, form string
	counts     []int
}

func linesOf(text string) (all []restlessLine) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		forms, counts := make([]string, len(words)), []int(nil)
		for i, word := range words {
			if forms[i] = formOf(words, i); forms[i] == counted {
				n, _ := strconv.Atoi(strings.NewReplacer(",", "", ".", "").Replace(strings.Trim(word, marks))) // of a number that is too large, the largest
				counts = append(counts, n)
			}
		}
		all = append(all, restlessLine{strings.TrimSpace(line), strings.Join(forms, " "), counts})
	}
	return all
}

const counted = "\x00counter"

// formOf returns the kind of a word if it is a time, a counter or a token, and the word otherwise.
func formOf(words []string, i int) string {
	word := strings.Trim(words[i], marks)
	if !strings.ContainsAny(word, "0123456789") && (word == "" || word[0] < 'A' || word[0] > 'Z') {
		return words[i] // most words have neither digits nor capitals, and the expressions take longer
	}
	switch {
	case clock.MatchString(word), calendar.MatchString(word), decimal.MatchString(word) && i+1 < len(words) && seconds.MatchString(words[i+1]):
		return "\x00time"
	case token.MatchString(word):
		return "\x00token"
	case counter.MatchString(word) && !slices.ContainsFunc(words[max(i-1, 0):min(i+2, len(words))], money.MatchString):
		return counted
	}
	return words[i]
}

const marks = `.,;:!?()[]"'“”«»…`

var (
	clock    = regexp.MustCompile(`^(?i)(\d{1,2}:\d\d(:\d\d)?([.,]\d+)?([ap]m|z|[+-]\d\d:?\d\d)?|\d{4}-\d\d-\d\d(t\S+)?|\d{1,4}[./-]\d{1,2}[./-]\d{2,4}|\d+([.,]\d+)?m?s)$`)
	calendar = regexp.MustCompile(`^(Jan(uary)?|Feb(ruary)?|Mar(ch)?|Apr(il)?|May|June?|July?|Aug(ust)?|Sept?(ember)?|Oct(ober)?|Nov(ember)?|Dec(ember)?|Mon(day)?|Tue(sday)?|Wed(nesday)?|Thu(rsday)?|Fri(day)?|Sat(urday)?|Sun(day)?)$`)
	decimal  = regexp.MustCompile(`^\d+[.,]\d+$`)
	seconds  = regexp.MustCompile(`^(m?s|seconds?)\b`)
	counter  = regexp.MustCompile(`^(\d+|\d{1,3}([.,]\d{3})+)$`)
	money    = regexp.MustCompile(`\p{Sc}|^[A-Z]{3}$`) // a symbol of a currency, or a code such as EUR
	token    = regexp.MustCompile(`^([A-Z]{4,}|\w*([A-Za-z]\d+[A-Za-z]|\d[A-Za-z]+\d)\w*)$`)
)
