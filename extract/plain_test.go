package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzPlainText compares plainText with a writer that writes the lines of a <pre>.
func FuzzPlainText(f *testing.F) {
	f.Add("  A line, \t\n\n \t \nanother\r\nand a\r \rthird\fone \v \f\n")
	f.Add("soft\u00adhyphen, no\u00a0break, \u3000wide\u3000 \u200bzero\u2028line\u0085next \ufeffmark \u00a0\n\u00a0\n")
	f.Add("bell\a and\x7f delete\x00\x1b[31m \ufffd 漢字 かな 😀\u0301")
	f.Add("Zo\u00eb\tи\u034f мо\u061cре, \u05d0\u05d1 \u3000\u3040かな\u00ad漢字한글\ud7a3 \t\n \u0085è\u180eé\u00c0\u07ff\u0800\ucfff\ud000")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			text = strings.ToValidUTF8(text, "\ufffd")
		}
		w := writer{pre: 1}
		w.write(text)
		w.flush()
		want := strings.TrimSpace(joinBlocks(&w, nil))
		if got := plainText([]byte(text)); got != want {
			t.Errorf("plainText(%q)\n got %q\nwant %q", text, got, want)
		}
	})
}

// printableASCII and isBinary, which look at eight bytes at once, agree with a loop over the bytes.
func FuzzEightBytes(f *testing.F) {
	f.Add([]byte("printable characters\x7f and a\ttab, \x80 bytes beyond ASCII \xff\xfe \x1b\x00\x01\x02\n\r"))
	f.Fuzz(func(t *testing.T, b []byte) {
		plain, found := 0, 0
		for plain < len(b) && ' ' <= b[plain] && b[plain] <= '~' {
			plain++
		}
		if got := printableASCII(b); got != plain {
			t.Errorf("printableASCII(%q) = %d, want %d", b, got, plain)
		}
		for _, c := range b[:min(len(b), 4*sniffed)] {
			if c < 0x20 && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(c)) {
				found++
			}
		}
		if got, want := isBinary(b, "text/plain; charset=utf-8"), found*30 > min(len(b), 4*sniffed); got != want {
			if _, wide := utf16Name(b, "text/plain; charset=utf-8"); !wide {
				t.Errorf("isBinary(%q) = %v, want %v", b, got, want)
			}
		}
	})
}

// BenchmarkPlain measures Parse on plain texts, with and without their language.
func BenchmarkPlain(b *testing.B) {
	names, err := filepath.Glob("../dedup/testdata/*.txt")
	if err != nil || len(names) == 0 {
		b.Fatal("no texts", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, lang := range []string{"lang", "nolang"} {
			b.Run(filepath.Base(name)+"/"+lang, func(b *testing.B) {
				opt := Options{SkipLang: lang == "nolang"}
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := opt.Parse(text, "text/plain; charset=utf-8"); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
