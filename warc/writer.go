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
// A record with a Content-Length was read from an archive, and is written unchanged, field by
// field. Any other record is new, and gets what the specification requires: an id, the length and
// the digest of its block, and a payload digest if the block is an HTTP message or the payload
// itself. Pass a response without transfer coding, with the Content-Length of its body, and with
// its content coding. Then the payload is the same bytes for all readers. Some take the body of the
// message for the payload, as RFC 9110 does, and some take everything behind the head.

// Options says how records are written. The zero value is a good default.
type Options struct {
	Digest Digest // default SHA256
	Plain  bool   // do not pack
	Level  int    // of packing, 1 to 9, as gzip has them; 0: 1, which takes a tenth more room than 6 and two thirds of its time

	NewID func() string // names a record; nil: by a random UUID
}

// Append appends a record to a file in memory, as a gzip member of its own. It reads the record's
// block, and sets the missing fields of its header. Several goroutines may call it.
func (o Options) Append(dst []byte, r *Record) ([]byte, error) {
	block, err := readBlock(r.Block)
	if err != nil {
		return dst, fmt.Errorf("read the block of a record: %w", err)
	}
	if r.Header.Has("Content-Length") {
		if n, err := r.length(); err != nil || n != int64(len(block)) {
			return dst, fmt.Errorf("write a record: its Content-Length is %q, and its block has %d bytes", r.Header.Get("Content-Length"), len(block))
		}
	} else if err := o.complete(r, block); err != nil {
		return dst, fmt.Errorf("write a record: %w", err)
	}
	head, err := r.Header.append([]byte(version + "1.1\r\n"))
	if err != nil {
		return dst, fmt.Errorf("write a record: %w", err)
	}
	if o.Plain {
		return append(append(append(dst, head...), block...), "\r\n\r\n"...), nil
	}
	return o.pack(dst, head, block, []byte("\r\n\r\n"))
}

// readBlock reads a block. Most callers know its length, which saves copies.
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

// complete sets the missing fields of a new record.
func (o Options) complete(r *Record, block []byte) error {
	h := &r.Header
	if r.Type() == "" || r.Date().IsZero() {
		return errors.New("it has no type, or no date")
	}
	if err := checkRevisit(r); err != nil {
		return err
	}
	if !h.Has("WARC-Record-ID") {
		id := o.NewID
		if id == nil {
			id = randomID
		}
		h.Add("WARC-Record-ID", id())
	}
	digest := o.Digest
	if digest == "" {
		digest = SHA256
	}
	blockDigest := digest.Of(block)
	if !h.Has("WARC-Payload-Digest") {
		switch r.Type() {
		case Response:
			if strings.HasPrefix(h.Get("Content-Type"), "application/http") {
				h.Add("WARC-Payload-Digest", digest.Of(payload(block)))
			}
		case Resource, Conversion:
			h.Add("WARC-Payload-Digest", blockDigest)
		}
	}
	h.Set("WARC-Block-Digest", blockDigest)
	h.Add("Content-Length", strconv.Itoa(len(block)))
	return nil
}

// checkRevisit refuses a new revisit that cannot be replayed.
func checkRevisit(r *Record) error {
	if r.Type() != Revisit {
		return nil
	}
	h := r.Header
	switch profile := h.Get("WARC-Profile"); {
	case profile != ProfileIdentical && profile != ProfileNotModified:
		return fmt.Errorf("a revisit of profile %q", profile)
	case profile == ProfileIdentical && !h.Has("WARC-Payload-Digest"):
		return errors.New("a revisit without the payload digest that is identical")
	case !h.Has("WARC-Refers-To") && !(h.Has("WARC-Refers-To-Target-URI") && h.Has("WARC-Refers-To-Date")):
		return errors.New("a revisit that refers to no record")
	}
	return nil
}

// randomID returns a UUID of version 4 (RFC 9562).
func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Unless a level is given, records of about a kilobyte, such as most requests, are stored in their
// member uncompressed. Building a code for so few bytes takes longer than writing the rest of them,
// and saves only a third.
const (
	defaultLevel = 1
	tooShort     = 1 << 10 // bytes
)

// packers holds a pool of packers for each level.
var packers [gzip.BestCompression + 1]sync.Pool

func (o Options) pack(dst []byte, parts ...[]byte) ([]byte, error) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	level := o.Level
	switch {
	case level < 0 || level > gzip.BestCompression:
		return dst, fmt.Errorf("compression level %d: try 1 to 9", level)
	case level == 0 && size < tooShort:
		level = gzip.NoCompression
	case level == 0:
		level = defaultLevel
	}
	out := bytes.NewBuffer(slices.Grow(dst, size/3+len(parts[0]))) // as most pages need; a head shrinks little
	z, _ := packers[level].Get().(*gzip.Writer)
	if z == nil {
		z, _ = gzip.NewWriterLevel(nil, level) // an error is a level that is none
	}
	z.Reset(out)
	for _, part := range parts {
		_, _ = z.Write(part) // memory does not fail
	}
	_ = z.Close()
	packers[level].Put(z)
	return out.Bytes(), nil
}

// A Writer writes an archive.
type Writer struct {
	to   io.Writer
	opt  Options
	at   int64
	buf  []byte
	fail error
}

// NewWriter begins an archive.
func NewWriter(w io.Writer, opt Options) *Writer { return &Writer{to: w, opt: opt} }

var errNoInfo = errors.New("write an archive: its first record must be a warcinfo")

// Write writes a record, and sets its Offset and Length. The first record should be a warcinfo.
// Write holds the record in memory. After an error of the underlying writer, all further writes
// fail.
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
