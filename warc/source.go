package warc

import (
	"bufio"
	"fmt"
	"io"
)

// window is the minimum number of bytes that a source can go back. A decompressor rarely reads more
// damaged data than that before it notices the damage.
const window = 256 << 10

// A source reads a file, and can go back over the last bytes that it read, even if the file is a
// pipe. So bytes that a decompressor has consumed by mistake can be read again.
type source struct {
	buf *bufio.Reader // callers read the source through this buffer

	from io.Reader
	err  error  // error from reading the file, other than io.EOF; nothing can be read after it
	off  int64  // file offset of the next byte to read into buf
	base int64  // file offset of the first byte of kept
	kept []byte // the last bytes read from the file, so that they can be read again
}

// Read reads bytes for buf. After a call to back, it first returns the kept bytes after the new
// position, and then continues with the file.
func (s *source) Read(p []byte) (int, error) {
	if ahead := s.kept[s.off-s.base:]; len(ahead) > 0 { // back was called, so these bytes were read before
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

// offset returns the file offset up to which callers have read.
func (s *source) offset() int64 { return s.off - int64(s.buf.Buffered()) }

// back makes the next read begin at the file offset start. If the kept bytes begin after that
// offset, it goes back to their beginning.
func (s *source) back(start int64) {
	s.off = max(start, s.base)
	s.buf.Reset(s)
}
