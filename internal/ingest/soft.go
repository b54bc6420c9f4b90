package ingest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/lru"
	"skink/store"
)

// # Soft 404 pages
//
// A soft 404 is a page with status 200 that says that its URL does not exist. [softPages.match]
// recognizes it because the host answers a URL that cannot exist with the same text. Package learn
// chooses that URL (the probe), and decides when the response to it (the answer) counts. A soft 404
// is recorded as an error: it is not judged, leads no other page and is not exported. Its links are
// followed.
//
// An answer counts only when several pages have its text, so the first such pages are stored as
// pages. Later they are fetched again, and recorded as errors.
//
// Some pages are never soft 404s, because many hosts answer unknown URLs with one of them: a seed,
// the target of a seed's redirect, the home page of a host, and the page that the answer names as
// its canonical URL.

type softPages struct {
	store pageStore
	book  *learn.Book // nil if pages are not checked
	turns *electing   // locks of the clusters; see putBack

	mu      sync.Mutex
	answers *lru.Cache[answerOf, *softAnswer] // guarded by mu
	waiting map[string]bool                   // guarded by mu: pages that are in the frontier only because their probe has not been answered
}

// probe returns the URL of a probe to request from the host of url, or "". Until the answer has been
// handled, the page from which the probe was made stays in the frontier. If the process is killed
// before that, the page is fetched again, and the probe is repeated.
func (f *softPages) probe(ctx context.Context, url string) (string, error) {
	probe, from, err := f.book.Probe(ctx, url)
	if err != nil || probe == "" {
		return "", err
	}
	r, err := f.store.record(ctx, dedup.HashOf([]byte(from)))
	if err != nil || r == nil {
		return probe, err
	}
	queued, err := f.store.requeue(ctx, r)
	f.setWaiting(from, queued)
	return probe, err
}

func (f *softPages) setWaiting(url string, waiting bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.waiting, url); waiting {
		f.waiting[url] = true
	}
}

// rest removes a page from the frontier after the answer to its probe has been handled, unless the
// page must be fetched again for another reason.
func (f *softPages) rest(ctx context.Context, url string, claim frontier.Claim) error {
	f.mu.Lock()
	waiting := f.waiting[url]
	f.mu.Unlock()
	if !waiting {
		return nil
	}
	f.setWaiting(url, false)
	r, err := f.store.record(ctx, dedup.HashOf([]byte(url)))
	if err != nil || r == nil {
		return err
	}
	return f.store.end(ctx, &store.Entry{Record: *r, Claim: claim, State: r.End()})
}

type softMatch struct {
	probe string // URL of the probe; "" if the page was not compared
	says  bool   // the page has the text of the answer; it is a soft 404 only once several pages have this text
}

// match compares a page with the answer to its pattern's probe, unless last is already the result
// of this comparison. The page is a soft 404 if it has the text of the answer, and the answer
// counts for its URL.
func (f *softPages) match(ctx context.Context, r *store.Record, text func() (string, error), last softMatch) (learn.Soft, softMatch, error) {
	if f.book == nil || r.Kind != store.Page {
		return learn.Soft{}, softMatch{}, nil
	}
	soft, ok, err := f.book.Soft(ctx, r.URL)
	if err != nil || !ok || isExempt(r, &soft) {
		return soft, softMatch{}, err
	}
	if last.probe == soft.Probe {
		return soft, last, nil
	}
	says, err := f.saysMissing(ctx, &soft, r, text)
	return soft, softMatch{soft.Probe, says}, err
}

func isExempt(r *store.Record, soft *learn.Soft) bool {
	return r.Depth == 0 || frontier.IsRoot(r.URL) || r.URL == soft.Real
}

// soften returns the reading of a failed visit if a page is a soft 404, and got otherwise.
func (f *softPages) soften(ctx context.Context, got *reading) (*reading, softMatch, error) {
	if got.notModified {
		return got, softMatch{}, nil
	}
	soft, m, err := f.match(ctx, &got.seen, got.plainText, softMatch{})
	if err != nil || !m.says || !soft.HoldsFor(got.seen.URL) {
		return got, m, err
	}
	missing := got.failed(crawler.ProblemSoft, "the host returns the same text for the made-up URL "+soft.Probe)
	missing.seen.Truncated = got.seen.Truncated
	return missing, m, nil
}

// meanwhile is called after a judgement has been stored and its URL recorded as finished in the
// frontier. It checks the page again, because the answer to the probe may have arrived after the
// page was read. A page with the text of the answer may also be the one that makes the answer
// count. For such a page, meanwhile acquires the locks of all clusters and calls putBack.
func (f *softPages) meanwhile(ctx context.Context, j *judgement, held *right) error {
	if j.kind == recorded || j.kind == touched {
		return nil
	}
	soft, m, err := f.match(ctx, &j.record, j.plainText, j.soft)
	if err != nil || !m.says {
		return err
	}
	held.takeAll()
	return f.putBack(ctx, &soft, &j.record)
}

