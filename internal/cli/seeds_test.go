package cli

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"skink/internal/session"
)

// Lists may be in UTF-16, or begin with a byte order mark, as some editors write them.
func TestSeedListEncoding(t *testing.T) {
	const list = "# sites\r\nhttps://example.org/\r\n\r\nhttps://example.com/größe # with a comment\r\n"
	want := []string{"https://example.org/", "https://example.com/gr%C3%B6%C3%9Fe"}
	lists := map[string]string{"UTF-8": list, "UTF-8 with a mark": "\uFEFF" + list}
	for name, order := range map[string]unicode.Endianness{"UTF-16LE": unicode.LittleEndian, "UTF-16BE": unicode.BigEndian} {
		encoded, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(list)
		if err != nil {
			t.Fatal(err)
		}
		lists[name] = encoded
	}
	for name, list := range lists {
		var all session.Seeds
		if err := readList(&all, "list", strings.NewReader(list)); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(all.URLs, want) {
			t.Errorf("%s: got %q, want %q", name, all.URLs, want)
		}
	}
}

// A file that is not a list is refused with a short message, whatever it contains.
func TestNoSeedList(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"program", "\x7fELF\x02\x01\x01\x00\x00\x00", "list is not a list of seeds but has the type application/x-elf: a list has one URL per line; to crawl pages on disk, give their folder; to compare files, use skink dedup"},
		{"bytes", strings.Repeat("\x00\x01", 5000), "list is not a list of seeds but has the type application/octet-stream: a list has one URL per line; to crawl pages on disk, give their folder; to compare files, use skink dedup"},
		{"UTF-16 that does not say so", "h\x00t\x00t\x00p\x00", "list is not a list of seeds but has the type application/octet-stream: a list has one URL per line; to crawl pages on disk, give their folder; to compare files, use skink dedup"},
		{"page in UTF-16", "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00", "list is not a list of seeds but has the type text/html: a list has one URL per line; to crawl pages on disk, give their folder; to compare files, use skink dedup"},
		{"bytes further on", strings.Repeat("https://example.org/\n", 500) + strings.Repeat("\x00\xff", 50), `list, line 501: "` + strings.Repeat("\ufffd", 80) + `"… is not a URL: a URL must begin with https:// or http://`},
		{"endless line", strings.Repeat("a", 2<<20), "list, line 1: the line is longer than 1 MB: a list of seeds has one URL per line"},
	} {
		var all session.Seeds
		if err := readList(&all, "list", strings.NewReader(tt.text)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %.300v, want %s", tt.name, err, tt.want)
		}
	}
}

// In an error, a seed takes at most 80 characters, whatever they are.
func TestBrief(t *testing.T) {
	for seed, want := range map[string]string{
		"a\u00a0b\u0378\x00\xff é": "\"a\ufffdb\ufffd\ufffd\ufffd é\"",
		strings.Repeat("é", 81):    `"` + strings.Repeat("é", 80) + `"…`,
	} {
		if got := brief(seed); got != want {
			t.Errorf("%q is quoted as %s, want %s", seed, got, want)
		}
	}
}
