package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// # Body decoding
//
// A body is read through layers: the wire, and one decoder for each content coding, in the reverse
// order of Content-Encoding (RFC 9110, section 8.4). 200 MB of text can shrink to 200 KB of gzip,
// and to a few hundred bytes if compressed again. So the output of every layer is limited, not only
// the output of the last. The decoded body ends at its limit. No layer below may return much more
// than that, because no honest encoding makes a body longer. Together with the number of layers and
// the window of each decoder, these limits bound time and memory.
//
// Some servers declare gzip and send plain text. So a body is used unchanged if its coding has a
// magic number that the body lacks, or if the declared coding is not a coding, such as "utf-8".
// Bytes after a complete gzip body are ignored, as in browsers. So is a checksum that is missing or
// wrong, if the compressed data is complete; the exchange then has a note.

const (
	maxCodings = 3 // maximum number of codings of a body; most bodies have one, and some have two by mistake

	// zstdWindow is the largest window of a zstd body that RFC 9659 allows, in bytes.
	zstdWindow = 8 << 20
)

// encodedBound returns the largest allowed size of an encoded body, in bytes, if the decoded body
// may have up to size bytes. It is a little more than size, because deflate adds 5 bytes to each 64
// KB that it cannot compress, and servers that flush each line add more.
func encodedBound(size int64) int64 { return size + size/16 + 64<<10 }

// ErrTooLarge means that a body is larger than its limit, in its decoded or its encoded form.
var ErrTooLarge = errors.New("the body is larger than the limit")

// errSum means that a gzip body was decoded to its end, but that its checksum is missing or wrong.
var errSum = errors.New("the checksum of the body is missing or wrong, so its content may be damaged")

// An EncodingError means that a body cannot be decoded according to the Content-Encoding in its
// header.
type EncodingError struct {
	coding string
	err    error
}

func (e *EncodingError) Error() string { return e.coding + ": " + e.err.Error() }
func (e *EncodingError) Unwrap() error { return e.err }

// read reads the body of a response, within the limit for its status; see readBody.
func (x *Exchange) read(resp *http.Response, within func(io.Reader) io.Reader) {
	limit := x.Limit(x.Header)
	if !IsPage(x.Status) {
		limit = min(limit, MaxOtherBody)
	}
	x.Body, x.BodyErr = readBody(resp, limit, within, x.Raw)
	if errors.Is(x.BodyErr, errSum) {
		x.Note, x.BodyErr = x.BodyErr.Error(), nil
	}
}

// readBody reads the body of a response and returns it decoded, up to limit bytes. If it fails, it
// also returns the part before the error. It reads the body through within(body), a reader that
// accounts for the memory of the bytes it reads. If raw is not nil, readBody stores the undecoded
// body there.
func readBody(resp *http.Response, limit int64, within func(io.Reader) io.Reader, raw *Raw) ([]byte, error) {
	codings, err := contentCodings(resp.Header)
	wire := &layer{src: resp.Body, left: limit}
	if err != nil {
		if raw != nil {
			wire.src = within(wire.src)
			raw.Body, raw.Cut = raw.rest(wire)
		}
		return nil, err
	}
	if len(codings) == 0 {
		body, err := readAll(within(wire))
		if raw != nil {
			raw.Body = body
		}
		return body, err
	}
	wire.left = encodedBound(limit)
	if raw != nil {
		encoded := new(bytes.Buffer)
		wire.src = io.TeeReader(within(wire.src), encoded)
		defer func() { raw.Body = bytes.Clone(encoded.Bytes()) }()
	}
	return decode(wire, codings, limit, within, raw)
}

func decode(wire *layer, codings []string, limit int64, within func(io.Reader) io.Reader, raw *Raw) ([]byte, error) {
	top := wire
	for i := len(codings) - 1; i >= 0; i-- {
		name := codings[i]
		src, release := decoders[name](bufio.NewReader(top))
		defer release()
		top = &layer{name: name, src: src, below: top, left: encodedBound(limit)}
	}
	top.left = limit
	body, err := readAll(within(top))
	switch _, undecoded := errors.AsType[*EncodingError](err); {
	case raw != nil && (err == nil || undecoded):
		_, raw.Cut = raw.rest(wire)
	case err == nil:
		_, _ = io.CopyN(io.Discard, wire, 4<<10) // if only a few bytes are left, read them so that the connection can be reused
	}
	return body, err
}

