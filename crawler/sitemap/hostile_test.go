package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A hostile is a file that is meant to cost much memory or time.
type hostile struct {
	name, does string
	file       func() io.Reader
	entries    int
	end        error // the last error; nil if the file is read to its end
	whole      bool  // the limit is MaxBytes instead of maxRead
}

// maxLive is the number of bytes of memory that may be in use while a file is read: a token, twice while
// its buffer grows, and the buffers of the reader.
const maxLive = 2*MaxToken + 256<<10

// maxRead is the limit for the bytes of a file in most cases, in place of [MaxBytes]. It makes the
// test faster. The memory in use does not depend on the number of bytes that are skipped.
const maxRead = 8 << 20

const entry = "<url><loc>http://a.example/a/page/with/a/name</loc><lastmod>2020-01-01</lastmod></url>"

func hostiles() []hostile {
	text := func(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }
	bombs := `<!DOCTYPE z [<!ENTITY a "lol">`
	for c := 'b'; c <= 'j'; c++ {
		bombs += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	return []hostile{
		{"entity-bomb", "entities that contain further entities, a billion in total", text(bombs + `]><urlset><url><loc>http://a.example/&j;</loc></url></urlset>`), 1, nil, false},
		{"outer-entity", "an entity that refers to a file of the local machine", text(`<!DOCTYPE z [<!ENTITY a SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://a.example/&a;</loc></url></urlset>`), 1, nil, false},
		{"gzip-bomb", "64 MB of comments, compressed with gzip", func() io.Reader { return packing("<urlset>", "<!--"+strings.Repeat("a", 57)+"-->", 1<<20) }, 0, ErrBytes, true},
		{"gzip-of-entries", "a hundred thousand entries, compressed with gzip", func() io.Reader { return packing("<urlset>", entry, 1<<17) }, MaxEntries, ErrEntries, false},
		{"gzip-in-gzip", "a compressed file that was compressed again", func() io.Reader { return bytes.NewReader(packed(string(packed(strings.Repeat("a", 1<<20))))) }, 0, ErrNone, false},
		{"empty-members", "empty gzip members, without end", func() io.Reader { return &endless{unit: packed("")} }, 0, ErrBytes, false},
		{"deep", "nested elements, without end", func() io.Reader { return &endless{head: "<urlset>", unit: []byte("<url>")} }, 0, ErrDepth, false},
		{"endless-entries", "entries, without end", func() io.Reader { return &endless{head: "<urlset>", unit: []byte(entry)} }, MaxEntries, ErrEntries, false},
		{"endless-lines", "URLs in plain text, without end", func() io.Reader { return &endless{unit: []byte("http://a.example/\n")} }, MaxEntries, ErrEntries, false},
		{"endless-line", "a URL of endless length", func() io.Reader { return &endless{head: "http://a.example/", unit: []byte("a")} }, 0, ErrBytes, false},
		{"endless-text", "a loc element of endless length", func() io.Reader { return &endless{head: "<urlset><url><loc>http://a.example/", unit: []byte("a")} }, 0, ErrToken, false},
		{"endless-cdata", "a CDATA section of endless length", func() io.Reader { return &endless{head: "<urlset><url><loc><![CDATA[", unit: []byte("a")} }, 0, ErrToken, false},
		{"endless-comment", "a comment of endless length", func() io.Reader { return &endless{head: "<urlset><!--", unit: []byte("a-")} }, 0, ErrToken, false},
		{"endless-attributes", "attributes, without end", func() io.Reader { return &endless{head: "<urlset", unit: []byte(" a='>'")} }, 0, ErrToken, false},
		{"endless-tag", "a tag of endless length", func() io.Reader { return &endless{head: "<urlset><url ", unit: []byte("a")} }, 0, ErrToken, false},
		{"endless-names", "unknown elements, without end", func() io.Reader { return &endless{head: "<urlset>", unit: []byte("<a/><b>x</b>")} }, 0, ErrBytes, false},
		{"endless-spaces", "spaces, without end", func() io.Reader { return &endless{unit: []byte(" ")} }, 0, ErrBytes, false},
		{"endless-closings", "end tags of elements that were never opened, without end", func() io.Reader { return &endless{head: "<urlset>", unit: []byte("</x>")} }, 0, ErrBytes, false},
		{"no-utf-8", "bytes that are not UTF-8, and zero bytes", text("<urlset><url><loc>http://a.example/\xff\x00\xc3</loc></url></urlset>"), 1, nil, false},
		{"half-utf-16", "half a character of UTF-16", text("\xff\xfe<\x00u"), 0, ErrNone, false},
		{"page", "a web page instead of a sitemap", text("<!DOCTYPE html><html><body><urlset><url><loc>http://a.example/</loc></url></urlset></html>"), 0, ErrNone, false},
		{"script", "a script instead of a URL", text("<urlset><url><loc>javascript:alert(1)</loc></url></urlset>"), 1, nil, false},
	}
}

// TestHostile checks that no file needs more than maxLive bytes at once, and that reading ends.
func TestHostile(t *testing.T) {
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			bound := int64(maxRead)
			if h.whole {
				bound = MaxBytes
			}
			m := &meter{src: h.file()}
			m.start()
			n := 0
			var end error
			for e, err := range readUpTo(m, bound) {
				if err != nil {
					end = err
					break
				}
				if n++; len(e.URL) > MaxText {
					t.Fatalf("a URL of %d bytes", len(e.URL))
				}
			}
			m.look()
			if n != h.entries || !errors.Is(end, h.end) {
				t.Errorf("%d entries, ended with %v; want %d, %v", n, end, h.entries, h.end)
			}
			if m.peak > maxLive {
				t.Errorf("held %d KB, want %d at most", m.peak>>10, maxLive>>10)
			}
			if m.read > bound+1<<16 {
				t.Errorf("read %d bytes", m.read)
			}
			t.Logf("%d KB held at most, %d KB read", m.peak>>10, m.read>>10)
		})
	}
}

