package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Temporary outages with status 200
//
// A site may answer every URL with a maintenance page, an empty page or a login form, all with
// status 200. Such responses do not mean that its pages have changed. So a visit to a known page
// counts as failed, as if the server had not answered, when an error page seems to have replaced
// the page. [learn.Outage] decides that. This file tells it what a visit shows:
//
//   - An error, if the page has the text that its host shows for URLs that do not exist (soft 404),
//     and had another text before, or if it had words but has none now.
//   - Another text, if the page is completely different. This comparison ignores the words of the
//     URL, and a few words with digits: an error page often contains a number, a time or the path.
//     Redirects to one path count as the same text. Pages that were duplicates of each other before
//     count as one. If only ignored words have changed, the page is not completely different: a
//     table of figures may have the same words on many pages, but different figures each day. If
//     the URL had no page at the last visit, the text of its last page is compared.
//   - The page, in all other cases.
//
// Until there have been Options.GoneAfter such visits in a row, the page's record, text and verdict
// are kept, and links in the response are not followed. After that, an empty page and a soft 404
// are recorded as gone. If the page has the same text as others, this text is stored, because an
// outage does not last that long. If the URL was recorded as gone before, the text is stored at the
// second such visit.
//
// A host that gets no more requests because of an outage keeps its pending URLs. Such a run counts
// as a failed visit to all pages of the host. So if one page has replaced all others for good, the
// old pages are not kept forever: in run number GoneAfter, all of them are visited and recorded as
// changed.
//
// Known weakness: If the extraction does not remove the words that a site repeats on all pages, an
// error page may share half of the words of a page. In that case, the first two error pages count
// as changed pages.
const (
	// A page is completely different if its resemblance to its last version is below whollyOther.
	// An edit seldom removes half of a page.
	whollyOther = 0.5
	// Words with digits are ignored if at most one word in fewFigures has digits. Error pages have
	// few such words, and tables have more.
	fewFigures = 8
)

// hours has the outages of all hosts in this run.
type hours struct {
	store     pageStore
	soft      *softPages
	goneAfter int

	mu    sync.Mutex
	hosts map[string]*hour // guarded by mu
}

type hour struct {
	learn.Outage
	was store.Alone // why the last run sent no more requests to the host, until this run finds the host well
}

// weigh decides whether a visit counts as failed even though the server answered. If so, it returns
// the reading of a failed visit; if not, it returns got. The argument before is the page's stored
// record. The error is [crawler.ErrLookAgain] if the page must be fetched once more to decide.
// Pages from an archive never count as failed here, because the crawl that wrote the archive has
// already decided this.
func (h *hours) weigh(ctx context.Context, got *reading, before *store.Record) (*reading, error) {
	r := &got.seen
	if got.claim == (frontier.Claim{}) || r.Checked || r.Requisite || unasked(before) || isNothing(r) && !isSoft(r) {
		return got, nil
	}
	s, err := h.shown(ctx, got, before)
	if err != nil {
		return nil, err
	}
	ruling, missed, err := h.visit(ctx, s, r, before)
	gone := missed >= h.goneAfter
	switch {
	case err != nil:
		return nil, err
	case ruling == learn.LookAgain:
		if h.soft.book != nil { // first learn how the host responds to a URL that cannot exist
			err = h.soft.book.Turned(ctx, r.URL)
		}
		return nil, cmp.Or(err, crawler.ErrLookAgain)
	case ruling == learn.Fine || !s.Error && gone && before.Kind == store.Page: // in the second case, the text has been the same for too many visits to be an outage
		return got, nil
	}
	return got.asFailed(s, missed, gone), nil
}

// visit adds a visit to the outage of its host, and stores whether the host gets no more requests. It
// returns how many visits in a row have failed, if this one has.
func (h *hours) visit(ctx context.Context, s learn.Shown, r, before *store.Record) (ruling learn.Ruling, missed int, err error) {
	host := frontier.HostOf(r.URL)
	h.mu.Lock()
	o := h.hosts[host]
	if o == nil {
		o = new(hour)
		h.hosts[host] = o
	}
	why, was := o.Why, o.was
	missed = max(before.Missed, was.Turned) + 1
	ruling = o.Visit(s, missed >= h.goneAfter)
	now := was
	switch {
	case o.Why != why:
		now = store.Alone{Why: o.Why, At: r.FetchedAt, Turned: was.Turned + 1}
	case s.Text == "" && (o.Over() || was.Turned == 0):
		now, o.was = store.Alone{}, store.Alone{}
	}
	h.mu.Unlock()
	if now != was {
		err = store.ChangeAlone(ctx, h.store, func(hosts map[string]store.Alone) {
			if hosts[host] = now; now == (store.Alone{}) {
				delete(hosts, host)
			}
		})
	}
	return ruling, missed, err
}

