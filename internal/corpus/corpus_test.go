package corpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a folder holds comes in the order of its names, each file once, and what is packed
// ends the stream only if somebody named it.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"b.html":     "<title>B</title><p>The second.",
		"a.txt":      "The first.",
		"c.jsonl":    `{"url":"one","text":"A line."}` + "\n\n" + `{"url":"two","html":"<p>Another."}`,
		"d.gz":       "\x1F\x8B packed",
		".hidden":    "Nobody reads this.",
		"sub/e.html": "<p>The last.",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func(paths ...string) (got []string, err error) {
		in := &Inputs{Paths: paths, Stdin: strings.NewReader("From a pipe."), Unreadable: func(err error) { t.Error(err) }}
		for f, err := range in.Texts(t.Context()) {
			if err != nil {
				return got, err
			}
			name, _ := filepath.Rel(dir, f.URL)
			if name == "" || f.Source != "" || f.URL == "-" {
				name = f.URL
			}
			text := "nothing"
			if f.Doc != nil {
				text = f.Doc.Text
			}
			got = append(got, fmt.Sprintf("%s: %s", filepath.ToSlash(name), text))
		}
		return got, nil
	}
	got, err := read(filepath.Join(dir, "b.html"), dir, "-", dir)
	want := []string{"b.html: The second.", "a.txt: The first.", "one: A line.", "two: Another.", "d.gz: nothing", "sub/e.html: The last.", "-: From a pipe."}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	_, err = read(filepath.Join(dir, "d.gz"))
	if packed, ok := errors.AsType[*PackedError](err); !ok || packed.Name != filepath.Join(dir, "d.gz") {
		t.Errorf("a packed file that was named: %v", err)
	}
}
