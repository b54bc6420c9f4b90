package corpus

import (
	"bufio"
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// What is packed is known by its first bytes, whatever its name is. A name that says so too
// loses that ending, since what stands before it says what is inside: page.html.gz is HTML.

// The first bytes of what is packed, by RFC 1952 and RFC 8878. A file of zstd may begin with
// a frame that is skipped, of one of sixteen numbers.
var (
	gzipMagic = []byte("\x1F\x8B")
	zstdMagic = []byte("\x28\xB5\x2F\xFD")
	skippable = []byte("\x2A\x4D\x18")
)

func isGzip(start []byte) bool { return bytes.HasPrefix(start, gzipMagic) }

func isZstd(start []byte) bool {
	return bytes.HasPrefix(start, zstdMagic) || len(start) >= 4 && start[0]&0xF0 == 0x50 && bytes.Equal(start[1:4], skippable)
}

// maxWindow bounds what a zstd file can make its reader hold. The command line tool writes windows
// of up to 8 MB unless it is told otherwise, and of 128 MB with --long.
const maxWindow = 128 << 20

const bufferSize = 256 << 10

// An unpackedFile is a file without what packs it.
type unpackedFile struct {
	name  string
	close func()
}

func (u unpackedFile) Close() { u.close() }

// unpack reads what a file holds. The error is that of its first bytes.
func unpack(f io.Reader, name string) (*bufio.Reader, unpackedFile, error) {
	b := bufio.NewReaderSize(f, bufferSize)
	u := unpackedFile{name, func() {}}
	start, _ := b.Peek(4)
	switch {
	case isGzip(start):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, u, err
		}
		u.name = withoutExt(name, ".gz", ".gzip")
		return bufio.NewReaderSize(z, bufferSize), u, nil
	case isZstd(start):
		z, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, u, err
		}
		u.name, u.close = withoutExt(name, ".zst", ".zstd"), z.Close
		return bufio.NewReaderSize(z, bufferSize), u, nil
	}
	return b, u, nil
}

// withoutExt is a name without its ending, if that is one of those.
func withoutExt(name string, endings ...string) string {
	ext := filepath.Ext(name)
	for _, e := range endings {
		if strings.EqualFold(ext, e) {
			return name[:len(name)-len(ext)]
		}
	}
	return name
}
