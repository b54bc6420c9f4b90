package view

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"skink/dedup"
	"skink/extract"
	"skink/report"
	"skink/store"
)

// functions are available to the view's templates in addition to those of package report.
var functions = template.FuncMap{
	"time":   timeText,
	"size":   func(n any) string { return report.Bytes(reflect.ValueOf(n).Int()) },
	"titled": func(r *store.Record) string { return strings.TrimSpace(report.Clip(r.Title, 200)) },
	"known":  func(rawURL string) string { return "/page/" + url.PathEscape(rawURL) },

	"duration": report.Duration,
	"taken":    extract.RootWords,
	"failing":  failing,
}

// failing returns the address of the list of URLs that failed with the given problem, such as
// "status 500".
func failing(problem string) string {
	list := url.Values{"kind": {string(store.Error)}}
	if status, ok := strings.CutPrefix(problem, "status "); ok {
		list.Set("status", status)
	}
	return "/pages?" + list.Encode()
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

type heading struct {
	Title, Link string
	Sorted      string // value of the attribute aria-sort: ascending, descending or ""
	Number      bool
}

type list struct {
	Query    url.Values
	Search   string
	Text     bool // whether the search also covers the text of the pages
	Hosts    []string
	Verdicts []string
	Kinds    []string
	Headings []heading
	Pages    []*store.Record
	Unsorted bool
	Looked   int
	paging
	Shape string

	Languages, Segments []string
	Segment, Lang       string
}

func queryOf(r *http.Request) query {
	form := r.URL.Query()
	status, _ := strconv.Atoi(form.Get("status")) // an invalid number means any status
	return query{
		words: wordsOf(form.Get("q")), host: form.Get("host"), shape: form.Get("shape"), lang: form.Get("language"), segment: form.Get("segment"),
		verdict: placeIn(verdicts, form.Get("verdict")), kind: placeIn(kinds, form.Get("kind")), status: max(status, 0),
		column: columnNamed(form.Get("sort")), down: form.Get("down") != "", from: fromOf(r),
	}
}

func (v *View) pagesPage(ctx context.Context, r *http.Request) (*screen, error) {
	form := r.URL.Query()
	q := queryOf(r)
	l := &list{Query: form, Search: form.Get("q"), Text: form.Get("in") == "text", Shape: form.Get("shape"), Verdicts: verdicts[1:], Kinds: kinds[1:], Segments: v.opt.Segments.Names(), Segment: q.segment, Lang: q.lang}
	read := v.index.progress()
	var found selection
	if l.Text && len(q.words) > 0 {
		if err := v.searchTexts(ctx, q, &found, l); err != nil {
			return nil, err
		}
	} else {
		found = v.index.list(q)
	}
	l.Unsorted, l.paging = found.unsorted, pagingOf("/pages", r, q.from, q.from+max(l.Looked, len(found.ids)), found.total)
	l.Hosts = v.largestHosts(100)
	v.index.look(func(t *rows) { l.Languages = slices.Sorted(slices.Values(t.langs.all[1:])) })
	l.Languages = l.Languages[:min(len(l.Languages), maxOptions)]
	for i, c := range columns {
		h, down := heading{Title: c.title, Number: c.number}, ""
		switch {
		case c.title == "", c.name == bySegment && len(l.Segments) == 0:
			continue
		case i == q.column && q.down:
			h.Sorted = "descending"
		case i == q.column:
			h.Sorted, down = "ascending", "1"
		}
		h.Link = with("/pages", form, "sort", c.name, "down", down)
		l.Headings = append(l.Headings, h)
	}
	err := v.opt.Store.Read(ctx, func(s store.Reader) (err error) {
		l.Pages, err = records(ctx, s, found.ids)
		return err
	})
	return &screen{name: "pages", title: "Pages", again: found.unsorted || read.Reading, Content: l}, err
}

// records returns the records of the pages with the given IDs. It leaves out pages that are no
// longer in the store.
func records(ctx context.Context, s store.Reader, ids []dedup.Hash) (all []*store.Record, err error) {
	pages, err := s.Pages(ctx, ids, store.WantRecord)
	for _, p := range pages {
		if p != nil {
			all = append(all, &p.Record)
		}
	}
	return all, err
}

func (v *View) largestHosts(n int) (names []string) {
	v.index.look(func(t *rows) {
		large := make([]*host, len(t.hosts))
		for i := range t.hosts {
			large[i] = &t.hosts[i]
		}
		slices.SortFunc(large, func(a, b *host) int { return int(b.records - a.records) })
		for _, h := range large[:min(n, len(large))] {
			names = append(names, h.name)
		}
	})
	return names
}

// searchTime is the maximum duration of a search in the text of pages, which is read from the store.
const searchTime = 120 * time.Millisecond

// searchTexts adds to found the pages whose text contains all words of q, in list order, from the
// page with index q.from on. It stops when the list is full or searchTime has passed.
func (v *View) searchTexts(ctx context.Context, q query, found *selection, l *list) error {
	until := time.Now().Add(searchTime)
	words := q.words
	q.words, q.kind = nil, placeIn(kinds, string(store.Page))
	return v.opt.Store.Read(ctx, func(s store.Reader) error {
		for {
			some := v.index.list(q)
			found.total, found.unsorted = some.total, some.unsorted
			pages, err := s.Pages(ctx, some.ids, store.WantText)
			if err != nil {
				return err
			}
			for i, p := range pages {
				l.Looked++
				if p != nil && containsAll(p, words) {
					found.ids = append(found.ids, some.ids[i])
				}
				if len(found.ids) == rowsShown {
					return nil
				}
			}
			q.from += len(pages)
			if len(pages) == 0 || time.Now().After(until) {
				return nil
			}
		}
	})
}

// containsAll reports whether the text, title and URL of a page together contain all words. The
// words must be in lower case.
func containsAll(c *store.Content, words []string) bool {
	text := strings.ToLower(c.Text + "\n" + c.Record.Title + "\n" + c.Record.URL)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
