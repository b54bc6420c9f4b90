package session

import (
	"context"
	"errors"
	"fmt"

	"skink/crawler"
	"skink/crawler/wire"
	"skink/internal/archive"
	"skink/internal/harmless"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
	"skink/warc"
)

// A keeping is the archive of a run, if it has one.
type keeping struct {
	archive *archive.Archive // nil: answers are not kept, or the archive is closed
}

// keep returns the function that keeps the answers without pages, or nil.
func (k *keeping) keep() func(*wire.Raw) {
	if k.archive == nil {
		return nil
	}
	return k.archive.Keep
}

// commit returns the function that commits pages with their answers, or nil.
func (k *keeping) commit() func(*crawler.Page) ingest.EntryWriter {
	if k.archive == nil {
		return nil
	}
	return k.archive.Answer
}

// inStep returns a store that is synced only after the archive, so that each record that survives a
// power cut has its answer.
func (k *keeping) inStep(s *NamedStore) *NamedStore {
	if k.archive == nil {
		return s
	}
	with := *s
	with.Store = inStep{s.Store, k.archive}
	return &with
}

// close closes the archive. Further calls do nothing.
func (k *keeping) close() error {
	a := k.archive
	if k.archive = nil; a == nil {
		return nil
	}
	return a.Close()
}

// inStep is a store that syncs an archive first.
type inStep struct {
	store.Store
	archive *archive.Archive
}

func (s inStep) Sync() error {
	if err := s.archive.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return s.Store.Sync()
}

// resumeArchive opens the archive of a crawl if a process was killed while it wrote there: its last
// file must be closed, even if the crawl has nothing left to fetch. It also adopts files of other
// dead workers.
func (r *run) resumeArchive(ctx context.Context) (*keeping, error) {
	kept, dir := &keeping{}, r.opt.Archive.Dir
	if dir == "" {
		return kept, nil
	}
	unfinished, err := archive.Unfinished(ctx, dir, r.store, r.archivist())
	if err == nil && unfinished {
		err = r.openArchive(ctx, kept)
	}
	if err != nil {
		return kept, err
	}
	return kept, r.adopt(ctx)
}

// adopt adopts the files that other workers left open in the folder of the archive. A file that
// cannot be adopted does not end the crawl.
func (r *run) adopt(ctx context.Context) error {
	dir := r.opt.Archive.Dir
	if dir == "" || !r.store.Shared {
		return nil
	}
	_, err := Adopt(ctx, r.store, dir, r.store.Requeue, r.out.Say)
	return err
}

// openArchive opens the archive if the options ask for one and it is not open yet.
func (r *run) openArchive(ctx context.Context, kept *keeping) error {
	to := r.opt.Archive
	if kept.archive != nil {
		return nil
	}
	if to.Dir == "" {
		return r.withoutArchive(ctx)
	}
	worker := r.archivist()
	if r.store.Shared && worker == "" {
		return usagef("--warc: workers that share a store find their files by their name: give --worker NAME")
	}
	robots := "obey"
	if r.opt.Crawl.IgnoreRobots {
		robots = "ignore"
	}
	a, lost, err := archive.Open(ctx, to.Dir, r.store, archive.Options{
		Size:   to.Size,
		Digest: to.Digest,
		Worker: worker,
		Info: warc.Header{
			{Name: "software", Value: "skink " + r.opt.Build.Version},
			{Name: "format", Value: "WARC File Format 1.1"},
			{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
			{Name: "robots", Value: robots},
			{Name: "http-header-user-agent", Value: r.opt.Crawl.UserAgent},
		},
	})
	if errors.Is(err, archive.ErrElsewhere) {
		dir, _ := archive.Where(ctx, r.store, worker)
		return usagef("--warc %s: the archive of the crawl in %s is in %s: use that folder, or move its files", to.Dir, r.store.Name, dir)
	}
	if err != nil {
		return err
	}
	if lost > 0 {
		r.out.Say("the answers of %s are missing from the archive in %s, perhaps after a power cut: they are fetched again", report.Counted(lost, "page"), to.Dir)
	}
	kept.archive = a
	return nil
}

// archivist returns the name under which a store keeps the archive of this worker.
func (r *run) archivist() string {
	if r.store.Shared {
		return r.opt.Crawl.Worker
	}
	return ""
}

// withoutArchive warns that the archive of earlier runs will lack the pages of this run.
func (r *run) withoutArchive(ctx context.Context) error {
	dir, err := archive.Where(ctx, r.store, r.archivist())
	if err == nil && dir != "" {
		r.out.Say("the crawl in %s has an archive in %s: without --warc %s it will not contain the pages of this run", r.store.Name, dir, harmless.Quoted(dir))
	}
	return err
}
