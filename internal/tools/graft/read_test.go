package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestReadArticles reads both forms of a benchmark, with texts that are too short, pages that are
// not articles, and a page without a box.
func TestReadArticles(t *testing.T) {
	body := "<p>" + article + article + "</p>"
	files := map[string]string{
		"a/ground-truth.json":      `{"one": {"articleBody": ` + quote(article+article) + `}, "short": {"articleBody": "Too short."}, "two": {"articleBody": ` + quote(article) + `}}`,
		"a/html/one.html":          `<body><div>` + body + `</div></body>`,
		"a/html/two.html":          `<body><p>Another page.</p></body>`,
		"b/ground-truth/0001.json": `{"_internal": {"page_type": {"primary": "article"}}, "ground_truth": {"main_content": ` + quote(article) + `}}`,
		"b/ground-truth/0002.json": `{"_internal": {"page_type": {"primary": "forum"}}, "ground_truth": {"main_content": ` + quote(article) + `}}`,
		"b/html/0001.html":         `<body><div>` + body + `</div></body>`,
		"c/ground-truth.json":      `[]`,
	}
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dir         string
		pages, left int
		ok          bool
	}{{"a", 1, 1, true}, {"b", 1, 0, true}, {"c", 0, 0, false}, {"none", 0, 0, false}} {
		pages, left, err := readArticles(filepath.Join(dir, c.dir))
		if len(pages) != c.pages || left != c.left || (err == nil) != c.ok {
			t.Errorf("%s: %d pages, %d left out, %v", c.dir, len(pages), left, err)
		}
	}
	if texts, err := readSite(dir); err != nil || len(texts) != 3 {
		t.Errorf("%d pages of a site, %v", len(texts), err)
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
