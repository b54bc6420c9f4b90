package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"skink/crawler"
	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/internal/archive"
	"skink/internal/corpus"
	"skink/store"
	"skink/warc"
)

// markedBy returns a function that writes the HTML page of a record with its main text marked. The
// page states the number of words as counted by the rule, as the record does.
func markedBy(rule dedup.Rule) func(context.Context, store.Reader, *store.Record, io.Writer) error {
	return func(ctx context.Context, s store.Reader, r *store.Record, w io.Writer) error {
		doc, err := inArchive(ctx, s, r)
		if err != nil {
			return err
		}
		var words dedup.Text
		rule.Read(&words, doc.Text, r.Lang)
		return doc.WriteHTML(w, words.Len())
	}
}

// inArchive reads the page of a record from the crawl's web archive, and extracts the main text
// again. The result differs from the stored text if the extractor has changed since the crawl.
func inArchive(ctx context.Context, s store.Reader, r *store.Record) (*extract.Document, error) {
	if r.Archive.File == "" {
		return nil, errors.New("the store has only the text of the page: crawl with --warc to keep whole pages")
	}
	dirs, err := archive.Folders(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case len(dirs) == 0:
		return nil, fmt.Errorf("the page is in the archive file %s, but the store has no record of the folder that contains that file", r.Archive.File)
	}
	f, err := openArchived(dirs, filepath.Base(r.Archive.File))
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(r.Archive.Offset, io.SeekStart); err != nil {
		return nil, err
	}
	rec, err := warc.NewReader(io.LimitReader(f, r.Archive.Length)).Next()
	var page *crawler.Page
	if err == nil {
		page, err = corpus.PageOf(rec, crawler.Defaults())
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the page in the archive file %s: %w", r.Archive.File, err)
	case page == nil || page.Item.URL != r.URL && rec.Header.Get("WARC-Payload-Digest") != r.Archive.Digest || len(page.Body) == 0:
		return nil, fmt.Errorf("the archive file %s does not contain the page", r.Archive.File)
	}
	documents := document.NewReader(document.Options{})
	defer documents.Close()
	doc, err := documents.Parse(ctx, extract.Options{Page: true}, page.Body, page.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("parse the page in the archive file %s: %w", r.Archive.File, err)
	}
	return doc, nil
}

// openArchived opens the named file in the first of dirs that has it. While a crawl writes the
// file, its name ends with [corpus.Opening], so openArchived looks for that name too. If no folder
// has the file, the error is that of the first folder.
func openArchived(dirs []string, name string) (*os.File, error) {
	var missing error
	for _, dir := range dirs {
		for _, suffix := range []string{"", corpus.Opening} {
			f, err := os.Open(filepath.Join(dir, name+suffix))
			if !errors.Is(err, os.ErrNotExist) {
				return f, err
			}
			missing = cmp.Or(missing, err)
		}
	}
	return nil, missing
}
