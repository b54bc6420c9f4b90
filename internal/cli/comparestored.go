package cli

import (
	"context"
	"fmt"
	"slices"

	"skink/base/harmless"
	"skink/crawler"
	"skink/dedup"
	"skink/extract"
	"skink/frontier"
	"skink/store"
)

// readStored reads the two pages of a comparison from a store, with the text that the crawl
// extracted. The names in p are the URLs of the stored pages, which differ from args after a
// redirect. The settings in p are those of the store.
func (f *compareFlags) readStored(ctx context.Context, con Console, args []string) (p pair, err error) {
	s, err := openToRead(ctx, f.store, con.Err)
	if err != nil {
		return p, err
	}
	defer func() { err = keepFirst(err, s.close()) }()
	warn(con.Err, s.loss)
	if p.settings, err = storedSettings(ctx, s); err != nil {
		return p, err
	}
	p.settings = f.rule.over(p.settings)
	for i, name := range args {
		page, err := storedPage(ctx, s, f.store, name)
		if err != nil {
			return p, err
		}
		r := &page.Record
		p.names[i], p.records[i] = r.URL, r
		p.docs[i] = &extract.Document{Title: r.Title, Lang: r.Lang, Text: page.Text}
	}
	return p, nil
}

// storedPage returns the page with the given name, a URL or a page ID. For a URL that redirected,
// it returns the page that the redirects lead to.
func storedPage(ctx context.Context, s store.Reader, dir, name string) (*store.Content, error) {
	at := name
	for range crawler.MaxHops + 1 {
		pages, err := s.Pages(ctx, idsOf(at), store.WantText)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(pages, func(page *store.Content) bool { return page != nil })
		if i < 0 {
			return nil, fmt.Errorf("%s has no page %q: skink status --store %s --urls fetched lists its pages", dir, at, harmless.Quoted(dir))
		}
		page := pages[i]
		switch {
		case page.Record.Kind == store.Redirect:
			at = page.Record.Location
			continue
		case page.Record.Kind != store.Page:
			return nil, fmt.Errorf("%s: the crawl found no page at this URL: %s", page.Record.URL, whyNoPage(&page.Record))
		case page.Record.NoText:
			r := &page.Record
			return nil, fmt.Errorf("%s: the store has no text of this page, because the page is a duplicate (%s) of %s: crawl with --on-duplicate tag to keep the texts of duplicates", r.URL, r.Verdict, r.DuplicateOf)
		}
		return page, nil
	}
	return nil, fmt.Errorf("%s redirects more than %d times", name, crawler.MaxHops)
}

// idsOf returns the page IDs that name may refer to: the ID of the URL as written, the ID of its
// canonical form, and name itself if it is an ID in hex.
func idsOf(name string) []dedup.Hash {
	ids := []dedup.Hash{dedup.HashOf([]byte(name))}
	if url, err := frontier.Canonical(name); err == nil {
		ids = append(ids, dedup.Hash(frontier.ID(url)))
	}
	var id dedup.Hash
	if id.UnmarshalText([]byte(name)) == nil {
		ids = append(ids, id)
	}
	return ids
}

func whyNoPage(r *store.Record) string {
	switch r.Kind {
	case store.Blocked:
		return "blocked by " + r.Problem
	case store.Error:
		return r.Problem
	}
	return "the page has no text"
}
