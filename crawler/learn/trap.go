package learn

import (
	"slices"
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
// too.
//
// Other rules apply to traps whose pages always have new text. Paths that repeat are postponed
// except for samples, after trapFree traps and views (views.go) of the host, and at least as many as
// its other new pages. Dates need more evidence, because a number in a URL may mean anything. They
// are postponed only if they are far from today, and if the fetched dates of the pattern are those
// of a calendar: they began near today, moved away from it trapSteps times by a year at most, and
// include all months about equally often. The threads of a forum with page numbers do not.
const (
	trapRow   = 4
	trapFree  = 100
	trapSteps = 40 // number of steps away from today after which a calendar is endless
	yearsBack = 25 // in an endless calendar, dates more than this many years ago are far too

	maxCalendars = 256  // maximum number of patterns with dates for which a host keeps the dates
	maxRepeats   = 3    // a path that repeats the same segments this many times in a row is a trap; Heritrix drops URLs with three (PathologicalPathDecideRule)
	maxLength    = 2000 // maximum length in bytes of a URL that is not a trap; few servers and browsers accept much more
	yearsAhead   = 2    // dates more than this many years ahead are far in the future
	firstYear    = 1400 // dates before this year are far in the past; few archives begin earlier
)

type trap struct {
	rule    Rule
	pattern string
	far     bool // whether pages too short to be compared count as copies
	month   int  // of the date, counted from the year 0; only for dates
}

// Dates describes the dates in the fetched URLs of one pattern. Months are counted from the
// year 0.
type Dates struct {
	Back, Ahead int       // the months farthest from today that were reached in steps
	Steps       int       // number of steps
	Months      [12]int64 // number of fetched dates in each month of the year
}

const year = 12

// meet counts a date.
func (c *Dates) meet(month int, now time.Time) {
	if c.Steps == 0 {
		c.Back = year*now.Year() + int(now.Month()) - 1
		c.Ahead = c.Back
	}
	switch {
	case month > c.Ahead && month <= c.Ahead+year:
		c.Ahead = month
		c.Steps++
	case month < c.Back && month >= c.Back-year:
		c.Back = month
		c.Steps++
	}
	c.Months[month%year]++
}

// endless reports whether a date must be postponed, because it is far from today and the fetched
// dates are those of a calendar that goes on and on. A calendar that has led to the far future is
// written by a program, so its distant past is not an archive.
func (c *Dates) endless(month int, now time.Time) bool {
	if c == nil || c.Steps < trapSteps || 3*slices.Min(c.Months[:]) < slices.Max(c.Months[:]) {
		return false
	}
	y, latest := month/year, now.Year()+yearsAhead
	return y > latest || y < firstYear || c.Ahead/year > latest && y < now.Year()-yearsBack
}

// trap reports whether a URL matches a pattern that can produce endless URLs, such as those of a
// calendar, and describes the pattern.
func (a *address) trap(now time.Time) (t trap, is bool) {
	if len(a.url) > maxLength || repeats(a.path) {
		return trap{rule: Growing, pattern: "paths that repeat the same folders", far: true}, true
	}
	month, is := dateOf(a.path, string(a.query))
	if !is {
		return t, false
	}
	far := month/year > now.Year()+yearsAhead || month/year < firstYear
	t = trap{Calendar, a.pattern() + " with dates", far, month}
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

// dateOf returns the month of a date in a URL, counted from the year 0. The date is a year and a month, perhaps with a day,
// at the end of the path (/2031/05/, /2031-05-02) or as the value of a parameter.
func dateOf(path, query string) (month int, is bool) {
	for pair := range strings.FieldsFuncSeq(query, separators) {
		_, value, _ := strings.Cut(pair, "=")
		if y, rest, ok := yearOf(value); ok && monthOf(rest) > 0 {
			return year*y + monthOf(rest) - 1, true
		}
	}
	var last [3]string // the last segments of the path, in reverse order
	n := 0
	for rest := strings.TrimSuffix(path, "/"); n < len(last) && rest != ""; n++ {
		slash := strings.LastIndexByte(rest, '/')
		last[n], rest = rest[slash+1:], rest[:max(slash, 0)]
	}
	if y, rest, ok := yearOf(last[0]); ok && monthOf(rest) > 0 {
		return year*y + monthOf(rest) - 1, true
	}
	for i := 1; i < n; i++ {
		if y, rest, ok := yearOf(last[i]); ok && rest == "" && monthOf(last[i-1]) > 0 && (i == 1 || isDay(last[0])) {
			return year*y + monthOf(last[i-1]) - 1, true
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

// monthOf returns the month in a text such as "05" or "05-31", or 0 if it has none.
func monthOf(s string) int {
	month, day, found := strings.Cut(s, "-")
	if !isNumber(month, 12) || found && !isDay(day) {
		return 0
	}
	n, _ := strconv.Atoi(month)
	return n
}

func isDay(s string) bool { return isNumber(s, 31) }

// isNumber reports whether s is a number from 1 to limit with at most two digits.
func isNumber(s string, limit int) bool {
	n, err := strconv.Atoi(s)
	return err == nil && len(s) <= 2 && n >= 1 && n <= limit
}

func (h *Host) meetDate(pattern string, month int, now time.Time) {
	c := h.Calendars[pattern]
	switch {
	case c == nil && len(h.Calendars) >= maxCalendars:
		return
	case c == nil:
		if h.Calendars == nil {
			h.Calendars = map[string]*Dates{}
		}
		c = &Dates{}
		h.Calendars[pattern] = c
	}
	c.meet(month, now)
}
