package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"skink/frontier"
	"skink/store"
	"skink/warc"
)

// ErrElsewhere means that the archive of the crawl is in another folder.
var ErrElsewhere = errors.New("the archive of this crawl is in another folder")

// Open creates the archive of a crawl in the folder dir, or continues it. It creates the folder if
// needed. If a killed process has left a file open, Open truncates the file after the response for
// the last committed page. It returns the number of committed pages whose responses are missing,
// because of a power failure or because the open file was deleted. Open queues their URLs again, so
// that new responses replace the missing ones.
func Open(ctx context.Context, dir string, s RecordStore, opt Options) (a *Archive, lost int, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, 0, err
	}
	a = &Archive{dir: dir, store: s, opt: opt, pack: warc.Options{Digest: opt.Digest}}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, 0, fmt.Errorf("create a folder for the archive: %w", err)
	}
	if opt.Worker != "" {
		if err := enlist(ctx, s, opt.Worker); err != nil {
			return nil, 0, fmt.Errorf("store the name of worker %s: %w", opt.Worker, err)
		}
	}
	known, err := readMark(ctx, s, opt.Worker)
	if err == nil && known != nil {
		lost, err = a.resume(ctx, *known)
	} else if err == nil {
		err = a.first(ctx)
	}
	if err != nil {
		if a.file != nil {
			_ = a.file.Close()
		}
		a.free()
		return nil, 0, fmt.Errorf("open the archive in %s: %w", dir, err)
	}
	return a, lost, nil
}

// FolderOf returns the folder of a worker's archive, as recorded in the store s. It returns "" if
// there is no archive.
func FolderOf(ctx context.Context, s store.MetaReader, worker string) (dir string, err error) {
	m, err := readMark(ctx, s, worker)
	if err != nil || m == nil {
		return "", err
	}
	return m.Dir, nil
}

func readMark(ctx context.Context, s store.MetaReader, worker string) (*mark, error) {
	text, err := s.Meta(ctx, markName(worker))
	if err != nil || text == nil {
		return nil, err
	}
	m := new(mark)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("read the location of the archive: %w: %v", store.ErrCorrupt, err)
	}
	return m, nil
}

func (a *Archive) writeMark(ctx context.Context) error {
	text, err := json.Marshal(a.mark)
	if err != nil {
		return err
	}
	return a.store.SetMeta(ctx, markName(a.opt.Worker), text)
}

// first begins the first file of an archive, under a name that is new in the folder.
func (a *Archive) first(ctx context.Context) error {
	stamp := "skink-" + time.Now().UTC().Format("20060102150405")
	if worker := notInName.ReplaceAllString(a.opt.Worker, "_"); worker != "" {
		stamp += "-" + worker
	}
	for n := 1; ; n++ {
		a.mark = mark{Dir: a.dir, Crawl: stamp, Serial: -1}
		if n > 1 {
			a.mark.Crawl = fmt.Sprintf("%s.%d", stamp, n)
		}
		if err := a.following(ctx); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

var notInName = regexp.MustCompile(`[^0-9A-Za-z._]`)

// resume continues the archive whose stored state is m. It returns the number of committed pages
// whose responses are missing.
func (a *Archive) resume(ctx context.Context, m mark) (lost int, err error) {
	moved := m.Dir != a.dir
	m.Dir = a.dir
	a.mark = m
	f, unlock, err := openLocked(a.path(m.name() + opening))
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return 0, err
	}
	if gone && moved && !a.has(m) {
		return 0, fmt.Errorf("%w: use that folder, or move its files to the new folder", ErrElsewhere)
	}
	if !gone {
		a.file, a.unlock = f, unlock
	}
	all, err := committed(ctx, a.store, &m)
	if err != nil {
		return 0, err
	}
	if !gone {
		return a.cut(ctx, all)
	}
	if _, err := os.Stat(a.path(m.name())); err == nil {
		return 0, a.following(ctx) // the file has already been closed, by its own process or by one that adopted it
	}
	if len(all) > 0 {
		if err := fetchAgain(ctx, a.store.Requeue, all); err != nil {
			return 0, err
		}
		return len(all), a.following(ctx)
	}
	return 0, a.begin(ctx)
}

// cut truncates the open file after the last response for the given pages. It returns the number of
// given pages that have no response in the file.
func (a *Archive) cut(ctx context.Context, all []answeredPage) (lost int, err error) {
	t := &tail{a.store, a.file, a.mark.name()}
	end, gone, err := t.end(ctx, all)
	if err != nil {
		return 0, err
	}
	lost = len(gone)
	if err := fetchAgain(ctx, a.store.Requeue, gone); err != nil {
		return lost, err
	}
	if a.at = end; end == 0 { // not even the first record, the warcinfo, is complete
		name := a.file.Name()
		err := errors.Join(a.file.Close(), os.Remove(name))
		a.free()
		if err != nil {
			return lost, err
		}
		return lost, a.begin(ctx)
	}
	if err := a.file.Truncate(a.at); err != nil {
		return lost, err
	}
	a.entries, err = t.index(a.at)
	switch {
	case err != nil:
		return lost, err
	case lost > 0: // records in the store have positions beyond the end of this file, where no new responses may be written
		return lost, a.next(ctx)
	}
	return lost, a.writeMark(ctx)
}

// Unfinished reports whether a killed process of the worker left a file open in dir.
func Unfinished(ctx context.Context, dir string, s store.MetaReader, worker string) (bool, error) {
	m, err := readMark(ctx, s, worker)
	if err != nil || m == nil {
		return false, err
	}
	_, err = os.Stat(filepath.Join(dir, m.name()+opening))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
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
func (a *Archive) has(m mark) bool {
	found, _ := filepath.Glob(a.path(m.Crawl + "-*.warc.gz")) // the only possible error is a malformed pattern, which matches no file
	return len(found) > 0
}

func indexName(archive string) string { return strings.TrimSuffix(archive, ".warc.gz") + ".cdxj" }
