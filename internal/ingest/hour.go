package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Temporary outages with status 200
//
// A site may answer every URL with a maintenance page, an empty page or a login form, all with
// status 200. Such responses do not mean that its pages have changed. So a visit to a known page
// counts as failed, as if the server had not answered, when an error page seems to have replaced
// the page. In this file, such a page is said to have turned. A page has turned if one of these is
// true:
//
//   - It has the text that its host shows for URLs that do not exist (soft 404), and had another
//     text before.
//   - It had words but has none now.
//   - It is completely different, and at least manyAlike such pages of the host have its new text.
//     This comparison ignores the words of the URL, and a few words with digits: an error page
//     often contains a number, a time or the path. Redirects to one path count as the same text.
//     Pages that were duplicates of each other before count as one. If only ignored words have
//     changed, the page is not completely different: a table of figures may have the same words on
//     many pages, but different figures each day. If the URL had no page at the last visit, the
//     text of its last page is compared.
//
// Until there have been Options.GoneAfter such visits in a row, the page's record, text and verdict
// are kept, and links in the response are not followed. After that, an empty page and a soft 404
// are recorded as gone. If the page has the same text as others, this text is stored, because an
// outage does not last that long. If the URL was recorded as gone before, the text is stored at the
// second such visit.
//
// When the first completely different page arrives, it is not yet known whether other pages of the
// host will have the same text. The page is not stored then. Its URL is put at the end of its
// host's queue, and is fetched a second time to decide. A page that was really rewritten costs one
// more fetch. The first fetches are recorded in memory only, so the same happens again after a
// restart.
//
// If most of the last visits to a host found error pages in place of the known pages, the host gets
// no more requests in this run, and its URLs stay pending. Such a run counts as a failed visit to
// all pages of the host. So if one page has replaced all others for good, the old pages are not
// kept forever: in run number GoneAfter, all of them are visited and recorded as changed.
//
// Known weakness: If the extraction does not remove the words that a site repeats on all pages, an
// error page may share half of the words of a page. In that case, the first two error pages count
// as changed pages.
const (
	// manyAlike is the minimum number of pages with the same new text that count as an outage. Two
	// such pages may be copies that were edited together.
	manyAlike = 3
	// A page is completely different if its resemblance to its last version is below whollyOther.
	// An edit seldom removes half of a page.
	whollyOther = 0.5
	// Words with digits are ignored if at most one word in fewFigures has digits. Error pages have
	// few such words, and tables have more.
	fewFigures = 8
	// lastVisits is how many of the most recent visits to a host count. Older visits are ignored,
	// so that an outage that begins late in a run is noticed too.
	lastVisits = 10
	// Requests to the host stop only if error pages have replaced at least minTurned of the pages
	// in these visits. On a small site, a few pages may be edited together.
	minTurned = 5
	// maxHeld bounds the number of a host's pages that wait for a second fetch. A host that
	// rewrites more pages, each with a different text, is not having an outage.
	maxHeld = 1 << 14
)

// hours records the results of this run's repeated visits to the pages of all hosts, to detect
// outages during which a server answers with status 200.
type hours struct {
	store     pageStore
	soft      *softPages
	goneAfter int

	mu    sync.Mutex
	hosts map[string]*hour       // guarded by mu
	alone map[string]store.Alone // guarded by mu: stored reasons why hosts get no more requests
}

// An hour records the results of the latest visits to the known pages of one host. A signature is a
// hash of a page's text; see signatureOf.
type hour struct {
	last   []dedup.Hash                       // for each of the latest visits, oldest first: the text signature of the page if it may be an error page, or zero
	alike  map[dedup.Hash]map[dedup.Hash]bool // for the text signature of each new text, the signatures of the texts that it has replaced
	looked map[dedup.Hash]bool                // ids of pages that are completely different from their last versions and are waiting for a second fetch
	real   bool                               // a page was an error page at GoneAfter visits in a row, so the host has changed for good and has no outage
	why    string                             // why the host gets no more requests; "" if it gets requests
}

// of returns the hour of a host, creating it if necessary. The caller holds mu.
func (h *hours) of(host string) *hour {
	o := h.hosts[host]
	if o == nil {
		if h.hosts == nil {
			h.hosts = map[string]*hour{}
		}
		o = &hour{alike: map[dedup.Hash]map[dedup.Hash]bool{}, looked: map[dedup.Hash]bool{}}
		h.hosts[host] = o
	}
	return o
}

