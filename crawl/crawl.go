// Package crawl crawls sites into a store, and judges each page as skink crawl does:
//
//	seeds, opt := []string{"https://example.com/"}, crawl.Defaults()
//	err := crawl.Run(ctx, nil, seeds, opt, func(ctx context.Context, p *store.Change) error {
//		fmt.Println(p.Record.URL, p.Record.Verdict, p.Record.DuplicateOf)
//		return nil
//	})
//
// A store that is nil lasts until Run returns. [skink/store/badger.Open] opens a store in a folder, and
// [skink/store/postgres.Open] one on a PostgreSQL server. Any other [store.Store] will do, such as one that
// embeds one of these. If the process ends before the crawl, call Run again with the same store: it continues.
package crawl

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"skink/crawler"
	"skink/frontier"
	"skink/internal/output"
	"skink/internal/session"
	"skink/store"
	"skink/store/badger"
)

// Options are the options of one run.
type Options struct {
	crawler.Options // scope, politeness and limits

	// Settings says how pages are judged and stored. A new store keeps them. The settings of an
	// existing store apply to later runs.
	store.Settings

	// After is the position in the store after which the caller gets pages. "" means the beginning of
	// the store. To continue a run, use the Cursor of the last page that was processed.
	After store.Cursor

	Messages io.Writer // receives messages and progress as text; nil drops them
	Shared   bool      // other processes may also write to the store
}

// Defaults returns the options of skink crawl without flags. The crawl stays on the hosts of the
// seeds, obeys robots.txt, and sends one request a second to each host. Set UserAgent to the name of
// your crawler and an address where site owners can reach you.
func Defaults() Options {
	o := session.Defaults()
	return Options{Options: o.Crawl, Settings: o.Wanted.Settings}
}

// Run crawls from the seeds and the pending URLs of the store. If s is nil, the store is in a temporary
// folder, which Run deletes; in a folder in memory (tmpfs), nothing is written to the disk. It returns when nothing is left to
// fetch, when a limit is reached, or when ctx ends.
//
// Each change of the store is passed to page: a page with its text and verdict, a redirect, or an
// error. A page that is visited or judged again is passed again. Pages that must not be published are
// passed too: see [store.Record].Private and NoIndex. Calls of page do not overlap. page may be nil. If
// it returns an error, the crawl ends with this error.
//
// If ctx ends, Run stores the pages that it is fetching, and returns the error of ctx. Run fails if
// a seed is not a valid URL, or if no page could be fetched.
func Run(ctx context.Context, s store.Store, seeds []string, opt Options, page func(context.Context, *store.Change) error) error {
	if s == nil {
		dir, remove, err := output.TemporaryFolder("skink-crawl-")
		if err != nil {
			return err
		}
		defer remove()
		if s, err = badger.Open(dir, badger.Options{Create: true, Temporary: true}); err != nil {
			return err
		}
		defer s.Close()
	}
	o := session.Defaults()
	opt.Scope = cmp.Or(opt.Scope, o.Crawl.Scope)
	o.Crawl, o.Wanted.Settings = opt.Options, opt.Settings
	o.Crawl.Scope.Obey(o.Crawl.Hosts)
	o.Follow = session.Follower{After: opt.After, Page: page}
	for _, seed := range seeds {
		url, err := frontier.Canonical(seed)
		if err != nil {
			return fmt.Errorf("seed: %w", err)
		}
		o.Seeds.URLs = append(o.Seeds.URLs, url)
	}
	out := session.Output{Err: cmp.Or(opt.Messages, io.Discard), Quiet: opt.Messages == nil}
	sum, err := session.Run(ctx, &session.NamedStore{Store: s, Name: "the store", Shared: opt.Shared}, o, out)
	if err == nil && sum.End.Interrupted {
		return context.Cause(ctx)
	}
	return err
}
