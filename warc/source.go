package warc

import (
	"bufio"
	"fmt"
	"io"
)

// window is the least number of bytes that a source can go back. A decoder that reads damaged data
// seldom reads that much of it.
const window = 256 << 10

// A source is the bytes of a file as they are on disk. It knows how far they were read, and keeps
// the last of them. So bytes that a decoder read by mistake can be read again, even from a pipe.
type source struct {
	buf *bufio.Reader // to read from

	from io.Reader
	err  error  // of from, never io.EOF: nothing more can be had
	off  int64  // how much buf was given
	base int64  // where kept begins
	kept []byte // what from gave last
}

func newSource(from io.Reader) *source {
	s := &source{from: from}
	s.buf = bufio.NewReaderSize(s, 64<<10)
	return s
}

// Read reads the file for buf.
func (s *source) Read(p []byte) (int, error) {
	if ahead := s.kept[s.off-s.base:]; len(ahead) > 0 { // it went back
		n := copy(p, ahead)
		s.off += int64(n)
		return n, nil
	}
	n, err := s.from.Read(p)
	if len(s.kept)+n > 2*window {
		drop := len(s.kept) - window
		s.kept = append(s.kept[:0], s.kept[drop:]...)
		s.base += int64(drop)
	}
	s.kept = append(s.kept, p[:n]...)
	s.off += int64(n)
	if err != nil && err != io.EOF {
		s.err = fmt.Errorf("read at offset %d: %w", s.off, err)
	}
	return n, err
}

// offset returns how far the source was read, in bytes.
func (s *source) offset() int64 { return s.off - int64(s.buf.Buffered()) }

// back makes the next reads start at an offset, or as far back as possible.
func (s *source) back(to int64) {
	s.off = max(to, s.base)
	s.buf.Reset(s)
}
