package learn

import (
	"strconv"
	"strings"
	"time"
)

// # Traps by rule
//
// Programs that make URLs without end are known by what they make: relative links that
// grow by the same segments each time, calendars that always have a next month, parameters
// that pile up. The bounds are wide: an honest URL that passes one of them is put
// last, not lost.
const (
	mostRepeats = 3    // of the same segments in a row; Heritrix drops what has three (PathologicalPathDecideRule)
	mostLength  = 2000 // bytes; few servers and browsers take much more
	mostQueried = 12   // parameters of one URL
	mostEqual   = 3    // of one name
	yearsAhead  = 2    // that a calendar may have
	firstYear   = 1400 // nobody's archive begins before
)

// trap says which rule a URL breaks, "" if none.
func trap(url string, now time.Time) Rule {
	path, query, _ := strings.Cut(pathOf(url), "?")
	switch {
	case len(url) > mostLength:
		return Long
	case repeats(path):
		return Repeats
	case manyParameters(query):
		return Many
	case farDate(path, query, now):
		return Calendar
	}
	return ""
}

// repeats says whether a path has the same segments, one or several, mostRepeats times in a row.
func repeats(path string) bool {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for size := 1; size*mostRepeats <= len(segments); size++ {
		same := 0 // segments in a row that equal the one that stands size before them
		for i := size; i < len(segments); i++ {
			if segments[i] != segments[i-size] || segments[i] == "" {
				same = 0
			} else if same++; same >= size*(mostRepeats-1) {
				return true
			}
		}
	}
	return false
}

func manyParameters(query string) bool {
	if query == "" {
		return false
	}
	n, of := 0, map[string]int{}
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		of[name]++
		if n++; n > mostQueried || of[name] > mostEqual {
			return true
		}
	}
	return false
}

// farDate says whether a URL names a year and a month that no calendar of use has: in the path
// (/2031/05, /2031-05-02) or in parameters whose names speak of dates.
func farDate(path, query string, now time.Time) bool {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if year, rest, ok := yearOf(s); ok && far(year, now) && (isMonth(rest) || rest == "" && i+1 < len(segments) && isMonth(segments[i+1])) {
			return true
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if year, _, ok := yearOf(value); ok && far(year, now) && speaksOfDates(name) {
			return true
		}
	}
	return false
}

func far(year int, now time.Time) bool { return year > now.Year()+yearsAhead || year < firstYear }

// yearOf takes the four digits off the beginning of what may be a date.
func yearOf(s string) (year int, rest string, ok bool) {
	if len(s) < 4 {
		return 0, "", false
	}
	year, err := strconv.Atoi(s[:4])
	rest = s[4:]
	if err != nil || s[0] < '0' || s[0] > '9' || rest != "" && rest[0] != '-' {
		return 0, "", false
	}
	return year, strings.TrimPrefix(rest, "-"), true
}

func isMonth(s string) bool {
	s, _, _ = strings.Cut(s, "-")
	n, err := strconv.Atoi(s)
	return err == nil && len(s) <= 2 && n >= 1 && n <= 12
}

func speaksOfDates(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"date", "year", "month", "day", "week", "from", "to", "start", "end", "since", "until", "cal"} {
		if name == word || len(word) > 2 && strings.Contains(name, word) {
			return true
		}
	}
	return false
}
