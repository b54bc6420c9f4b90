package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skink/crawler"
	"skink/store"
	"skink/warc"
)

// Opening is what the names of files end in that are being written.
const Opening = ".open"

// Files are the archives that a path names: itself, or those in a folder in the order of their
// names, which is that in which a crawl wrote them.
func Files(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), Opening)
		if e.Type().IsRegular() && (strings.HasSuffix(name, ".warc.gz") || strings.HasSuffix(name, ".warc")) {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no web archive in the folder %s", path)
	}
	return files, nil
}

// Pages reads the pages of an archive in their order, and passes each on with its place. What is
// damaged is told to damaged, and passed over. The error is that of reading the file, of ctx, or of
// take.
func Pages(ctx context.Context, r io.Reader, name string, opt crawler.Options, damaged func(error), take func(*crawler.Page, store.Archived) error) error {
	records := warc.NewReader(r)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := records.Next()
		if err == io.EOF {
			return nil
		}
		var page *crawler.Page
		if err == nil {
			page, err = PageOf(rec, opt)
		}
		if _, ok := errors.AsType[*warc.Damage](err); ok {
			damaged(err)
			continue
		}
		if err != nil {
			return err
		}
		if page == nil {
			continue
		}
		if err := take(page, store.Archived{File: name, Offset: rec.Offset, Length: rec.Length}); err != nil {
			return err
		}
	}
}
