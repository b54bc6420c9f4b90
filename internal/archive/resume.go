package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/replay"
	"skink/store"
	"skink/warc"
)

// ErrElsewhere: the archive of the crawl is in another folder.
var ErrElsewhere = errors.New("the archive of this crawl is elsewhere")

// Open begins the archive of a crawl in a folder, which it makes, or goes on with it: it cuts the
// file that was being written behind the answer of the last page that was committed. lost is how
// many answers of pages are gone; a power cut can do that, or who took away a file that was not
// whole. Their URLs are put back into the frontier, and what answers then takes the place of what
// is gone.
func Open(ctx context.Context, dir string, s Store, opt Options) (a *Archive, lost int, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, 0, err
	}
	a = &Archive{dir: dir, store: s, opt: opt, pack: warc.Options{Digest: opt.Digest}}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, 0, fmt.Errorf("make a folder for the archive: %w", err)
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
		return nil, 0, fmt.Errorf("open the archive in %s: %w", dir, err)
	}
	return a, lost, nil
}

// A metaReader is what it takes to find an archive.
type metaReader interface {
	Meta(ctx context.Context, name string) ([]byte, error)
}

// Where is the folder in which a worker has its archive of a store; "": it has none.
func Where(ctx context.Context, s metaReader, worker string) (dir string, err error) {
	m, err := readMark(ctx, s, worker)
	if err != nil || m == nil {
		return "", err
	}
	return m.Dir, nil
}

func readMark(ctx context.Context, s metaReader, worker string) (*mark, error) {
	text, err := s.Meta(ctx, markName(worker))
	if err != nil || text == nil {
		return nil, err
	}
	m := new(mark)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("read where the archive is: %w: %v", store.ErrCorrupt, err)
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

// first begins the first file. Its name is one that no other crawl has in this folder.
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

// notInName are the letters of a worker's name that no name of a file should have.
var notInName = regexp.MustCompile(`[^0-9A-Za-z._]`)

// resume goes on with the archive that the store knows of.
func (a *Archive) resume(ctx context.Context, m mark) (lost int, err error) {
	moved := m.Dir != a.dir
	m.Dir = a.dir
	a.mark = m
	f, err := os.OpenFile(a.path(m.name()+opening), os.O_RDWR, 0)
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return 0, err
	}
	if gone && moved && !a.has(m) {
		return 0, fmt.Errorf("%w: go on in its folder, or move its files", ErrElsewhere)
	}
	committed, err := a.committed(ctx)
	if err != nil {
		return 0, err
	}
	if !gone {
		a.file = f
		return a.cut(ctx, committed)
	}
	if _, err := os.Stat(a.path(m.name())); err == nil {
		return 0, a.following(ctx) // it was closed, and the process ended before the next was begun
	}
	if len(committed) > 0 {
		if err := a.fetchAgain(ctx, committed); err != nil {
			return 0, err
		}
		return len(committed), a.following(ctx)
	}
	return 0, a.begin(ctx)
}

