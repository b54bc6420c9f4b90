package ingest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// recordOf returns a record with the fields that do not depend on the page's body.
func recordOf(page *crawler.Page) store.Record {
	r := store.Record{
		ID:          dedup.HashOf([]byte(page.Item.URL)),
		URL:         page.Item.URL,
		Via:         page.Item.Via,
		Kind:        store.Page,
		Status:      page.Status,
		Location:    page.Location,
		ContentType: cut(page.Header.Get("Content-Type"), maxType),
		Signals:     page.Signals,
		Private:     page.Private,
		Truncated:   page.Truncated,
		Checked:     page.Item.Kind == frontier.Check,
		Requisite:   page.Item.Kind == frontier.Requisite,
		Sitemap:     page.Item.Kind == frontier.Sitemap,
		Fetch: store.Fetch{
			Problem:     string(page.Problem),
			Detail:      page.Detail,
			FetchedAt:   page.FetchedAt.UTC(),
			Depth:       page.Item.Depth,
			Hops:        page.Item.Hops,
			From:        page.Item.From,
			Size:        int64(len(page.Body)),
			Took:        page.Took.Milliseconds(),
			Hidden:      page.Hidden,
			RenderError: page.DrawError,
		},
	}
	switch {
	case page.Problem == crawler.ProblemRobots, page.Problem == crawler.ProblemCaptcha:
		r.Kind = store.Blocked
	case page.Problem == crawler.ProblemOutside:
		r.Kind = store.Outside
	case page.Problem == crawler.ProblemLater:
		r.Kind = store.Later
	case page.Problem == crawler.ProblemStatus:
		r.Kind = store.Error
		r.Problem += " " + strconv.Itoa(page.Status)
	case page.Problem != "":
		r.Kind = store.Error
	case page.Location != "":
		r.Kind = store.Redirect
	case page.Item.Kind == frontier.Check:
		r.Kind, r.Size = store.Other, page.Promised
	case page.Item.Kind == frontier.Requisite:
		r.Kind, r.Hash, r.Validators = store.Other, dedup.HashOf(page.Body), page.Validators()
		r.Same = 0 // style sheets lead to files
	case page.Listed != nil:
		r.Kind, r.Detail, r.Hash = store.Sitemap, page.Listed.String(), dedup.HashOf(page.Body)
		if page.Listed.Cut != nil {
			r.Bounds = store.BoundList
		}
	case page.Drawing != nil:
		r.Rendered = true // leave out the validators: they belong to the response, and scripts may have changed the page
	case page.DrawError != "": // leave out the validators, so that a later crawl fetches the page again and may render it
	default:
		r.Validators = page.Validators()
	}
	if page.Transient() { // the crawler reports a temporary failure only after the last try
		r.Tries = page.Item.Tries + 1
	}
	return r
}

// These are the maximum lengths, in bytes, of the metadata in the record of a page. No ordinary
// page needs more, but some pages have megabytes of metadata, and records are read often.
const (
	maxTitle       = 2000
	maxDescription = 4000
	maxName        = 500 // of an author or a site
	maxType        = 250
	maxLang        = 35 // enough for every language tag in use (RFC 5646, section 4.4.1)
)

// cut truncates a text at a character boundary. The limit most is in bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(strings.Clone(s[:most]), "") // a copy, so that the memory of the whole text can be freed
}

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
