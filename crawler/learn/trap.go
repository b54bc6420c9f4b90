package learn

import (
	"regexp"
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

// These expressions match a year and a month, perhaps with a day: as the value of a parameter, and at
// the end of a path (/2031/05/, /2031-05-02).
const (
	aMonth = `(0?[1-9]|1[0-2])`
	aDay   = `(?:0?[1-9]|[12][0-9]|3[01])`
	dashed = `([0-9]{4})-` + aMonth + `(?:-` + aDay + `)?`
)

var (
	dateValue = regexp.MustCompile(`^` + dashed + `$`)
	datePath  = regexp.MustCompile(`(?:^|/)(?:` + dashed + `|([0-9]{4})/` + aMonth + `(?:[-/]` + aDay + `)?)/?$`)
)

// dateOf returns the month of a date in a URL, counted from the year 0.
func dateOf(path, query string) (month int, is bool) {
	for pair := range strings.FieldsFuncSeq(query, separators) {
		_, value, _ := strings.Cut(pair, "=")
		if m := dateValue.FindStringSubmatch(value); m != nil {
			return monthOf(m[1], m[2]), true
		}
	}
	if m := datePath.FindStringSubmatch(path); m != nil {
		return monthOf(m[1]+m[3], m[2]+m[4]), true // only one of the two forms matches
	}
	return 0, false
}

func monthOf(y, m string) int {
	n, _ := strconv.Atoi(y) // digits only
	month, _ := strconv.Atoi(m)
	return year*n + month - 1
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
