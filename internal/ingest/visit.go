package ingest

import (
	"cmp"
	"context"
	"reflect"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Coming back to a page
//
// A visit is compared with what was known of the page. A page that is what it was keeps its record,
// which is touched: the time of the visit goes into it, and nothing else of the page is written. A
// page that has other words, or is no page any more, gets a new record, which remembers the earlier
// one. A page that cannot be had, while no answer says that it is gone, is kept as it was until
// that has happened so many times in a row. An answer can be such a failure too, see hour.go.
//
// Links are followed whatever became of the text.

// comeBack turns a subject's record into that of a later visit. before is the record of the visit
// before.
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
		if len(before.Earlier) > 0 { // it was a page once, and is back
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

// altered is a visit of a page that has other words, or is to be indexed no more or again.
func (p *Pipeline) altered(ctx context.Context, s *subject, at time.Time) error {
	if looksSame(*s.before, s.record) {
		only, err := p.isRestless(ctx, s)
		if err != nil {
			return err
		}
		if found := s.record.Restless; only {
			s.touched(store.Same, at)
			s.record.Restless = found
			return nil
		}
	}
	return p.succeed(ctx, s, store.Altered)
}

// isNothing says whether a record is that of a URL at which there was nothing to be had.
func isNothing(r *store.Record) bool {
	return r.Kind == store.Error || r.Kind == store.Blocked || r.Kind == store.Skipped || r.Kind == store.Later
}

// isSoft says whether a record is that of an answer that says that there is no page.
func isSoft(r *store.Record) bool { return r.Problem == string(crawler.ProblemSoft) }

// isGone says whether what there was at a URL is there no longer.
func (p *Pipeline) isGone(s *subject) bool {
	const notFound, gone = 404, 410
	return s.record.Status == notFound || s.record.Status == gone || crawler.Problem(s.record.Problem).Answered() && !s.turned || s.missed() >= p.opt.GoneAfter
}

// missed is how many visits in a row have failed if this one has.
func (s *subject) missed() int { return max(s.before.Missed+1, s.missedBy) }

// visited is when the subject was visited.
func (s *subject) visited() time.Time { return s.read.FetchedAt }

// touched gives the subject the record it had, and notes this visit in it.
func (s *subject) touched(kind store.VisitKind, at time.Time) {
	s.record, s.touch = *s.before, true
	r := &s.record
	r.Visit, r.VisitedAt = kind, at
	if r.Missed > 0 { // visits failed before this one, and the page is what it was
		r.Missed, r.Problem, r.Detail = 0, "", ""
	}
	if kind != store.Failed {
		r.Restless = nil // all of it is what it was
	}
	switch kind {
	case store.Same:
		r.ETag, r.Modified = s.read.ETag, s.read.Modified
	case store.NotModified: // the answer need not repeat the validators (RFC 9110, section 15.4.5)
		r.ETag, r.Modified = cmp.Or(s.read.ETag, r.ETag), cmp.Or(s.read.Modified, r.Modified)
	}
	s.state = r.End()
}

// failedAgain is a failed visit to a URL that could not be had before either. The record says how
// the last visit failed, unless it says that a page is gone: that stays.
func (s *subject) failedAgain(at time.Time) {
	if len(s.before.Earlier) > 0 {
		s.touched(s.before.Visit, at)
		return
	}
	s.touch = true
}

// misses is a visit that failed, of a page that is kept as it was.
func (s *subject) misses(at time.Time) {
	s.touched(store.Failed, at)
	r := &s.record
	r.Missed, r.Problem, r.Detail = s.missed(), s.read.Problem, s.read.Detail
}

// other is a visit to a URL that holds no page now, or held none before.
func (s *subject) other(at time.Time) {
	b, r := s.before, &s.record
	if b.Kind == r.Kind && b.Location == r.Location && b.Hash == r.Hash {
		s.touched(store.Same, at)
	}
}

// becomes is the kind of a visit that found something other than what was there: a page that is
// none any more has vanished.
func (s *subject) becomes() store.VisitKind {
	if s.before.Kind == store.Page {
		return store.Vanished
	}
	return store.Altered
}

// sameWords is a visit of a page whose words are what they were. Something else that is shown of
// the page may have changed. Then the page gets a new record with the old verdict.
func (p *Pipeline) sameWords(ctx context.Context, s *subject, at time.Time) error {
	b, r := s.before, &s.record
	content, err := p.content(ctx, s.before.ID)
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

// looksSame says whether two visits show the same page but for its text.
func looksSame(a, b store.Record) bool {
	a, b = apparent(a), apparent(b)
	a.Words, a.Hash, b.Words, b.Hash = 0, dedup.Hash{}, 0, dedup.Hash{}
	return reflect.DeepEqual(a, b)
}

// apparent is a record without the fields that tell of a visit, and without those that follow from
// the page's words. Two visits show the same page if they are equal.
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

// succeed makes the subject's record the successor of what was known.
func (p *Pipeline) succeed(ctx context.Context, s *subject, kind store.VisitKind) error {
	s.record.Visit = kind
	if s.before.Kind != store.Page {
		s.record.Succeeds(s.before, nil, 0)
		return nil
	}
	content, err := p.content(ctx, s.before.ID)
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

// changedBy returns the resemblance of a subject to what it was, and notes in its record what came
// and what went. Where no text was kept, the sketches estimate the resemblance.
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

// plainText is the subject's main text.
func (s *subject) plainText() (string, error) {
	text, _, err := s.texts()
	return text, err
}

// texts are the subject's main text and its Markdown.
func (s *subject) texts() (text, markdown string, err error) {
	if s.text == nil {
		return "", "", nil
	}
	t, m, err := store.UnpackMarked(s.text)
	return string(t), string(m), err
}

// content is what is known of a page, with its text, sketch and links; nil: nothing.
func (p *Pipeline) content(ctx context.Context, id dedup.Hash) (*store.Content, error) {
	pages, err := p.store.Pages(ctx, []dedup.Hash{id}, store.WantText|store.WantSketch|store.WantLinks)
	if err != nil {
		return nil, err
	}
	return pages[0], nil
}

// lookBack is called when a subject was refused as stale: the record that it was compared with may
// have changed.
func (p *Pipeline) lookBack(ctx context.Context, s *subject) error {
	if s.before == nil || s.known {
		return nil
	}
	known, err := p.recordOf(ctx, s.record.ID)
	if err != nil || known == nil {
		s.before = known
		return err
	}
	return p.comeBack(ctx, s, known)
}

// afterwards does what follows from a subject that is stored.
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

// checkLeader puts a page back to be fetched if its leader changed since the page was judged, and
// its text is not kept: without its text the page cannot be judged again.
func (p *Pipeline) checkLeader(ctx context.Context, s *subject) error {
	leader, err := p.recordOf(ctx, s.record.Leader)
	if err != nil || leader != nil && !leader.Began().After(s.before.Began()) {
		return err
	}
	return p.fetchAgain(ctx, &s.record)
}

// fetchAgain puts a page back, to be fetched whether it was modified or not.
func (p *Pipeline) fetchAgain(ctx context.Context, r *store.Record) error {
	_, err := p.store.Requeue(ctx, []frontier.Item{{URL: r.URL, Via: r.Via, Depth: r.Depth, Hops: r.Hops, Due: time.Now().UTC()}})
	return err
}
