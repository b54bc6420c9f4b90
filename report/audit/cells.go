package audit

import (
	"context"
	"strings"
	"time"

	"skink/dedup"
	"skink/store"
)

// links is how many pages link to the subject; nil where the store remembers no links.
func (s *subject) links() any {
	a := s.finding.list.audit
	if !a.Links {
		return nil
	}
	return int64(a.site.pages[s.entry.page].links)
}

// alike is how much the subject resembles the other page of its entry.
func (s *subject) alike() any { return s.sets.compare(s.page, s.other) }

// otherURL is that of the other page of the entry.
func (s *subject) otherURL() any {
	if s.other == nil {
		return nil
	}
	return URL(s.other.Record.URL)
}

// number is n, but nothing for 0.
func number[N ~int | ~int64](n N) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

// text is s on one line, nothing if it is empty.
func text(s string) any {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return nil
	}
	return s
}

func link(url string) any {
	if url == "" {
		return nil
	}
	return URL(url)
}

func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}

// addFrom adds to rows the pages that link to them. Each row is that of the entry of its URL.
func (a *Audit) addFrom(ctx context.Context, entries []entry, rows []Row) error {
	var ids []dedup.Hash
	for _, e := range entries {
		for _, l := range a.site.from[e.page] {
			ids = append(ids, a.site.pages[l.from].id)
		}
	}
	pages, err := a.s.Pages(ctx, ids, store.WantRecord)
	if err != nil {
		return err
	}
	for i, e := range entries {
		for _, l := range a.site.from[e.page] {
			if c := pages[0]; c != nil {
				rows[i].From = append(rows[i].From, From{c.Record.URL, l.text, l.kind})
			}
			pages = pages[1:]
		}
	}
	return nil
}
