package warc

import (
	"errors"
	"fmt"
	"io"
)

// A block is the content of a record that is being read.
type block struct {
	r      *Reader
	rec    *Record
	left   int64 // bytes
	begins int64 // where, in a file that is not packed
	err    error // io.EOF: it was read to its end
}

func (b *block) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.left == 0 {
		b.err = b.end()
		return 0, b.err
	}
	n, err := b.r.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err != nil && n == 0 {
		b.err = b.broken(err)
		return 0, b.err
	}
	return n, nil
}

// broken handles an early end of the block. It returns nil if the block goes on: a block written in
// several members goes on in the next.
func (b *block) broken(err error) error {
	r := b.r
	short := fmt.Errorf("%d bytes of its block are missing", b.left)
	switch {
	case r.src.err != nil:
		return r.src.err
	case err != io.EOF:
		return r.lost(b.rec, fmt.Errorf("%w: %w", short, err))
	case r.member == nil:
		r.src.back(b.begins) // its length may be wrong, and what it took for its block be other records
		return r.lost(b.rec, short)
	}
	if _, err := r.src.buf.Peek(1); err != nil {
		r.member.open = false
		return &Damage{b.rec.Offset, b.rec.URI(), short}
	}
	if err := r.openMember(); err != nil {
		return r.lost(b.rec, fmt.Errorf("%w: %w", short, err))
	}
	if r.atRecord() {
		return &Damage{b.rec.Offset, b.rec.URI(), short}
	}
	return nil
}

var errNoEnd = errors.New("its block is not followed by the end of a record: its Content-Length may be wrong")

// end reads the end of the record behind the block. It returns io.EOF if the end is correct. Line
// ends may be missing before another record, or at the end of the file.
func (b *block) end() error {
	r, lines := b.r, 0
	var err error
	for ; lines < len("\r\n\r\n"); lines++ {
		var next []byte
		if next, err = r.in.Peek(1); err != nil || next[0] != '\r' && next[0] != '\n' {
			break
		}
		_, _ = r.in.Discard(1)
	}
	if err == nil {
		_, err = r.in.Peek(1)
	}
	switch {
	case r.src.err != nil:
		return r.src.err
	case err != nil && err != io.EOF:
		return r.lost(b.rec, err)
	case err == nil && lines < len("\r\n\r\n") && !r.atRecord():
		return b.endless()
	}
	if r.member == nil || err == io.EOF && r.member.records == 1 {
		b.rec.Length = r.src.offset() - b.rec.Offset
	}
	return io.EOF
}

// endless returns the error of a block that does not end where its length says. The block may have
// included other records.
func (b *block) endless() error {
	r := b.r
	if r.member != nil {
		return r.lost(b.rec, errNoEnd)
	}
	err := fmt.Errorf("%w (looked for at offset %d)", errNoEnd, r.src.offset())
	r.src.back(b.begins)
	return r.lost(b.rec, err)
}
