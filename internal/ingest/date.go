package ingest

import (
	"net/http"
	"strings"
	"time"
)

// Pages write dates in many ways. Most use one of the ways of ISO 8601. An index wants one way.

// layouts are the ways in which pages write a moment, those with a zone first.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700",
	time.RFC1123Z, http.TimeFormat, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
}

// dateOf rewrites a date by RFC 3339: as a moment, or as a date alone if the page names no time. It
// returns "" if it does not understand the date. A moment without a zone is taken for UTC.
func dateOf(written string) string {
	written = strings.TrimSpace(written)
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
