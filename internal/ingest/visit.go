package ingest

import (
	"cmp"
	"context"
	"reflect"
	"time"

	"skink/crawler"
	"skink/dedup"
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

// comeBack turns a subject's record into that of a later visit. before is the record of the last
// visit.
func (p *Pipeline) comeBack(ctx context.Context, s *subject, before *store.Record) error {
	s.before, s.record, s.touch, s.carried, s.state, s.reelect = before, s.read, false, false, s.read.End(), nil
	s.left = dedup.Hash{}
	s.record.Listed = s.record.Listed || before.Listed
	now := s.visited()
	switch {
	case s.notModified:
		s.touched(store.NotModified, now)
	case isNothing(before) && isNothing(&s.record):
		s.failedAgain(now)
	case isNothing(before):
		if len(before.Earlier) > 0 { // it was a page before, and is one again
			s.record.Succeeds(before, nil, 0)
		}
	case isNothing(&s.record) && !p.isGone(s):
		s.misses(now)
	case isNothing(&s.record):
		return p.succeed(ctx, s, store.Vanished)
	case s.record.Kind != store.Page || before.Kind != store.Page:
		s.other(now)
		if !s.touch {
			return p.succeed(ctx, s, s.becomes())
		}
	case s.record.Hash == before.Hash && s.record.NoIndex == before.NoIndex && !before.NoText:
		return p.sameWords(ctx, s, now)
	case s.record.Hash == before.Hash && s.record.NoIndex == before.NoIndex:
		return p.succeed(ctx, s, store.Same) // its text was not kept, so it is judged again
	default:
		return p.altered(ctx, s, now)
	}
	return nil
}

// altered handles a visit to a page with other words, or whose noindex has changed.
func (p *Pipeline) altered(ctx context.Context, s *subject, at time.Time) error {
	if looksSame(*s.before, s.record) {
		was, err := p.store.content(ctx, s.before.ID)
		if err != nil {
			return err
		}
		text, err := s.plainText()
		if err != nil {
			return err
		}
		found, only := restlessIn(was, s.before.Restless, text)
		if s.record.Restless = found; only {
			s.touched(store.Same, at)
			s.record.Restless = found
			return nil
		}
	}
	return p.succeed(ctx, s, store.Altered)
}

// isNothing reports whether a record is that of a URL that could not be fetched.
func isNothing(r *store.Record) bool {
	return r.Kind == store.Error || r.Kind == store.Blocked || r.Kind == store.Skipped || r.Kind == store.Later
}

// isSoft reports whether a record is that of a soft 404.
func isSoft(r *store.Record) bool { return r.Problem == string(crawler.ProblemSoft) }

// isGone reports whether the page at a URL no longer exists.
func (p *Pipeline) isGone(s *subject) bool {
	const notFound, gone = 404, 410
	return s.record.Status == notFound || s.record.Status == gone || crawler.Problem(s.record.Problem).Answered() && !s.turned || s.missed() >= p.opt.GoneAfter
}

// missed returns how many visits in a row have failed, if this one has.
func (s *subject) missed() int { return max(s.before.Missed+1, s.missedBy) }

// visited returns the time of the visit.
func (s *subject) visited() time.Time { return s.read.FetchedAt }

// touched gives the subject its stored record, and adds this visit to it.
func (s *subject) touched(kind store.VisitKind, at time.Time) {
	s.record, s.touch = *s.before, true
	r := &s.record
	r.Visit, r.VisitedAt = kind, at
	if r.Missed > 0 { // earlier visits failed, and the page is unchanged
		r.Missed, r.Problem, r.Detail = 0, "", ""
	}
	if kind != store.Failed {
		r.Restless = nil // the whole text is unchanged
	}
	switch kind {
	case store.Same:
		r.ETag, r.Modified = s.read.ETag, s.read.Modified
	case store.NotModified: // the answer need not repeat the validators (RFC 9110, section 15.4.5)
		r.ETag, r.Modified = cmp.Or(s.read.ETag, r.ETag), cmp.Or(s.read.Modified, r.Modified)
	}
	s.state = r.End()
}

// failedAgain handles a failed visit to a URL that could not be fetched before either. The record
// gets the latest problem, unless it says that a page is gone.
func (s *subject) failedAgain(at time.Time) {
	if len(s.before.Earlier) > 0 {
		s.touched(s.before.Visit, at)
		return
	}
	s.touch = true
}

// misses handles a failed visit to a page that is kept.
func (s *subject) misses(at time.Time) {
	s.touched(store.Failed, at)
	r := &s.record
	r.Missed, r.Problem, r.Detail = s.missed(), s.read.Problem, s.read.Detail
}

// other handles a visit to a URL that has no page now, or had none before.
func (s *subject) other(at time.Time) {
	b, r := s.before, &s.record
	if b.Kind == r.Kind && b.Location == r.Location && b.Hash == r.Hash {
		s.touched(store.Same, at)
	}
}

// becomes returns the kind of a visit that found a change: Vanished if a page is no page any more.
func (s *subject) becomes() store.VisitKind {
	if s.before.Kind == store.Page {
		return store.Vanished
	}
	return store.Altered
}

// sameWords handles a visit to a page with unchanged words. If other visible fields have changed,
// the page gets a new record with the old verdict.
func (p *Pipeline) sameWords(ctx context.Context, s *subject, at time.Time) error {
	b, r := s.before, &s.record
	content, err := p.store.content(ctx, s.before.ID)
	if err != nil {
		return err
	}
	text, markdown, err := s.texts()
	if err != nil {
		return err
	}
	if content != nil && content.Text == text && content.Markdown == markdown && reflect.DeepEqual(apparent(*b), apparent(*r)) {
		s.touched(store.Same, at)
		return nil
	}
	r.Succeeds(b, nil, 1)
	r.Visit, s.carried = store.Same, true
	r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance, r.Found, r.Capped = b.Verdict, b.Leader, b.DuplicateOf, b.Resemblance, b.Found, b.Capped
	if p.elects() && r.CanonicalURL != b.CanonicalURL {
		leader := r.ID
		if r.Follows() {
			leader = r.Leader
		}
		s.reelect = []dedup.Hash{leader}
	}
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
	r.Problem, r.Detail, r.Tries, r.Missed, r.Depth, r.Hops, r.Size, r.Took = "", "", 0, 0, 0, 0, 0, 0
	r.Archive, r.Answered, r.Restless = store.Archived{}, store.Archived{}, nil
	r.LeftWords, r.LeftHash = 0, dedup.Hash{}
	r.ETag, r.Modified, r.Visit, r.Added, r.Removed, r.Earlier = "", "", "", "", "", nil
	r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance, r.Found, r.Capped = "", dedup.Hash{}, "", 0, "", false
	r.Listed, r.Since = false, time.Time{}
	return r
}

// succeed turns the subject's record into the successor of the stored one.
func (p *Pipeline) succeed(ctx context.Context, s *subject, kind store.VisitKind) error {
	s.record.Visit = kind
	if s.before.Kind != store.Page {
		s.record.Succeeds(s.before, nil, 0)
		return nil
	}
	content, err := p.store.content(ctx, s.before.ID)
	if err != nil {
		return err
	}
	if content == nil {
		content = &store.Content{Record: *s.before}
	}
	resemblance := 0.0
	if s.record.Kind == store.Page {
		if resemblance, err = p.changedBy(s, content); err != nil {
			return err
		}
	}
	s.record.Succeeds(s.before, content.Sketch, resemblance)
	if resemblance >= p.opt.Rule.Similarity && s.record.Since.IsZero() {
		s.record.Since = s.before.Seen()
	}
	if left, err := p.leavesElected(ctx, s.before); err != nil || !left {
		return err
	}
	s.left = s.before.Leader
	return nil
}

// changedBy returns the resemblance of a subject to its last version, and writes the added and
// removed text into its record. If no text was kept, it estimates the resemblance from the
// sketches.
func (p *Pipeline) changedBy(s *subject, was *store.Content) (float64, error) {
	r := &s.record
	switch {
	case r.Hash == was.Record.Hash:
		return 1, nil
	case !was.Kept && (was.Sketch == nil || s.sketch == nil):
		return 0, nil
	case !was.Kept:
		return dedup.Estimate(s.sketch, was.Sketch), nil
	}
	text, err := s.plainText()
	if err != nil {
		return 0, err
	}
	r.Added, r.Removed = difference(was.Text, text)
	canon := p.texts.Get().(*dedup.Text)
	defer giveBack(&p.texts, canon)
	p.opt.Rule.Read(canon, was.Text, was.Record.Lang)
	return dedup.Resemblance(s.shingleSet(), dedup.NewSet(p.opt.Rule.Shingles(canon))), nil
}

// plainText returns the subject's main text.
func (s *subject) plainText() (string, error) {
	text, _, err := s.texts()
	return text, err
}

// texts returns the subject's main text and its Markdown.
func (s *subject) texts() (text, markdown string, err error) {
	if s.text == nil {
		return "", "", nil
	}
	t, m, err := store.UnpackMarked(s.text)
	return string(t), string(m), err
}

// lookBack reads the stored record again after a subject was refused as stale, because that record
// may have changed.
func (p *Pipeline) lookBack(ctx context.Context, s *subject) error {
	if s.before == nil || s.known {
		return nil
	}
	known, err := p.store.record(ctx, s.record.ID)
	if err != nil || known == nil {
		s.before = known
		return err
	}
	return p.comeBack(ctx, s, known)
}

// afterwards does the work that follows after a subject is stored.
func (p *Pipeline) afterwards(ctx context.Context, s *subject) error {
	changed := s.reelect
	if !s.left.IsZero() {
		changed = append(changed, s.left)
	}
	for _, leader := range changed {
		if err := p.reelect(ctx, leader); err != nil {
			return err
		}
	}
	switch {
	case !s.over.leader.IsZero():
		return p.depose(ctx, s)
	case s.touch && s.record.NoText && s.record.Follows():
		return p.checkLeader(ctx, s)
	}
	return nil
}

func sameVerdict(a, b *store.Record) bool {
	return a.Verdict == b.Verdict && a.Leader == b.Leader && a.DuplicateOf == b.DuplicateOf && a.Resemblance == b.Resemblance
}

// checkLeader queues a page again if its leader changed since the page was judged and its text is
// not kept: without its text the page cannot be judged again.
func (p *Pipeline) checkLeader(ctx context.Context, s *subject) error {
	leader, err := p.store.record(ctx, s.record.Leader)
	if err != nil || leader != nil && !leader.Began().After(s.before.Began()) {
		return err
	}
	return p.store.fetchAgain(ctx, &s.record)
}
