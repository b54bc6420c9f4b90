package complete

import (
	"context"
	"iter"

	"skink/base/lru"
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

// A kind is the key of a set of pages that may be copies of each other: pages of one cluster that
// have the same host and title.
type kind struct {
	titled
	leader int
}

type titled struct {
	host  string
	title dedup.Hash
}

// different returns, for each host, the pages whose blocks are counted, in order of precedence. One
// page represents all its copies; see the essay above.
func (w *Whole) different(ctx context.Context) (map[string][]*ranked, error) {
	telling := w.tellingTitles()
	vocabulary := lru.New[dedup.Hash](cacheBytes/8, func(s dedup.Set) int { return 8 * len(s) })
	counted := map[kind][]*ranked{}
	pages := map[string][]*ranked{}
	for k, p := range w.kinds() {
		before := counted[k]
		if len(before) > 0 && telling[k.titled] || len(before) == maxOneTitle {
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

// kinds yields the pages in order of precedence, each with its kind. If pages of one host have the
// same text, kinds yields only the first of them.
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

// tellingTitles returns the titles that identify a page. A title does so if all pages of its host
// that have this title are in one cluster. The empty title never identifies a page.
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

// another reports whether p is different from all pages in before: for each of them, p has enough
// words that the other page lacks.
func (w *Whole) another(ctx context.Context, vocabulary *lru.Cache[dedup.Hash, dedup.Set], p *ranked, before []*ranked) (bool, error) {
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

func (w *Whole) wordsOf(ctx context.Context, vocabulary *lru.Cache[dedup.Hash, dedup.Set], p *ranked) (dedup.Set, error) {
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
