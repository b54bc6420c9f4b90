package warc

import (
	"bytes"
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
		if b.left = b.more(); b.left == 0 {
			b.err = b.end()
			return 0, b.err
		}
		b.r.odd = &Damage{b.rec.Offset, b.rec.URI(), ErrLength}
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

// ErrLength means that the Content-Length of a record was too small, and that the record was read to
// its end nevertheless.
var ErrLength = errors.New("the Content-Length is too small: the record was read to its end")

// These are the maximum numbers of bytes by which a block may be longer than its length says. If the
// next record proves its end, the length may instead be so large that the block contains most of
// another record, so the difference must be small.
const (
	mostInMember   = 4 << 10
	mostBeforeNext = 64
)

// more returns the number of bytes of the block beyond its length. They are followed by the two empty
// lines after a block, and by the end of a gzip member that has no other record, by that of the file,
// or by another record. more returns 0 if there are no such bytes.
func (b *block) more() int64 {
	r, most := b.r, mostBeforeNext
	if r.member != nil && r.member.records == 1 {
		most = mostInMember
	}
	ahead, err := r.in.Peek(most + len(endOfBlock) + len(version))
	n := bytes.Index(ahead, []byte(endOfBlock+version))
	if rest, ok := bytes.CutSuffix(ahead, []byte(endOfBlock)); n < 0 && ok && err == io.EOF {
		n = len(rest)
	} else {
		most = mostBeforeNext
	}
	if n < 0 || n > most || len(bytes.Trim(ahead[:n], "\r\n")) == 0 { // more empty lines than usual are no part of the block
		return 0
	}
	return int64(n)
}

const endOfBlock = "\r\n\r\n" // the two empty lines after a block

var errNoEnd = errors.New("the block is not followed by the end of the record: the Content-Length may be wrong")

// end reads the two empty lines after a record's block. It returns io.EOF if the record ends
// correctly. It accepts missing line ends if another record or the end of the file follows.
func (b *block) end() error {
	r, lines := b.r, 0
	var err error
	for ; lines < len(endOfBlock); lines++ {
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
	case err == nil && lines < len(endOfBlock) && !r.atRecord():
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
