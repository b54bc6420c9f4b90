package complete

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"skink/dedup"
	"skink/store"
)

// # Different pages
//
// Boilerplate is counted on the different pages of a host. An article may have a hundred URLs, each
// with a different session ID in the query, or a different visit count in the text. All these pages
// repeat the text of the article, which is not a template. A hundred short pages in one template
// resemble each other just as much. Resemblance cannot distinguish the two cases, but the
// differences can: a copy keeps the title of its original, and has only a few words of its own.
// There are three rules:
//
//   - Pages with the same canonical text count as one page.
//   - Pages that are in one cluster by their whole texts and have the same title count as one page.
//     Old revisions of an article are an example. This rule ignores titles that are empty or used
//     in several clusters.
//   - Pages in one cluster whose title is empty or used in several clusters are compared by their
//     words. A page counts as different if every counted page of its cluster and title lacks at
//     least ten of its words. At most fifty pages of one cluster and title are counted, because
//     their common blocks are known by then.
//
// Known weaknesses: if all pages of a host have the same title and consist mainly of the template,
// they form one cluster. They then count as one page, and no boilerplate is found. Copies with many
// titles count as different pages, and blocks that dozens of them share are mistaken for a
// template.

const (
	ownWords    = dedup.DefaultShingle  // a page counts as different from another that lacks at least this many of its words
	maxOneTitle = dedup.RecurringAlways // maximum number of counted pages with the same cluster and title
)

// A counted is a page that may be counted on its host.
type counted struct {
	title      dedup.Hash
	text, page int32
}

// different calls take with each host, sorted by name, and those of its pages whose blocks are
// counted, in order of precedence. One page represents all its copies; see the essay above.
func (w *Whole) different(ctx context.Context, take func(host string, pages []int32) error) (err error) {
	var rows sorter
	defer func() { err = errors.Join(err, rows.close()) }()
	for change, err := range w.Reader.Changes(ctx, "", store.WantRecord) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if page, ok := w.pages.find(change.Record.ID); ok {
			row := appendText(nil, store.HostOf(change.Record.URL))
			row = binary.BigEndian.AppendUint32(row, uint32(w.pages.text[page]))
			row = binary.BigEndian.AppendUint32(row, uint32(page))
			title := dedup.HashOf([]byte(change.Record.Title))
			if err := rows.add(append(row, title[:]...)); err != nil {
				return err
			}
		}
	}
	var of string // host of the pages
	var pages []counted
	for row, err := range rows.sorted() {
		if err != nil {
			return err
		}
		host, rest := cutText(row)
		if host != of {
			if err := w.differentOn(ctx, of, pages, take); err != nil {
				return err
			}
			of, pages = host, pages[:0]
		}
		p := counted{dedup.Hash(rest[8:]), int32(binary.BigEndian.Uint32(rest)), int32(binary.BigEndian.Uint32(rest[4:]))}
		if last := len(pages) - 1; last < 0 || pages[last].text != p.text { // of pages with one text only the first counts
			pages = append(pages, p)
		}
	}
	return w.differentOn(ctx, of, pages, take)
}

// differentOn chooses among the pages of one host. They are in order of precedence.
func (w *Whole) differentOn(ctx context.Context, host string, pages []counted, take func(string, []int32) error) error {
	vocabulary := newSetCache(cacheBytes / 8)
	byLeader := func(a, b counted) int { return cmp.Compare(w.leaders[a.text], w.leaders[b.text]) }
	byTitle := func(a, b counted) int { return compareIDs(a.title, b.title) }
	slices.SortFunc(pages, func(a, b counted) int { return cmp.Or(byTitle(a, b), byLeader(a, b), cmp.Compare(a.text, b.text)) })
	var chosen []counted
	for titled := range chunks(pages, byTitle) {
		tells := titled[0].title != dedup.HashOf(nil) && byLeader(titled[0], titled[len(titled)-1]) == 0 // whether all pages with the title are in one cluster
		for kind := range chunks(titled, byLeader) {
			if tells {
				kind = kind[:1]
			}
			before := len(chosen)
			for _, p := range kind {
				if len(chosen)-before == maxOneTitle {
					break
				}
				another, err := w.another(ctx, vocabulary, p, chosen[before:])
				if err != nil {
					return err
				}
				if another {
					chosen = append(chosen, p)
				}
			}
		}
	}
	slices.SortFunc(chosen, func(a, b counted) int { return cmp.Compare(a.text, b.text) })
	numbers := make([]int32, len(chosen))
	for i, p := range chosen {
		numbers[i] = p.page
	}
	return take(host, numbers)
}

// chunks yields the runs of successive pages that compare as equal.
func chunks(pages []counted, compare func(a, b counted) int) iter.Seq[[]counted] {
	return func(yield func([]counted) bool) {
		for len(pages) > 0 {
			n := slices.IndexFunc(pages, func(p counted) bool { return compare(p, pages[0]) != 0 })
			if n < 0 {
				n = len(pages)
			}
			if !yield(pages[:n]) {
				return
			}
			pages = pages[n:]
		}
	}
}

// another reports whether a page is different from all pages in before: for each of them, it has
// enough words that the other page lacks.
func (w *Whole) another(ctx context.Context, vocabulary *setCache, p counted, before []counted) (bool, error) {
	if len(before) == 0 {
		return true, nil
	}
	words, err := w.wordsOf(ctx, vocabulary, p)
	if err != nil {
		return false, err
	}
	for _, q := range before {
		others, err := w.wordsOf(ctx, vocabulary, q)
		if err != nil {
			return false, err
		}
		if own := (1 - dedup.Containment(words, others)) * float64(len(words)); own < ownWords-.5 {
			return false, nil
		}
	}
	return true, nil
}

func (w *Whole) wordsOf(ctx context.Context, vocabulary *setCache, p counted) (dedup.Set, error) {
	return w.cached(ctx, vocabulary, setKey{text: p.text}, func(said wording) dedup.Set {
		var canon dedup.Text
		w.rule.Read(&canon, said.text, said.lang)
		return canon.Set(1)
	})
}
