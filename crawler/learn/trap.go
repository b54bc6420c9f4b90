package learn

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// # Traps
//
// Two forms of URLs can go on without end: calendars, which always have a next month, and relative
// links that add the same folders again and again. The form alone never postpones a URL. But such
// URLs also have a pattern of their own, for which near duplicates count as copies. If the path
// repeats or the date is far in the past or future, pages too short to be compared count as copies
// too.
//
// Known weakness: A trap whose pages always have new text is not recognized.
const (
	maxRepeats = 3    // a path that repeats the same segments this many times in a row is a trap; Heritrix drops URLs with three (PathologicalPathDecideRule)
	maxLength  = 2000 // maximum length in bytes of a URL that is not a trap; few servers and browsers accept much more
	yearsAhead = 2    // dates more than this many years ahead are far in the future
	firstYear  = 1400 // dates before this year are far in the past; few archives begin earlier
)

type trap struct {
	rule    Rule
	pattern string
	far     bool // whether pages too short to be compared count as copies
}

// trap reports whether a URL matches a pattern that can produce endless URLs, such as those of a
// calendar, and describes the pattern.
func (a *address) trap(now time.Time) (t trap, is bool) {
	if len(a.url) > maxLength || repeats(a.path) {
		return trap{Growing, "paths that repeat the same folders", true}, true
	}
	date := dated.FindStringSubmatch(pathOf(a.url))
	if date == nil {
		return t, false
	}
	year, _ := strconv.Atoi(date[1] + date[2] + date[3]) // only one of the forms matches
	switch {
	case year > now.Year()+yearsAhead, year < firstYear:
		return trap{Calendar, a.pattern() + " with dates in the distant past or future", true}, true
	}
	return trap{Calendar, a.pattern() + " with dates", false}, true
}

// repeats reports whether a path repeats the same segments maxRepeats times in a row. It ignores doubled slashes.
func repeats(path string) bool {
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for n := 1; maxRepeats*n <= len(segments); n++ {
		same := 0 // number of segments in a row that are also n places earlier
		for i := n; i < len(segments); i++ {
			if same++; segments[i] != segments[i-n] {
				same = 0
			}
			if same == (maxRepeats-1)*n {
				return true
			}
		}
	}
	return false
}

// These expressions match the month and the day of a date.
const (
	aMonth = `(?:0?[1-9]|1[0-2])`
	aDay   = `(?:0?[1-9]|[12][0-9]|3[01])`
	dashed = `([0-9]{4})-` + aMonth + `(?:-` + aDay + `)?`
)

// dated matches a path and a query with a date: at the end of the path (/2031/05/, /2031-05-02), or as
// the value of a parameter. One of its groups is the year.
var dated = regexp.MustCompile(`^[^?]*/(?:` + dashed + `|([0-9]{4})/` + aMonth + `(?:[-/]` + aDay + `)?)/?(?:\?|$)|\?(?:.*[&;])?[^=&;]*=` + dashed + `(?:[&;]|$)`)
