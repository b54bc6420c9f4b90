package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skink/dedup"
	"skink/store"
)

// The judge keeps the subjects it committed last, to compare those with that were
// looked up before. remembered is many more than there are workers; a subject
// that took longer is looked up again.
const (
	remembered = 256
	batch      = 64               // subjects in one commit
	syncEvery  = 30 * time.Second // what a power cut can cost
	flushEvery = 2 * time.Second  // what a kill can cost the feed, which then writes it again
)

// A judge is the one goroutine that decides and writes.
type judge struct {
	p      *Pipeline
	queue  chan *subject
	ended  chan struct{} // closed when run has returned
	failed chan struct{} // closed after err is set
	err    error

	committed atomic.Uint64 // subjects committed
	pages     atomic.Int64  // pages in the store

	recent []*subject // the pages decided last, in order
	forgot uint64     // place of the last page that is no longer among them

	shingles int // of all in recent, at most, should every page be huge

	mu   sync.Mutex
	all  store.Tally // guarded by mu: what the store holds
	news store.Tally // guarded by mu: what this judge added
}

func newJudge(p *Pipeline, tally store.Tally, recent int64) *judge {
	j := &judge{p: p, queue: make(chan *subject, batch), ended: make(chan struct{}), failed: make(chan struct{}), all: tally}
	j.shingles = int(recent / 8)
	j.pages.Store(tally.Pages())
	return j
}

