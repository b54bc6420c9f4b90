package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// # How a file is read
//
// A packed file is a row of gzip members. By the specification each record has its own member, so
// that a record can be read by its offset. Other tools break this in both ways: one member over all
// records, and one record over several members. So the reader unpacks members one after the other.
// A record ends where its length says, or where a member ends behind which another record begins.
//
// The reader loses as little as possible to damage. If a record does not end where its length says,
// or its head makes no sense, the reader skips to the next line that begins like a record. If a
// member cannot be unpacked, the reader looks for the next place where a member begins with a
// record. It searches the bytes that the decoder has already read too, because a decoder notices an
// error late. Known weakness: if a damaged record contains a copy of another unpacked archive, the
// reader takes its records for records of this one.

// A Reader reads the records of an archive in their order. It detects a packed file by the first
// bytes.
type Reader struct {
	src    *source
	member *member       // nil: the file is not packed
	in     *bufio.Reader // the records, unpacked; nil: the first bytes were not looked at
	block  *block        // of the record that was given last; nil: none is to be left
	err    error         // nothing more can be had
}

// NewReader returns a reader of an archive.
func NewReader(r io.Reader) *Reader { return &Reader{src: newSource(r)} }

// Next returns the next record, whose block can be read until Next is called again. At the end of
// the file the error is io.EOF. The error is a [*Damage] for a part that could not be read; the
// next call goes on behind it. Each damage is reported once, here or by the record's block. Any
// other error comes from reading the file, and is final.
func (r *Reader) Next() (*Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.next()
	switch {
	case r.src.err != nil:
		r.err = r.src.err
	case err == io.EOF:
		r.err = err
	default:
		return rec, err
	}
	return nil, r.err
}

func (r *Reader) next() (*Record, error) {
	if r.in == nil {
		r.begin()
	}
	if err := r.leave(); err != nil {
		return nil, err
	}
	offset, err := r.toRecord()
	if err != nil {
		return nil, err
	}
	rec := &Record{Offset: offset}
	length, err := r.head(rec)
	if err != nil {
		return nil, r.lost(rec, err)
	}
	r.block = &block{r: r, rec: rec, left: length, begins: r.src.offset()}
	rec.Block = r.block
	return rec, nil
}

// begin looks at the first bytes of the file.
func (r *Reader) begin() {
	r.in = r.src.buf
	if isPacked(r.src.buf) {
		r.member = &member{from: r.src}
		r.in = bufio.NewReaderSize(r.member, 64<<10)
	}
}

// isPacked reports whether a file is packed, by its first bytes, of which one may be wrong.
func isPacked(in *bufio.Reader) bool {
	start, _ := in.Peek(len(gzipMagic))
	right := 0
	for i := range start {
		if start[i] == gzipMagic[i] {
			right++
		}
	}
	return right >= 2
}

// leave skips the rest of the previous record.
func (r *Reader) leave() error {
	b := r.block
	if r.block = nil; b == nil || b.err != nil {
		return nil // what is wrong with it has been told
	}
	_, err := io.Copy(io.Discard, b)
	return err
}

// toRecord goes to where a record begins, and returns its offset.
func (r *Reader) toRecord() (int64, error) {
	for {
		if r.member != nil && !r.member.open {
			if err := r.nextMember(); err != nil {
				return 0, err
			}
		}
		next, err := r.in.Peek(1)
		switch {
		case err == io.EOF && r.member != nil:
			r.member.open = false
		case err == io.EOF:
			return 0, err
		case err != nil && r.member != nil:
			return 0, r.lost(&Record{Offset: r.member.offset}, err)
		case err != nil:
			return 0, err
		case next[0] == '\r' || next[0] == '\n':
			_, _ = r.in.Discard(1)
		case r.member == nil:
			return r.src.offset(), nil
		default:
			return r.member.offset, r.share()
		}
	}
}

// ErrShared means that a gzip member holds more than one record. All of them are read, but only the
// first has an offset of its own. It is the only [Damage] that costs no record.
var ErrShared = errors.New("its gzip member contains more records: they are read, but have no offset of their own")

