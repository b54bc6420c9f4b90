package captcha

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestPages reads one page from each file of testdata/pages.txtar. The first part of the name says what the
// page is.
func TestPages(t *testing.T) {
	pages, err := txtar.ParseFile(filepath.Join("testdata", "pages.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range pages.Files {
		kind, name, _ := strings.Cut(f.Name, "/")
		if got, want := Is(nil, f.Data), kind == "captcha"; got != want {
			t.Errorf("%s: is a captcha: %v, want %v", name, got, want)
		}
	}
}

// A captcha in the middle of a long page is part of the page.
func TestLongPages(t *testing.T) {
	pages, err := txtar.ParseFile(filepath.Join("testdata", "pages.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	prose := "<p>" + strings.Repeat("The mill stands by the weir. ", 100) + "</p>"
	for _, f := range pages.Files {
		if Is(nil, append([]byte(prose), f.Data...)) || Is(nil, append(f.Data, prose...)) {
			t.Errorf("%s with 600 words of text is a captcha", f.Name)
		}
	}
}

func TestHeaders(t *testing.T) {
	if !Is(map[string][]string{"Cf-Mitigated": {"challenge"}}, nil) {
		t.Error("a response with Cf-Mitigated is no captcha")
	}
}

func FuzzIs(f *testing.F) {
	if pages, err := os.ReadFile(filepath.Join("testdata", "pages.txtar")); err == nil {
		f.Add(pages)
	}
	f.Fuzz(func(_ *testing.T, body []byte) { Is(nil, body) })
}

// A long page is told by its tags, and one of 300 words by its words.
func BenchmarkIs(b *testing.B) {
	head := "<html><head><title>Mill</title><script src=/browser.js></script></head><body>"
	for name, body := range map[string]string{
		"long":  strings.Repeat(`<p class="a b"><a href="/mill/by/the/weir">The mill</a> stands by the weir.</p>`, 200),
		"short": strings.Repeat("<p>The mill stands by the weir, for your security and that of your browser.", 20),
	} {
		b.Run(name, func(b *testing.B) {
			page := []byte(head + body)
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				Is(nil, page)
			}
		})
	}
}
