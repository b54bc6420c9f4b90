package warc

import (
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipMagic is how a member begins: the magic number and the method deflate (RFC 1952).
const gzipMagic = "\x1f\x8b\x08"

// A member is one gzip member of a source, unpacked. At its end it returns io.EOF, and the source
// is at the next byte.
type member struct {
	from *source
	z    gzip.Reader

	offset  int64 // where it begins
	open    bool  // it has begun, and its end was not come across
	records int   // that began in it
	err     error // why it cannot be unpacked
}

// begin starts to unpack the member at which the source is.
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