// share counts a record of the open member. It returns an error for the second record, which should
// not be there.
func (r *Reader) share() error {
	if r.member.records++; r.member.records == 2 {
		return &Damage{Offset: r.member.offset, Err: ErrShared}
	}
	return nil
}

// nextMember opens the member at which the source is. At the end of the source it returns io.EOF.
func (r *Reader) nextMember() error {
	if _, err := r.src.buf.Peek(1); err != nil {
		return err
	}
	if err := r.openMember(); err != nil {
		return r.lost(&Record{Offset: r.member.offset}, err)
	}
	return nil
}

func (r *Reader) openMember() error {
	err := r.member.begin()
	r.in.Reset(r.member)
	return err
}

// version is how a record begins.
const version = "WARC/"

// head reads the head of a record, and returns the length of its block in bytes.
func (r *Reader) head(rec *Record) (length int64, err error) {
	lines := headReader{r.in, maxHead}
	start, err := lines.line()
	if err == nil && !strings.HasPrefix(start, version) {
		err = fmt.Errorf("it begins with %q", brief(start))
	}
	if err == nil {
		rec.Header, err = lines.fields(false)
	}
	if err != nil {
		return 0, err
	}
	return rec.length()
}

// lost returns the damage of a record, and goes to where the next may begin.
func (r *Reader) lost(rec *Record, err error) *Damage {
	if r.member != nil && r.member.err != nil {
		r.findMember()
	} else {
		r.findRecord()
	}
	return &Damage{rec.Offset, rec.URI(), err}
}

// findRecord goes to the next place where a record may begin, or to the end of the member.
func (r *Reader) findRecord() {
	for {
		ahead, err := r.in.Peek(4 << 10)
		i := recordIn(ahead)
		switch {
		case i >= 0:
			_, _ = r.in.Discard(i)
			return
		case err != nil:
			_, _ = r.in.Discard(len(ahead))
			return
		}
		_, _ = r.in.Discard(len(ahead) - firstLine)
	}
}

// firstLine is the length of the first line of a record, such as "WARC/1.1\r\n".
const firstLine = len(version) + len("1.1\r\n")

var beginning = regexp.MustCompile(version + `[0-9]\.[0-9]{1,2}\r?\n`)

// recordIn returns where in some bytes a record may begin, or -1.
func recordIn(b []byte) int {
	if at := beginning.FindIndex(b); at != nil {
		return at[0]
	}
	return -1
}

// findMember goes to the next member that begins with a record. It searches from the beginning of
// the damaged member, even if only a checksum is wrong: a decoder that has missed the end of a
// member may have read to the end of the next.
func (r *Reader) findMember() {
	m := r.member
	r.src.back(m.offset + 1)
	for {
		ahead, err := r.src.buf.Peek(4 << 10)
		i := bytes.Index(ahead, []byte(gzipMagic))
		switch {
		case i < 0 && err != nil:
			_, _ = r.src.buf.Discard(len(ahead))
			m.open = false
			return
		case i < 0:
			_, _ = r.src.buf.Discard(len(ahead) - len(gzipMagic) + 1)
			continue
		}
		_, _ = r.src.buf.Discard(i)
		if r.openMember() == nil && r.atRecord() {
			return
		}
		r.src.back(m.offset + 1)
	}
}

// atRecord reports whether a record begins here.
func (r *Reader) atRecord() bool {
	start, _ := r.in.Peek(len(version))
	return string(start) == version
}

// Begins reports whether a file that begins with some bytes is an archive: one that is not packed,
// or whose first member begins with a record. Some kilobytes are enough.
func Begins(start []byte) bool {
	r := NewReader(bytes.NewReader(start))
	r.begin()
	if r.member != nil && r.nextMember() != nil {
		return false
	}
	return r.atRecord()
}

// IsARC reports whether a file that begins with some bytes, unpacked, is in ARC, the format before
// WARC.
func IsARC(start []byte) bool { return bytes.HasPrefix(start, []byte("filedesc://")) }

// ErrARC means that the file is in ARC, which is not supported.
var ErrARC = errors.New("ARC, the format before WARC, is not supported: convert it, for example with: warcio recompress OLD.arc.gz NEW.warc.gz")
