package ingest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/precedence"
)

// # Visiting a page again
//
// A visit is compared with the stored record of the page. An unchanged page keeps its record, and
// only the time of the visit is written. A page with different words gets a new record with a
// reference to the earlier one, and so does a URL that is no longer a page. If a page cannot be
// fetched, and no response shows that it is gone, it is kept until Options.GoneAfter visits in a
// row have failed. Some visits count as failed even though the server answered; see hour.go.
//
// Links are followed in all of these cases.

// A visit is a reading that has been compared with the stored record of its page.
type visit struct {
	*reading
	kind   visitKind
	draft  store.Record   // record to store; has a verdict only if it keeps that of the stored record
	before *store.Record  // stored record; nil at the first visit
	state  frontier.State // final state of the URL in the frontier; Unknown if it is not in the frontier

	followed bool // the page has changed, and was a duplicate before
	renamed  bool // the page keeps its verdict, but its canonical URL has changed, or whether it is private
}

type visitKind int

const (
	first    visitKind = iota // the page has no record
	recorded                  // the record of this visit was written before a crash; only the state of the URL is still to be written
	touched                   // the visit found no change
	carried                   // the words are unchanged, so the verdict stays, but something else has changed
	changed                   // the page gets a new record
)

func (v *visit) wanted() bool {
	return v.draft.Kind == store.Page && (v.kind == first || v.kind == changed)
}

// leavesMembers reports whether the page may have been the leader of a cluster before this visit.
// If so, the other pages of the cluster must be judged again.
func (v *visit) leavesMembers() bool {
	b := v.before
	switch v.kind {
	case first, touched, carried:
		return false
	case recorded: // the members may not have been judged again before the crash
		return len(b.Earlier) > 0 && b.Earlier[0].Words > 0
	}
	return b.Kind == store.Page && b.Words > 0 && !b.Follows()
}

// visit compares a reading with known, the stored record of its page, which is nil at the first
// visit. It also checks whether the page is a soft 404 (soft.go), and whether its host has an
// outage (hour.go).
func (p *Pipeline) visit(ctx context.Context, page *crawler.Page, got *reading, known *store.Record) (*visit, error) {
	excluded := page.Problem == crawler.ProblemOutside && known != nil && !(isNothing(known) && len(known.Earlier) == 0) // the page stays as it is
	if excluded || known.Answers(&page.Item) {                                                                           // the links of the page were written before the record
		r := recordOf(page)
		return &visit{reading: &reading{seen: r, claim: page.Claim}, kind: recorded, draft: r, before: known, state: known.End()}, nil
	}
	if known != nil && known.Rendered && got.isBare(page) {
		bare := *got // without validators, so that a later visit requests the page whole
		bare.seen.RenderError, bare.seen.Validators = "the visit was made without a browser: use --render", frontier.Validators{}
		got = &bare
	}
	if known != nil && got.unrendered(known) { // its HTML is no answer to what has become of the page
		return p.visitOf(ctx, got, known)
	}
	got, err := p.soft.soften(ctx, got)
	if err == nil && known != nil {
		got, err = p.hours.weigh(ctx, got, known)
	}
	if err != nil {
		return nil, err
	}
	return p.visitOf(ctx, got, known)
}

// visitAgain compares a reading with the stored record again after the store has refused its entry
// as stale, because that record may have changed.
func (p *Pipeline) visitAgain(ctx context.Context, v *visit) (*visit, error) {
	if v.before == nil || v.kind == recorded {
		return v, nil
	}
	known, err := p.store.record(ctx, v.seen.ID)
	if err != nil {
		return nil, err
	}
	return p.visitOf(ctx, v.reading, known)
}

func (p *Pipeline) visitOf(ctx context.Context, got *reading, known *store.Record) (v *visit, err error) {
	if known == nil {
		v = firstVisit(got)
	} else if v, err = p.revisit(ctx, got, known); err != nil {
		return nil, err
	}
	v.state = v.draft.End()
	if v.kind != touched {
		v.draft.Listed = v.draft.Listed || v.seen.Kind == store.Page && p.listing.has(v.seen.ID)
	}
	return v, nil
}

func firstVisit(got *reading) *visit {
	if got.confirmed { // the record was deleted after the request was sent
		gone := *got
		gone.seen.Kind, gone.seen.Problem = store.Error, fmt.Sprintf("%s %d", crawler.ProblemStatus, got.seen.Status)
		got = &gone
	}
	return &visit{reading: got, kind: first, draft: got.seen}
}

func (p *Pipeline) revisit(ctx context.Context, got *reading, before *store.Record) (*visit, error) {
	var was *store.Content
	if needsContent(got, before, p.opt.GoneAfter) {
		var err error
		if was, err = p.store.content(ctx, before.ID); err != nil {
			return nil, err
		}
	}
	return classify(got, before, was, &p.opt)
}

