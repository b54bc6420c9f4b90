package harmless

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"plain, ünïcödé, 猫 👩‍🚀":  "plain, ünïcödé, 猫 👩‍🚀",
		"\x1b[2J":                `\x1b[2J`,
		"a\nb\tc\x00":            `a\nb\tc\x00`,
		"\u009b31m":              `\u009b31m`, // the one-character form of ESC [
		"\u202eexe.txt":          `\u202eexe.txt`,
		"caf\xe9":                `caf\xe9`,
		"\u2028\ufeff\u00a0":     `\u2028\ufeff\u00a0`,
		"it's":                   "it's",
		"می\u200cخواهم":          "می\u200cخواهم", // the joiner belongs to the word
		"\U000e0041 tag, \ue000": `\U000e0041 tag, \ue000`,
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"":           "",
		"a=1":        "a=1",
		"=1+1":       "'=1+1",
		"+1":         "'+1",
		"-1":         "'-1",
		"@SUM(A1)":   "'@SUM(A1)",
		"\t=1":       "' =1",
		"\r=1":       "' =1",
		"\u200f=1":   "'=1", // the direction mark is removed, because it would hide the equals sign
		"two\nlines": "two lines",
		"\x1b[0m":    " [0m",
		"caf\xe9":    "caf\uFFFD",
	} {
		if got := Cell(in); got != want {
			t.Errorf("Cell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	if got, want := Lines("a\nb\tc\x1b[2J\r\u009b\u202e caf\xe9 می\u200cخواهم"), "a\nb\tc[2J caf\uFFFD می\u200cخواهم"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// guards lists the guards. Each has a function that makes it, and the output that it must write for
// hostile.
var guards = map[string]struct {
	of   func(*bytes.Buffer) *Guard
	want string // expected output for hostile
}{
	"text": {func(b *bytes.Buffer) *Guard { return Text(b) }, "a\n\tb \\x1b[2J\\r\\u009b\\x7f\\u202e\\u200f\\u061c caf\\xe9 \\xf0\\x9f\u200d猫"},
	"json": {func(b *bytes.Buffer) *Guard { return JSON(b) }, "a\n\tb \\u001b[2J\\u000d\\u009b\\u007f\\u202e\\u200f\\u061c caf\\ufffd \\ufffd\\ufffd\u200d猫"},
	"html": {func(b *bytes.Buffer) *Guard { return HTML(b) }, "a\n\tb \uFFFD[2J\uFFFD\uFFFD\uFFFD&#x202e;&#x200f;&#x61c; caf\uFFFD \uFFFD\uFFFD\u200d猫"},
}

const hostile = "a\n\tb \x1b[2J\r\u009b\x7f\u202e\u200f\u061c caf\xe9 \xf0\x9f\u200d猫"

// TestGuard writes hostile bytes in two parts, split at every position.
func TestGuard(t *testing.T) {
	for name, g := range guards {
		for cut := range len(hostile) + 1 {
			var b bytes.Buffer
			guard := g.of(&b)
			for _, part := range []string{hostile[:cut], hostile[cut:]} {
				if n, err := guard.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("%s: wrote %d of %d, %v", name, n, len(part), err)
				}
			}
			if err := guard.Flush(); err != nil || b.String() != g.want {
				t.Errorf("%s, cut at %d: %v\n%q, want\n%q", name, cut, err, &b, g.want)
			}
		}
	}
}

// An incomplete character at the end of the output is written by Flush.
func TestGuardFlush(t *testing.T) {
	var b bytes.Buffer
	guard := Text(&b)
	guard.Write([]byte("caf\xe2\x80"))
	if err := guard.Flush(); err != nil || b.String() != `caf\xe2\x80` {
		t.Errorf("%q, %v", &b, err)
	}
}

// FuzzGuard checks that no guard writes dangerous characters, that JSON keeps its value, that HTML
// keeps its text except for control characters, and that harmless text is unchanged.
func FuzzGuard(f *testing.F) {
	f.Add(hostile, 3)
	f.Add("\x1b]0;\a\u009b\xff\u2066", 0)
	f.Add("plain", 9)
	f.Add("two\r\nlines\r", 4)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		value, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for name, in := range map[string]string{"text": s, "json": string(value), "html": html.EscapeString(s)} {
			var b bytes.Buffer
			guard := guards[name].of(&b)
			cut := max(0, min(cut, len(in)))
			guard.Write([]byte(in[:cut]))
			guard.Write([]byte(in[cut:]))
			guard.Flush()
			got := b.String()
			if !utf8.ValidString(got) || strings.ContainsFunc(strings.ReplaceAll(got, "\r\n", "\n"), func(r rune) bool { return Dangerous(r) && r != '\n' && r != '\t' }) {
				t.Errorf("%s: %q lets through %q", name, in, got)
			}
			if firstDangerous([]byte(in)) < 0 && got != in {
				t.Errorf("%s: %q became %q", name, in, got)
			}
			if name != "json" {
				continue
			}
			var was, is string
			if err := json.Unmarshal([]byte(got), &is); err != nil {
				t.Errorf("%q is no JSON: %v", got, err)
			}
			if json.Unmarshal(value, &was); was != is {
				t.Errorf("%q became %q", was, is)
			}
			if same := AppendJSON([]byte("\x1b"+in), 1); string(same) != "\x1b"+got {
				t.Errorf("appended %q, written %q", same, got)
			}
		}
		for name, field := range map[string]string{"Line": Line(s), "Cell": Cell(s)} {
			if !utf8.ValidString(field) || strings.ContainsFunc(field, Dangerous) {
				t.Errorf("%s(%q) = %q", name, s, field)
			}
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":   strings.Repeat(`{"url":"https://example.org/","text":"Plain words, as most pages have them."}`+"\n", 1000),
		"russian": strings.Repeat(`{"url":"https://example.org/","text":"Смотритель маяка поднялся — рано."}`+"\n", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			guard := Text(io.Discard)
			for b.Loop() {
				guard.Write([]byte(text))
			}
		})
	}
}

// A line may end in CRLF. A carriage return alone is escaped, because a terminal would then
// overwrite the line.
func TestLineEnds(t *testing.T) {
	for _, cut := range []int{0, 1, 2, 3, 4, 5} {
		var text bytes.Buffer
		g := Text(&text)
		for _, part := range []string{"a\r\nb\r"[:cut], "a\r\nb\r"[cut:], "\r\n"} {
			g.Write([]byte(part))
		}
		g.Flush()
		if got := text.String(); got != "a\r\nb\\r\r\n" {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
	var table bytes.Buffer
	g := CSV(&table)
	g.Write([]byte("a,b\nc,\x1b[2J\n"))
	g.Flush()
	if got := table.String(); got != "a,b\r\nc,\\x1b[2J\r\n" {
		t.Errorf("a table: %q", got)
	}
}

func TestWithoutUser(t *testing.T) {
	for text, want := range map[string]string{
		`get "https://me:a/b?c#d@search.test/x": no`:      `get "https://…@search.test/x": no`,
		"https://token@search.test/x":                     "https://…@search.test/x",
		"https://forum.test:8080/@me and https://b.test/": "https://forum.test:8080/@me and https://b.test/",
		"https://forum.test/@me":                          "https://forum.test/@me",
		"postgres://h/d?sslmode=off&password=a/b&x=1":     "postgres://h/d?sslmode=off&password=…&x=1",
	} {
		if got := WithoutUser(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
