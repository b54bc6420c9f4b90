package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// decode returns a reader of the decompressed file in UTF-8. The reader fails with [ErrBytes] if
// the file is longer than the given number of bytes, compressed or decompressed. Gzip inside gzip
// is not decompressed. The error for an empty file is io.EOF.
func decode(r io.Reader, bytes int64) (*bufio.Reader, error) {
	in := bufio.NewReader(&bounded{src: r, left: bytes})
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("decompress the sitemap: %w", err)
		}
		in = bufio.NewReader(&bounded{src: unpacking{z}, left: bytes})
	}
	head, err := in.Peek(maxDeclaration)
	if len(head) == 0 && err != nil {
		return nil, err
	}
	if enc := encodingOf(head); enc != nil {
		in = bufio.NewReader(enc.NewDecoder().Reader(in))
	}
	return in, nil
}

type unpacking struct{ z io.Reader }

func (u unpacking) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	if err != nil && err != io.EOF && err != ErrBytes {
		err = fmt.Errorf("decompress the sitemap: %w", err)
	}
	return n, err
}

// A bounded reader returns the error [ErrBytes] if its source has more than left bytes.
type bounded struct {
	src  io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		var one [1]byte
		if n, err := io.ReadFull(b.src, one[:]); n == 0 {
			return 0, err
		}
		return 0, ErrBytes
	}
	n, err := b.src.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// maxDeclaration is the number of bytes at the start of a file that are searched for a declared
// encoding.
const maxDeclaration = 256

// encodingOf returns the encoding of a file that begins with head. It uses the byte order mark,
// zero bytes between the first characters, or the XML declaration. It returns nil if the encoding
// is UTF-8 or not known. If the encoding is not known, bytes that are not UTF-8 stay in the URLs.
func encodingOf(head []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("<\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00<")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case !bytes.HasPrefix(head, []byte("<?xml")):
		return nil
	}
	declaration, _, _ := bytes.Cut(head, []byte("?>"))
	_, rest, found := bytes.Cut(declaration, []byte("encoding"))
	rest = bytes.TrimLeft(rest, " \t\r\n=")
	if !found || len(rest) == 0 {
		return nil
	}
	label, _, _ := bytes.Cut(rest[1:], rest[:1])
	enc, name := charset.Lookup(string(label))
	if name == "utf-8" || name == "utf-16le" || name == "utf-16be" { // the file cannot be in UTF-16, because the declaration was readable as ASCII
		return nil
	}
	return enc
}

// firstByte skips a byte order mark and spaces, and returns the next byte without consuming it.
func firstByte(in *bufio.Reader) (byte, error) {
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	for {
		c, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if bytes.IndexByte([]byte(" \t\r\n"), c) < 0 {
			return c, in.UnreadByte()
		}
	}
}
