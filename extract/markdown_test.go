package extract

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMarkdown compares the Markdown of each page in testdata/markdown, including its pictures,
// with the golden file beside it.
func TestMarkdown(t *testing.T) {
	pages, err := filepath.Glob("testdata/markdown/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		golden := strings.TrimSuffix(page, ".html") + ".md"
		got := markdownOf(t, page).Markdown(MarkdownOptions{Images: true}) + "\n"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got:\n%s\nwant:\n%s", page, got, want)
		}
	}
}

// TestMarkdownIsTheText checks for every golden page that the Markdown has exactly the letters of
// the main text, in the same order, below the main heading if the text lacks it.
func TestMarkdownIsTheText(t *testing.T) {
	markup := regexp.MustCompile("(?m)([^\\\\])\\]\\(([^()\\\\]|\\\\.)*\\)|^([> ]|[-*] |\\d+[.)] )*```+[A-Za-z0-9+#._-]+$")
	for _, pattern := range []string{"testdata/*.html", "testdata/markdown/*.html"} {
		pages, _ := filepath.Glob(pattern)
		for _, page := range pages {
			d := markdownOf(t, page)
			md := d.Markdown(MarkdownOptions{})
			if got, want := letterRun(markup.ReplaceAllString(md, "$1]")), letterRun(d.missingTop()+d.Text); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s\nof\n%s", page, got, want, md)
			}
		}
	}
}

func TestMarkdownResolves(t *testing.T) {
	d, err := Options{Markdown: true}.Parse([]byte(`<main><p>Read <a href="b.html">the page</a>, <a href=" ">nothing</a> and <a href="javascript:x()">a script</a>. <img src=c.png alt=C>`), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	got := d.Markdown(MarkdownOptions{Images: true, Resolve: func(address string) string { return "https://example.com/(a)/" + address }})
	want := `Read [the page](https://example.com/\(a\)/b.html), nothing and a script. ![C](https://example.com/\(a\)/c.png)`
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The backticks of two pieces of code with no space between them would run together.
func TestMarkdownOfAdjacentCode(t *testing.T) {
	d, err := Options{Markdown: true}.Parse([]byte("<main><p><code>a</code><kbd>b</kbd> <code>c</code>"), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Markdown(MarkdownOptions{}), "`ab` `c`"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// White space between the cells of a table belongs to no cell.
func TestMarkdownOfTable(t *testing.T) {
	d, err := Options{Markdown: true}.Parse([]byte("<main><p>Before it.<table>\n<thead><tr>\n<th>Name</th>\n<th>Type</th>\n</tr></thead>\n<tbody>\n<tr>\n<td><p>One</p></td>\n<td><p>two</p></td>\n</tr>\n</tbody>\n</table>"), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Markdown(MarkdownOptions{}), "Before it.\n\n| Name | Type |\n| --- | --- |\n| One | two |"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestMarkdownWithoutTree(t *testing.T) {
	d, err := Options{Markdown: true}.Parse([]byte("1. one\n\ntwo *three*\n"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Markdown(MarkdownOptions{Images: true}), "1\\. one\n\ntwo \\*three\\*"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (&Document{}).Markdown(MarkdownOptions{Images: true}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func FuzzMarkdown(f *testing.F) {
	pages, _ := filepath.Glob("testdata/markdown/*.html")
	for _, page := range pages {
		body, _ := os.ReadFile(page)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := Options{Markdown: true}.Parse(body, "text/html; charset=utf-8")
		if err != nil {
			return
		}
		if d.Text == "" && d.Markdown(MarkdownOptions{}) != "" {
			t.Errorf("no text, but %q", d.Markdown(MarkdownOptions{}))
		}
		d.Markdown(MarkdownOptions{Images: true})
	})
}

func markdownOf(t *testing.T, page string) *Document {
	t.Helper()
	body, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Options{Markdown: true}.Parse(body, "text/html; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// letterRun returns the ASCII letters of a text.
func letterRun(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return r
		}
		return -1
	}, s)
}
