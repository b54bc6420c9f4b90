package complete

import (
	"context"
	"iter"

	"skink/dedup"
	"skink/internal/lastused"
	"skink/store"
)

// # Which pages are different ones
//
// What a host repeats is counted on its different pages. A hundred addresses of one article, each
// with another session in its query or another number of visits in its text, repeat all of it, and
// are its copies and not its template. A hundred short pages in one template resemble each other as
// much. Resemblance does not tell the two apart, but what differs does: a copy keeps the title of
// what it copies, and has no more than a few words of its own.
//
//   - Pages with one canonical text are one page.
//   - Pages that stand in one cluster by their whole texts and have one title are one page, as old
//     revisions of an article are. But a title that is empty, or that of pages in several clusters,
//     does not tell.
//   - Under a title that does not tell, a page is the same as one of its cluster that was counted,
//     if it has fewer than ten words that the other lacks. Of one cluster and title fifty different
//     pages are counted: what they repeat is known by then.
//
// What it gets wrong: a host whose pages have one title, and are nearly all template, so that they
// stand in one cluster, is taken for one page, and nothing is learned of it. And copies under many
// titles are taken for different pages: what dozens of them share is taken for a template.

const (
	ownWords     = dedup.DefaultShingle  // so many make a page another one: a shingle of its own
	mostOneTitle = dedup.RecurringAlways // pages of one cluster and title that are counted
)

// A kind is the pages of a host that may be copies of each other.
type kind struct {
	titled
	leader int
}

// A titled page is one of a host with a title.
type titled struct {
	host  string
	title dedup.Hash
}

// different are the different pages of each host, by rank.
func (w *Whole) different(ctx context.Context) (map[string][]*ranked, error) {
	telling := w.tellingTitles()
	vocabulary := lastused.New[dedup.Hash](cacheBytes/8, func(s dedup.Set) int { return 8 * len(s) })
	counted := map[kind][]*ranked{}
	pages := map[string][]*ranked{}
	for k, p := range w.kinds() {
		before := counted[k]
		if len(before) > 0 && telling[k.titled] || len(before) == mostOneTitle {
			continue
		}
		another, err := w.another(ctx, vocabulary, p, before)
		if err != nil {
			return nil, err
		}
		if another {
			counted[k] = append(before, p)
			pages[k.host] = append(pages[k.host], p)
		}
	}
	return pages, nil
}

// kinds yields, by rank, the first page of each text on each host.
func (w *Whole) kinds() iter.Seq2[kind, *ranked] {
	return func(yield func(kind, *ranked) bool) {
		for i := range w.texts {
			hosts := map[string]bool{}
			for j := range w.texts[i].pages {
				p := &w.texts[i].pages[j]
				host := store.HostOf(p.URL)
				if hosts[host] {
					continue
				}
				hosts[host] = true
				if !yield(kind{titled{host, p.title}, w.places[i].Leader}, p) {
					return
				}
			}
		}
	}
}

// tellingTitles are those that all their pages on a host have in one cluster.
func (w *Whole) tellingTitles() map[titled]bool {
	leaders := map[titled]int{}
	telling := map[titled]bool{}
	none := dedup.HashOf(nil)
	for k := range w.kinds() {
		if leader, known := leaders[k.titled]; known {
			telling[k.titled] = telling[k.titled] && leader == k.leader
			continue
		}
		leaders[k.titled] = k.leader
		telling[k.titled] = k.title != none
	}
	return telling
}

// another says whether a page has words of its own beside each of those before.
func (w *Whole) another(ctx context.Context, vocabulary *lastused.Cache[dedup.Hash, dedup.Set], p *ranked, before []*ranked) (bool, error) {
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

// wordsOf are the different words of a page.
func (w *Whole) wordsOf(ctx context.Context, vocabulary *lastused.Cache[dedup.Hash, dedup.Set], p *ranked) (dedup.Set, error) {
	if words, ok := vocabulary.Get(p.id); ok {
		return words, nil
	}
	text, err := w.textOf(ctx, p)
	if err != nil {
		return nil, err
	}
	var canon dedup.Text
	w.rule.Read(&canon, text, p.lang)
	words := canon.Set(1)
	vocabulary.Put(p.id, words)
	return words, nil
}
