package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/document"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/memory"
	"skink/store"
)

// # Files
//
// The records of a corpus are judged in order, so that the same files always get the same verdicts.
// Text extraction, sketching and comparison with the store run on all CPUs, in any order. Two steps
// run in order: naming files, and committing verdicts, which the store refuses if they are stale.
// Records are processed in batches, because sending short texts over channels one by one would take
// most of the time.

// FileOptions holds the callbacks for the results of Files.
type FileOptions struct {
	// Bad is called for each record that cannot be read, in order. Its error ends the run.
	Bad func(*corpus.BadError) error
	// Passed is called for each archive record without text, with the kind of the record. It may be
	// nil.
	Passed func(kind string)
	// Lacks is called for each document that was read only in part, with its place and a note. It may
	// be nil.
	Lacks func(place, note string)
	// Judged is called for each of the remaining records, in order, with its record in the store,
	// even if the store already had it. Its error ends the run. It may be nil.
	Judged func(*corpus.Record, *store.Record) error
}

type file struct {
	from      *corpus.Record
	reading   *reading
	visit     *visit              // nil until the file is named
	judgement *judgement          // nil if the file was not judged, or was in the store before the run
	name      string              // the name in the input, such as a URL
	placed    bool                // name is the record's position in the input, which is unique
	bad       *corpus.BadError    // why the record cannot be read, or nil
	passed    *corpus.PassedError // why the record has no text, or nil
	leaves    dedup.VerdictKind   // see Options.Screen
	known     *store.Record       // stored before the run; nil if there was none
	then      func() error        // what [EachRecord] does with the file in order
}

// A batch is a group of records that are processed together, because handling short texts one by
// one would be slow.
type batch struct {
	files []*file
	share *memory.Share
}

const (
	batchFiles = 64        // a good size for one commit
	batchBytes = 256 << 10 // large enough to be worth a send on a channel, but small enough to keep many batches in memory
)

// Files reads and judges records of a corpus, and stores them in order. It counts the names that
// were not new.
func (p *Pipeline) Files(ctx context.Context, records iter.Seq2[*corpus.Record, error], opt FileOptions) (Names, error) {
	names, err := newNaming(ctx, p.store, func(got *reading, before *store.Record) (*visit, error) { return p.revisit(ctx, got, before) })
	if err != nil {
		return Names{}, err
	}
	group, ctx := errgroup.WithContext(ctx)
	read := inOrder(ctx, group, 2*runtime.GOMAXPROCS(0), batches(ctx, records, p.reader.memory, p.opt.Documents), func(ctx context.Context, b *batch) error {
		return p.readFiles(ctx, b, opt.Judged != nil)
	})
	named := store.Unpacked(read, func(b *batch) (*batch, error) {
		if err := b.complain(opt); err != nil {
			return nil, err
		}
		return b, names.give(ctx, b.staying())
	})
	judged := inOrder(ctx, group, 2*runtime.GOMAXPROCS(0), named, p.judgeFiles)
	group.Go(func() error {
		return store.Forward(judged, func(b *batch) error { return p.finish(ctx, b, names, opt.Judged) })
	})
	err = group.Wait()
	return names.counts, err
}

// batches groups records into batches and reserves memory for each. Batches get their memory in
// order, so the first unfinished batch can always proceed.
func batches(ctx context.Context, records iter.Seq2[*corpus.Record, error], pool *memory.Pool, documents *document.Reader) iter.Seq2[*batch, error] {
	return store.Sequence(func(yield func(*batch) error) error {
		next, bytes := new(batch), 0
		pass := func() (err error) {
			if next.share, err = pool.Take(ctx, next.cost(documents)); err == nil {
				err = yield(next)
			}
			next, bytes = new(batch), 0
			return err
		}
		err := store.Forward(records, func(r *corpus.Record) error {
			if n := len(next.files); n == batchFiles || n > 0 && bytes+r.Size() > batchBytes {
				if err := pass(); err != nil {
					return err
				}
			}
			next.files, bytes = append(next.files, &file{from: r}), bytes+r.Size()
			return nil
		})
		if err == nil && len(next.files) > 0 {
			err = pass()
		}
		return err
	})
}

// The files of a batch are read one at a time, so memory for one parsed tree is enough.
func (b *batch) cost(documents *document.Reader) int64 {
	bytes, tree, of := 0, int64(0), int64(0)
	for _, f := range b.files {
		switch {
		case f.from.Document():
			of = max(of, documentCost(documents, f.from.Raw))
		case f.from.Markup():
			tree = max(tree, most(f.from.Size()))
			bytes += f.from.Size()
		default:
			bytes += f.from.Size()
		}
	}
	return max(of, costOf(bytes, tree))
}

// Unless keepRaw is true, readFiles also frees the raw bytes of the files.
func (p *Pipeline) readFiles(ctx context.Context, b *batch, keepRaw bool) error {
	weight := int64(0)
	for _, f := range b.files {
		f.read(ctx, &p.opt)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !keepRaw {
			f.from.Drop()
		}
		weight += f.reading.weighs() + int64(f.from.Size())
	}
	b.share.Keep(weight)
	return nil
}

