// Package complete judges all pages of a store against all others. The result does not depend on
// which page was fetched first. [Judge] returns a store's records with new verdicts, and [Pairs]
// lists the pairs of pages that resemble each other.
//
// The package does not change the pages of a store.
package complete

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"skink/dedup"
	"skink/internal/join"
	"skink/internal/memory"
	"skink/store"
	"skink/store/precedence"
)

// # Comparing all pages
//
// During a crawl, a page is compared with earlier leaders, so the leaders depend on the order of
// the crawl. A Whole contains new verdicts, made after the crawl. Every pair of texts at or above
// the similarity is found and verified exactly, and clusters are built in an order that depends
// only on the pages. The same pages give the same clusters, whatever the order of the crawl.
//
// Pages are ranked in the order of package precedence, as in the crawl, but without the criterion
// that depends on time: which page was seen first. In that order, each page
// that is not yet in a cluster leads a new one. The new cluster consists of all pages that resemble
// the leader enough and are not yet in a cluster.
//
// Pages stored without their text cannot be compared. They keep the verdict of the crawl, and are
// in no cluster here.
//
// No pair is missed: the candidates come from an exact join, [join.Join], not from bands as during
// a crawl. The work does not grow with the number of pairs below the requested similarity; a single
// template can produce millions of them.
//
// Memory grows with the number of pages, not with the number of pairs, and holds no text and no URL of
// them; see pages.go. Each leader is compared with the pages that are not yet in a cluster, and only
// the pairs of a leader and a new member are kept. Texts are read from the store when they are indexed
// and when they are compared, and the number of shingles in memory is bounded.

// A Whole contains the pages of a store after they have all been compared with each other. It
// implements the reading methods of its store, and replaces the verdicts of the crawl with its own.
type Whole struct {
	store.Reader
	rule       dedup.Rule
	by         ranking
	sparing    bool
	keep       bool
	memory     int64
	begun      keptMatches // where an interrupted comparison of the same input ended
	order      *precedence.Order
	ranked     int    // number of compared pages with the field by which they are ranked
	state      string // hash that identifies the input of the comparison; see kept.go
	pages      pages  // the compared pages
	short      []bool // for each distinct text of the pages, whether it is too short for the rule to compare it
	words      int    // sum of the words of all texts that are not short
	clustering        // clusters of the texts
	compared   int    // number of pairs of texts compared exactly
	urls       *urls
	progress   progress
}

// Options control how the pages of a store are compared, and which page leads a cluster.
type Options struct {
	Rule    dedup.Rule
	Longest bool // whether the longest text leads a cluster, or the page stored first if several are longest; otherwise package precedence decides, with the rule containment among the longest
	// Field is a field of [store.Record.Fields]. If it is not "", the page with its largest value leads a
	// cluster, or with its smallest if Least is set, or of several the one stored first. Numbers come
	// before other values, and pages without the field come last. It has no effect if the rule is
	// containment.
	Field string
	Least bool
	// Keep enables the cache: a cached result is used, and a new one is cached beside the store.
	// So is how far a comparison is, after each of its rounds.
	Keep bool
	// Sparing limits the comparison to one goroutine, to leave CPU time for a crawl in the same
	// process.
	Sparing bool
	// Prefer are regular expressions of the URLs that lead, most preferred first, instead of those of the
	// crawl. There may be none.
	Prefer []string
	// Similarity is the minimum resemblance, above 0 and up to 1, of near-duplicates. 0 means the
	// similarity of Rule. It has no effect if the rule is containment.
	Similarity float64
	// Memory is the memory of the process in bytes, about which the comparison tries to stay. 0 means
	// [memory.Default].
	Memory int64
	// Progress is called periodically with the completed share of the work, from 0 to 1. It must
	// return quickly. It may be nil.
	Progress func(share float64)
}

// Judge compares all pages of s with each other and returns them with the resulting verdicts.
func Judge(ctx context.Context, s store.Reader, opt Options) (*Whole, error) {
	similarity := cmp.Or(opt.Similarity, opt.Rule.Similarity)
	if opt.Rule.Contained > 0 {
		similarity = opt.Rule.Contained
	}
	w, found, err := compareTexts(ctx, s, opt, similarity)
	if err != nil {
		return nil, err
	}
	w.clustering.set(found, similarity)
	w.sizes = w.pages.sizes(w.leaders)
	return w, nil
}

// Ranked returns the number of compared pages that have the field [Options.Field].
func (w *Whole) Ranked() int { return w.ranked }

// On returns the verdicts of w for a reader of the same store. A page that has been added since the comparison
// keeps the verdict of the crawl.
func (w *Whole) On(s store.Reader) *Whole {
	on := *w
	on.Reader = s
	return &on
}

// compareTexts compares the pages of a store at the given similarities, which must be in ascending
// order. The result contains the cluster of each text at each similarity. A cached result may also
// contain other similarities.
func compareTexts(ctx context.Context, s store.Reader, opt Options, similarities ...float64) (*Whole, *join.Taken, error) {
	if judged, is := s.(*Whole); is { // its verdicts are no input of a comparison
		s = judged.Reader
	}
	end, err := s.End(ctx)
	if err != nil {
		return nil, nil, err
	}
	w, err := readWhole(ctx, s, opt)
	if err != nil {
		return nil, nil, err
	}
	if !opt.Keep {
		found, err := w.find(ctx, similarities)
		return w, found, err
	}
	if found := w.recall(ctx, similarities); found != nil {
		return w, found, nil
	}
	found, err := w.find(ctx, keptWith(opt.Rule, similarities))
	if err != nil {
		return nil, nil, err
	}
	if now, err := s.End(ctx); err == nil && now == end { // otherwise a text may be from a later visit than its record, and the result must not be cached
		w.remember(ctx, found, complete)
	}
	return w, found, nil
}