// submit queues a subject. It fails when the judge has.
func (j *judge) submit(ctx context.Context, s *subject) error {
	select {
	case j.queue <- s:
		return nil
	case <-j.failed:
		return j.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends the queue and waits for what is in it.
func (j *judge) close() error {
	close(j.queue)
	<-j.ended
	return j.err
}

// run works until the queue is closed or something fails.
func (j *judge) run(ctx context.Context) {
	defer close(j.ended)
	if err := j.work(ctx); err != nil {
		j.err = err
		close(j.failed)
	}
}

// work decides and commits, and looks after what a kill or a power cut can cost
// also while there is nothing to decide.
func (j *judge) work(ctx context.Context) error {
	flush, sync, look := time.NewTicker(flushEvery), time.NewTicker(syncEvery), time.NewTicker(lookEvery)
	defer flush.Stop()
	defer look.Stop()
	defer sync.Stop()
	for {
		var err error
		select {
		case s, ok := <-j.queue:
			if !ok {
				return errors.Join(j.flush(ctx), j.p.flight.look(ctx, time.Now()))
			}
			err = j.commit(ctx, j.gather(s))
		case <-flush.C:
			err = j.flush(ctx)
		case <-sync.C:
			err = j.sync()
		case now := <-look.C:
			err = j.p.flight.look(ctx, now)
		}
		if err != nil {
			return err
		}
	}
}

func (j *judge) flush(ctx context.Context) error {
	if j.p.opt.Sink == nil {
		return nil
	}
	return j.p.opt.Sink.Checkpoint(ctx)
}

func (j *judge) sync() error {
	if err := j.p.store.Sync(); err != nil {
		return fmt.Errorf("sync the store: %w", err)
	}
	return nil
}

// gather takes what is waiting behind a subject, so that one write serves all.
func (j *judge) gather(first *subject) []*subject {
	all := []*subject{first}
	for len(all) < batch {
		select {
		case s, ok := <-j.queue:
			if !ok {
				return all
			}
			all = append(all, s)
		default:
			return all
		}
	}
	return all
}

// commit decides subjects in order, writes them, and tells who waits.
func (j *judge) commit(ctx context.Context, all []*subject) error {
	entries := make([]*store.Entry, len(all))
	for i, s := range all {
		if err := j.decide(ctx, s, j.committed.Load()+uint64(i)+1); err != nil {
			return fmt.Errorf("judge %s: %w", s.entry.Record.URL, err)
		}
		entries[i] = &s.entry
	}
	if err := j.p.store.Commit(ctx, entries); err != nil {
		return fmt.Errorf("write to the store: %w", err)
	}
	j.committed.Add(uint64(len(all)))
	j.count(all)
	if err := j.tell(all); err != nil {
		return err
	}
	j.forget()
	return nil
}

// decide gives a subject its number and its final verdict.
func (j *judge) decide(ctx context.Context, s *subject, place uint64) error {
	s.place = place
	num, err := j.p.store.Next(ctx)
	if err != nil {
		return err
	}
	s.entry.Record.Num = num
	if s.wanted() {
		if err := j.compare(ctx, s); err != nil {
			return err
		}
		j.settle(s)
		j.remember(s)
	}
	return nil
}

// compare brings a subject's verdict up to date with what was decided since its
// look-up.
func (j *judge) compare(ctx context.Context, s *subject) error {
	if s.seen < j.forgot {
		if err := j.p.lookUp(ctx, s); err != nil {
			return err
		}
	}
	if s.tokens == 0 {
		return nil
	}
	since := j.since(s.seen)
	if r := s.copyAmong(since); r != nil {
		s.copyOf(&r.entry.Record)
	}
	if s.copied == 0 && !j.p.opt.Rule.Short(s.tokens) {
		s.compareWith(since, j.p.opt.Rule)
	}
	return nil
}

// copyAmong is the first of some pages with the subject's text, unless an earlier
// one is known.
func (s *subject) copyAmong(pages []*subject) *subject {
	for _, r := range pages {
		if s.copied != 0 && s.copied < r.entry.Record.Num {
			return nil
		}
		if s.sees(r) && r.entry.Record.Hash == s.entry.Record.Hash {
			return r
		}
	}
	return nil
}

// since lists the pages decided after so many subjects.
func (j *judge) since(seen uint64) []*subject {
	i := len(j.recent)
	for i > 0 && j.recent[i-1].place > seen {
		i--
	}
	return j.recent[i:]
}

// compareWith adds leaders decided since the look-up to the subject's short list,
// and judges it anew if it meets one.
func (s *subject) compareWith(since []*subject, rule dedup.Rule) {
	met := false
	for _, r := range since {
		if r.entry.Keys != nil && s.sees(r) && s.meet(r) >= rule.Scheme.Meet() {
			met = true
			s.shortlist(dedup.Candidate{
				Num: r.entry.Record.Num, Name: r.entry.Record.URL,
				Estimate: dedup.Estimate(s.entry.Sketch, r.entry.Sketch), Set: r.shingleSet(),
			})
		}
	}
	if met {
		s.short = rule.Shortlist(s.short)
		s.weigh(rule)
	}
}

// settle writes a subject's verdict into its entry, and takes out what that
// verdict says is not kept.
func (j *judge) settle(s *subject) {
	e, v := &s.entry, s.verdict
	r := &e.Record
	r.Verdict, r.Leader, r.DuplicateOf, r.Found = v.Kind, v.Leader, v.DuplicateOf, v.Method
	if v.Leader != 0 {
		r.Resemblance = v.Resemblance
	}
	e.Keys = nil
	switch v.Kind {
	case dedup.Unique:
		e.Keys = s.ownKeys()
	case dedup.Exact, dedup.Near:
		if j.p.opt.SkipDuplicates {
			j.skip(s)
		}
	}
}

// skip takes out of a duplicate what is more than its record. The links of a page
// that is too short to compare are followed all the same: it may be a list of
// links, and another than the page whose few words it has.
func (j *judge) skip(s *subject) {
	e := &s.entry
	e.Record.NoText = true
	s.text, e.Text, e.Raw = "", nil, nil
	if !j.p.opt.Rule.Short(s.tokens) {
		e.Links, e.Beyond = nil, nil
	}
}

// count adds subjects to the tallies.
func (j *judge) count(all []*subject) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range all {
		if !s.known {
			j.all.Add(&s.entry.Record)
			j.news.Add(&s.entry.Record)
		}
	}
	j.pages.Store(j.all.Pages())
}

func (j *judge) snapshot(t *store.Tally) store.Tally {
	j.mu.Lock()
	defer j.mu.Unlock()
	return t.Clone()
}

// tell hands subjects to the sink, and lets go of those who wait.
func (j *judge) tell(all []*subject) error {
	for _, s := range all {
		if sink := j.p.opt.Sink; sink != nil && !s.known {
			if err := sink.Add(&s.entry.Record, s.text); err != nil {
				return err
			}
		}
		s.drop()
		if s.done != nil {
			close(s.done)
		}
	}
	return nil
}

// drop lets go of what nobody needs of a subject after its commit.
func (s *subject) drop() {
	s.text, s.entry.Text, s.entry.Raw = "", nil, nil
	s.entry.Links, s.entry.Beyond = nil, nil
	s.lists, s.short = nil, nil
	s.share.Release()
	s.share = nil
	if s.entry.Keys == nil { // it leads nothing that is like it
		s.shingles, s.set = nil, nil
	}
}

// remember keeps a page for comparison with those on their way.
func (j *judge) remember(s *subject) {
	if s.tokens > 0 {
		j.recent = append(j.recent, s)
	}
}

// forget drops all but the last pages, and of those the first if they are large.
// A subject that was looked up before one of those dropped will have to be looked
// up again.
func (j *judge) forget() {
	keep, shingles := 0, 0
	for keep < len(j.recent) && keep < remembered && shingles <= j.shingles {
		keep++
		shingles += j.recent[len(j.recent)-keep].weight()
	}
	if n := len(j.recent) - keep; n >= batch || shingles > j.shingles && n > 0 {
		j.forgot = j.recent[n-1].place
		j.recent = slices.Clone(j.recent[n:])
	}
}

// weight is how many shingles a remembered subject holds.
func (s *subject) weight() int { return max(len(s.shingles), len(s.set)) }
