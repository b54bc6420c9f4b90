package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"skink/dedup"
	"skink/store"
)

// A mark records how much of a store's feed a file holds. It is kept in the store, under the name
// "feed", as JSON. It identifies the file by content and not by name, because a file may be moved
// with its store, and another file may have its name by now.
type mark struct {
	Cursor store.Cursor `json:"cursor"`         // position in the store's changes up to which the file is complete
	Offset int64        `json:"offset"`         // length in bytes of the file when the mark was set
	Tail   dedup.Hash   `json:"tail,omitzero"`  // hash of the last bytes before Offset, at most tailSize
	First  dedup.Hash   `json:"first,omitzero"` // id of the page in the file's first line; zero: the file never had a line
}

const (
	markName = "feed"
	tailSize = 4 << 10 // enough to hold the end of a text, cheap enough to read at each start
)

// readMark returns the mark of s, or nil if it never had a feed.
func readMark(ctx context.Context, s FileStore) (*mark, error) {
	b, err := s.Meta(ctx, markName)
	if err != nil || b == nil {
		return nil, err
	}
	var m mark
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("read the feed's mark: %w: %v", store.ErrCorrupt, err)
	}
	return &m, nil
}

func writeMark(ctx context.Context, s FileStore, m mark) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.SetMeta(ctx, markName, b)
}

// tailOf returns the hash of the last bytes before offset.
func tailOf(f io.ReaderAt, offset int64) (dedup.Hash, error) {
	tail := make([]byte, min(offset, tailSize))
	if _, err := f.ReadAt(tail, offset-int64(len(tail))); err != nil {
		return dedup.Hash{}, err
	}
	return dedup.HashOf(tail), nil
}

// beginsLike reports whether a file of size bytes begins with the line of a page, or with the
// beginning of that line if the file is shorter. A file that does not begin so was never a feed of
// the store, and must not be changed.
func beginsLike(f io.ReaderAt, size int64, first dedup.Hash) (bool, error) {
	if first.IsZero() {
		return false, nil
	}
	want := fmt.Appendf(nil, `{"id":"%s"`, first)
	got := make([]byte, min(size, int64(len(want))))
	if _, err := f.ReadAt(got, 0); err != nil {
		return false, err
	}
	return bytes.HasPrefix(want, got), nil
}
