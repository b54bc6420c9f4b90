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
	year, is := yearOf(a.path, string(a.query))
	switch {
	case !is:
		return t, false
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

// These expressions match a year and a month, perhaps with a day: as the value of a parameter, and at
// the end of a path (/2031/05/, /2031-05-02).
const (
	aMonth = `(?:0?[1-9]|1[0-2])`
	aDay   = `(?:0?[1-9]|[12][0-9]|3[01])`
	dashed = `([0-9]{4})-` + aMonth + `(?:-` + aDay + `)?`
)

var (
	dateValue = regexp.MustCompile(`^` + dashed + `$`)
	datePath  = regexp.MustCompile(`(?:^|/)(?:` + dashed + `|([0-9]{4})/` + aMonth + `(?:[-/]` + aDay + `)?)/?$`)
)

// yearOf returns the year of a date in a URL.
func yearOf(path, query string) (year int, is bool) {
	for pair := range strings.FieldsFuncSeq(query, separators) {
		_, value, _ := strings.Cut(pair, "=")
		if m := dateValue.FindStringSubmatch(value); m != nil {
			year, _ = strconv.Atoi(m[1]) // digits only
			return year, true
		}
	}
	if m := datePath.FindStringSubmatch(path); m != nil {
		year, _ = strconv.Atoi(m[1] + m[2]) // only one of the two forms matches
		return year, true
	}
	return 0, false
}
