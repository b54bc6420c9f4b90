package corpus

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// These are the first bytes of compressed files; see RFC 1952 and RFC 8878. A zstd file may begin
// with a skippable frame, which has one of sixteen magic numbers.
var (
	gzipMagic = []byte("\x1F\x8B")
	zstdMagic = []byte("\x28\xB5\x2F\xFD")
	skippable = []byte("\x2A\x4D\x18")
)

func isGzip(start []byte) bool { return bytes.HasPrefix(start, gzipMagic) }

func isZstd(start []byte) bool {
	return bytes.HasPrefix(start, zstdMagic) || len(start) >= 4 && start[0]&0xF0 == 0x50 && bytes.Equal(start[1:4], skippable)
}

// maxWindow is the maximum window size of a zstd file, in bytes. It bounds the memory needed for
// reading. The zstd command writes windows of up to 8 MB by default and up to 128 MB with
// --long=27. It refuses to read larger ones by default.
const maxWindow = 128 << 20

const bufferSize = 256 << 10

// An Unpacker reads the content of a file that may be compressed. Closing the Unpacker does not
// close the file.
type Unpacker struct {
	*bufio.Reader
	Name   string // file name without an extension like .gz or .zst
	Packed bool   // the file is compressed
	close  func()
}

// Unpack returns a reader for the content of the file f with the given name. It detects compression
// by the first bytes, not by the name. It fails if those bytes belong to a compressed format but
// are invalid.
func Unpack(f io.Reader, name string) (*Unpacker, error) {
	b := bufio.NewReaderSize(f, bufferSize)
	start, _ := b.Peek(4) // if Peek fails, the next read returns the error
	switch {
	case isGzip(start):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		return &Unpacker{bufio.NewReaderSize(z, bufferSize), without(name, gzipEndings), true, func() {}}, nil
	case isZstd(start):
		opt := []zstd.DOption{zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1)}
		dict, err := dictionary(b)
		if dict != nil {
			opt = append(opt, zstd.WithDecoderDicts(dict))
		}
		var z *zstd.Decoder
		if err == nil {
			z, err = zstd.NewReader(b, opt...)
		}
		if err != nil {
			return nil, err
		}
		return &Unpacker{bufio.NewReaderSize(z, bufferSize), without(name, zstdEndings), true, z.Close}, nil
	}
	return &Unpacker{b, name, false, func() {}}, nil
}

// A .warc.zst file may begin with the dictionary that all its frames use (Zstandard Compression for WARC
// Files 1.0, by the IIPC). It is in a skippable frame, and may itself be compressed.
var (
	dictionaryFrame = []byte("\x5D\x2A\x4D\x18")
	dictionaryMagic = []byte("\x37\xA4\x30\xEC")
)

// maxDictionary is the maximum size of a dictionary in bytes. Usual ones have about 1 MB.
const maxDictionary = 64 << 20

// dictionary reads the dictionary at the beginning of a zstd file. It returns nil if there is none.
func dictionary(b *bufio.Reader) ([]byte, error) {
	start, err := b.Peek(8)
	if !bytes.HasPrefix(start, dictionaryFrame) || err != nil {
		return nil, nil
	}
	size := binary.LittleEndian.Uint32(start[4:])
	if size > maxDictionary {
		return nil, fmt.Errorf("the zstd dictionary has %d bytes, and at most %d are allowed", size, maxDictionary)
	}
	content := make([]byte, 8+size)
	if _, err := io.ReadFull(b, content); err != nil {
		return nil, fmt.Errorf("read the zstd dictionary: %w", err)
	}
	if content = content[8:]; isZstd(content) {
		z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxDictionary), zstd.WithDecoderConcurrency(1))
		if err == nil {
			defer z.Close()
			content, err = z.DecodeAll(content, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("decompress the zstd dictionary: %w", err)
		}
	}
	if !bytes.HasPrefix(content, dictionaryMagic) { // the frame is for something else
		return nil, nil
	}
	return content, nil
}

// Close releases the resources of the decompressor.
func (r *Unpacker) Close() { r.close() }

// These are the extensions of compressed files.
var (
	gzipEndings = []string{".gz", ".gzip"}
	zstdEndings = []string{".zst", ".zstd"}
)

// BaseName returns a file name without the extension of a compressed file, such as .gz.
func BaseName(name string) string { return without(without(name, gzipEndings), zstdEndings) }

func without(name string, endings []string) string {
	if ext := filepath.Ext(name); hasEnding(name, endings) {
		return name[:len(name)-len(ext)]
	}
	return name
}

func hasEnding(name string, endings []string) bool {
	return slices.Contains(endings, strings.ToLower(filepath.Ext(name)))
}

// Pack returns a writer that compresses with gzip or zstd if the file name ends in .gz or .zst.
// Otherwise it writes the data unchanged. Close it before closing w.
func Pack(w io.Writer, name string) io.WriteCloser {
	switch {
	case hasEnding(name, gzipEndings):
		return gzip.NewWriter(w)
	case hasEnding(name, zstdEndings):
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil { // NewWriter fails only if an option is invalid
			panic(err)
		}
		return z
	}
	return plain{w}
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }
