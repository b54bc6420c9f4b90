package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/internal/archive"
	"skink/internal/harmless"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
	"skink/warc"
)

// archiveFlags are the flags for keeping the answers of a crawl.
type archiveFlags struct {
	dir    string // folder of the archive; "": answers are not kept
	size   size
	digest string
}

func addArchiveFlags(flags *pflag.FlagSet) *archiveFlags {
	f := &archiveFlags{size: archive.DefaultSize}
	flags.StringVar(&f.dir, "warc", "", "keep every answer that comes, as it came, in WARC files in this folder")
	flags.Var(&f.size, "warc-size", "with --warc, begin another file after so much")
	flags.StringVar(&f.digest, "warc-digest", string(warc.SHA256), "with --warc, how digests are made: sha256 or sha1")
	return f
}

func (f *archiveFlags) check() error {
	switch digest := warc.Digest(f.digest); {
	case digest != warc.SHA256 && digest != warc.SHA1:
		return usagef("--warc-digest %q: try sha256 or sha1", f.digest)
	case f.size < 1:
		return usagef("--warc-size %q: try a size, such as 1GB", f.size.String())
	case f.dir == "":
		return nil
	}
	return mayWrite("--warc", filepath.Join(f.dir, "a.warc.gz"), nil)
}

// resumeArchive opens the archive of a crawl if a process was killed while it wrote there: its last
// file must be closed, even if the crawl has nothing left to fetch. It also adopts files of other
// dead workers.
func (c *crawlRun) resumeArchive(ctx context.Context) error {
	dir := c.crawlFlags.archive.dir
	if dir == "" {
		return nil
	}
	unfinished, err := archive.Unfinished(ctx, dir, c.store, c.archivist())
	if err == nil && unfinished {
		err = c.openArchive(ctx)
	}
	if err != nil {
		return err
	}
	return c.adopt(ctx)
}

// adopt adopts the files that other workers left open in the folder of the archive. A file that
// cannot be adopted does not end the crawl.
func (c *crawlRun) adopt(ctx context.Context) error {
	dir := c.crawlFlags.archive.dir
	if dir == "" || !c.store.shared {
		return nil
	}
	_, err := adopt(ctx, c.store, dir, c.store.Requeue, c.say.line)
	return err
}

// openArchive opens the archive of a crawl if the flags ask for one and it is not open yet.
func (c *crawlRun) openArchive(ctx context.Context) error {
	if c.archive != nil {
		return nil
	}
	f := c.crawlFlags.archive
	if f.dir == "" {
		return c.withoutArchive(ctx)
	}
	worker := c.archivist()
	if c.store.shared && worker == "" {
		return usagef("--warc: each of the workers that share a store has files of its own, and finds them by its name: give --worker NAME")
	}
	robots := "obey"
	if c.options.IgnoreRobots {
		robots = "ignore"
	}
	a, lost, err := archive.Open(ctx, f.dir, c.store, archive.Options{
		Size:   int64(f.size),
		Digest: warc.Digest(f.digest),
		Worker: worker,
		Info: warc.Header{
			{Name: "software", Value: "skink " + readBuild().Version},
			{Name: "format", Value: "WARC File Format 1.1"},
			{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
			{Name: "robots", Value: robots},
			{Name: "http-header-user-agent", Value: c.options.UserAgent},
		},
	})
	if errors.Is(err, archive.ErrElsewhere) {
		dir, _ := archive.Where(ctx, c.store, c.archivist())
		return usagef("--warc %s: the archive of the crawl in %s is in %s: give that folder, or move its files", f.dir, c.name(), dir)
	}
	if err != nil {
		return err
	}
	if lost > 0 {
		c.say.line("the answers of %s are not in the archive in %s any more, as after a power cut: they are fetched again", report.Counted(lost, "page"), f.dir)
	}
	c.archive = a
	c.store.Store = inStep{c.store.Store, a}
	c.options.OnAnswer = a.Keep
	return nil
}

// archivist returns the name under which a store keeps the archive of this worker.
func (c *crawlRun) archivist() string {
	if c.store.shared {
		return c.crawlFlags.options.Worker
	}
	return ""
}

// withoutArchive warns that the archive of earlier runs will lack the pages of this run.
func (c *crawlRun) withoutArchive(ctx context.Context) error {
	dir, err := archive.Where(ctx, c.store, c.archivist())
	if err == nil && dir != "" {
		c.say.line("the crawl in %s has an archive in %s: without --warc %s it will lack the pages of this run", c.name(), dir, harmless.Quoted(dir))
	}
	return err
}

// archiving returns the function that commits pages with their answers, or nil without an archive.
func (c *crawlRun) archiving() func(*crawler.Page) ingest.Commit {
	if c.archive == nil {
		return nil
	}
	return c.archive.Answer
}

// closeArchive closes the archive, if there is one.
func (c *crawlRun) closeArchive() error {
	if c.archive == nil {
		return nil
	}
	return c.archive.Close()
}

// inStep is a store that is synced only after its archive, so that each record that survives a
// power cut has its answer.
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