// emptySignature and softSignature take the place of a text hash: emptySignature for pages that now
// have no text, and softSignature for soft 404s.
var emptySignature, softSignature = dedup.HashOf([]byte("\x00empty")), dedup.HashOf([]byte("\x00soft 404"))

// hasTurned reports whether pages with this signature count as error pages that have replaced other
// pages. This is true for the signatures of empty pages and of soft 404s, and for the signature of
// a text that has replaced at least manyAlike different texts.
func (o *hour) hasTurned(signature dedup.Hash) bool {
	return signature == emptySignature || signature == softSignature || len(o.alike[signature]) >= manyAlike
}

// visited records the text signature of a visited page, and sets o.why if the host must get no
// more requests. It returns true if there were enough visits to decide, and most of them found no
// error page.
func (o *hour) visited(signature dedup.Hash) (well bool) {
	if o.last = append(o.last, signature); len(o.last) > lastVisits {
		o.last = o.last[1:]
	}
	turned := 0
	for _, signature := range o.last {
		if o.hasTurned(signature) {
			turned++
		}
	}
	if o.why == "" && !o.real && turned >= minTurned && 2*turned > len(o.last) {
		o.why = fmt.Sprintf("%d of the last %d revisited pages are empty, or all have the same text", turned, len(o.last))
	}
	return len(o.last) >= minTurned && 2*turned < len(o.last)
}

func (h *hours) leave(host string) (why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o := h.hosts[host]; o != nil {
		return o.why
	}
	return ""
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
	t, err := h.turnOf(ctx, got, before)
	if err != nil {
		return nil, err
	}
	host := frontier.HostOf(r.URL)
	h.mu.Lock()
	o, was := h.of(host), h.alone[host]
	left := o.why
	missed := max(before.Missed, was.Turned) + 1
	again, well := false, false
	switch {
	case t.stays:
	case t.signature.IsZero():
		delete(o.looked, r.ID)
		well = o.visited(t.signature) || was.Turned == 0
	case t.suspect:
		again = o.suspect(r.ID, t)
		if !again && !o.hasTurned(t.signature) {
			t = turn{} // no other page has this text
		}
	default:
		o.visited(t.signature)
	}
	gone := missed >= h.goneAfter
	if gone && !t.signature.IsZero() && !again {
		o.real, o.why = true, left
	}
	why := o.why
	h.mu.Unlock()

	switch {
	case why != left:
		err = h.leftAlone(ctx, host, store.Alone{Why: why, At: r.FetchedAt, Turned: was.Turned + 1})
	case well && was != (store.Alone{}):
		err = h.leftAlone(ctx, host, store.Alone{})
	}
	switch {
	case err != nil:
		return nil, err
	case again:
		if h.soft.book != nil { // first learn how the host responds to a URL that cannot exist
			if err := h.soft.book.Turned(ctx, r.URL); err != nil {
				return nil, err
			}
		}
		return nil, crawler.ErrLookAgain
	case t.signature.IsZero() || t.suspect && gone && before.Kind == store.Page: // in the second case, the text has been the same for too many visits to be an outage
		return got, nil
	}
	return got.turn(t, missed, gone), nil
}

// suspect records that a page is completely different from its last version. It returns true if the
// page must be fetched again to decide whether there is an outage.
func (o *hour) suspect(page dedup.Hash, t turn) (again bool) {
	if o.alike[t.signature] == nil {
		o.alike[t.signature] = map[dedup.Hash]bool{}
	}
	o.alike[t.signature][t.was] = true
	second := o.looked[page]
	if !second {
		o.visited(t.signature)
	}
	if second || o.hasTurned(t.signature) || t.never || len(o.looked) >= maxHeld {
		delete(o.looked, page)
		return false
	}
	o.looked[page] = true
	return true
}

// leftAlone stores the reason why a host gets no more requests. Pass the zero store.Alone when the
// host responds normally again; this removes the entry.
func (h *hours) leftAlone(ctx context.Context, host string, a store.Alone) error {
	err := store.ChangeAlone(ctx, h.store, func(hosts map[string]store.Alone) {
		if hosts[host] = a; a == (store.Alone{}) {
			delete(hosts, host)
		}
	})
	if err != nil {
		return err
	}
	if a == (store.Alone{}) {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.alone, host)
	}
	return nil
}

// A turn describes a page that an error page seems to have replaced. The zero value means that no
// page was replaced.
type turn struct {
	signature dedup.Hash
	was       dedup.Hash // hash of the replaced text, or the page's id if that text is unknown
	problem   crawler.Problem
	suspect   bool // the page counts as an error page only if other pages have the same text
	never     bool
	stays     bool // the visit before this one had the same result
}

