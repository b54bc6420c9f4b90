package document

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
)

// # Packages
//
// DOCX and EPUB files are packages: ZIP files whose entries are called parts. Only the parts
// with text are decompressed, each once.

const (
	maxUnpacked = 32 << 20 // maximum number of decompressed bytes of a document; a book of a thousand pages needs a third of that
	maxDepth    = 256      // maximum depth of nested XML elements; LibreOffice has the same limit
	maxParts    = 10_000
)

type pack struct {
	parts   map[string]*zip.File
	left    int64 // number of bytes that may still be decompressed
	maxText int   // maximum number of bytes of text in the document
}

// packageType returns the media type of a DOCX or EPUB file, or "" for any other ZIP file. EPUB
// files should begin with an entry that contains the media type. If a file does not, its type is
// recognized by an entry that only files of that type have.
func packageType(body []byte) string {
	const head = 30 // number of bytes in a ZIP entry before its name
	if len(body) < head {
		return ""
	}
	name := body[head:]
	name = name[:min(len(name), int(binary.LittleEndian.Uint16(body[26:])))]
	switch content := body[min(len(body), head+len(name)+int(binary.LittleEndian.Uint16(body[28:]))):]; {
	case string(name) != "mimetype":
		if bytes.Contains(body, []byte(wordMain)) || bytes.Contains(body, []byte("[Content_Types].xml")) && bytes.Contains(body, []byte("word/")) {
			return DOCX
		}
		if bytes.Contains(body, []byte(epubMain)) {
			return EPUB
		}
	case bytes.HasPrefix(content, []byte(EPUB)):
		return EPUB
	}
	return ""
}

func openPackage(body []byte) (*pack, error) {
	if !bytes.HasPrefix(body, []byte("PK")) {
		return nil, ErrEncrypted // encrypted documents are OLE files and not ZIP files
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	if len(z.File) > maxParts {
		return nil, fmt.Errorf("%w: the ZIP file has %d entries", ErrTooLarge, len(z.File))
	}
	p := &pack{parts: map[string]*zip.File{}, left: maxUnpacked, maxText: MaxText(len(body))}
	for _, f := range z.File {
		p.parts[f.Name] = f
	}
	return p, nil
}

// errMissing means that a ZIP file lacks an entry that all documents of its type have.
var errMissing = errors.New("an entry of the ZIP file is missing")

// The caller must close the result.
func (p *pack) open(name string) (io.ReadCloser, error) {
	f := p.parts[path.Clean(strings.TrimPrefix(name, "/"))]
	if f == nil {
		return nil, fmt.Errorf("%w: %w: %s", ErrDamaged, errMissing, name)
	}
	if f.Flags&1 != 0 {
		return nil, ErrEncrypted
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrDamaged, name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&unpacking{r, &p.left}, r}, nil
}

// An unpacking reads an entry of a ZIP file. *left is the number of bytes that may still be
// decompressed in all entries of the package together. When it is 0, reading fails.
type unpacking struct {
	from io.Reader
	left *int64
}

func (u *unpacking) Read(b []byte) (int, error) {
	if *u.left <= 0 {
		return 0, fmt.Errorf("%w: more than %d MB when decompressed", ErrTooLarge, maxUnpacked>>20)
	}
	n, err := u.from.Read(b[:min(int64(len(b)), *u.left)])
	*u.left -= int64(n)
	return n, err
}

func (p *pack) bytes(name string) ([]byte, error) {
	r, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return b, unreadable(name, err)
}

func unreadable(name string, err error) error {
	if err == nil || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrEncrypted) {
		return err
	}
	return fmt.Errorf("%w: %s: %v", ErrDamaged, name, err)
}

// A visitor receives the elements and text of an XML entry from walk. Element names have no
// namespace prefix.
type visitor interface {
	begin(name string, attrs []xml.Attr)
	end(name string)
	text(s []byte)
	err() error // a non-nil error stops walk
}

// elements is a visitor that is called at the beginning of each element, and ignores all else.
type elements func(name string, attrs []xml.Attr)

func (e elements) begin(name string, attrs []xml.Attr) { e(name, attrs) }
func (elements) end(string)                            {}
func (elements) text([]byte)                           {}
func (elements) err() error                            { return nil }

func (p *pack) walk(name string, v visitor) error {
	r, err := p.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	d.Entity = xml.HTMLEntity
	for depth := 0; ; {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return unreadable(name, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("%w: elements of %s are nested more than %d levels deep", ErrTooLarge, name, maxDepth)
			}
			v.begin(t.Name.Local, t.Attr)
		case xml.EndElement:
			depth--
			v.end(t.Name.Local)
		case xml.CharData:
			v.text(t)
		}
		if err := v.err(); err != nil {
			return err
		}
	}
}

// attr returns the value of the attribute with the given name, whatever its namespace prefix, or ""
// if there is none.
func attr(attrs []xml.Attr, name string) string {
	for _, a := range attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