// shown returns what a visit shows in place of the page whose stored record is before.
func (h *hours) shown(ctx context.Context, got *reading, before *store.Record) (s learn.Shown, err error) {
	r := &got.seen
	s.Page = r.ID.String()
	switch empty := r.Kind == store.Page && r.Words == 0 || r.Kind == store.Other && r.Size == 0; {
	case got.confirmed:
		return s, nil
	case isSoft(r):
		s.Text, s.Error, s.Again = string(crawler.ProblemSoft), true, isNothing(before)
		if !s.Again {
			s.Again, err = h.wasSorry(ctx, before)
		}
		return s, err
	case empty && (before.Words > 0 || before.Problem == string(crawler.ProblemEmpty)):
		s.Text, s.Error, s.Again = string(crawler.ProblemEmpty), true, isNothing(before)
		return s, nil
	case empty, r.Kind != store.Redirect && r.Kind != store.Page, r.Kind == store.Redirect && before.Location == r.Location:
		return s, nil
	}
	target, _, _ := strings.Cut(r.Location, "?")
	text, was := dedup.HashOf([]byte("\x00"+target)), r.ID
	if r.Kind == store.Page {
		if text, was, err = h.replacing(ctx, got, before); err != nil {
			return s, err
		}
	}
	sameAsBefore := before.Problem == string(crawler.ProblemAlike) && before.Hash == text
	if text != was && !sameAsBefore {
		s.Text, s.Was, s.Never = string(text[:]), string(was[:]), isNothing(before) && len(before.Earlier) == 0
	}
	return s, nil
}

// replacing returns the signatures of a page's text and of the text that it has replaced, which is
// the page's id if that text is unknown. If the page is not completely different from its last version
// that had words, both are zero.
func (h *hours) replacing(ctx context.Context, got *reading, before *store.Record) (text, was dedup.Hash, err error) {
	if before.Kind == store.Page && (got.seen.Hash == before.Hash || before.Words == 0) {
		return text, was, nil
	}
	last := new(store.Content)
	if before.Kind != store.Page {
		if i := slices.IndexFunc(before.Earlier, func(v store.Visit) bool { return v.Words > 0 }); i >= 0 { // may be several visits old
			last.Record.Hash, last.Sketch = before.Earlier[i].Hash, before.Earlier[i].Minima()
		}
	} else if c, err := h.store.content(ctx, before.ID); err != nil {
		return text, was, err
	} else if c != nil {
		last = c
	}
	if got.seen.Hash == last.Record.Hash || last.Sketch != nil && got.sketch != nil && dedup.Estimate(got.sketch, last.Sketch) >= whollyOther {
		return text, was, nil
	}
	plain, err := got.plainText()
	text, was = signatureOf(plain, got.seen.URL), got.seen.ID
	if last.Kept {
		was = signatureOf(last.Text, got.seen.URL)
	}
	return text, was, err
}

// wasSorry reports whether the stored text of a page is already that of a soft 404, in which case
// this visit has found no change. It returns true if the text was not kept.
func (h *hours) wasSorry(ctx context.Context, before *store.Record) (bool, error) {
	content, err := h.store.content(ctx, before.ID)
	if err != nil || content == nil || content.Record.Kind == store.Page && !content.Kept {
		return true, err
	}
	soft, ok, err := h.soft.book.Soft(ctx, before.URL)
	if err != nil || !ok {
		return false, err
	}
	return h.soft.storedSays(ctx, &soft, content)
}

// signatureOf returns a hash of the words of a text, except words that occur in the page's URL. It
// also ignores words with digits if at most one word in fewFigures has digits, because error pages
// often contain a time or a number.
func signatureOf(text, rawURL string) dedup.Hash {
	words := wordsBeside(rawURL, text)
	if rest := slices.DeleteFunc(slices.Clone(words), hasDigit); fewFigures*(len(words)-len(rest)) <= len(words) {
		words = rest
	}
	return dedup.HashOf([]byte(strings.Join(words, " ")))
}

// asFailed returns the reading of a failed visit, for a host that seems to have responded with an error
// page in place of the page. The argument missed is the number of failed visits in a row. If gone
// is true, the page counts as gone.
func (got *reading) asFailed(s learn.Shown, missed int, gone bool) *reading {
	failed := *got
	switch {
	case isSoft(&got.seen):
	case s.Error:
		failed = *got.failed(crawler.ProblemEmpty, "the page had text before, but has none now")
	default:
		failed = *got.failed(crawler.ProblemAlike, "many pages of the host have the same new text")
		copy(failed.seen.Hash[:], s.Text)
	}
	if failed.sorry, failed.missedBy = !s.Again, missed; !gone {
		failed.links, failed.beyond = nil, nil
	}
	return &failed
}
