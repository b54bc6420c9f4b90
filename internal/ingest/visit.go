package ingest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Visiting a page again
//
// A visit is compared with the stored record of the page. An unchanged page keeps its record, which
// is touched: only the time of the visit is written. A page with other words, or one that is no
// page any more, gets a new record with a reference to the earlier one. If a page cannot be
// fetched, and no answer says that it is gone, it is kept until Options.GoneAfter visits in a row
// have failed. An answer can count as a failure too, see hour.go.
//
// Links are followed in each of these cases.

// A visit is a reading that was compared with what is known of its page.
type visit struct {
	*reading
	kind   visitKind
	draft  store.Record   // to be stored, without a verdict unless an earlier one is kept
	before *store.Record  // the stored record; nil: this is the first visit
	state  frontier.State // how the URL ends; Unknown: it is not in the frontier
	soft   softMatch      // the answer for a URL that cannot exist with which the page was compared

	passedOn bool // the page is another now, and followed the page that its canonical URL named
	renamed  bool // the page keeps its verdict, and names another canonical URL
}

type visitKind int

const (
	first    visitKind = iota // the page has no record
	recorded                  // the record is from this visit, and was written before a crash: only the URL is ended
	touched                   // the visit found no change
	carried                   // the words are unchanged, but something else is not: the verdict stays
	changed                   // the page gets a new record
)

// wanted reports whether the visit needs a verdict.
func (v *visit) wanted() bool {
	return v.draft.Kind == store.Page && (v.kind == first || v.kind == changed)
}

// leavesMembers reports whether the page may have members that must be judged again.
func (v *visit) leavesMembers() bool {
	b := v.before
	switch v.kind {
	case first, touched, carried:
		return false
	case recorded: // perhaps before the members were judged again
		return len(b.Earlier) > 0 && b.Earlier[0].Words > 0
	}
	return b.Kind == store.Page && b.Words > 0 && !b.Follows()
}

// answers reports whether the known record is from this visit already, written before a crash.
func answers(known *store.Record, page *crawler.Page) bool {
	return known != nil && known.Answers(&page.Item)
}

// visit compares a reading with what is known: of its host, see soft.go and hour.go, and of the
// page. known is the stored record of the page; nil if there is none.
func (p *Pipeline) visit(ctx context.Context, page *crawler.Page, got *reading, known *store.Record) (*visit, error) {
	if answers(known, page) { // its links were written before the record
		r := recordOf(page)
		return &visit{reading: &reading{seen: r, claim: page.Claim}, kind: recorded, draft: r, before: known, state: known.End()}, nil
	}
	got, soft, err := p.soft.soften(ctx, got)
	if err == nil && known != nil {
		got, err = p.hours.weigh(ctx, got, known)
	}
	if err != nil {
		return nil, err
	}
	return p.visitOf(ctx, got, soft, known)
}

// visitAgain compares a reading again, after its entry was refused as stale because the stored
// record may have changed.
func (p *Pipeline) visitAgain(ctx context.Context, v *visit) (*visit, error) {
	if v.before == nil || v.kind == recorded {
		return v, nil
	}
	known, err := p.store.record(ctx, v.seen.ID)
	if err != nil {
		return nil, err
	}
	return p.visitOf(ctx, v.reading, v.soft, known)
}

// visitOf returns the visit of a reading, given the stored record of its page.
func (p *Pipeline) visitOf(ctx context.Context, got *reading, soft softMatch, known *store.Record) (v *visit, err error) {
	if known == nil {
		v = firstVisit(got)
	} else if v, err = p.revisit(ctx, got, known); err != nil {
		return nil, err
	}
	v.soft, v.state = soft, v.draft.End()
	if v.kind != touched {
		v.draft.Listed = v.draft.Listed || v.seen.Kind == store.Page && p.listing.has(v.seen.ID)
	}
	return v, nil
}

// firstVisit returns the visit of a page without a record.
func firstVisit(got *reading) *visit {
	if got.notModified { // the record was deleted after the request
		gone := *got
		gone.seen.Kind, gone.seen.Problem = store.Error, fmt.Sprintf("%s %d", crawler.ProblemStatus, got.seen.Status)
		got = &gone
	}
	return &visit{reading: got, kind: first, draft: got.seen}
}

// revisit returns the visit of a page with a record.
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

// needsContent reports whether a reading is compared with the text or the sketch of its page.
func needsContent(got *reading, before *store.Record, goneAfter int) bool {
	return before.Kind == store.Page && !got.notModified && (!isNothing(&got.seen) || isGone(got, before, goneAfter))
}

// classify returns a later visit of a page. was is the stored page, if needsContent says so and it is
// still there. It is pure.
func classify(got *reading, b *store.Record, was *store.Content, opt *Options) (*visit, error) {
	v := &visit{reading: got, kind: changed, draft: got.seen, before: b}
	v.draft.Listed = v.draft.Listed || b.Listed
	switch {
	case got.notModified:
		v.touch(store.NotModified)
	case isNothing(b) && isNothing(&got.seen):
		v.failAgain()
	case isNothing(b):
		if len(b.Earlier) > 0 { // it was a page before, and is one again
			v.draft.Succeeds(b, nil, 0)
		}
	case isNothing(&got.seen) && !isGone(got, b, opt.GoneAfter):
		v.miss()
	case isNothing(&got.seen):
		return v, v.succeed(store.Vanished, was, opt)
	case got.seen.Kind != store.Page || b.Kind != store.Page:
		if b.Kind == got.seen.Kind && b.Location == got.seen.Location && b.Hash == got.seen.Hash {
			v.touch(store.Same)
			break
		}
		kind := store.Altered
		if b.Kind == store.Page {
			kind = store.Vanished
		}
		return v, v.succeed(kind, was, opt)
	case got.seen.Hash != b.Hash || got.seen.NoIndex != b.NoIndex:
		return v, v.alter(was, opt)
	case b.NoText:
		return v, v.succeed(store.Same, was, opt) // its text was not kept, so it is judged again
	default:
		return v, v.carry(was)
	}
	return v, nil
}