// read extracts the text of a record and sets f.reading, or f.bad or f.passed if there is no text.
func (f *file) read(ctx context.Context, opt *Options) {
	got := new(reading)
	err := guard(func() error {
		ask := opt.extracting(0, "")
		text, err := f.from.Text(ctx, ask)
		if err == nil && opt.Screen != nil {
			f.leaves, err = opt.Screen(ctx, f.from, ask, &text)
		}
		if err != nil {
			return err
		}
		f.name, f.placed = text.URL, text.Placed
		r := &got.seen
		r.ContentType, r.Kind, r.Private, r.Fields = text.Type, store.Skipped, text.Private, text.Fields
		if text.Doc != nil {
			opt.obey(text.URL, text.Doc, text.Header)
			r.Kind, r.CanonicalURL = store.Page, text.Doc.Canonical
			got.describe(text.Doc)
			got.measure(text.Doc.Text, opt)
			if got.tokens == 0 {
				r.Kind = store.Skipped // the file has no text to judge
			}
			base, _ := frontier.NewBase(text.URL, text.Doc.Base, text.Doc.Charset) // nil if the file name is not a URL; links are then kept unresolved
			got.pack(opt, text.Doc.Text, opt.markdown(text.Doc, base), headingsOf(text.Doc))
		}
		return nil
	})
	f.reading = got
	var bad *corpus.BadError
	var passed *corpus.PassedError
	switch {
	case errors.As(err, &passed):
		f.passed = passed
	case errors.As(err, &bad):
		f.bad = bad
	case err != nil:
		f.reading = broken(store.Record{ContentType: got.seen.ContentType}, frontier.Claim{}, err)
		if f.name == "" {
			f.name, f.placed = f.from.Place(), true
		}
	}
}

// complain calls opt.Bad or opt.Passed for the records of a batch that could not be read or contain
// no text, and removes them from the batch.
func (b *batch) complain(opt FileOptions) error {
	for _, f := range b.files {
		switch {
		case f.passed != nil && opt.Passed != nil:
			opt.Passed(f.passed.Kind)
		case f.bad != nil:
			if err := opt.Bad(f.bad); err != nil {
				return err
			}
		case f.reading.seen.Problem == "" && f.reading.seen.Detail != "" && opt.Lacks != nil:
			opt.Lacks(f.from.Place(), f.reading.seen.Detail)
		}
	}
	b.files = slices.DeleteFunc(b.files, func(f *file) bool { return f.bad != nil || f.passed != nil })
	return nil
}

func (p *Pipeline) judgeFiles(ctx context.Context, b *batch) error {
	var visits []*visit
	news := b.news()
	for _, f := range news {
		visits = append(visits, f.visit)
	}
	judged, err := p.judge.verdicts(ctx, visits, judging{})
	for i, j := range judged {
		news[i].judgement = j
	}
	return err
}

// staying returns the files that do not leave.
func (b *batch) staying() []*file {
	return slices.DeleteFunc(slices.Clone(b.files), func(f *file) bool { return f.leaves != "" })
}

func (b *batch) news() (all []*file) {
	for _, f := range b.staying() {
		if f.known == nil {
			all = append(all, f)
		}
	}
	return all
}

func (p *Pipeline) finish(ctx context.Context, b *batch, names *naming, judged func(*corpus.Record, *store.Record) error) error {
	if err := p.upkeep.failed(); err != nil {
		return err
	}
	if err := p.commitInOrder(ctx, b.news()); err != nil {
		return err
	}
	for _, f := range b.news() {
		if f.visit.leavesMembers() {
			if err := p.elections.judgeMembers(ctx, f.visit.draft.ID); err != nil {
				return err
			}
		}
	}
	names.stored(b.files)
	if judged != nil {
		for _, f := range b.files {
			now := f.known
			switch {
			case f.leaves != "":
				now = &f.reading.seen
				now.Verdict = f.leaves
			case now == nil:
				now = &f.judgement.record
			}
			if err := judged(f.from, now); err != nil {
				return err
			}
		}
	}
	b.share.Release()
	return nil
}

// commitInOrder commits judged files. If the store refuses the verdict of a file as stale, that
// file is judged again before any later file is committed.
func (p *Pipeline) commitInOrder(ctx context.Context, all []*file) error {
	entries := make([]*store.Entry, len(all))
	for i, f := range all {
		entries[i] = f.judgement.entry(&p.opt.Rule)
	}
	for len(all) > 0 {
		outcomes, err := p.store.Commit(ctx, entries)
		if err != nil {
			return fmt.Errorf("write to the store: %w", err)
		}
		n := slices.Index(outcomes, store.Stale)
		if n < 0 {
			n = len(all)
		}
		for i, f := range all[:n] {
			if outcomes[i] == store.Written {
				p.counts.add(f.judgement)
			}
		}
		if all, entries = all[n:], entries[n:]; len(all) == 0 {
			return nil
		}
		if all[0].judgement, err = p.judge.verdict(ctx, all[0].visit, judging{}); err != nil {
			return err
		}
		entries[0] = all[0].judgement.entry(&p.opt.Rule)
	}
	return nil
}