// contentCodings returns the codings of a body in the order they were applied.
func contentCodings(h http.Header) ([]string, error) {
	var codings []string
	for name := range strings.SplitSeq(strings.Join(h["Content-Encoding"], ","), ",") {
		name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "x-")
		switch {
		case decoders[name] != nil:
			codings = append(codings, name)
		case undecoded[name]:
			return nil, &EncodingError{name, errors.New("unexpected content encoding")}
		}
	}
	if len(codings) > maxCodings {
		return nil, &EncodingError{strings.Join(codings[:maxCodings], ", "), fmt.Errorf("the response has too many content encodings: %d", len(codings))}
	}
	return codings, nil
}

// undecoded lists the content codings of the IANA registry that this package cannot decode. Unknown
// words in Content-Encoding are ignored.
var undecoded = map[string]bool{
	"aes128gcm": true, "compress": true, "dcb": true, "dcz": true, "exi": true, "pack200-gzip": true,
}

// A layer reads from the network or from a decoder, and limits the number of bytes read through it.
type layer struct {
	name  string // content coding; "" for the network
	src   io.Reader
	below *layer // the layer that the decoder reads from; nil for the network
	left  int64  // number of bytes that the layer may still return
	err   error  // the error after which the layer returns no more bytes; never io.EOF
}

func (l *layer) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.src.Read(p)
	switch l.left -= int64(n); {
	case l.left < 0:
		l.left = 0
		l.err = ErrTooLarge
		return n - 1, l.err
	case err != nil && err != io.EOF:
		l.err = l.cause(err)
		err = l.err
	}
	return n, err
}

// cause returns the root cause of an error. If a layer below has failed, the cause is that layer's
// error, and the decoder's error is only a consequence.
func (l *layer) cause(err error) error {
	switch {
	case l.below == nil:
		return err
	case l.below.err != nil:
		return l.below.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w", l.name, io.ErrUnexpectedEOF)
	}
	return &EncodingError{l.name, err}
}

var scratch = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxScratch is the maximum size in bytes of a buffer kept for reuse.
const maxScratch = 1 << 20

// readAll returns all bytes from r, in a slice without spare capacity, because pages are kept until
// they are judged.
func readAll(r io.Reader) ([]byte, error) {
	buf := scratch.Get().(*bytes.Buffer)
	buf.Reset()
	_, err := buf.ReadFrom(r)
	body := bytes.Clone(buf.Bytes())
	if buf.Cap() <= maxScratch {
		scratch.Put(buf)
	}
	return body, err
}

// decoders maps the name of each supported content coding to a function that makes its decoder. The
// decoder reads from r. Call release after the last use, so that its buffers can be reused.
var decoders = map[string]func(r *bufio.Reader) (decoded io.Reader, release func()){
	"gzip":    decodeGzip,
	"deflate": decodeDeflate,
	"br":      decodeBrotli,
	"zstd":    decodeZstd,
}

// AcceptEncoding lists the supported codings: the keys of decoders.
const AcceptEncoding = "gzip, deflate, br, zstd"

func nothing() {}

// startsWith reports whether the next bytes of r are a magic number. It ignores an error from r,
// because the next read returns the error again.
func startsWith(r *bufio.Reader, magic string) bool {
	head, _ := r.Peek(len(magic))
	return string(head) == magic
}

const gzipMagic = "\x1f\x8b"

var gzipReaders = sync.Pool{New: func() any { return &members{head: new(gzip.Reader), z: flate.NewReader(nil)} }}

func decodeGzip(r *bufio.Reader) (io.Reader, func()) {
	if !startsWith(r, gzipMagic) {
		return r, nothing
	}
	m := gzipReaders.Get().(*members)
	m.in, m.open, m.doubtful = r, false, false
	return m, func() { gzipReaders.Put(m) }
}

