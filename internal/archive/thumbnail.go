package archive

import (
	"context"
	"io"
	"path/filepath"

	"skink/store"
	"skink/warc"
)

// maxBehind is the number of records behind a response among which its thumbnail is.
const maxBehind = 6

// Thumbnail returns the small picture of a page that stands behind its latest response in the archive. It
// returns nil if there is none, or if the archive has been moved.
func Thumbnail(ctx context.Context, s store.Reader, r *store.Record) []byte {
	at := r.Archive
	if r.Answered.File != "" {
		at = r.Answered
	}
	dirs, err := Folders(ctx, s)
	if err != nil || at.File == "" {
		return nil
	}
	for _, dir := range dirs {
		if f, err := openEither(filepath.Join(dir, filepath.Base(at.File))); err == nil {
			defer f.Close()
			return thumbnailIn(io.NewSectionReader(f, at.Offset, 1<<62), r.URL)
		}
	}
	return nil
}

func thumbnailIn(from io.Reader, url string) []byte {
	records := warc.NewReader(from)
	for range maxBehind {
		rec, err := records.Next()
		if err != nil {
			return nil
		}
		if rec.Type() == warc.Resource && rec.URI() == warc.ThumbnailPrefix+url {
			image, err := io.ReadAll(rec.Block)
			if err != nil {
				return nil
			}
			return image
		}
	}
	return nil
}
