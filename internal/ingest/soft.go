package ingest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"skink/base/lru"
	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
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
	locks *electing   // locks of the clusters; see putBack

	waiting sync.Map // URLs of pages that are in the frontier only because their probe has not been answered

	mu      sync.Mutex
	answers *lru.Cache[answerOf, *softAnswer] // guarded by mu
}

// Probe returns a URL that cannot exist on the host of url, or "" if none is needed now. The crawl
// fetches the URL, so that the pipeline learns how the host responds to such URLs. It implements
// [crawler.Prober].
//
// Until the answer has been handled, the page from which the probe was made stays in the frontier. If
// the process is killed before that, the page is fetched again, and the probe is repeated.
func (p *Pipeline) Probe(ctx context.Context, url string) (string, error) {
	f := &p.soft
	if f.book == nil {
		return "", nil
	}
	probe, from, err := f.book.Probe(ctx, url)
	if err != nil || probe == "" {
		return "", err
	}
	r, err := f.store.record(ctx, dedup.HashOf([]byte(from)))
	if err != nil || r == nil {
		return probe, err
	}
	queued, err := f.store.requeue(ctx, r)
	if queued {
		f.waiting.Store(from, true)
	}
	return probe, err
}

// rest removes a page from the frontier after the answer to its probe has been handled, unless the
// page must be fetched again for another reason.
func (f *softPages) rest(ctx context.Context, url string, claim frontier.Claim) error {
	if _, waiting := f.waiting.LoadAndDelete(url); !waiting {
		return nil
	}
	r, err := f.store.record(ctx, dedup.HashOf([]byte(url)))
	if err != nil || r == nil {
		return err
	}
	return f.store.end(ctx, &store.Entry{Record: *r, Claim: claim, State: r.End()})
}

// match reports whether a page has the text of the answer to its pattern's probe. It is a soft 404
// only if the answer counts for its URL.
func (f *softPages) match(ctx context.Context, r *store.Record, text func() (string, error)) (soft learn.Soft, says bool, err error) {
	if f.book == nil || r.Kind != store.Page {
		return soft, false, nil
	}
	soft, ok, err := f.book.Soft(ctx, r.URL)
	if err != nil || !ok || isExempt(r, &soft) {
		return soft, false, err
	}
	says, err = f.saysMissing(ctx, &soft, r, text)
	return soft, says, err
}

func isExempt(r *store.Record, soft *learn.Soft) bool {
	return r.Depth == 0 || frontier.IsRoot(r.URL) || r.URL == soft.Real
}

// soften returns the reading of a failed visit if a page is a soft 404, and got otherwise.
func (f *softPages) soften(ctx context.Context, got *reading) (*reading, error) {
	if got.confirmed {
		return got, nil
	}
	soft, says, err := f.match(ctx, &got.seen, got.plainText)
	if err != nil || !says || !soft.HoldsFor(got.seen.URL) {
		return got, err
	}
	missing := got.failed(crawler.ProblemSoft, "the host returns the same text for the made-up URL "+soft.Probe)
	missing.seen.Truncated = got.seen.Truncated
	return missing, nil
}

// meanwhile is called after a judgement has been stored and its URL recorded as finished in the
// frontier. It checks the page again, because the answer to the probe may have arrived after the
// page was read. The page may have been fetched again only because the probe made from it had no
// answer, and then its visit finds it unchanged. A page with the text of the answer may also be the
// one that makes the answer count. For such a page, meanwhile acquires the locks of all clusters and
// calls putBack.
func (f *softPages) meanwhile(ctx context.Context, j *judgement, held *right) error {
	if j.kind == recorded || j.confirmed || j.seen.Kind != store.Page || j.before != nil && j.unrendered(j.before) {
		return nil // no text was read that counts
	}
	soft, says, err := f.match(ctx, &j.record, j.plainText)
	if err != nil || !says {
		return err
	}
	held.takeAll()
	return f.putBack(ctx, &soft, j.record.URL)
}

// putBack records that stored pages have the text of the answer to their pattern's probe. It puts
// the pages for which the answer counts back into the frontier. If the pages in said make the
// answer count, putBack also puts back the pages that were found earlier to have its text. The
// caller must hold the locks of all clusters. Otherwise, a page could become a leader at the same
// time: its URL would be put back after its record is written, and then be recorded as finished.
func (f *softPages) putBack(ctx context.Context, soft *learn.Soft, said ...string) error {
	back, err := f.book.Said(ctx, soft.From, said)
	if err != nil {
		return err
	}
	var all []*store.Record // leaders last, so that they have no members left when they become errors
	for _, url := range back {
		r, err := f.store.record(ctx, dedup.HashOf([]byte(url)))
		switch {
		case err != nil:
			return err
		case r == nil || r.Kind != store.Page:
		case r.Follows():
			all = slices.Insert(all, 0, r)
		default:
			all = append(all, r)
		}
	}
	for _, r := range all {
		f.waiting.Delete(r.URL)
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
func (f *softPages) examine(ctx context.Context, soft *learn.Soft, suspects ...string) error {
	var look []dedup.Hash
	for _, url := range suspects {
		look = append(look, dedup.HashOf([]byte(url)))
	}
	met := map[dedup.Hash]int{} // the number of members of each leader
	for r, err := range f.store.Members(ctx, slices.Clone(look)) {
		if err != nil {
			return err
		}
		if learn.SamePattern(r.URL, soft.From) && met[r.Leader] < maxMembers && !slices.Contains(look, r.ID) {
			look, met[r.Leader] = append(look, r.ID), met[r.Leader]+1
		}
	}
	var said []string
	for _, id := range look {
		c, err := f.store.content(ctx, id)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		switch says, err := f.storedSays(ctx, soft, c); {
		case err != nil:
			return err
		case says:
			said = append(said, c.Record.URL)
		}
	}
	if len(said) == 0 {
		return nil
	}
	return f.putBack(ctx, soft, said...)
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
	if err != nil || !ok {
		return err
	}
	return f.examine(ctx, &soft, r.URL)
}

// probed handles the answer to a probe. It records the answer and looks for stored pages with the
// same text.
func (f *softPages) probed(ctx context.Context, got *reading) error {
	r := &got.seen
	soft := learn.Soft{Probe: r.URL, Status: r.Status}
	if r.Kind == store.Page && r.Status == http.StatusOK {
		isDefault, err := f.isDefault(ctx, r)
		if err == nil && !isDefault {
			soft.Title, soft.Words, soft.Real = r.Title, titleWords(r.Title, soft.Probe), r.CanonicalURL
			soft.Text, err = got.plainText()
		}
		if err != nil {
			return err
		}
	}
	known, suspects, err := f.book.Probed(ctx, soft)
	if err != nil {
		return fmt.Errorf("store the response to a made-up URL: %w", err)
	}
	f.locks.all.Lock()
	defer f.locks.all.Unlock()
	if known.Says() {
		if err := f.examine(ctx, &known, suspects...); err != nil {
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
