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

// decode unpacks a file, of up to so many bytes, and makes UTF-8 of it. Gzip in gzip is not
// unpacked twice.
func decode(r io.Reader, bytes int64) (*bufio.Reader, error) {
	in := bufio.NewReader(&bounded{src: r, left: bytes})
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("unpack it: %w", err)
		}
		in = bufio.NewReader(&bounded{src: unpacking{z}, left: bytes})
	}
	head, err := in.Peek(maxDeclaration)
	if len(head) == 0 && err != nil {
		return nil, emptyOr(err)
	}
	if enc := encodingOf(head); enc != nil {
		in = bufio.NewReader(enc.NewDecoder().Reader(in))
	}
	return in, nil
}

// emptyOr leaves an end to the caller, who knows what an empty file means.
func emptyOr(err error) error {
	if err == io.EOF {
		return fmt.Errorf("it is empty: %w", ErrNone)
	}
	return err
}

// unpacking says of an error that gzip is to blame.
type unpacking struct{ z io.Reader }

func (u unpacking) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	if err != nil && err != io.EOF && err != ErrBytes {
		err = fmt.Errorf("unpack it: %w", err)
	}
	return n, err
}

// A bounded reader ends with [ErrBytes] where there is more than it may give.
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

// maxDeclaration is how much of a file is looked at for the encoding that it declares.
const maxDeclaration = 256

// encodingOf is the encoding of a file that begins with head: what its byte order mark
// says, or the zeros between its first characters, or its XML declaration. It is nil for
// UTF-8 and where nothing is known: what is no UTF-8 then stands in the URLs as it is.
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
	if name == "utf-8" || name == "utf-16le" || name == "utf-16be" { // the declaration was read as ASCII
		return nil
	}
	return enc
}

// firstByte passes over a byte order mark and spaces, and looks at what comes then.
func firstByte(in *bufio.Reader) (byte, error) {
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	for {
		c, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !isSpace(c) {
			return c, in.UnreadByte()
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
