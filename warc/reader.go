package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// # How a file is read
//
// A compressed archive is a sequence of gzip members. The specification requires each record to be
// one member, so that a reader can start at any record. Some tools do not follow this: they write
// all records in one member, or one record in several members. So the reader decompresses member
// after member, and reads the result as one stream. The Content-Length field of a record gives its
// length. The record ends earlier if its member ends earlier and another record follows.
//
// The reader loses as little as possible to damage. If a record does not end where its length says,
// or if its head is malformed, the reader skips to the next line that looks like the beginning of a
// record. If a member cannot be decompressed, the reader looks for the next member that begins with
// a record. The search starts at the beginning of the damaged member, because a decompressor
// notices an error late. Known weakness: a damaged record may contain a copy of another,
// uncompressed archive. The reader then returns the records of that copy as records of this
// archive.

// A Reader reads the records of an archive in order. It detects from the first bytes whether the
// file is compressed.
type Reader struct {
	src    *source
	member *member       // current gzip member; nil if the file is not compressed
	in     *bufio.Reader // decompressed bytes; nil if nothing has been read yet
	block  *block        // block of the last record that Next returned; nil if there is none, or if it was read to its end or skipped
	odd    *Damage       // error with [ErrLength] that the next call to Next returns; nil means none
	err    error         // error that all further calls to Next return; nil if there may be more records
}

// NewReader returns a Reader for the archive r, compressed or not.
func NewReader(r io.Reader) *Reader {
	s := &source{from: r}
	s.buf = bufio.NewReaderSize(s, 64<<10)
	return &Reader{src: s}
}

// Next returns the next record. The record's block can be read until Next is called again. At the
// end of the file the error is io.EOF. Next returns a [*Damage] for bytes that could not be read,
// and the next call continues after them. Each [*Damage] is returned only once, by Next or by the
// record's block. Any other error comes from reading the file, and all later calls return it.
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
	if err := r.skipBlock(); err != nil {
		return nil, err
	}
	if odd := r.odd; odd != nil {
		r.odd = nil
		return nil, odd
	}
	offset, err := r.toRecord()
	if err != nil {
		return nil, err
	}
	rec := &Record{Offset: offset}
	length, err := r.head(rec)
	if err != nil {
		return nil, r.skipDamage(rec, err)
	}
	r.block = &block{r: r, rec: rec, left: length, begins: r.src.offset()}
	rec.Block = r.block
	return rec, nil
}

// begin examines the first bytes of the file, and prepares for decompression if the file is
// compressed.
func (r *Reader) begin() {
	r.in = r.src.buf
	if isPacked(r.src.buf) {
		r.member = &member{from: r.src}
		r.in = bufio.NewReaderSize(r.member, 64<<10)
	}
}

// isPacked reports whether a file is compressed with gzip. It compares the first three bytes with
// gzipMagic, and accepts one wrong byte, because the file may be damaged there.
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

// skipBlock reads the previous record's block to its end and discards the data.
func (r *Reader) skipBlock() error {
	b := r.block
	if r.block = nil; b == nil || b.err != nil {
		return nil // the block was read to its end, or its error was already returned
	}
	_, err := io.Copy(io.Discard, b)
	return err
}

// toRecord skips line ends, and opens the next gzip member if necessary, until the input is at a
// record. It returns the record's offset in the file: for a compressed file, the offset of its gzip
// member.
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
			return 0, r.skipDamage(&Record{Offset: r.member.offset}, err)
		case err != nil:
			return 0, err
		case next[0] == '\r' || next[0] == '\n':
			_, _ = r.in.Discard(1)
		case r.member == nil:
			return r.src.offset(), nil
		default:
			if r.member.records++; r.member.records == 2 { // the specification requires a separate member for each record
				return 0, &Damage{Offset: r.member.offset, Err: ErrShared}
			}
			return r.member.offset, nil
		}
	}
}

// ErrShared means that a gzip member contains more than one record. All of these records are
// returned, but only the first can be found by its offset. ErrShared and [ErrLength] are the only
// errors in a [Damage] that do not mean that a record is lost; see [Damage.Lost].
var ErrShared = errors.New("the gzip member contains more than one record: the others are read, but have no offsets of their own")