func needsContent(got *reading, before *store.Record, goneAfter int) bool {
	return before.Kind == store.Page && !got.confirmed && (!isNothing(&got.seen) || isGone(got, before, goneAfter))
}

// classify returns the visit of a page whose stored record is b. The stored text and sketch are in
// was, which is nil if needsContent returns false, or if the record was deleted in the meantime.
// classify is pure.
func classify(got *reading, b *store.Record, was *store.Content, opt *Options) (*visit, error) {
	v := &visit{reading: got, kind: changed, draft: got.seen, before: b}
	v.draft.Listed = v.draft.Listed || b.Listed
	switch {
	case got.confirmed && got.seen.Status == http.StatusOK:
		v.touch(store.Same)
	case got.confirmed:
		v.touch(store.NotModified)
	case got.unrendered(b):
		v.touch(store.Same)
	case isNothing(b) && isNothing(&got.seen):
		v.failAgain()
	case isNothing(b):
		if len(b.Earlier) > 0 { // an earlier visit found a page, a later one did not, and this one did again
			v.draft.Succeeds(b, nil, 0)
		}
	case isNothing(&got.seen) && !isGone(got, b, opt.GoneAfter):
		v.touch(store.Failed)
		v.draft.Missed, v.draft.Problem, v.draft.Detail = failures(v.reading, v.before), v.seen.Problem, v.seen.Detail
	case isNothing(&got.seen):
		return v, v.succeed(store.Vanished, was, opt)
	case got.seen.Kind != store.Page || b.Kind != store.Page:
		if b.Kind == got.seen.Kind && b.Location == got.seen.Location && b.Hash == got.seen.Hash {
			v.touch(store.Same)
			v.draft.Private = got.seen.Private
			break
		}
		kind := store.Altered
		if b.Kind == store.Page {
			kind = store.Vanished
		}
		return v, v.succeed(kind, was, opt)
	case got.seen.Hash != b.Hash || precedence.Withheld(&got.seen) != precedence.Withheld(b):
		return v, v.alter(was, opt)
	case b.NoText:
		return v, v.succeed(store.Same, was, opt) // the text was not kept, so the page must be judged again
	default:
		return v, v.carry(was)
	}
	return v, nil
}

// isBare reports whether an HTML page was fetched without a browser that could have rendered it.
func (got *reading) isBare(page *crawler.Page) bool {
	r := &got.seen
	return r.Kind == store.Page && !got.confirmed && !page.MayRender && !r.Rendered && r.RenderError == "" && strings.Contains(r.ContentType, "html")
}

// unrendered reports whether a browser has rendered a page before, but not now. Such a page is
// kept: the HTML of the response may have no text at all.
func (got *reading) unrendered(before *store.Record) bool {
	return before.Kind == store.Page && before.Rendered && got.seen.RenderError != ""
}

// isNothing reports whether a record is for a URL that failed or was not fetched.
func isNothing(r *store.Record) bool {
	return r.Kind == store.Error || r.Kind == store.Blocked || r.Kind == store.Skipped || unasked(r)
}

// unasked reports whether a record is for a URL that was not requested.
func unasked(r *store.Record) bool { return r.Kind == store.Later || r.Kind == store.Outside }

func isSoft(r *store.Record) bool { return r.Problem == string(crawler.ProblemSoft) }

func isGone(got *reading, before *store.Record, goneAfter int) bool {
	const notFound, gone = 404, 410
	r := &got.seen
	return r.Status == notFound || r.Status == gone || crawler.Problem(r.Problem).Answered() && !got.sorry || failures(got, before) >= goneAfter
}

// failures returns the number of consecutive failed visits, including this one.
func failures(got *reading, before *store.Record) int { return max(before.Missed+1, got.missedBy) }

// touch keeps the stored record, but updates the fields that describe the last visit. A text that
// was private remains private.
func (v *visit) touch(kind store.VisitKind) {
	v.kind, v.draft = touched, *v.before
	r, seen := &v.draft, &v.seen
	r.Visit, r.VisitedAt = kind, seen.FetchedAt
	if r.Missed > 0 { // earlier visits failed, but the page is unchanged
		r.Missed, r.Problem, r.Detail = 0, "", ""
	}
	if kind != store.Failed {
		private := r.Private || seen.Private
		v.renamed = r.Private != private
		r.Restless, r.Signals, r.Hidden, r.Private = nil, seen.Signals, seen.Hidden, private // the text has no changed lines
	}
	switch {
	case kind == store.NotModified: // a 304 response need not repeat all validators (RFC 9110, section 15.4.5)
		r.ETag, r.Modified = cmp.Or(seen.ETag, r.ETag), cmp.Or(seen.Modified, r.Modified)
	case kind == store.Same && v.confirmed:
		r.ETag, r.Modified = seen.ETag, seen.Modified
	case kind == store.Same:
		if r.Validators, r.RenderError = seen.Validators, seen.RenderError; v.before.Same != seen.Same {
			r.Same = 0 // the response differs with each visit; a new hash each time would rewrite the record each time
		}
		r.Faults, r.Faulty, r.Anchors = seen.Faults, seen.Faulty, seen.Anchors
		if seen.RenderError == "" { // otherwise, the page keeps the text of an earlier visit
			r.Source, r.Selectors = seen.Source, seen.Selectors
		}
	}
}

