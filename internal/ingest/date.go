package ingest

import (
	"net/http"
	"strings"
	"time"
)

// Pages contain dates in many formats, mostly in those of ISO 8601. An index needs a single format.

// layouts are the formats of times in pages, those with a zone first.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700",
	time.RFC1123Z, http.TimeFormat, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
}

// dateOf converts the date in a page's metadata to RFC 3339, with a time if there is one. It
// returns "" if it cannot parse the date. A time without a zone counts as UTC.
func dateOf(written string) string {
	if written = strings.TrimSpace(written); written == "" {
		return "" // most pages have no date
	}
	if day, err := time.Parse(time.DateOnly, written); err == nil {
		return day.Format(time.DateOnly)
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, written); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return ""
}
