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
	whole      bool  // the limit is MaxBytes instead of mostRead
}

// mostLive is the number of bytes of memory that may be in use while a file is read.
const mostLive = 256 << 10

// mostRead is the limit for the bytes of a file in most cases, in place of [MaxBytes]. It makes the
// test faster. The memory in use does not depend on the number of bytes that are skipped.
const mostRead = 8 << 20

const entry = "<url><loc>http://a.example/a/page/with/a/name</loc><lastmod>2020-01-01</lastmod></url>"

func hostiles() []hostile {
	text := func(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }
	bombs := `<!DOCTYPE z [<!ENTITY a "lol">`
	for c := 'b'; c <= 'j'; c++ {
		bombs += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	return []hostile{
		{"entity-bomb", "entities of entities, a billion of them in the end", text(bombs + `]><urlset><url><loc>http://a.example/&j;</loc></url></urlset>`), 1, nil, false},
		{"outer-entity", "an entity that is a file of this machine", text(`<!DOCTYPE z [<!ENTITY a SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://a.example/&a;</loc></url></urlset>`), 1, nil, false},
		{"gzip-bomb", "64 MB of one tag that does not end, in 64 KB of gzip", func() io.Reader { return packing("<urlset><url ", "aaaaaaaaaaaaaaaa", 1<<22) }, 0, ErrBytes, true},
		{"gzip-of-entries", "a hundred thousand entries in gzip", func() io.Reader { return packing("<urlset>", entry, 1<<17) }, MaxEntries, ErrEntries, false},
		{"gzip-in-gzip", "a gzip bomb in gzip", func() io.Reader { return bytes.NewReader(packed(string(packed(strings.Repeat("a", 1<<20))))) }, 0, ErrNone, false},
		{"empty-members", "gzip that unpacks to nothing, without end", func() io.Reader { return &endless{unit: packed("")} }, 0, ErrBytes, false},
		{"deep", "elements in each other, without end", func() io.Reader { return &endless{head: "<urlset>", unit: []byte("<url>")} }, 0, ErrDepth, false},
		{"endless-entries", "entries without end", func() io.Reader { return &endless{head: "<urlset>", unit: []byte(entry)} }, MaxEntries, ErrEntries, false},
		{"endless-lines", "URLs in plain text without end", func() io.Reader { return &endless{unit: []byte("http://a.example/\n")} }, MaxEntries, ErrEntries, false},
		{"endless-line", "a URL without end", func() io.Reader { return &endless{head: "http://a.example/", unit: []byte("a")} }, 0, ErrBytes, false},
		{"endless-text", "a loc without end", func() io.Reader { return &endless{head: "<urlset><url><loc>http://a.example/", unit: []byte("a")} }, 0, ErrBytes, true},
		{"endless-cdata", "a CDATA section without end", func() io.Reader { return &endless{head: "<urlset><url><loc><![CDATA[", unit: []byte("a")} }, 0, ErrBytes, false},
		{"endless-comment", "a comment without end", func() io.Reader { return &endless{head: "<urlset><!--", unit: []byte("a-")} }, 0, ErrBytes, false},
		{"endless-attributes", "attributes without end", func() io.Reader { return &endless{head: "<urlset", unit: []byte(" a='>'")} }, 0, ErrBytes, false},
		{"endless-names", "elements of other names without end", func() io.Reader { return &endless{head: "<urlset>", unit: []byte("<a/><b>x</b>")} }, 0, ErrBytes, false},
		{"endless-spaces", "spaces without end", func() io.Reader { return &endless{unit: []byte(" ")} }, 0, ErrBytes, false},
		{"endless-closings", "ends of what was never open, without end", func() io.Reader { return &endless{head: "<urlset>", unit: []byte("</x>")} }, 0, ErrBytes, false},
		{"no-utf-8", "bytes that are no UTF-8, and zeros", text("<urlset><url><loc>http://a.example/\xff\x00\xc3</loc></url></urlset>"), 1, nil, false},
		{"half-utf-16", "half a character of UTF-16", text("\xff\xfe<\x00u"), 0, ErrNone, false},
		{"page", "a web page in the place of a sitemap", text("<!DOCTYPE html><html><body><urlset><url><loc>http://a.example/</loc></url></urlset></html>"), 0, ErrNone, false},
		{"script", "a script in the place of a URL", text("<urlset><url><loc>javascript:alert(1)</loc></url></urlset>"), 1, nil, false},
	}
}

// TestHostile checks that no file needs more than mostLive bytes at once, and that reading ends.
func TestHostile(t *testing.T) {
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			bound := int64(mostRead)
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
			if m.peak > mostLive {
				t.Errorf("held %d KB, want %d at most", m.peak>>10, mostLive>>10)
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

// An endless file is a head, followed by endless copies of one unit.
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

Files that are to cost a crawler more than they should, and what reading them comes to. Written by
`+"`go test ./crawler/sitemap -run HostileTable -update`"+` from the cases of the test, of which each row names one.
No file may hold more than %d KB of memory at once, the reader's buffers included, whatever comes of it; and of none
are more than %d MB read, packed or unpacked: the test says so of two, and of the others with a smaller bound.

| file | what is in it | entries | how it ends | held at once | test |
|---|---|---|---|---|---|
`, mostLive>>10, MaxBytes>>20)
	for _, h := range hostiles() {
		end := "at its end"
		if h.end != nil {
			end = h.end.Error()
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %d KB | `TestHostile/%s` |\n", h.name, h.does, h.entries, end, mostLive>>10, h.name)
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
