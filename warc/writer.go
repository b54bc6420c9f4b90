package warc

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// # How a record is written
//
// A record that has a Content-Length was read from an archive, and is written unchanged. Any other
// record is new, and gets the fields that the specification requires: an id, and the length and the
// digest of its block. A response that contains an HTTP message also gets a digest of the message's
// payload. In a resource or conversion record the payload is the whole block.
//
// A response should be passed without chunked transfer coding, with the Content-Length of its body,
// and with its content coding such as gzip. Readers disagree about the payload. According to RFC
// 9110 it is the body without chunked coding, but for some readers it is all bytes after the head.
// In a response without chunked coding these are the same bytes.

// Options determine how records are written. The zero value writes compressed records with SHA-256
// digests.
type Options struct {
	Plain bool // do not compress the records
}

// Append appends a record to dst, compressed as a separate gzip member unless o.Plain is set. It
// reads the record's block to its end, and adds the missing fields of a new record to its header.
// Several goroutines may call Append with different records.
func (o Options) Append(dst []byte, r *Record) ([]byte, error) {
	block, err := readBlock(r.Block)
	if err != nil {
		return dst, fmt.Errorf("read the block of a record: %w", err)
	}
	if r.Header.Has("Content-Length") {
		if n, err := r.length(); err != nil || n != int64(len(block)) {
			return dst, fmt.Errorf("write a record: its Content-Length is %q, but its block has %d bytes", r.Header.Get("Content-Length"), len(block))
		}
	} else if err := complete(r, block); err != nil {
		return dst, fmt.Errorf("write a record: %w", err)
	}
	head, err := r.Header.append([]byte(version + "1.1\r\n"))
	if err != nil {
		return dst, fmt.Errorf("write a record: %w", err)
	}
	if o.Plain {
		return append(append(append(dst, head...), block...), "\r\n\r\n"...), nil
	}
	return pack(dst, head, block, []byte("\r\n\r\n")), nil
}

// readBlock returns all bytes of a block. It does not copy a block that is already in memory.
func readBlock(block io.Reader) ([]byte, error) {
	if m, ok := block.(*memory); ok && m.Len() == len(m.all) {
		_, _ = m.Seek(0, io.SeekEnd)
		return m.all, nil
	}
	var b bytes.Buffer
	if known, ok := block.(interface{ Len() int }); ok {
		b.Grow(known.Len() + bytes.MinRead)
	}
	_, err := b.ReadFrom(block)
	return b.Bytes(), err
}

// complete adds the id, digests and length to the header of a new record whose content is block. It
// returns an error if the type or the date is missing.
func complete(r *Record, block []byte) error {
	h := &r.Header
	if r.Type() == "" || r.Date().IsZero() {
		return errors.New("the record has no type or no date")
	}
	if err := checkRevisit(r); err != nil {
		return err
	}
	if !h.Has("WARC-Record-ID") {
		h.Add("WARC-Record-ID", randomID())
	}
	blockDigest := Digest(block)
	if !h.Has("WARC-Payload-Digest") {
		switch r.Type() {
		case Response:
			if strings.HasPrefix(h.Get("Content-Type"), "application/http") {
				h.Add("WARC-Payload-Digest", Digest(payload(block)))
			}
		case Resource, Conversion:
			h.Add("WARC-Payload-Digest", blockDigest)
		}
	}
	h.Set("WARC-Block-Digest", blockDigest)
	h.Add("Content-Length", strconv.Itoa(len(block)))
	return nil
}

// checkRevisit returns an error if r is a revisit record that lacks the fields a player needs to
// find the record it refers to. It returns nil for records of other types.
func checkRevisit(r *Record) error {
	if r.Type() != Revisit {
		return nil
	}
	h := r.Header
	switch profile := h.Get("WARC-Profile"); {
	case profile != ProfileIdentical && profile != ProfileNotModified:
		return fmt.Errorf("the revisit record has an unknown profile: %q", profile)
	case profile == ProfileIdentical && !h.Has("WARC-Payload-Digest"):
		return errors.New("the revisit record has no payload digest")
	case !h.Has("WARC-Refers-To") && !(h.Has("WARC-Refers-To-Target-URI") && h.Has("WARC-Refers-To-Date")):
		return errors.New("the revisit does not say which record it refers to")
	}
	return nil
}

// randomID returns a new record id: a random UUID (version 4 of RFC 9562) as a URN.
func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // Read never fails
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Records are compressed at level 1. Its output is a tenth larger than that of level 6, and takes two
// thirds of the time. Records shorter than tooShort bytes, such as most requests, are stored in their
// gzip member uncompressed. For so few bytes, gzip would spend most of its time building a code, and
// save only a third.
const tooShort = 1 << 10 // in bytes

var packers [gzip.BestSpeed + 1]sync.Pool // by level

func pack(dst []byte, parts ...[]byte) []byte {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	level := gzip.BestSpeed
	if size < tooShort {
		level = gzip.NoCompression
	}
	out := bytes.NewBuffer(slices.Grow(dst, size/3+len(parts[0]))) // enough for most records: a page shrinks to a third, and its head hardly at all
	z, _ := packers[level].Get().(*gzip.Writer)
	if z == nil {
		z, _ = gzip.NewWriterLevel(nil, level) // the only possible error is an invalid level
	}
	z.Reset(out)
	for _, part := range parts {
		_, _ = z.Write(part) // writing to memory does not fail
	}
	_ = z.Close()
	packers[level].Put(z)
	return out.Bytes()
}

// A Writer writes the records of an archive to an io.Writer.
type Writer struct {
	to   io.Writer
	opt  Options
	at   int64
	buf  []byte
	fail error
}

// NewWriter returns a Writer that writes a new archive to w.
func NewWriter(w io.Writer, opt Options) *Writer { return &Writer{to: w, opt: opt} }

var errNoInfo = errors.New("write an archive: the first record must be a warcinfo record")

// Write writes a record, and sets its Offset and Length. The first record must be a warcinfo
// record. Write keeps the whole record in memory. After an error from the underlying io.Writer, all
// further calls return that error.
func (w *Writer) Write(r *Record) error {
	switch {
	case w.fail != nil:
		return w.fail
	case w.at == 0 && r.Type() != Info:
		return errNoInfo
	}
	buf, err := w.opt.Append(w.buf[:0], r)
	if err != nil {
		return err
	}
	w.buf = buf
	if _, err := w.to.Write(buf); err != nil {
		w.fail = fmt.Errorf("write an archive: %w", err)
		return w.fail
	}
	r.Offset, r.Length = w.at, int64(len(buf))
	w.at += r.Length
	return nil
}
