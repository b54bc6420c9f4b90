package ingest

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// recordOf returns the part of a page's record that does not depend on the body.
func recordOf(page *crawler.Page) store.Record {
	r := store.Record{
		ID:          dedup.HashOf([]byte(page.Item.URL)),
		URL:         page.Item.URL,
		Via:         page.Item.Via,
		Kind:        store.Page,
		Problem:     string(page.Problem),
		Detail:      page.Detail,
		FetchedAt:   page.FetchedAt.UTC(),
		Status:      page.Status,
		Location:    page.Location,
		ContentType: cut(page.Header.Get("Content-Type"), maxType),
		Depth:       page.Item.Depth,
		Hops:        page.Item.Hops,
		Size:        int64(len(page.Body)),
		Took:        page.Took.Milliseconds(),
		Signals:     page.Signals,
		Private:     page.Private,
		Truncated:   page.Truncated,
		Checked:     page.Item.Kind == frontier.Check,
		Sitemap:     page.Item.Kind == frontier.Sitemap,
		RenderError: page.DrawError,
	}
	switch {
	case page.Problem == crawler.ProblemRobots:
		r.Kind = store.Blocked
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
	case page.Listed != nil:
		r.Kind, r.Detail, r.Hash = store.Sitemap, page.Listed.String(), dedup.HashOf(page.Body)
		if page.Listed.Cut != nil {
			r.Bounds = store.BoundList
		}
	case page.Drawing != nil:
		r.Rendered = true // without validators: these are of the answer, and not of what scripts add to it
	default:
		r.ETag, r.Modified = page.Validators()
	}
	if page.Transient() { // the crawler passes it on only after the last try
		r.Tries = page.Item.Tries + 1
	}
	return r
}

// These limits, in bytes, bound what a record keeps of a page's description of itself. No honest
// page needs more. Other pages have megabytes, and a record is read often.
const (
	maxTitle       = 2000
	maxDescription = 4000
	maxName        = 500 // bytes of the name of an author, or of a site
	maxType        = 250
	maxLang        = 35 // RFC 5646, section 4.4.1: enough for every tag in use
)

// cut shortens a text to the given number of bytes, at the boundary of a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.Clone(s[:most]) // the clone lets the rest of the memory be freed
}
