package document

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"skink/extract"
)

// storedHeader returns the header of a ZIP entry whose content is stored without compression.
func storedHeader(name, content string) *zip.FileHeader {
	return &zip.FileHeader{
		Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(content)),
		CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content)),
	}
}

// pdfOf returns a PDF file with the given objects. The first object is the catalog.
func pdfOf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(content), content)
}

// onePage returns a PDF file with one page. The given objects are numbered from 5, and resources
// may refer to them.
func onePage(resources, content string, objects ...string) []byte {
	return pdfOf(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << " + resources + " >> >>",
		content,
	}, objects...)...)
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"

// scanned returns a PDF file whose only page is a picture.
func scanned() []byte {
	return onePage("/XObject << /X 5 0 R >>", stream("", "600 0 0 800 0 0 cm /X Do"),
		stream("/Type /XObject /Subtype /Image /Width 10 /Height 10 /BitsPerComponent 8 /ColorSpace /DeviceGray", strings.Repeat("x", 100)))
}

// textBomb returns a PDF file of 380 KB with a page whose content is 130 MB.
func textBomb() []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	line := []byte(strings.Repeat("BT /F 12 Tf 1 1 Td (word ) Tj ET\n", 1000))
	for range 4000 {
		z.Write(line)
	}
	z.Close()
	return onePage("/Font << /F 5 0 R >>", stream("/Filter /FlateDecode", b.String()), helvetica)
}

// formBomb returns a PDF file with a page that draws a form ten times. That form draws another form
// ten times, and so on.
func formBomb(levels int) []byte {
	form := func(resources, content string) string {
		return stream("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << "+resources+" >>", content)
	}
	ten := strings.Repeat("/X Do ", 10)
	objects := []string{helvetica}
	for l := range levels {
		if l < levels-1 {
			objects = append(objects, form(fmt.Sprintf("/XObject << /X %d 0 R >>", 7+l), ten))
		} else {
			objects = append(objects, form("/Font << /F 5 0 R >>", "BT /F 12 Tf 10 10 Td (boom) Tj ET"))
		}
	}
	return onePage("/XObject << /X 6 0 R >>", stream("", ten), objects...)
}

// Reading a mutated PDF must return a text or an error, and must not affect the next file. The
// engine must not panic.
func TestMutated(t *testing.T) {
	n := 20
	if os.Getenv("SKINK_LONG") != "" {
		n = 200
	}
	good := read(t, "tides.pdf")
	want := parse(t, good, "").Text
	plain := formBomb(2) // the file's objects are not compressed, so mutations can change them
	counts := map[string]int{}
	for seed := range n {
		r := rand.New(rand.NewPCG(84, uint64(seed)))
		body := bytes.Clone(good)
		if seed%2 == 1 {
			body = bytes.Clone(plain)
		}
		mutate(r, &body)
		doc, err := reader.Parse(t.Context(), extract.Options{}, body, "application/pdf")
		switch reason := new(Error); {
		case err == nil && utf8.ValidString(doc.Text):
			counts["text"]++
		case errors.As(err, &reason):
			counts[reason.Err.Error()]++
		case errors.Is(err, extract.ErrNotText):
			counts["not a PDF"]++
		default:
			t.Errorf("seed %d: %v, %v", seed, doc, err)
		}
		if seed%20 == 19 {
			if got := parse(t, good, "").Text; got != want {
				t.Fatalf("seed %d: after it, a good file gives another text:\n%s", seed, got)
			}
		}
	}
	t.Log(counts)
}

// mutate changes some bytes, numbers and sections of a file.
func mutate(r *rand.Rand, body *[]byte) {
	b := *body
	for range 1 + r.IntN(4) {
		at := r.IntN(len(b))
		switch r.IntN(5) {
		case 0:
			b[at] = byte(r.Uint32())
		case 1: // change a number in the file
			for i := at; i < len(b); i++ {
				if '0' <= b[i] && b[i] <= '9' {
					b[i] = '0' + byte(r.IntN(10))
					break
				}
			}
		case 2: // delete a section of the file
			b = append(b[:at], b[min(len(b), at+r.IntN(50)):]...)
		case 3: // repeat a section of the file
			b = append(b[:at:at], b[max(0, at-r.IntN(200)):]...)
		case 4:
			copy(b[at:], b[r.IntN(len(b)):])
			b = b[:len(b)-r.IntN(len(b)/50+1)]
		}
		if len(b) < 10 {
			break
		}
	}
	*body = b
}

// FuzzOffice checks that reading an office document never panics, and returns a text of bounded
// size in valid UTF-8. A second reading must return the same text.
func FuzzOffice(f *testing.F) {
	for _, name := range []string{"tides.docx", "tides.epub"} {
		f.Add(read(f, name))
	}
	f.Add(ole())
	f.Add(pack1(f, wordMain, "<d><p><t>one</t></p></d>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if Type(body) == PDF {
			return // TestMutated tests mutated PDF files
		}
		doc, err := reader.Parse(t.Context(), extract.Options{}, body, "application/zip")
		if err != nil {
			if reason := new(Error); !errors.As(err, &reason) && !errors.Is(err, extract.ErrNotText) {
				t.Errorf("error %v says no reason", err)
			}
			return
		}
		switch {
		case !doc.HasText() || doc.Text == "":
			t.Error("a document without text is no error")
		case !utf8.ValidString(doc.Text):
			t.Errorf("the text is not UTF-8: %q", doc.Text)
		case len(doc.Text) > 2*MaxText(len(body)): // an invalid byte becomes a character of three bytes
			t.Errorf("%d bytes of text from %d bytes", len(doc.Text), len(body))
		case strings.Contains(doc.Text, "\n\n"):
			t.Error("an empty block")
		}
		again, err := reader.Parse(t.Context(), extract.Options{}, body, "application/zip")
		if err != nil || again.Text != doc.Text {
			t.Errorf("the second reading gives %v, %v", again, err)
		}
	})
}

// FuzzXML uses arbitrary XML as the main part of a document.
func FuzzXML(f *testing.F) {
	f.Add("<d><p><t>one</t></p></d>")
	f.Add("<d><tr><p><t>one</t></p><tr></tr></tr><sdt><docPartGallery val='Table of Contents'/></sdt></d>")
	f.Fuzz(func(t *testing.T, word string) {
		doc, err := reader.Parse(t.Context(), extract.Options{}, pack1(t, wordMain, word), "")
		if err == nil && (!utf8.ValidString(doc.Text) || len(doc.Text) == 0) {
			t.Errorf("text %q", doc.Text)
		}
	})
}