// isNothing reports whether a record is that of a URL that could not be fetched.
func isNothing(r *store.Record) bool {
	return r.Kind == store.Error || r.Kind == store.Blocked || r.Kind == store.Skipped || r.Kind == store.Later
}

// isSoft reports whether a record is that of a soft 404.
func isSoft(r *store.Record) bool { return r.Problem == string(crawler.ProblemSoft) }

// isGone reports whether a failed visit shows that the page no longer exists.
func isGone(got *reading, before *store.Record, goneAfter int) bool {
	const notFound, gone = 404, 410
	r := &got.seen
	return r.Status == notFound || r.Status == gone || crawler.Problem(r.Problem).Answered() && !got.turned || failures(got, before) >= goneAfter
}

// failures returns how many visits in a row have failed, if this one has.
func failures(got *reading, before *store.Record) int { return max(before.Missed+1, got.missedBy) }

// touch keeps the stored record, and adds this visit to it.
func (v *visit) touch(kind store.VisitKind) {
	v.kind, v.draft = touched, *v.before
	r, seen := &v.draft, &v.seen
	r.Visit, r.VisitedAt = kind, seen.FetchedAt
	if r.Missed > 0 { // earlier visits failed, and the page is unchanged
		r.Missed, r.Problem, r.Detail = 0, "", ""
	}
	if kind != store.Failed {
		r.Restless, r.Signals, r.Private = nil, seen.Signals, seen.Private // the whole text is unchanged
	}
	switch kind {
	case store.Same:
		r.Faults, r.Faulty, r.Anchors = seen.Faults, seen.Faulty, seen.Anchors
		r.ETag, r.Modified = seen.ETag, seen.Modified
	case store.NotModified: // the answer need not repeat the validators (RFC 9110, section 15.4.5)
		r.ETag, r.Modified = cmp.Or(seen.ETag, r.ETag), cmp.Or(seen.Modified, r.Modified)
	}
}

// failAgain handles a failed visit to a URL that could not be fetched before either. The record
// gets the latest problem, unless it says that a page is gone. Then it gets only the text that the
// page shares with others, for the next visit to see whether that stays, see hour.go.
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

// miss handles a failed visit to a page that is kept.
func (v *visit) miss() {
	v.touch(store.Failed)
	v.draft.Missed, v.draft.Problem, v.draft.Detail = failures(v.reading, v.before), v.seen.Problem, v.seen.Detail
}

// alter handles a visit to a page with other words, or whose noindex has changed.
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
	if was != nil && was.Text == text && was.Markdown == markdown && reflect.DeepEqual(apparent(*b), apparent(*r)) {
		v.touch(store.Same)
		return nil
	}
	r.Succeeds(b, nil, 1)
	r.Visit, v.kind, v.renamed = store.Same, carried, r.CanonicalURL != b.CanonicalURL
	r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance, r.Found, r.Capped = b.Verdict, b.Leader, b.DuplicateOf, b.Resemblance, b.Found, b.Capped
	return nil
}

// looksSame reports whether two visits show the same page, apart from its text.
func looksSame(a, b store.Record) bool {
	a, b = apparent(a), apparent(b)
	a.Words, a.Hash, b.Words, b.Hash = 0, dedup.Hash{}, 0, dedup.Hash{}
	return reflect.DeepEqual(a, b)
}

// apparent returns a record without the fields that describe a visit, and without those that follow
// from the page's words. Two visits show the same page if these records are equal.
func apparent(r store.Record) store.Record {
	r.FetchedAt, r.VisitedAt, r.JudgedAt, r.First = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	r.RenderError = ""
	r.Problem, r.Detail, r.Tries, r.Missed, r.Depth, r.Hops, r.Size, r.Took = "", "", 0, 0, 0, 0, 0, 0
	r.Archive, r.Answered, r.Restless = store.Archived{}, store.Archived{}, nil
	r.LeftWords, r.LeftHash = 0, dedup.Hash{}
	r.ETag, r.Modified, r.Visit, r.Added, r.Removed, r.Earlier = "", "", "", "", "", nil
	r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance, r.Found, r.Capped = "", dedup.Hash{}, "", 0, "", false
	r.Listed, r.Since = false, time.Time{}
	r.Faults, r.Faulty, r.Anchors = 0, nil, nil
	return r
}

// succeed makes the draft the successor of the stored record.
func (v *visit) succeed(kind store.VisitKind, was *store.Content, opt *Options) error {
	b, r := v.before, &v.draft
	r.Visit = kind
	if b.Kind != store.Page {
		r.Succeeds(b, nil, 0)
		return nil
	}
	if was == nil {
		was = &store.Content{Record: *b}
	}
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
	v.passedOn = b.Follows() && b.CanonicalURL == b.DuplicateOf
	return nil
}

// changedBy returns the resemblance of a page to its last version, and writes the added and removed
// text into the draft. If no text was kept, it estimates the resemblance from the sketches.
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
	canon := texts.Get().(*dedup.Text)
	defer giveBack(&texts, canon)
	opt.Rule.Read(canon, was.Text, was.Record.Lang)
	return dedup.Resemblance(v.shingles.asSet(), opt.Rule.Set(canon)), nil
}