// find compares the texts with each other.
func (w *Whole) find(ctx context.Context, similarities []float64) (found *join.Taken, err error) {
	if w.rule.Contained > 0 {
		found, err = findExcerpts(ctx, w, similarities)
		if err == nil {
			err = w.measureAlike(ctx, found.Pairs())
		}
		return found, err
	}
	return w.findAlike(ctx, similarities)
}

// room returns how many bytes the tables of a comparison may take. Some are for the pages and their
// clusters, for caches and the store, and for garbage.
func (w *Whole) room() int {
	return join.Room(cmp.Or(w.memory, memory.Default), pageBytes*len(w.pages.ids))
}

const pageBytes = 60

// readWhole reads the records of a store and returns the texts of its pages, in order of
// precedence, without comparing them.
func readWhole(ctx context.Context, s store.Reader, opt Options) (_ *Whole, err error) {
	w := &Whole{Reader: s, rule: opt.Rule, by: rankingOf(opt), sparing: opt.Sparing, keep: opt.Keep, memory: opt.Memory, urls: &urls{}}
	w.progress.tell, w.progress.all = opt.Progress, allSteps
	if w.order, err = precedence.Read(ctx, s, opt.Prefer...); err != nil {
		return nil, err
	}
	state, rows, n := newState(opt), &join.Sorter{}, 0
	defer func() { err = errors.Join(err, rows.Close()) }()
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		state.add(page, w.order)
		if r := &page.Record; r.Kind == store.Page && !r.NoText && r.Words > 0 {
			if err := rows.Add(w.rowOf(r, n)); err != nil {
				return nil, err
			}
			n++
		}
	}
	w.state = state.String()
	return w, w.rank(ctx, n, rows.Sorted())
}

// apply replaces the crawl's verdict in a record with that of the whole comparison.
func (w *Whole) apply(ctx context.Context, r *store.Record) (err error) {
	if w.judge(r) && r.Follows() {
		r.DuplicateOf, err = w.urls.of(ctx, w.Reader, r.Leader)
	}
	return err
}

// judge is like apply, but does not set the URL of the leader. The record of a page that was not
// compared stays unchanged, and judge returns false.
func (w *Whole) judge(r *store.Record) (compared bool) {
	page, ok := w.pages.find(r.ID)
	if !ok {
		return false
	}
	r.Judged = store.Judged{Verdict: dedup.Unique, NoText: r.NoText}
	i := w.pages.text[page]
	switch leader := w.leaders[i]; {
	case leader != i:
		r.Verdict, r.Leader, r.Found = dedup.Near, w.pages.lead(int(leader)), dedup.ByPairs
		r.Resemblance, r.Containment = w.resemblance(i)
	case w.pages.first[i] != page:
		r.Verdict, r.Leader, r.Resemblance, r.Found = dedup.Exact, w.pages.lead(int(i)), 1, dedup.ByText
	case w.short[i]:
		r.Verdict = dedup.Thin
	}
	return true
}

// Pages returns pages of the store, with the verdicts of the whole comparison instead of those of
// the crawl.
func (w *Whole) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	pages, err := w.Reader.Pages(ctx, ids, want)
	for _, page := range pages {
		if page != nil && err == nil {
			err = w.apply(ctx, &page.Record)
		}
	}
	return pages, err
}

// Changes yields the changes of the store, with the verdicts of the whole comparison instead of
// those of the crawl.
func (w *Whole) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return store.Unpacked(w.Reader.Changes(ctx, after, want), func(c *store.Change) (*store.Change, error) { return c, w.apply(ctx, &c.Record) })
}

// Tally counts the records of the store by the verdicts of the whole comparison.
func (w *Whole) Tally(ctx context.Context) (store.Tally, error) {
	var t store.Tally
	for page, err := range w.Reader.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return t, err
		}
		w.judge(&page.Record)
		t.Add(&page.Record)
	}
	return t, nil
}

// A progress reports how much of a comparison is done. All steps are assumed to take the same time.
// The shingles of the texts are counted and indexed, and the texts are joined.
type progress struct {
	tell  func(share float64) // called with the completed share, from 0 to 1; may be nil
	all   int
	steps int // number of begun steps; steps beyond the last count as the last
	last  float64
}

const (
	allSteps       = 3
	containedSteps = 4   // number of steps if the rule is containment
	tellEvery      = 256 // number of parts of a step between two reports
)

// next begins the next step, which has n parts. It returns a function that reports progress,
// given the number of parts done so far. That number must not decrease.
func (p *progress) next(n int) func(done int) {
	p.steps = min(p.steps+1, p.all)
	step, due := p.steps, 0
	return func(done int) {
		if p.tell != nil && done >= due {
			due = done + tellEvery
			p.last = max(p.last, (float64(step-1)+float64(done)/float64(max(n, 1)))/float64(p.all))
			p.tell(p.last)
		}
	}
}
