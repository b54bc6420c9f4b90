package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"skink/base/batcher"
	"skink/frontier"
	"skink/store"
)

// perProcess is the difference between the first orders that two processes write for one archive. A
// process that was killed may have written any order below the one in its mark.
const perProcess = 1 << 32

// ErrElsewhere means that the archive of the crawl is in another folder.
var ErrElsewhere = errors.New("the archive of this crawl is in another folder")

// Open creates the archive of a crawl in the folder dir, or continues it. It creates the folder if
// needed. If a killed process has left a file open, Open truncates the file after the response for
// the last committed page, and closes it. It returns the number of committed pages whose responses are missing,
// because of a power failure or because the open file was deleted. Open queues their URLs again, so
// that new responses replace the missing ones.
func Open(ctx context.Context, dir string, s store.Store, opt Options) (a *Archive, lost int, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, 0, err
	}
	a = &Archive{dir: dir, store: s, opt: opt}
	a.pages = batcher.New(func(calls [][]*call) ([][]struct{}, error) {
		a.serve(context.Background(), slices.Concat(calls...))
		return make([][]struct{}, len(calls)), nil
	})
	a.brief = batcher.NewGatherer(func(ctx context.Context, calls []*call) ([]struct{}, error) {
		a.serve(context.WithoutCancel(ctx), calls)
		return make([]struct{}, len(calls)), nil
	})
	a.refer()
	a.public, a.private = &volume{Archive: a, told: true}, &volume{Archive: a, told: true}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, 0, fmt.Errorf("create a folder for the archive: %w", err)
	}
	if opt.Worker != "" {
		if err := enlist(ctx, s, opt.Worker); err != nil {
			return nil, 0, fmt.Errorf("store the name of worker %s: %w", opt.Worker, err)
		}
	}
	if lost, err = a.open(ctx); err != nil {
		_ = a.drop()
		return nil, 0, fmt.Errorf("open the archive in %s: %w", dir, err)
	}
	return a, lost, nil
}

// open opens both volumes. The store may have no mark of the private volume, or of both.
func (a *Archive) open(ctx context.Context) (lost int, err error) {
	known, err := readMark(ctx, a.store, a.opt.Worker, false)
	if err != nil {
		return 0, err
	}
	private, err := readMark(ctx, a.store, a.opt.Worker, true)
	if err != nil {
		return 0, err
	}
	if known == nil {
		err = a.public.first(ctx)
	} else {
		a.order = known.Order
		lost, err = a.public.resume(ctx, *known)
	}
	if a.private.mark = a.public.mark; private == nil || err != nil {
		a.latest = a.public
		a.private.mark.Serial, a.private.mark.Private = -1, true
		return lost, err
	}
	more, err := a.private.resume(ctx, *private)
	return lost + more, err
}

// FolderOf returns the folder of a worker's archive, as recorded in the store s. It returns "" if
// there is no archive.
func FolderOf(ctx context.Context, s store.MetaReader, worker string) (dir string, err error) {
	m, err := readMark(ctx, s, worker, false)
	if err != nil || m == nil {
		return "", err
	}
	return m.Dir, nil
}

func readMark(ctx context.Context, s store.MetaReader, worker string, private bool) (*mark, error) {
	return store.ReadMeta[mark](ctx, s, markName(worker, private), "the location of the archive")
}

func (v *volume) writeMark(ctx context.Context) error {
	v.mark.Order = v.order&^(perProcess-1) + perProcess
	return store.WriteMeta(ctx, v.store, markName(v.opt.Worker, v.mark.Private), v.mark)
}

// first begins the first file of an archive. Its name has a random part, so that the files of several
// archives may be in one folder.
func (v *volume) first(ctx context.Context) error {
	stamp := "skink-" + strings.Replace(time.Now().UTC().Format("20060102150405.000"), ".", "", 1)
	if worker := notInName.ReplaceAllString(v.opt.Worker, "_"); worker != "" {
		stamp += "-" + worker
	}
	v.mark = mark{Dir: v.dir, Crawl: stamp + "-" + strings.ToLower(rand.Text()[:8]), Serial: -1}
	return v.following(ctx)
}

var notInName = regexp.MustCompile(`[^0-9A-Za-z._]`)

// isOther reports whether another worker wrote the file with this name.
func (a *Archive) isOther(file string) bool {
	worker := notInName.ReplaceAllString(a.opt.Worker, "_")
	return worker != "" && !strings.Contains(file, "-"+worker+"-") && !strings.Contains(file, "-"+worker+".")
}

// resume continues the archive whose stored state is m. It completes the file that a killed process has
// left open, and the next response begins another one. It returns the number of committed pages whose
// responses are missing.
func (v *volume) resume(ctx context.Context, m mark) (lost int, err error) {
	moved := m.Dir != v.dir
	m.Dir = v.dir
	v.mark = m
	f, unlock, err := openLocked(v.path(m.name() + opening))
	switch gone := errors.Is(err, fs.ErrNotExist); {
	case err == nil:
		_, lost, err = (&tail{v.store, f, m.name()}).close(ctx, &m, unlock, v.store.Requeue)
	case gone && moved && !v.has(m):
		return 0, fmt.Errorf("%w: use that folder, or move its files to the new folder", ErrElsewhere)
	case gone && v.isClosed(m.name()): // by its own process, or by one that adopted it
		err = nil
	case gone:
		var all []answeredPage
		if all, err = committed(ctx, v.store, &m); err == nil && len(all) > 0 {
			lost, err = len(all), fetchAgain(ctx, v.store.Requeue, all)
		}
	}
	switch {
	case err != nil:
		return lost, err
	case lost > 0: // records in the store have positions in the missing part of this file, so the next run must not ask for them again
		return lost, v.following(ctx)
	}
	return 0, v.writeMark(ctx)
}

// Unfinished reports whether a killed process of the worker left a file open in dir.
func Unfinished(ctx context.Context, dir string, s store.MetaReader, worker string) (bool, error) {
	open, err := Opened(ctx, dir, s)
	return slices.ContainsFunc(open, func(l LeftOpen) bool { return l.Worker == worker }), err
}

type requeue = func(ctx context.Context, items []frontier.Item) (int, error)

// fetchAgain queues the URLs of pages whose responses are missing, so that they are fetched again.
// It is called before the stored mark moves to the next file. If the process crashes in between,
// the next one detects the missing responses again.
func fetchAgain(ctx context.Context, requeue requeue, gone []answeredPage) error {
	var items []frontier.Item
	for _, g := range gone {
		items = append(items, g.item)
	}
	if _, err := requeue(ctx, items); err != nil {
		return fmt.Errorf("requeue the pages whose responses were lost: %w", err)
	}
	return nil
}

// has reports whether the folder contains a closed file of the crawl that m describes.
func (v *volume) has(m mark) bool {
	files, _ := os.ReadDir(v.dir) // a folder that cannot be read has no such file
	return slices.ContainsFunc(files, func(f fs.DirEntry) bool {
		return strings.HasPrefix(f.Name(), m.Crawl+"-") && strings.HasSuffix(f.Name(), ".warc.gz")
	})
}

func indexName(archive string) string { return strings.TrimSuffix(archive, ".warc.gz") + ".cdxj" }
