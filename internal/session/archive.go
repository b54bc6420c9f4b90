package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"skink/base/harmless"
	"skink/internal/archive"
	"skink/internal/corpus"
	"skink/report"
	"skink/store"
	"skink/store/precedence"
	"skink/warc"
)

// archiveOrder writes the order of hosts to the archive, if there is one.
func (r *run) archiveOrder(a *archive.Archive, order *precedence.Order) {
	if a == nil {
		return
	}
	private := func(host string) bool { return r.opt.Crawl.IsPrivate("http://" + host) }
	all := func(string) bool { return false }
	a.SetSeeds(archive.Seeds{Public: order.Text(private), Private: order.Text(all)})
}

// An inStep is a store whose Sync first syncs the archive. So even after a power failure, the
// archive has the response for every record in the store.
type inStep struct {
	store.Store
	archive *archive.Archive
}

func (s inStep) Sync() error {
	if err := s.archive.Sync(); err != nil {
		return fmt.Errorf("sync the web archive: %w", err)
	}
	return s.Store.Sync()
}

// resumeArchive opens the archive of a crawl if a process was killed while writing an archive file.
// That file must be completed, even if the crawl has nothing left to fetch. It also completes files
// that other dead workers left open.
func (r *run) resumeArchive(ctx context.Context) (a *archive.Archive, err error) {
	dir := r.opt.Archive.Dir
	if dir == "" {
		return nil, nil
	}
	unfinished, err := archive.Unfinished(ctx, dir, r.store, r.archivist())
	if err == nil && unfinished {
		a, err = r.openArchive(ctx)
	}
	if err == nil {
		err = r.adopt(ctx)
	}
	return a, err
}

// adopt completes the archive files that dead workers left open in the archive's folder. A file
// that cannot be completed does not end the crawl.
func (r *run) adopt(ctx context.Context) error {
	dir := r.opt.Archive.Dir
	if dir == "" || !r.store.Shared {
		return nil
	}
	_, err := Adopt(ctx, r.store, dir, r.store.Requeue, r.out.Say)
	return err
}

// scope returns the seeds and their rules for the archive. The public text leaves out private hosts.
func (r *run) scope() archive.Seeds {
	var public, private bytes.Buffer
	o := &r.opt.Crawl
	if o.MaxDepth > 0 {
		fmt.Fprintf(&public, "max-depth: %d\r\n", o.MaxDepth)
		private = *bytes.NewBuffer(bytes.Clone(public.Bytes()))
	}
	o.Scope.Describe(&public, func(url string) bool { return !o.IsPrivate(url) })
	o.Scope.Describe(&private, func(string) bool { return true })
	return archive.Seeds{Public: public.Bytes(), Private: private.Bytes()}
}

func (r *run) overrides() Overrides { return r.opt.Crawl.Hosts.Reasons() }

// openArchive returns nil if the options ask for no archive.
func (r *run) openArchive(ctx context.Context) (*archive.Archive, error) {
	to := r.opt.Archive
	switch {
	case to.Dir == "" && r.now.Load() != nil: // an earlier round has warned
		return nil, nil
	case to.Dir == "":
		return nil, r.withoutArchive(ctx)
	}
	worker := r.archivist()
	if r.store.Shared && worker == "" {
		return nil, usagef("--warc: each worker of a shared store needs a name, which identifies its archive files: give --worker NAME")
	}
	robots := "obey"
	if r.opt.Crawl.IgnoreRobots {
		robots = "ignore"
	}
	var overridden strings.Builder
	public := r.overrides()
	maps.DeleteFunc(public, func(host, _ string) bool { return r.opt.Crawl.IsPrivate("http://" + host) }) // a public file must not name it
	public.Print(&overridden)
	if overridden.Len() > 0 {
		robots += "; " + strings.ReplaceAll(strings.TrimSpace(overridden.String()), "\n", "; ")
	}
	opt := to.Options
	opt.Worker, opt.Scope, opt.Refers = worker, r.scope(), nil
	for _, dir := range to.Refers {
		files, err := Referred(dir)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			opt.Refers = append(opt.Refers, f.Name)
		}
	}
	opt.Info = append(warc.Header{
		{Name: "software", Value: "skink " + r.opt.Build.Version},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "robots", Value: robots},
		{Name: "http-header-user-agent", Value: r.opt.Crawl.UserAgent},
	}, to.Info...)
	a, lost, err := archive.Open(ctx, to.Dir, r.store, opt)
	if errors.Is(err, archive.ErrElsewhere) {
		dir, _ := archive.FolderOf(ctx, r.store, worker)
		return nil, usagef("--warc %s: the archive of the crawl in %s is in %s: use that folder, or move its files to the new folder", to.Dir, r.store.Name, dir)
	}
	if err != nil {
		return nil, err
	}
	if lost > 0 {
		r.out.Say("the responses for %s are missing from the archive in %s, perhaps because of a power failure: the crawl fetches these pages again", report.Counted(lost, "page"), to.Dir)
	}
	return a, nil
}

// Referred returns the archive files in a folder that --warc-refers names: files with one gzip member for
// each record.
func Referred(dir string) (files []corpus.Archive, err error) {
	all, err := corpus.Archives(dir, func(string) {})
	for _, f := range all {
		if info, err := os.Stat(f.Name); err == nil && info.Mode().IsRegular() && strings.HasSuffix(f.Name, ".warc.gz") {
			files = append(files, f)
		}
	}
	if err == nil && len(files) == 0 {
		err = errors.New("the folder has no .warc.gz file")
	}
	if err != nil {
		err = usagef("--warc-refers %s: %w", dir, err)
	}
	return files, err
}

// archivist returns the key under which a store keeps the location of this worker's archive: the
// name of the worker if the store is shared, otherwise "".
func (r *run) archivist() string {
	if r.store.Shared {
		return r.opt.Crawl.Worker
	}
	return ""
}

// withoutArchive warns the user if earlier runs of the crawl wrote an archive and this run does
// not, because that archive will lack the pages of this run.
func (r *run) withoutArchive(ctx context.Context) error {
	dir, err := archive.FolderOf(ctx, r.store, r.archivist())
	if err == nil && dir != "" {
		r.out.Say("the crawl in %s has an archive in %s: to add the pages of this run to the archive, use --warc %s", r.store.Name, dir, harmless.Quoted(dir))
	}
	return err
}