// A meter is a reader that measures the memory in use. It does so after each 4 MB, and several
// times before the first 4 MB.
type meter struct {
	src              io.Reader
	base, peak, read int64
	lookAt           int64
}

func (m *meter) start() { m.base = live(); m.lookAt = 1 << 12 }

func (m *meter) look() { m.peak = max(m.peak, live()-m.base) }

func live() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func (m *meter) Read(p []byte) (int, error) {
	if m.read >= m.lookAt {
		m.look()
		m.lookAt += min(m.lookAt, 8<<20)
	}
	n, err := m.src.Read(p)
	m.read += int64(n)
	return n, err
}

// An endless file has a beginning, followed by copies of one unit that never end.
type endless struct {
	head string
	unit []byte
	at   int
}

func (e *endless) Read(p []byte) (n int, err error) {
	if e.head != "" {
		n = copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	for n < len(p) {
		c := copy(p[n:], e.unit[e.at:])
		e.at = (e.at + c) % len(e.unit)
		n += c
	}
	return n, nil
}

// packing returns a gzip file with a head and many copies of one unit.
func packing(head, unit string, units int) io.Reader {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, head)
	many := strings.Repeat(unit, 1<<10)
	for range units >> 10 {
		_, _ = io.WriteString(z, many)
	}
	_ = z.Close()
	return &b
}

var update = flag.Bool("update", false, "write testdata/hostile.md")

// TestHostileTable compares testdata/hostile.md with the cases.
func TestHostileTable(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, `# Hostile sitemaps

These sitemap files try to cost a crawler much time or memory. The table shows the result of reading each file.
`+"`go test ./crawler/sitemap -run HostileTable -update`"+` writes the table from the test cases, and each row names its
test. Reading a file may need at most %d KB of memory at once, including the buffers of the reader. At most %d MB of a file
are read, compressed or decompressed. One test uses this limit, and the others use a smaller one.

| file | content of the file | entries read | end of reading | limit of memory | test |
|---|---|---|---|---|---|
`, maxLive>>10, MaxBytes>>20)
	for _, h := range hostiles() {
		end := "the whole file was read"
		if h.end != nil {
			end = h.end.Error()
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %d KB | `TestHostile/%s` |\n", h.name, h.does, h.entries, end, maxLive>>10, h.name)
	}
	name := filepath.Join("testdata", "hostile.md")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(name)
	if err != nil || string(file) != b.String() {
		t.Errorf("%s is not what the cases say (%v): write it with -update", name, err)
	}
}

// FuzzRead checks that reading any file ends within the bounds, and yields at most one error, as
// the last pair.
func FuzzRead(f *testing.F) {
	for _, h := range hostiles() {
		if strings.HasPrefix(h.name, "gzip") {
			continue // unpacking takes too long for a seed of the fuzzer
		}
		head := make([]byte, 512)
		n, _ := io.ReadFull(h.file(), head)
		f.Add(head[:n])
	}
	f.Add(packed("http://a.example/\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		n, ended := 0, false
		for e, err := range readUpTo(bytes.NewReader(file), 1<<20) {
			if ended {
				t.Fatal("went on after an error")
			}
			if ended = err != nil; ended {
				continue
			}
			if n++; e.URL == "" || len(e.URL) > 4*MaxText || strings.TrimSpace(e.URL) != e.URL {
				t.Fatalf("entry %q", e.URL)
			}
		}
		if n > len(file)*1200 || n > MaxEntries { // gzip compresses at most a thousand times
			t.Fatalf("%d entries of %d bytes", n, len(file))
		}
	})
}
