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
// A packed file is gzip members in a row, by the specification one for each record, so that a
// record can be had by its offset. Other tools got that wrong in both ways: one member over all
// records, and one record over several members. So members are unpacked one after the other, and
// a record ends where its length says, or where a member ends behind which another record begins.
//
// What is damaged costs as little as can be. A record whose end is not where its length says, and
// a head that makes no sense, are passed over up to the next line that begins as a record does. If
// a member cannot be unpacked, the next place is looked for where a member begins in which a record
// begins; that is in what the decoder had read already too, for it notices late what is wrong.
// What this gets wrong: inside a damaged record the copy of another archive, not packed, is taken
// for records of this one.

// A Reader reads the records of an archive in their order. It knows by the first bytes whether
// the file is packed.
type Reader struct {
	src    *source
	member *member       // nil: the file is not packed
	in     *bufio.Reader // the records, unpacked; nil: the first bytes were not looked at
	block  *block        // of the record that was given last; nil: none is to be left
	err    error         // nothing more can be had
}

// NewReader begins to read an archive.
func NewReader(r io.Reader) *Reader { return &Reader{src: newSource(r)} }

// Next returns the next record, whose block can be read until Next is called again. At the end of
// the file the error is io.EOF. A [*Damage] is what could not be read: the next call goes on
// behind it. Each damage is told once, here or by the record's block. Any other error is that of
// reading the file, and the last.
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

// isPacked says whether a file is packed, by its first bytes, of which one may be wrong.
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

// leave reads what is left of the record before.
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

// ErrShared: a gzip member holds more than one record. All of them are read, but those behind the
// first have no offset of their own. It is the only [Damage] that costs no record.
var ErrShared = errors.New("its gzip member goes on behind it: the records there have no offset of their own; they are read all the same")

// share counts a record of the open member. The second one gives an error: it should not be there.
func (r *Reader) share() error {
	if r.member.records++; r.member.records == 2 {
		return &Damage{Offset: r.member.offset, Err: ErrShared}
	}
	return nil
}

// nextMember opens the member that the source stands at. At the end of the source it is io.EOF.
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

// head reads the head of a record, and returns how long its block is.
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

// lost says what is wrong with a record, and goes to where the next may begin.
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

// firstLine is how long the first line of a record is, such as "WARC/1.1\r\n".
const firstLine = len(version) + len("1.1\r\n")

var beginning = regexp.MustCompile(version + `[0-9]\.[0-9]{1,2}\r?\n`)

// recordIn is where in some bytes a record may begin; -1: nowhere.
func recordIn(b []byte) int {
	if at := beginning.FindIndex(b); at != nil {
		return at[0]
	}
	return -1
}

// findMember goes to the next member that begins with a record. Even if nothing but a checksum is
// wrong it looks from the beginning of the damaged one: a decoder that has missed the end of a
// member can come to the end of the next.
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

// atRecord says whether a record begins here.
func (r *Reader) atRecord() bool {
	start, _ := r.in.Peek(len(version))
	return string(start) == version
}

// Begins says whether a file that begins with some bytes is an archive: one that is not packed, or
// whose first member begins with a record. Some kilobytes are enough.
func Begins(start []byte) bool {
	r := NewReader(bytes.NewReader(start))
	r.begin()
	if r.member != nil && r.nextMember() != nil {
		return false
	}
	return r.atRecord()
}

// IsARC says whether a file that begins with some bytes, unpacked, is in ARC, the format before WARC.
func IsARC(start []byte) bool { return bytes.HasPrefix(start, []byte("filedesc://")) }

// ErrARC: the file is in ARC, which is not read.
var ErrARC = errors.New("it is in ARC, the format before WARC, which is not read: convert it to WARC first, for example with: warcio recompress OLD.arc.gz NEW.warc.gz")