// putBack records that stored pages have the text of the answer to their pattern's probe. It puts
// the pages for which the answer counts back into the frontier. If the pages in said make the
// answer count, putBack also puts back the pages that were found earlier to have its text. The
// caller must hold the locks of all clusters. Otherwise, a page could become a leader at the same
// time: its URL would be put back after its record is written, and then be recorded as finished.
func (f *softPages) putBack(ctx context.Context, soft *learn.Soft, said ...*store.Record) error {
	var urls []string
	for _, r := range said {
		urls = append(urls, r.URL)
	}
	back, err := f.book.Said(ctx, soft.From, urls)
	if err != nil {
		return err
	}
	var followers, leaders []*store.Record
	for _, url := range back {
		r, err := f.store.record(ctx, dedup.HashOf([]byte(url)))
		switch {
		case err != nil:
			return err
		case r == nil || r.Kind != store.Page:
			continue
		case !r.Follows():
			leaders = append(leaders, r)
			continue
		}
		followers = append(followers, r)
	}
	for _, r := range append(followers, leaders...) { // put leaders back last, so that they have no members left when they become errors
		f.setWaiting(r.URL, false)
		if err := f.store.fetchAgain(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// maxMembers is the maximum number of members of one leader that are compared with an answer. The
// others are compared at their next visit.
const maxMembers = 64

// examine finds the stored pages of a pattern that have the text of its probe's answer, and calls
// putBack for them. It compares the suspects and, if a suspect leads a cluster, the members of the
// cluster.
func (f *softPages) examine(ctx context.Context, soft *learn.Soft, suspects []string) error {
	var said []*store.Record
	done := map[dedup.Hash]bool{}
	look := func(id dedup.Hash) (*store.Record, error) {
		c, err := f.store.content(ctx, id)
		if err != nil || c == nil || done[id] {
			return nil, err
		}
		done[id] = true
		says, err := f.storedSays(ctx, soft, c)
		if says {
			said = append(said, &c.Record)
		}
		return &c.Record, err
	}
	for _, url := range suspects {
		r, err := look(dedup.HashOf([]byte(url)))
		if err != nil {
			return err
		}
		if r == nil || r.Follows() {
			continue
		}
		members, err := f.membersIn(ctx, r.ID, soft.From)
		if err != nil {
			return err
		}
		for _, id := range members {
			if _, err := look(id); err != nil {
				return err
			}
		}
	}
	return f.putBack(ctx, soft, said...)
}

// membersIn returns up to maxMembers members of a leader's cluster whose URLs have the same
// pattern as url.
func (f *softPages) membersIn(ctx context.Context, leader dedup.Hash, url string) (ids []dedup.Hash, err error) {
	for r, err := range f.store.Members(ctx, []dedup.Hash{leader}) {
		if err != nil {
			return nil, err
		}
		if len(ids) < maxMembers && learn.SamePattern(r.URL, url) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// storedSays reports whether a stored page has the text of the answer to a probe. For an exact
// duplicate whose text is not kept, it compares the text of the leader. It returns false for a near
// duplicate whose text is not kept.
func (f *softPages) storedSays(ctx context.Context, soft *learn.Soft, c *store.Content) (bool, error) {
	r := &c.Record
	if r.Kind != store.Page || isExempt(r, soft) || !learn.SamePattern(r.URL, soft.From) {
		return false, nil
	}
	if !c.Kept && r.Verdict == dedup.Exact {
		leader, err := f.store.content(ctx, r.Leader)
		if err != nil || leader == nil {
			return false, err
		}
		c = leader
	}
	if !c.Kept {
		return false, nil
	}
	return f.saysMissing(ctx, soft, r, func() (string, error) { return c.Text, nil })
}

// recall does the work of [softPages.meanwhile] for a page that the previous process stored before
// it was killed.
func (f *softPages) recall(ctx context.Context, r *store.Record) error {
	soft, ok, err := f.book.Soft(ctx, r.URL)
	if err != nil || !ok || r.Kind != store.Page {
		return err
	}
	c, err := f.store.content(ctx, r.ID)
	if err != nil || c == nil {
		return err
	}
	if says, err := f.storedSays(ctx, &soft, c); err != nil || !says {
		return err
	}
	return f.putBack(ctx, &soft, &c.Record)
}

// probed handles the answer to a probe. It records the answer and looks for stored pages with the
// same text.
func (f *softPages) probed(ctx context.Context, got *reading) error {
	r := &got.seen
	soft := learn.Soft{Probe: r.URL, Status: r.Status}
	if r.Kind == store.Page && r.Status == http.StatusOK {
		isDefault, err := f.isDefault(ctx, r)
		if err != nil {
			return err
		}
		if !isDefault {
			if soft.Text, err = got.plainText(); err != nil {
				return err
			}
			soft.Title, soft.Words, soft.Real = r.Title, titleWords(r.Title, soft.Probe), r.CanonicalURL
		}
	}
	known, suspects, err := f.book.Probed(ctx, soft)
	if err != nil {
		return fmt.Errorf("store the response to a made-up URL: %w", err)
	}
	f.turns.lockAll()
	defer f.turns.unlock(nil)
	if known.Says() {
		if err := f.examine(ctx, &known, suspects); err != nil {
			return err
		}
		if err := f.book.Examined(ctx, known.Probe); err != nil {
			return err
		}
	}
	return f.rest(ctx, known.From, got.claim)
}

// isDefault reports whether the answer to a probe is the page that the host shows without the
// replaced parameters. If so, the server ignores unknown values, and the answer is not an error
// page.
func (f *softPages) isDefault(ctx context.Context, page *store.Record) (bool, error) {
	defaults, err := f.book.Defaults(ctx, page.URL)
	if err != nil || slices.Contains(defaults, page.CanonicalURL) {
		return err == nil, err
	}
	for _, url := range defaults {
		r, err := f.store.record(ctx, dedup.HashOf([]byte(url)))
		if err != nil || r != nil && r.Kind == store.Page && r.Hash == page.Hash {
			return err == nil, err
		}
	}
	return false, nil
}
