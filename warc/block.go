package warc

import (
	"errors"
	"fmt"
	"io"
)

// A block is the content of a Reader's current record. Its bytes are read from the archive as the
// caller reads them.
type block struct {
	r      *Reader
	rec    *Record
	left   int64 // bytes of the block that have not been read yet, according to the record's Content-Length
	begins int64 // offset of the block in the file; meaningful only if the file is not compressed
	err    error // error that all further reads return; io.EOF means that the block was read to its end
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
		b.err = b.inputError(err)
		return 0, b.err
	}
	return n, nil
}

// inputError handles err, which ended the input before the block was complete. It returns nil if
// the block continues in the next gzip member, because some tools split a record into several
// members. Otherwise it returns the error for the block.
func (b *block) inputError(err error) error {
	r := b.r
	short := fmt.Errorf("%d bytes of the block are missing", b.left)
	switch {
	case r.src.err != nil:
		return r.src.err
	case err != io.EOF:
		return r.skipDamage(b.rec, fmt.Errorf("%w: %w", short, err))
	case r.member == nil:
		r.src.back(b.begins) // search for the next record from the beginning of this block, because its length may be wrong, and other records may lie inside it
		return r.skipDamage(b.rec, short)
	}
	if _, err := r.src.buf.Peek(1); err != nil {
		r.member.open = false
		return &Damage{b.rec.Offset, b.rec.URI(), short}
	}
	if err := r.openMember(); err != nil {
		return r.skipDamage(b.rec, fmt.Errorf("%w: %w", short, err))
	}
	if r.atRecord() {
		return &Damage{b.rec.Offset, b.rec.URI(), short}
	}
	return nil
}

var errNoEnd = errors.New("the block is not followed by the end of the record: the Content-Length may be wrong")

// end reads the two empty lines after a record's block. It returns io.EOF if the record ends
// correctly. It accepts missing line ends if another record or the end of the file follows.
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
		return r.skipDamage(b.rec, err)
	case err == nil && lines < len("\r\n\r\n") && !r.atRecord():
		return b.endError()
	}
	if r.member == nil || err == io.EOF && r.member.records == 1 {
		b.rec.Length = r.src.offset() - b.rec.Offset
	}
	return io.EOF
}

// endError returns the error for a block that is followed neither by the end of the record nor by
// another record. The length of the block may be too large. So if the file is not compressed,
// endError resumes the search for records at the beginning of the block.
func (b *block) endError() error {
	r := b.r
	if r.member != nil {
		return r.skipDamage(b.rec, errNoEnd)
	}
	err := fmt.Errorf("%w (expected at offset %d)", errNoEnd, r.src.offset())
	r.src.back(b.begins)
	return r.skipDamage(b.rec, err)
}
