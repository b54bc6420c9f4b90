package node

import (
	"strings"
	"testing"
)

// The forms are those of the tests of the HTML Standard, and those of real pages.
func TestRefresh(t *testing.T) {
	for _, c := range []struct {
		content string
		seconds int
		href    string
		ok      bool
	}{
		{"0; url=/t", 0, "/t", true},
		{"0;URL='/t'", 0, "/t", true},
		{"0;url=\"/t\" x", 0, "/t", true},
		{"5; /t", 5, "/t", true},
		{"5,/t", 5, "/t", true},
		{"5 /t", 5, "/t", true},
		{" 1.5 ;url = /t?a=b ", 1, "/t?a=b", true},
		{".5;url=/t", 0, "/t", true},
		{"3;url/t", 3, "url/t", true},
		{"3;URL='/t", 3, "/t", true},
		{"4", 4, "", true},
		{"4;", 4, "", true},
		{"4;url=", 4, "", true},
		{"99999999999999999999;url=/t", 1<<63 - 1, "/t", true},
		{"never", 0, "", false},
		{"-1;url=/t", 0, "", false},
		{"5x;url=/t", 0, "", false},
		{"", 0, "", false},
	} {
		if s, href, ok := Refresh(c.content); s != c.seconds || href != c.href || ok != c.ok {
			t.Errorf("%q: got %d, %q, %v; want %d, %q, %v", c.content, s, href, ok, c.seconds, c.href, c.ok)
		}
	}
}

// Nearly all pages do not lead on, and many have an http-equiv.
func BenchmarkMayRefresh(b *testing.B) {
	page := []byte(`<meta http-equiv=Content-Type content="text/html">` + strings.Repeat("<p>The quick mill stands by the weir.</p>", 1500))
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		MayRefresh(page)
	}
}
