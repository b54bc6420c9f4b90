package sitemap

import (
	"net/mail"
	"strings"
	"time"
)

// dates are the supported formats of dates: those of lastmod (https://www.w3.org/TR/NOTE-datetime)
// and Atom (RFC 3339), and common mistakes. RSS uses the date formats of mail; see parseMailDate.
var dates = []string{
	time.DateOnly,
	time.RFC3339Nano,
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05", // without the required time zone
	time.DateTime,
	"2006-01",
	"2006",
}

// mailZones maps the names of time zones in RFC 822, section 5.1, to their offsets. Package time
// would parse such a name as a zone with offset zero.
var mailZones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// parseDate parses a date in one of the supported formats. It returns the zero time for text that
// is not a date.
func parseDate(text string) time.Time {
	if len(text) > len("Wednesday, 02 Jan 2006 15:04:05.999999999 -0700") {
		return time.Time{}
	}
	for _, form := range dates {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return parseMailDate(text)
}

// parseMailDate parses a date according to RFC 822 or RFC 5322: the weekday and the seconds may be
// missing, and the year may have two digits. It also accepts any word as a weekday, and a colon in
// a numeric zone.
func parseMailDate(text string) time.Time {
	if weekday, rest, found := strings.Cut(text, ","); found && !strings.ContainsAny(weekday, "0123456789") {
		text = rest
	}
	words := strings.Fields(text)
	if len(words) < 4 || len(words) > 5 { // the words are: day, month, year, time and zone
		return time.Time{}
	}
	if len(words) == 4 {
		words = append(words, "+0000")
	}
	zone := strings.Replace(strings.ToUpper(words[4]), ":", "", 1)
	if offset, known := mailZones[zone]; known {
		zone = offset
	}
	words[4] = zone
	t, err := mail.ParseDate(strings.Join(words, " "))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
