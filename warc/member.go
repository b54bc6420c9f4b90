package warc

import (
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipMagic is the beginning of each gzip member: two magic bytes, and the byte for the deflate
// compression method (RFC 1952).
const gzipMagic = "\x1f\x8b\x08"

// A member reads the decompressed bytes of one gzip member of a source. At the end of the gzip
// member it returns io.EOF, and the source is at the byte after it.
type member struct {
	from *source
	z    gzip.Reader

	offset  int64 // file offset at which the gzip member begins
	open    bool  // whether begin has been called and the end has not been reached
	records int   // number of records that begin in the gzip member
	err     error // decompression error; nil means none so far
}

// begin starts decompressing the gzip member at the source's current position.
func (m *member) begin() error {
	m.offset, m.open, m.records, m.err = m.from.offset(), true, 0, nil
	if err := m.z.Reset(m.from.buf); err != nil {
		m.err = unexpected(err)
		return m.err
	}
	m.z.Multistream(false)
	return nil
}

func (m *member) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.z.Read(p)
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}
