package learn

import (
	"strconv"
	"strings"
	"time"
)

// # Traps
//
// Two forms of URLs can go on without end: calendars, which always have a next month, and relative
// links that add the same folders again and again. The form alone never postpones a URL. But such
// URLs lose their budget earlier: trapRow copies in a row are enough, and near duplicates count as
// copies. If the date is far in the past or future, pages too short to be compared count as copies
// too. If at least trapFree traps and views (views.go) of a host were fetched, and at least as many
// as its other new pages, all its traps are postponed except for samples, even if their pages are
// new.
const (
	trapRow    = 4
	trapFree   = 100
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
	year, is := dateOf(a.path, string(a.query))
	if !is {
		return t, false
	}
	far := year > now.Year()+yearsAhead || year < firstYear
	t = trap{Calendar, a.pattern() + " with dates", far}
	if far {
		t.pattern = a.pattern() + " with dates in the distant past or future"
	}
	return t, true
}

// repeats reports whether a path repeats the same segments maxRepeats times in a row.
func repeats(path string) bool {
	path = strings.TrimSuffix(path, "/")
	next := func(from int) int {
		if slash := strings.IndexByte(path[from+1:], '/'); slash >= 0 {
			return from + 1 + slash
		}
		return len(path)
	}
	for from := 0; from < len(path); from = next(from) {
		for to := next(from); ; to = next(to) {
			n := to - from
			end := from + maxRepeats*n
			if end > len(path) {
				break
			}
			if n > 1 && path[from:end-n] == path[to:end] && (end == len(path) || path[end] == '/') {
				return true
			}
		}
	}
	return false
}

// dateOf returns the year of a date in a URL. The date is a year and a month, perhaps with a day,
// at the end of the path (/2031/05/, /2031-05-02) or as the value of a parameter.
func dateOf(path, query string) (year int, is bool) {
	for pair := range strings.FieldsFuncSeq(query, separators) {
		_, value, _ := strings.Cut(pair, "=")
		if year, rest, ok := yearOf(value); ok && isMonth(rest) {
			return year, true
		}
	}
	var last [3]string // the last segments of the path, in reverse order
	n := 0
	for rest := strings.TrimSuffix(path, "/"); n < len(last) && rest != ""; n++ {
		slash := strings.LastIndexByte(rest, '/')
		last[n], rest = rest[slash+1:], rest[:max(slash, 0)]
	}
	if year, rest, ok := yearOf(last[0]); ok && isMonth(rest) {
		return year, true
	}
	for i := 1; i < n; i++ {
		if year, rest, ok := yearOf(last[i]); ok && rest == "" && isMonth(last[i-1]) && (i == 1 || isDay(last[0])) {
			return year, true
		}
	}
	return 0, false
}

func yearOf(s string) (year int, rest string, ok bool) {
	if len(s) < 4 || len(s) > 4 && s[4] != '-' {
		return 0, "", false
	}
	for i := range 4 {
		if s[i] < '0' || s[i] > '9' {
			return 0, "", false
		}
	}
	year, _ = strconv.Atoi(s[:4])
	return year, strings.TrimPrefix(s[4:], "-"), true
}

func isMonth(s string) bool {
	month, day, found := strings.Cut(s, "-")
	return isNumber(month, 12) && (!found || isDay(day))
}

func isDay(s string) bool { return isNumber(s, 31) }

// isNumber reports whether s is a number from 1 to limit with at most two digits.
func isNumber(s string, limit int) bool {
	n, err := strconv.Atoi(s)
	return err == nil && len(s) <= 2 && n >= 1 && n <= limit
}