// failAgain handles a failed visit to a URL that had failed before. The record gets the latest
// problem, unless the URL was once a page. In that case the record keeps its problem, with one
// exception: if the URL now has the same text as other pages of its host, the record gets the new
// problem and the hash of the text. Then the next visit can check whether the URL still has this
// text; see hour.go.
func (v *visit) failAgain() {
	if len(v.before.Earlier) > 0 {
		v.touch(v.before.Visit)
		if v.seen.Problem == string(crawler.ProblemAlike) {
			v.draft.Problem, v.draft.Detail, v.draft.Hash = v.seen.Problem, v.seen.Detail, v.seen.Hash
		}
		return
	}
	v.kind = touched
}

// alter handles a visit to a page whose words or noindex directive have changed, or that has become private or public.
func (v *visit) alter(was *store.Content, opt *Options) error {
	if looksSame(*v.before, v.draft) {
		text, err := v.plainText()
		if err != nil {
			return err
		}
		found, only := restlessIn(was, v.before.Restless, text)
		if only {
			v.touch(store.Same)
		}
		if v.draft.Restless = found; only {
			return nil
		}
	}
	return v.succeed(store.Altered, was, opt)
}

// carry handles a visit to a page with unchanged words. If other visible fields have changed, the
// page gets a new record with the old verdict.
func (v *visit) carry(was *store.Content) error {
	b, r := v.before, &v.draft
	text, markdown, err := v.unpack()
	if err != nil {
		return err
	}
	if was != nil && was.Text == text && was.Markdown == markdown && looksSame(*b, *r) {
		v.touch(store.Same)
		return nil
	}
	r.Succeeds(b, nil, 1)
	r.Visit, v.kind, v.renamed = store.Same, carried, r.CanonicalURL != b.CanonicalURL
	if !bytes.Equal(r.Fields, b.Fields) {
		r.Visit = store.Altered
	}
	r.Judged = b.Judged
	return nil
}

// looksSame reports whether two visits found the same page, apart from its text. It ignores the
// parts of the records that describe the fetch, the verdict and earlier visits.
func looksSame(a, b store.Record) bool {
	a.Fetch, a.Judged, a.History = b.Fetch, b.Judged, b.History
	return reflect.DeepEqual(a, b)
}

// succeed makes the draft the successor of the stored record, with a reference to the earlier
// version.
func (v *visit) succeed(kind store.VisitKind, was *store.Content, opt *Options) error {
	b, r := v.before, &v.draft
	r.Visit = kind
	if b.Kind != store.Page {
		r.Succeeds(b, nil, 0)
		return nil
	}
	was = cmp.Or(was, &store.Content{Record: *b})
	resemblance := 0.0
	if r.Kind == store.Page {
		var err error
		if resemblance, err = v.changedBy(was, opt); err != nil {
			return err
		}
	}
	r.Succeeds(b, was.Sketch, resemblance)
	if resemblance >= opt.Rule.Similarity && r.Since.IsZero() {
		r.Since = b.Seen()
	}
	v.followed = b.Follows()
	return nil
}

// changedBy returns the resemblance of a page to its last version, and writes the added and removed
// text to the draft. If the text of that version was not kept, changedBy estimates the resemblance
// from the sketches. It returns 0 if there are no sketches either.
func (v *visit) changedBy(was *store.Content, opt *Options) (float64, error) {
	r := &v.draft
	switch {
	case r.Hash == was.Record.Hash:
		return 1, nil
	case !was.Kept && (was.Sketch == nil || v.sketch == nil):
		return 0, nil
	case !was.Kept:
		return dedup.Estimate(v.sketch, was.Sketch), nil
	}
	text, err := v.plainText()
	if err != nil {
		return 0, err
	}
	r.Added, r.Removed = difference(was.Text, text)
	canon, done := canonical(was.Text)
	defer done()
	return dedup.Resemblance(v.shingles.asSet(), opt.Rule.Set(canon)), nil
}
