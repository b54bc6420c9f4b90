package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"skink/crawler"
	"skink/crawler/robots"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/harmless"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
)

// A rejudging judges the pages of archives in the order of the archives. A skink crawl writes them
// in the order of their commits, so the verdicts are the same as in that crawl.
type rejudging struct {
	*crawlFlags // what the command line said: only read
	options     crawler.Options
	say         sayer
	store       *writeStore
	pipeline    *ingest.Pipeline
	ways        map[string]way // ways to targets of redirects, by URL
	lost        int            // records that could not be read
	passed      reading        // counts skipped records
}

// A way is the chain of redirects that led a crawl to a page.
type way struct {
	via  string
	hops int
}

// replay runs skink crawl --from.
func (f *crawlFlags) replay(ctx context.Context, say sayer, opt crawler.Options, args []string) (err error) {
	switch {
	case len(args) > 0:
		return usagef("--from judges what an archive holds, and fetches nothing: leave the seeds out")
	case f.again.retry != "" || f.again.recrawl != "":
		return usagef("--from judges what an archive holds, and asks no server again: leave --retry and --recrawl out")
	case f.learning.given() != "":
		return usagef("--from judges all that an archive holds, and fetches nothing that could be spared: leave %s out", f.learning.given())
	case f.archive.dir != "":
		return usagef("--from and --warc: an archive needs no second one: leave --warc out")
	case f.feed != "":
		return usagef("--from and --feed: what is judged is printed by %s when it is done", "skink export")
	}
	var files []corpus.Archive
	for _, path := range f.from {
		of, err := corpus.Archives(path)
		if err != nil {
			return plainError(path, err)
		}
		files = append(files, of...)
	}
	if _, err := check(f.rule.settings()); err != nil {
		return err
	}
	s, err := openStore(ctx, *f.store, true, 16)
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, s.Close()) }()
	if text := lossText(s.loss()); text != "" {
		say.line("%s", text)
	}
	if err := mayGoOn(ctx, s.name, s); err != nil {
		return err
	}
	stop := s.answer("skink crawl", func(err error) { say.line("%v", err) })
	defer func() { err = keepFirst(err, stop()) }()
	opt.Scope = nil // links are not followed
	r := &rejudging{crawlFlags: f, options: opt, say: say, store: s, ways: map[string]way{}}
	return r.run(ctx, files)
}

func (r *rejudging) run(ctx context.Context, files []corpus.Archive) error {
	rule, set, err := r.rule.agree(ctx, r.store, r.store.name)
	if err != nil {
		return err
	}
	order, err := orderHosts(ctx, r.store, r.store.name, r.prefer, new(seeds))
	if err != nil {
		return err
	}
	r.pipeline, err = ingest.New(ctx, r.store, ingest.Options{
		Rule: rule, Markdown: set.Markdown, NoLinks: set.NoLinks, Order: order, Shared: r.store.shared, SkipDuplicates: set.SkipTexts, Agent: robots.ProductToken(r.options.UserAgent), Memory: int64(*r.memory),
	})
	if err != nil {
		return err
	}
	started := time.Now()
	err = r.pipeline.Replay(ctx, r.pages(ctx, files))
	if err := keepFirst(err, r.pipeline.Close()); err != nil {
		return err
	}
	counts, err := r.store.Counts(ctx)
	if err != nil {
		return err
	}
	tally := r.pipeline.Tally()
	later, err := countPostponed(ctx, r.store, counts, tally)
	if err != nil {
		return err
	}
	r.say.summary(summary{
		added: r.pipeline.Added(), all: tally, urls: counts, later: later, rule: rule, took: time.Since(started),
		store: r.store.name, bytes: r.store.size(),
	})
	if len(r.passed.passed) > 0 {
		r.say.line("passed over: %s", r.passed.passedText())
	}
	if r.lost > 0 {
		return fmt.Errorf("%s could not be read", report.Counted(r.lost, "record"))
	}
	if fetchedNothing(tally) {
		return errors.New("the archive holds no page")
	}
	return nil
}

// errStop means that no more pages are wanted.
var errStop = errors.New("stop")

// pages yields the pages of the files, one file after the other.
func (r *rejudging) pages(ctx context.Context, files []corpus.Archive) iter.Seq2[*ingest.Replayed, error] {
	return func(yield func(*ingest.Replayed, error) bool) {
		for _, f := range files {
			r.say.line("Judging the pages of %s into %s", f.Name, *r.crawlFlags.store)
			switch err := r.pagesOf(ctx, f, yield); {
			case errors.Is(err, errStop):
				return
			case err != nil:
				yield(nil, fmt.Errorf("%s: %w", f.Name, err))
				return
			}
		}
	}
}

// pagesOf yields the pages of a file. The error is errStop if no more are wanted.
func (r *rejudging) pagesOf(ctx context.Context, file corpus.Archive, yield func(*ingest.Replayed, error) bool) error {
	f, err := file.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	notes := corpus.Notes{
		Passed: r.passed.passOver,
		Odd:    func(err error) { r.say.line("%s: %s", file.Name, harmless.Error(err)) },
		Damaged: func(err error) {
			r.lost++
			r.say.line("%s: %s", file.Name, harmless.Error(err))
		},
	}
	return corpus.ReadArchive(ctx, f, filepath.Base(file.Name), r.options, notes, func(p *crawler.Page, at store.Archived) error {
		r.lead(p)
		p.Item.Due = p.FetchedAt // a later answer of a URL counts as another visit
		leads, err := crawler.LeadsOf(p, &r.options)
		if err != nil {
			return err
		}
		discover := func(ctx context.Context) error {
			_, err := r.store.Discover(ctx, []frontier.Item{p.Item}) // so that its end is counted
			return err
		}
		if !yield(&ingest.Replayed{Page: p, Leads: leads, Before: discover, Commit: r.placed(at), Known: func() { r.passed.passOver("visit that is no later than the one stored") }}, nil) {
			return errStop
		}
		return nil
	})
}

// lead records the target of a redirect, and sets the redirects that led to a page.
func (r *rejudging) lead(p *crawler.Page) {
	if came, ok := r.ways[p.Item.URL]; ok {
		p.Item.Via, p.Item.Hops = came.via, came.hops
	}
	if p.Location == "" {
		return
	}
	from := way{p.Item.Via, p.Item.Hops + 1}
	if from.via == "" {
		from.via = p.Item.URL
	}
	r.ways[p.Location] = from
}

// placed returns a Commit that adds the position of the answer to a page's record.
func (r *rejudging) placed(at store.Archived) ingest.Commit {
	return func(ctx context.Context, e *store.Entry) (store.Outcome, error) {
		e.Record.Archive = at
		outcomes, err := r.store.Commit(ctx, []*store.Entry{e})
		if err != nil {
			return store.Stale, err
		}
		return outcomes[0], nil
	}
}