func (h *hours) turnOf(ctx context.Context, got *reading, before *store.Record) (turn, error) {
	r := &got.seen
	switch empty := r.Kind == store.Page && r.Words == 0 || r.Kind == store.Other && r.Size == 0; {
	case got.notModified:
		return turn{}, nil
	case isSoft(r):
		if isNothing(before) {
			return turn{signature: softSignature, problem: crawler.ProblemSoft, stays: true}, nil
		}
		was, err := h.wasSorry(ctx, before)
		return turn{signature: softSignature, problem: crawler.ProblemSoft, stays: was}, err
	case empty && (before.Words > 0 || before.Problem == string(crawler.ProblemEmpty)):
		return turn{signature: emptySignature, problem: crawler.ProblemEmpty, stays: isNothing(before)}, nil
	case empty, r.Kind == store.Redirect && before.Location == r.Location:
		return turn{}, nil
	}
	t := turn{was: r.ID, problem: crawler.ProblemAlike, suspect: true, never: isNothing(before) && len(before.Earlier) == 0}
	switch {
	case r.Kind == store.Redirect:
		t.signature = dedup.HashOf([]byte("\x00" + withoutQuery(r.Location)))
	case r.Kind != store.Page:
		return turn{}, nil
	default:
		left, err := h.leftOf(ctx, got, before)
		if err != nil || left >= whollyOther {
			return turn{}, err
		}
		text, err := got.plainText()
		if err != nil {
			return turn{}, err
		}
		t.signature = signatureOf(text, r.URL)
		if before.Kind == store.Page {
			was, err := h.store.content(ctx, before.ID)
			if err != nil {
				return turn{}, err
			}
			if was != nil && was.Kept {
				t.was = signatureOf(was.Text, r.URL)
			}
			if t.was == t.signature {
				return turn{}, nil
			}
		}
	}
	if before.Problem == string(t.problem) && before.Hash == t.signature { // same result as at the last visit
		return turn{}, nil
	}
	return t, nil
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

// leftOf estimates the resemblance of a page to its last version that had words, which may be
// several visits old. It returns 0 if there is no such version.
func (h *hours) leftOf(ctx context.Context, got *reading, before *store.Record) (float64, error) {
	if before.Kind != store.Page {
		for i := range before.Earlier {
			if v := &before.Earlier[i]; v.Words > 0 {
				return got.leftOfVisit(v), nil
			}
		}
		return 0, nil
	}
	if got.seen.Hash == before.Hash || before.Words == 0 {
		return 1, nil
	}
	pages, err := h.store.Pages(ctx, []dedup.Hash{before.ID}, store.WantSketch)
	if err != nil || pages[0] == nil || pages[0].Sketch == nil || got.sketch == nil {
		return 0, err
	}
	return dedup.Estimate(got.sketch, pages[0].Sketch), nil
}

func (got *reading) leftOfVisit(v *store.Visit) float64 {
	if got.seen.Hash == v.Hash {
		return 1
	}
	sketch := v.Minima()
	if sketch == nil || got.sketch == nil {
		return 0
	}
	return dedup.Estimate(got.sketch, sketch)
}

// signatureOf returns a hash of the words of a text, except words that occur in the page's URL. It
// also ignores words with digits if at most one word in fewFigures has digits, because error pages
// often contain a time or a number.
func signatureOf(text, rawURL string) dedup.Hash {
	words := wordsBeside(rawURL, text)
	hasDigit := func(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }
	if rest := slices.DeleteFunc(slices.Clone(words), hasDigit); fewFigures*(len(words)-len(rest)) <= len(words) {
		words = rest
	}
	return dedup.HashOf([]byte(strings.Join(words, " ")))
}

func withoutQuery(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return url
}

// turn returns the reading of a failed visit, for a host that seems to have responded with an error
// page in place of the page. The argument missed is the number of failed visits in a row. If gone
// is true, the page counts as gone.
func (got *reading) turn(t turn, missed int, gone bool) *reading {
	failed := *got
	if !isSoft(&got.seen) {
		detail := "the page had text before, but has none now"
		if t.problem == crawler.ProblemAlike {
			detail = "many pages of the host have the same new text"
		}
		failed = *got.failed(t.problem, detail)
		failed.seen.Hash = t.signature
	}
	if failed.turned, failed.missedBy = !t.stays, missed; !gone {
		failed.links, failed.beyond = nil, nil
	}
	return &failed
}