// Unfinished says whether a process was killed that had a file of a worker's archive open in a
// folder.
func Unfinished(ctx context.Context, dir string, s metaReader, worker string) (bool, error) {
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

// fetchAgain puts back the URLs of answers that are gone. It comes before the mark says that their
// file is done with: whoever goes on after another crash finds them once more.
func (a *Archive) fetchAgain(ctx context.Context, gone []answered) error {
	var items []frontier.Item
	for _, g := range gone {
		items = append(items, g.item)
	}
	if _, err := a.store.Requeue(ctx, items); err != nil {
		return fmt.Errorf("put back pages whose answers are gone: %w", err)
	}
	return nil
}

// has says whether a folder has files of the crawl.
func (a *Archive) has(m mark) bool {
	found, _ := filepath.Glob(a.path(m.Crawl + "-*.warc.gz")) // a bad pattern finds none
	return len(found) > 0
}

// An answered page was committed with an answer in the file that was open.
type answered struct {
	at   store.Archived
	item frontier.Item // asks for it again, as a whole
}

// committed are the pages that were committed with an answer in the file that was open, in the
// order of their commits.
func (a *Archive) committed(ctx context.Context) (all []answered, err error) {
	name, now := a.mark.name(), time.Now().UTC()
	for page, err := range a.store.Changes(ctx, a.mark.Cursor, store.WantRecord) {
		if err != nil {
			return nil, err
		}
		for _, at := range []store.Archived{page.Record.Archive, page.Record.Answered} {
			if at.File == name {
				r := &page.Record
				all = append(all, answered{at, frontier.Item{URL: r.URL, Via: r.Via, Depth: r.Depth, Hops: r.Hops, Due: now}})
			}
		}
	}
	return all, nil
}

// cut makes the file that is open end behind the last answer of a page that was committed, and
// returns how many of those are not there.
func (a *Archive) cut(ctx context.Context, committed []answered) (lost int, err error) {
	info, err := a.file.Stat()
	if err != nil {
		return 0, err
	}
	var last store.Archived
	var gone []answered
	for _, c := range committed {
		switch end := c.at.Offset + c.at.Length; {
		case end > info.Size():
			gone = append(gone, c)
		case end > last.Offset+last.Length:
			last = c.at
		}
	}
	lost = len(gone)
	if err := a.fetchAgain(ctx, gone); err != nil {
		return lost, err
	}
	if a.at, err = a.endOf(ctx, last); err != nil {
		return lost, err
	}
	if a.at == 0 { // not even its warcinfo is whole
		name := a.file.Name()
		if err := errors.Join(a.file.Close(), os.Remove(name)); err != nil {
			return lost, err
		}
		return lost, a.begin(ctx)
	}
	if err := a.file.Truncate(a.at); err != nil {
		return lost, err
	}
	name := a.mark.name()
	whole := io.NewSectionReader(a.file, 0, a.at)
	a.entries, err = warc.IndexOf(whole, name, func(*warc.Damage) {}) // what rots is in no index
	switch {
	case err != nil:
		return lost, err
	case lost > 0: // the store knows of places behind the end, at which nothing else may come to be
		return lost, a.next(ctx)
	}
	return lost, a.writeMark(ctx)
}

// endOf is where the records end that belong to pages of the store: those that refer to the last
// answer of one. last is such an answer; behind it there may be others, of visits that left a
// record what it was and so are no change of the store. Without any, it is where the first record
// of the file ends; 0: there is none.
func (a *Archive) endOf(ctx context.Context, last store.Archived) (int64, error) {
	r := warc.NewReader(io.NewSectionReader(a.file, last.Offset, 1<<62))
	end, about := int64(0), ""
	for {
		rec, err := r.Next()
		if err == nil {
			_, err = io.Copy(io.Discard, rec.Block)
		}
		if err != nil {
			if _, damaged := errors.AsType[*warc.Damage](err); !damaged && err != io.EOF {
				return 0, err
			}
			return last.Offset + end, nil
		}
		if about == "" || rec.Header.Get("WARC-Concurrent-To") != about {
			settled := end == 0
			if !settled {
				if settled, err = a.isSettled(ctx, rec, last.Offset+rec.Offset); err != nil {
					return 0, err
				}
			}
			if about = ""; !settled {
				continue
			}
			about = rec.ID()
		}
		end = rec.Offset + rec.Length
	}
}

// isSettled says whether the store knows of a record of the open file as the answer of a page.
func (a *Archive) isSettled(ctx context.Context, rec *warc.Record, offset int64) (bool, error) {
	if !rec.Header.Has(replay.PageField) && rec.Type() != warc.Metadata {
		return false, nil
	}
	pages, err := a.store.Pages(ctx, []dedup.Hash{dedup.HashOf([]byte(rec.URI()))}, store.WantRecord)
	if err != nil || pages[0] == nil {
		return false, err
	}
	r, name := &pages[0].Record, a.mark.name()
	isHere := func(at store.Archived) bool { return at.File == name && at.Offset == offset }
	return isHere(r.Archive) || isHere(r.Answered), nil
}

func indexName(archive string) string { return strings.TrimSuffix(archive, ".warc.gz") + ".cdxj" }
