package feed

import (
	"bytes"
	"fmt"
	"io"

	"skink/dedup"
	"skink/store"
)

// A mark records how much of a store's feed a file contains. It is kept in the store as JSON, under
// the name "feed". It identifies the file by content, not by path, because a file may have been
// moved together with its store, and another file may have its old path.
type mark struct {
	Cursor store.Cursor `json:"cursor"`         // position after the last page written or skipped
	Offset int64        `json:"offset"`         // size of the file in bytes
	Tail   dedup.Hash   `json:"tail,omitzero"`  // hash of up to tailSize bytes before Offset
	First  dedup.Hash   `json:"first,omitzero"` // ID of the page in the file's first line; the zero value means that the file has no lines
}

const tailSize = 4 << 10 // in bytes; long enough to tell texts apart, and cheap to read at each start

// tailOf returns the hash of the last tailSize bytes before offset, or of all bytes before it if
// there are fewer.
func tailOf(f io.ReaderAt, offset int64) (dedup.Hash, error) {
	tail := make([]byte, min(offset, tailSize))
	if _, err := f.ReadAt(tail, offset-int64(len(tail))); err != nil {
		return dedup.Hash{}, err
	}
	return dedup.HashOf(tail), nil
}

// beginsLike reports whether a file of the given size in bytes begins with the line of the page
// whose ID is first. If the file is shorter than the beginning of that line, it must equal the
// first bytes of the line. Any other file was never a feed of the store, and must not be changed.
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
