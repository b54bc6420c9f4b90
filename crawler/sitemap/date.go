package sitemap

import "time"

// dates are the forms that lastmod (W3C, https://www.w3.org/TR/NOTE-datetime), RSS (RFC 822)
// and Atom (RFC 3339) have, and what is written in their place.
var dates = []string{
	time.DateOnly,
	time.RFC3339Nano,
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05", // without the zone that it must have
	time.DateTime,
	"2006-01",
	"2006",
	time.RFC1123Z,
	time.RFC1123,
	"Mon, 2 Jan 2006 15:04:05 -0700",
	"Mon, 2 Jan 2006 15:04:05 MST",
	"2 Jan 2006 15:04:05 -0700",
}

// parseDate returns the zero time for what is no date.
func parseDate(text string) time.Time {
	if len(text) > len("Mon, 02 Jan 2006 15:04:05.999999999 -0700") {
		return time.Time{}
	}
	for _, form := range dates {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