// members reads the members of a gzip file one after the other, and stops at the first bytes that
// do not begin a member. If the checksum of a member is missing or wrong, the last Read returns
// errSum.
type members struct {
	in        *bufio.Reader
	head      *gzip.Reader // reads only the headers of members
	z         io.Reader    // a flate.Resetter
	open      bool         // z is in the middle of a gzip member
	sum, size uint32       // of the open member's content
	doubtful  bool         // the checksum of a member was missing or wrong
}

func (m *members) Read(p []byte) (int, error) {
	if !m.open {
		switch {
		case startsWith(m.in, gzipMagic):
		case m.doubtful:
			return 0, errSum
		default:
			return 0, io.EOF
		}
		if err := m.head.Reset(m.in); err != nil {
			return 0, unexpected(err)
		}
		_ = m.z.(flate.Resetter).Reset(m.in, nil) // never fails without a dictionary
		m.open, m.sum, m.size = true, 0, 0
	}
	n, err := m.z.Read(p)
	m.sum, m.size = crc32.Update(m.sum, crc32.IEEETable, p[:n]), m.size+uint32(n)
	if err == io.EOF {
		err = m.end()
	}
	return n, err
}

// end reads the trailer of a member (RFC 1952, section 2.3.1).
func (m *members) end() error {
	m.open = false
	trailer, err := m.in.Peek(8)
	switch {
	case err == io.EOF:
		m.doubtful = true
	case err != nil:
		return err
	case binary.LittleEndian.Uint32(trailer) != m.sum, binary.LittleEndian.Uint32(trailer[4:]) != m.size:
		m.doubtful = true
	}
	_, _ = m.in.Discard(len(trailer))
	return nil
}

// unexpected turns io.EOF into io.ErrUnexpectedEOF, for use where the input must not end.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decodeDeflate reads the zlib form, which is what RFC 9110 calls "deflate", and the raw form,
// which some servers send instead.
func decodeDeflate(r *bufio.Reader) (io.Reader, func()) {
	head, _ := r.Peek(2)
	switch {
	case len(head) == 0:
		return r, nothing
	case isZlib(head):
		if _, err := zlib.NewReader(r); err != nil { // reads the header
			return failed{unexpected(err)}, nothing
		}
	}
	return flate.NewReader(r), nothing
}

// isZlib reports whether head is the header of a zlib stream (RFC 1950, section 2.2).
func isZlib(head []byte) bool {
	const deflate = 8
	return len(head) == 2 && head[0]&0x0f == deflate && (int(head[0])<<8|int(head[1]))%31 == 0
}

// failed is a reader that always returns an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

var brotliReaders = sync.Pool{New: func() any { return new(brotli.Reader) }}

func decodeBrotli(r *bufio.Reader) (io.Reader, func()) {
	if _, err := r.Peek(1); err == io.EOF {
		return r, nothing
	}
	z := brotliReaders.Get().(*brotli.Reader)
	_ = z.Reset(r) // Reset never fails
	return z, func() { brotliReaders.Put(z) }
}

// zstdReaders is a pool of decoders. They have no goroutines of their own, so the pool can drop a
// decoder without closing it.
var zstdReaders = sync.Pool{New: func() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		panic(err) // NewReader fails only if an option is invalid
	}
	return z
}}

// A zstd body starts with a frame, or with one of sixteen kinds of skippable frames (RFC 8878,
// section 3.1).
const zstdMagic, zstdSkipMagic = "\x28\xb5\x2f\xfd", "\x2a\x4d\x18"

func decodeZstd(r *bufio.Reader) (io.Reader, func()) {
	head, _ := r.Peek(4)
	if string(head) != zstdMagic && !(len(head) == 4 && head[0]>>4 == 5 && string(head[1:]) == zstdSkipMagic) {
		return r, nothing
	}
	z := zstdReaders.Get().(*zstd.Decoder)
	if err := z.Reset(r); err != nil {
		return failed{unexpected(err)}, nothing
	}
	return z, func() {
		if z.Reset(nil) == nil {
			zstdReaders.Put(z)
		}
	}
}
