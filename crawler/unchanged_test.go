package crawler

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"skink/crawler/wire"
	"skink/frontier"
)

// TestUnchanged checks which responses show that a page is as at the last visit.
func TestUnchanged(t *testing.T) {
	const url, body = "https://example.com/", "<p>Hello"
	head := http.Header{"Content-Type": {"text/html"}, "Expires": {"0"}, "Date": {"today"}, "Link": {"</a>; rel=canonical"}}
	before := &Page{Status: http.StatusOK, Header: head, Body: []byte(body)}
	for _, c := range []struct {
		name  string
		alter func(*wire.Exchange)
		want  bool
	}{
		{"the same response", func(*wire.Exchange) {}, true},
		{"another date", func(x *wire.Exchange) { x.Header.Set("Date", "tomorrow") }, true},
		{"another expiry", func(x *wire.Exchange) { x.Header.Set("Expires", "1") }, true},
		{"another cookie", func(x *wire.Exchange) { x.Header.Set("Set-Cookie", "a=b") }, true},
		{"no expiry", func(x *wire.Exchange) { x.Header.Del("Expires") }, false},
		{"another type", func(x *wire.Exchange) { x.Header.Set("Content-Type", "text/plain") }, false},
		{"noindex", func(x *wire.Exchange) { x.Header.Set("X-Robots-Tag", "noindex") }, false},
		{"another link", func(x *wire.Exchange) { x.Header.Add("Link", "</b>; rel=next") }, false},
		{"one link in two fields", func(x *wire.Exchange) { x.Header["Link"] = []string{"</a>", "rel=canonical"} }, false},
		{"another body", func(x *wire.Exchange) { x.Body = []byte(body + ".") }, false},
		{"a body cut off", func(x *wire.Exchange) { x.BodyErr = os.ErrDeadlineExceeded }, false},
		{"another status", func(x *wire.Exchange) { x.Status = http.StatusAccepted }, false},
		{"an error with the same body", func(x *wire.Exchange) { x.Status = http.StatusNotFound }, false},
	} {
		x := &wire.Exchange{Status: http.StatusOK, Header: head.Clone(), Body: []byte(body)}
		c.alter(x)
		page := &Page{Item: frontier.Item{URL: url, Validators: frontier.Validators{Same: before.Validators().Same}}}
		page.fill(x, false)
		if page.Unchanged != c.want || page.Confirmed() != c.want {
			t.Errorf("%s: unchanged is %v, want %v", c.name, page.Unchanged, c.want)
		}
		page = &Page{Item: frontier.Item{URL: url}}
		if page.fill(x, false); page.Confirmed() {
			t.Errorf("%s: a page without validators is unchanged", c.name)
		}
	}
}

// TestMayChange checks that a page that was modified in the second of its response has no Last-Modified for the next visit.
func TestMayChange(t *testing.T) {
	for _, c := range []struct{ modified, date, want string }{
		{"Sat, 01 Mar 2025 12:30:00 GMT", "Sat, 01 Mar 2025 12:30:00 GMT", ""},
		{"Sat, 01 Mar 2025 12:30:05 GMT", "Sat, 01 Mar 2025 12:30:00 GMT", ""},
		{"Sat, 01 Mar 2025 12:30:00 GMT", "Sat, 01 Mar 2025 12:30:01 GMT", "Sat, 01 Mar 2025 12:30:00 GMT"},
		{"Sat, 01 Mar 2025 12:30:00 GMT", "", "Sat, 01 Mar 2025 12:30:00 GMT"},
		{"yesterday", "Sat, 01 Mar 2025 12:30:00 GMT", "yesterday"},
	} {
		page := &Page{Header: http.Header{"Last-Modified": {c.modified}, "Date": {c.date}}}
		if got := page.Validators().Modified; got != c.want {
			t.Errorf("modified %s, response of %s: %q, want %q", c.modified, c.date, got, c.want)
		}
	}
}

// TestReadFields checks that each header field from which a page is read belongs to the hash of a response. Otherwise a
// response could pass as unchanged, although this field has changed.
func TestReadFields(t *testing.T) {
	uses := regexp.MustCompile(`(?:[hH]eader(?:\.(?:Get|Values)\(|\[)|\bhas\()"([^"]+)"`)
	known := slices.Concat(readFields, hasFields)
	files, err := filepath.Glob("../internal/ingest/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, use := range uses.FindAllSubmatch(text, -1) {
			field := http.CanonicalHeaderKey(string(use[1]))
			found[field] = true
			if !slices.Contains(known, field) {
				t.Errorf("%s reads the field %s, which is not in readFields", name, field)
			}
		}
	}
	for _, field := range known {
		if !found[field] {
			t.Errorf("no page is read from the field %s", field)
		}
	}
}
