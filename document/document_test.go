package document

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/extract"
)

var update = flag.Bool("update", false, "write the golden files")

// reader is shared by the tests, so that the PDF engine starts only once.
var reader = NewReader(Options{})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if err := reader.Close(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("../testdata/documents", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func parse(t testing.TB, body []byte, contentType string) *extract.Document {
	t.Helper()
	doc, err := reader.Parse(t.Context(), extract.Options{}, body, contentType)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// The same text as HTML, PDF, DOCX and EPUB must give near-duplicates, with title, author,
// language and dates. The type must be determined from the bytes, because some servers send a wrong
// type or none.
func TestDocuments(t *testing.T) {
	page := parse(t, read(t, "tides.html"), "text/html")
	for _, test := range []struct {
		name, media, declared string
		published             string
		author                string
		least                 float64 // least resemblance to the HTML page
	}{
		{"tides.pdf", PDF, "application/pdf", "2026-11-25T08:07:49Z", "", 0.92},
		{"owner.pdf", PDF, "", "2026-11-25T08:07:49Z", "", 0.92},
		{"tides.docx", DOCX, "application/octet-stream", "2026-11-25T08:07:47Z", "Ada Holm", 0.94},
		{"tides.epub", EPUB, "application/zip", "2025-03-14", "Ada Holm", 0.94},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := read(t, test.name)
			if got := Type(body); got != test.media {
				t.Errorf("type %q, want %q", got, test.media)
			}
			if got := TypeOfFile(test.name, body[:2048]); got != test.media {
				t.Errorf("type of the file %q, want %q", got, test.media)
			}
			doc := parse(t, body, test.declared)
			if doc.Title != "Reading a tide table" || doc.Author != test.author || doc.Lang != "en" || doc.Published != test.published {
				t.Errorf("title %q, author %q, language %q, published %q", doc.Title, doc.Author, doc.Lang, doc.Published)
			}
			if got := resemblance(doc.Text, page.Text); got < test.least {
				t.Errorf("resemblance to the page %.3f, want %.2f or more", got, test.least)
			}
			golden(t, strings.Replace(test.name, "owner", "tides", 1)+".md", doc.Markdown(extract.MarkdownOptions{})+"\n")
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; after a wanted change raise Version and run go test ./document -update\n%s", path, got)
	}
}

func resemblance(a, b string) float64 {
	var sets [2]dedup.Set
	for i, text := range []string{a, b} {
		var canon dedup.Text
		canon.Read([]byte(text))
		sets[i] = dedup.DefaultShingling().Set(&canon)
	}
	return dedup.Resemblance(sets[0], sets[1])
}

// A document that cannot be read is an error with the reason, and takes neither long nor much
// memory.
func TestBad(t *testing.T) {
	for _, test := range []struct {
		name string
		body []byte
		want error // extract.ErrNotText if the file is not a document
		says string
	}{
		{"PDF with a password", read(t, "encrypted.pdf"), ErrEncrypted, "no text can be read from this PDF: the file is encrypted, and needs a password"},
		{"scanned PDF", scanned(), ErrNoText, "only images"},
		{"truncated PDF", read(t, "tides.pdf")[:20_000], ErrDamaged, ""},
		{"only the start of a PDF", []byte("%PDF-1.7\n"), ErrDamaged, ""},
		{"PDF whose text is 130 MB", textBomb(), ErrDamaged, "or needs more than 128 MB of memory"},
		{"PDF with forms in forms", formBomb(9), ErrDamaged, "or needs more than 128 MB of memory"},

		{"truncated DOCX", read(t, "tides.docx")[:8000], ErrDamaged, ""},
		{"truncated EPUB", read(t, "tides.epub")[:5000], ErrDamaged, ""},
		{"DOCX with a password", ole(), ErrEncrypted, ""},
		{"EPUB with encrypted chapters", pack1(t, "mimetype", EPUB, epubMain, container, "a/b.opf", book, "META-INF/encryption.xml",
			`<encryption><CipherReference URI="a/one.html"/></encryption>`, "a/one.html", "<p>x"), ErrEncrypted, ""},
		{"empty DOCX", pack1(t, wordMain, "<document/>"), ErrNoText, ""},
		{"DOCX that is not XML", pack1(t, wordMain, "<p><t>one</p>"), ErrDamaged, ""},
		{"zip bomb", pack1(t, wordMain, "<d><p><t>"+strings.Repeat(" ", maxUnpacked)+"</t></p></d>"), ErrTooLarge, ""},
		{"zip bomb of markup", pack1(t, wordMain, "<d>"+strings.Repeat("<p/>", maxUnpacked/4)+"</d>"), ErrTooLarge, "more than 32 MB when decompressed"},
		{"text much larger than its file", pack1(t, wordMain, "<d><p><t>"+strings.Repeat("a word ", 1<<18)+"</t></p></d>"), ErrTooLarge, "at most 8"},
		{"deep XML", pack1(t, wordMain, strings.Repeat("<p>", 1000)), ErrTooLarge, "nested more than 256 levels deep"},
		{"XML with entities", pack1(t, wordMain, `<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><d><p><t>&b;</t></p></d>`), ErrDamaged, ""},
		{"EPUB without its book", pack1(t, "mimetype", EPUB, epubMain, container), extract.ErrNotText, ""},
		{"EPUB whose chapters are missing", pack1(t, "mimetype", EPUB, epubMain, container, "a/b.opf", book), ErrNoText, ""},
		{"ZIP with a document in it", pack1(t, "tides.docx", string(read(t, "tides.docx"))), extract.ErrNotText, ""},
		{"ZIP", pack1(t, "a.txt", "text"), extract.ErrNotText, ""},
		{"picture", []byte("\x89PNG\r\n\x1a\n"), extract.ErrNotText, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc, err := reader.Parse(t.Context(), extract.Options{}, test.body, "application/octet-stream")
			if !errors.Is(err, test.want) || doc != nil || !strings.Contains(fmt.Sprint(err), test.says) {
				t.Errorf("got %v, %v; want %v with %q", doc, err, test.want, test.says)
			}
			if reason := new(Error); test.want != extract.ErrNotText && !errors.As(err, &reason) {
				t.Errorf("%v is no *Error", err)
			}
		})
	}
	parse(t, read(t, "tides.pdf"), "") // the engine must still work
}

// A nil Reader reads pages, but treats a document as a file without text.
func TestNoReader(t *testing.T) {
	var none *Reader
	if _, err := none.Parse(t.Context(), extract.Options{}, read(t, "tides.pdf"), ""); !errors.Is(err, extract.ErrNotText) {
		t.Error(err)
	}
	if doc, err := none.Parse(t.Context(), extract.Options{}, []byte("<p>one"), "text/html"); err != nil || doc.Text != "one" {
		t.Error(doc, err)
	}
	if none.Reads(read(t, "tides.pdf"), "") || none.Close() != nil {
		t.Error("a nil reader reads documents")
	}
}

// TestOffice reads documents with unusual order and structure.
func TestOffice(t *testing.T) {
	for _, test := range []struct {
		name string
		body []byte
		want string
	}{
		{"deleted and moved text, fields, fallbacks", pack1(t, wordMain, `<d><p><r><t>one</t></r><del><r><t>not</t></r></del><moveFrom><r><t>not</t></r></moveFrom>
			<r><instrText>PAGE</instrText></r><AlternateContent><Choice><t> two</t></Choice><Fallback><t>not</t></Fallback></AlternateContent></p></d>`), "one two"},
		{"box inside a paragraph", pack1(t, wordMain, `<d><p><t>one</t><txbxContent><p><t>box</t></p></txbxContent><t> two</t></p><p><t>three</t></p></d>`), "one two\nbox\nthree"},
		{"rows and cells", pack1(t, wordMain, `<d><tbl><tr><tc><p><t>a</t></p><p><t>b</t></p></tc><tc><p><t>c</t></p></tc></tr><tr><tc><p><t>d</t></p></tc></tr></tbl></d>`), "a b c\nd"},
		{"table of contents", pack1(t, "word/styles.xml", `<s><style styleId="I1"><name val="toc 1"/></style></s>`, wordMain,
			`<d><p><pPr><pStyle val="I1"/></pPr><t>one 1</t></p><sdt><sdtPr><docPartGallery val="Table of Contents"/></sdtPr><sdtContent><p><t>not</t></p></sdtContent></sdt><p><t>one</t></p></d>`), "one"},
		{"tabs, breaks and hyphens", pack1(t, wordMain, `<d><p><t>one</t><tab/><t>two</t><br/><t>three</t><noBreakHyphen/><t>four soft`+"\u00ad"+`ly</t></p></d>`), "one two three-four softly"},
		{"a main part with another name", pack1(t, "[Content_Types].xml", "<Types/>", "_rels/.rels", `<Relationships><Relationship Type="http://o.example/relationships/core-properties" Target="docProps/core.xml"/>
			<Relationship Type="http://o.example/relationships/officeDocument" Target="word/document2.xml"/></Relationships>`, "word/document2.xml", `<d><p><t>one</t></p></d>`), "one"},
		{"parts with other names", pack1(t, "[Content_Types].xml", "<Types/>", "_rels/.rels", `<Relationships><Relationship Type="x/officeDocument" Target="/word/text/main.xml"/></Relationships>`,
			"word/text/_rels/main.xml.rels", `<Relationships><Relationship Type="x/styles" Target="look.xml"/><Relationship Type="x/footnotes" Target="/word/notes.xml"/></Relationships>`,
			"word/text/look.xml", `<s><style styleId="I1"><name val="toc 1"/></style></s>`, "word/notes.xml", `<d><p><t>note</t></p></d>`,
			"word/text/main.xml", `<d><p><pPr><pStyle val="I1"/></pPr><t>one 1</t></p><p><t>one</t></p></d>`), "one\nnote"},
		{"relationships without the usual part", pack1(t, "_rels/.rels", `<Relationships/>`, wordMain, `<d><p><t>one</t></p></d>`, "word/endnotes.xml", `<d><p><t>end</t></p></d>`), "one\nend"},
		{"styles that inherit in a circle", pack1(t, "word/styles.xml", `<s><style styleId="a"><basedOn val="b"/></style><style styleId="b"><basedOn val="a"/></style></s>`,
			wordMain, `<d><p><pPr><pStyle val="a"/></pPr><t>one</t></p></d>`), "one"},
		{"chapters in the order of the spine, each once", pack1(t, "mimetype", EPUB, epubMain, container, "a/b.opf", book,
			"a/two.html", "<h1>Two</h1><p>second", "a/one.html", "<h1>One</h1><p>first", "a/nav.html", "<p>contents", "a/cover.html", "<p>cover"), "One\nfirst\nTwo\nsecond"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := parse(t, test.body, "").Text; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

const (
	container = `<container><rootfiles><rootfile full-path="a/b.opf"/></rootfiles></container>`
	book      = `<package><metadata><title>B</title></metadata><manifest>
		<item id="n" href="nav.html" properties="nav" media-type="application/xhtml+xml"/><item id="c" href="cover.html" media-type="application/xhtml+xml"/>
		<item id="2" href="two.html" media-type="application/xhtml+xml"/><item id="1" href="one%2ehtml" media-type="application/xhtml+xml"/>
		</manifest><spine><itemref idref="c" linear="no"/><itemref idref="n"/><itemref idref="1"/><itemref idref="2"/><itemref idref="1"/></spine></package>`
)

// Each chapter of a book is read or counted, however the book refers to it.
func TestChapters(t *testing.T) {
	for _, test := range []struct {
		name, items, spine string // items are hrefs, each with a media type after "|" if it is not XHTML; spine has positions in items
		want               string
		missing            int
	}{
		{"a fragment", "one.html#start two.html", "0 1", "first\nsecond", 0},
		{"two fragments of one file", "one.html#a one.html#b two.html", "0 1 2", "first\nsecond", 0},
		{"a number sign in the name", "no%231.html no#1.html", "0 1", "number", 0},
		{"another case", "ONE.HTML Two.html", "0 1", "first\nsecond", 0},
		{"another case and a fragment", "One.Html#top", "0", "first", 0},
		{"a percent sign in the name", "100%.html", "0", "whole", 0},
		{"a case that two files have", "same.html Same.html SAME.html", "0 1 2", "lower\nupper", 0},
		{"no file", "one.html gone.html", "0 1", "first", 1},
		{"no file, twice in the spine", "one.html gone.html", "0 1 1", "first", 1},
		{"two files that are missing", "gone.html one.html lost.html#a", "0 1 2", "first", 2},
		{"an item that is not in the manifest", "one.html", "0 7", "first", 1},
		{"an empty href", "one.html #a", "0 1", "first", 1},
		{"another media type", "one.html|text/html;charset=utf-8 two.html|Application/XHTML+XML", "0 1", "first\nsecond", 0},
		{"a chapter that is not HTML", "one.html two.html|application/x-dtbook+xml", "0 1", "first", 1},
		{"a picture", "one.html cover.svg|image/svg+xml", "1 0", "first", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var opf strings.Builder
			opf.WriteString("<package><manifest>")
			for i, item := range strings.Fields(test.items) {
				href, media, _ := strings.Cut(item, "|")
				fmt.Fprintf(&opf, `<item id="%d" href="%s" media-type="%s"/>`, i, href, cmp.Or(media, "application/xhtml+xml"))
			}
			opf.WriteString("</manifest><spine>")
			for id := range strings.FieldsSeq(test.spine) {
				fmt.Fprintf(&opf, `<itemref idref="%s"/>`, id)
			}
			opf.WriteString("</spine></package>")
			doc := parse(t, pack1(t, "mimetype", EPUB, epubMain, container, "a/b.opf", opf.String(), "a/one.html", "<p>first", "a/two.html", "<p>second",
				"a/no#1.html", "<p>number", "a/100%.html", "<p>whole", "a/same.html", "<p>lower", "a/Same.html", "<p>upper"), "")
			if doc.Text != test.want || doc.Missing != test.missing {
				t.Errorf("got %q and %d missing, want %q and %d", doc.Text, doc.Missing, test.want, test.missing)
			}
		})
	}
}

// pack1 returns a ZIP file with the given entries. parts alternates between names and contents.
func pack1(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		method := zip.Deflate
		if parts[i] == "mimetype" {
			method = zip.Store
		}
		w, err := z.CreateRaw(storedHeader(parts[i], parts[i+1]))
		if method == zip.Deflate {
			w, err = z.CreateHeader(&zip.FileHeader{Name: parts[i], Method: method})
		}
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ole returns an OLE file like that of an encrypted DOCX.
func ole() []byte {
	return append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), append(make([]byte, 1000), encryptedPackage...)...)
}

// If the time limit ends, the engine must stop in the middle of a PDF and free the memory. It must
// then read the next file normally.
func TestTimeLimit(t *testing.T) {
	r := NewReader(Options{Timeout: 50 * time.Millisecond, Memory: maxInstance})
	defer r.Close()
	for range 5 {
		began := time.Now()
		_, err := r.Parse(t.Context(), extract.Options{}, formBomb(9), "")
		if !errors.Is(err, ErrTooSlow) {
			t.Fatalf("got %v, want %v", err, ErrTooSlow)
		}
		if took := time.Since(began); took > 20*time.Second { // PDFium without a time limit would take much longer
			t.Errorf("it was stopped after %v", took)
		}
	}
	runtime.GC()
	var now runtime.MemStats
	if runtime.ReadMemStats(&now); now.HeapAlloc > 128<<20 {
		t.Errorf("%d MB are still in use", now.HeapAlloc>>20)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Parse(ctx, extract.Options{}, read(t, "tides.pdf"), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	small := onePage("/Font << /F 5 0 R >>", stream("", "BT /F 12 Tf 10 10 Td (one) Tj ET"), helvetica)
	for range 20 { // on a busy machine, even this file may exceed the limit
		doc, err := r.Parse(t.Context(), extract.Options{}, small, "")
		if err == nil && doc.Text == "one" {
			return
		}
		if !errors.Is(err, ErrTooSlow) {
			t.Fatal(doc, err)
		}
	}
	t.Error("a small file took too long, twenty times")
}

// The least memory must be enough for small files. Without a folder for the cache, the engine must
// still work, although it is compiled again.
func TestLittle(t *testing.T) {
	opt := Options{Memory: 1}
	if os.Getenv("SKINK_LONG") != "" {
		opt.Cache = filepath.Join(os.DevNull, "cache")
	}
	r := NewReader(opt)
	defer r.Close()
	doc, err := r.Parse(t.Context(), extract.Options{}, read(t, "tides.pdf"), "")
	if err != nil || doc.Title != "Reading a tide table" {
		t.Error(doc, err)
	}
}