// nextMember opens the gzip member at the source's current position. At the end of the file it
// returns io.EOF.
func (r *Reader) nextMember() error {
	if _, err := r.src.buf.Peek(1); err != nil {
		return err
	}
	if err := r.openMember(); err != nil {
		return r.skipDamage(&Record{Offset: r.member.offset}, err)
	}
	return nil
}

func (r *Reader) openMember() error {
	err := r.member.begin()
	r.in.Reset(r.member)
	return err
}

// version is the beginning of the first line of each record, such as "WARC/1.1".
const version = "WARC/"

// head reads the head of a record into rec, and returns the length of the record's block in bytes.
func (r *Reader) head(rec *Record) (length int64, err error) {
	lines := headReader{r.in, maxHead}
	start, err := lines.line()
	if err == nil && !strings.HasPrefix(start, version) {
		err = fmt.Errorf("the record begins with %q instead of the WARC version", brief(start))
	}
	if err == nil {
		rec.Header, err = lines.fields(false)
	}
	if err != nil {
		return 0, err
	}
	return rec.length()
}

// skipDamage moves the reader to the next position at which a record may begin, and returns a
// [Damage] with the reason why rec could not be read.
func (r *Reader) skipDamage(rec *Record, err error) *Damage {
	if r.member != nil && r.member.err != nil {
		r.findMember()
	} else {
		r.findRecord()
	}
	return &Damage{rec.Offset, rec.URI(), err}
}

// findRecord skips bytes of the decompressed input up to the next line that looks like the
// beginning of a record, or to the end of the gzip member.
func (r *Reader) findRecord() {
	for {
		ahead, err := r.in.Peek(4 << 10)
		at := beginning.FindIndex(ahead)
		switch {
		case at != nil:
			_, _ = r.in.Discard(at[0])
			return
		case err != nil:
			_, _ = r.in.Discard(len(ahead))
			return
		}
		_, _ = r.in.Discard(len(ahead) - firstLine)
	}
}

const firstLine = len(version) + len("1.1\r\n")

var beginning = regexp.MustCompile(version + `[0-9]\.[0-9]{1,2}\r?\n`)

// findMember moves to the next gzip member that begins with a record. It starts one byte after the
// beginning of the damaged member, even if only a checksum was wrong, because a decompressor that
// missed the end of its member may have read far into the next one.
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

func (r *Reader) atRecord() bool {
	start, _ := r.in.Peek(len(version))
	return string(start) == version
}

// Begins reports whether a file is a WARC archive, compressed or not. start contains the first
// bytes of the file; a few kilobytes are enough.
func Begins(start []byte) bool {
	r := NewReader(bytes.NewReader(start))
	r.begin()
	_, err := r.toRecord()
	return err == nil && r.atRecord()
}

// IsARC reports whether a file is in the ARC format, which preceded WARC. start contains the first
// bytes of the file, decompressed.
func IsARC(start []byte) bool { return bytes.HasPrefix(start, []byte("filedesc://")) }

// ErrARC means that a file is in the ARC format, which preceded WARC. This package cannot read such
// files.
var ErrARC = errors.New("ARC, the predecessor of WARC, is not supported: convert it, for example with: warcio recompress OLD.arc.gz NEW.warc.gz")

// A Damage is the error for bytes in an archive that are not a readable record, or for an
// incomplete record. After returning it, the reader continues after those bytes.
type Damage struct {
	Offset int64  // offset in bytes of the record in the file, or of the gzip member that should contain it
	URI    string // the WARC-Target-URI of the damaged record; "" means unknown
	Err    error  // description of the damage
}

func (d *Damage) Error() string {
	if d.URI != "" {
		return fmt.Sprintf("at offset %d, in the record of %s: %v", d.Offset, d.URI, d.Err)
	}
	return fmt.Sprintf("at offset %d: %v", d.Offset, d.Err)
}

// Lost reports whether a record was lost. Otherwise the damage is only an irregularity of records that
// were read.
func (d *Damage) Lost() bool { return d.Err != ErrShared && d.Err != ErrLength }

func (d *Damage) Unwrap() error { return d.Err }

// unexpected returns err, or io.ErrUnexpectedEOF if err is io.EOF. It is used where the input must
// not end.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

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
