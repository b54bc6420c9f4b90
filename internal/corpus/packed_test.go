package corpus_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"skink/internal/corpus"
)

// Pack selects the compression by the name of the file, and Unpack by its first bytes, so a file
// may be renamed in between.
func TestPacked(t *testing.T) {
	content := strings.Repeat("What is read is what was written. ", 1000)
	for name, inside := range map[string]string{"a.jsonl": "a.jsonl", "a.jsonl.gz": "a.jsonl", "a.txt.ZST": "a.txt", "a.zstd": "a", "-": "-"} {
		var b bytes.Buffer
		w := corpus.Pack(&b, name)
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if small := b.Len() < len(content)/2; small != (name != inside) {
			t.Errorf("%s: %d bytes", name, b.Len())
		}
		if got := corpus.BaseName(name); got != inside {
			t.Errorf("%s: the base is %q", name, got)
		}
		for _, called := range []string{name, "other"} {
			r, err := corpus.Unpack(bytes.NewReader(b.Bytes()), called)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || string(got) != content {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			if want := corpus.BaseName(called); r.Name != want {
				t.Errorf("%s: called %q, want %q", name, r.Name, want)
			}
			r.Close()
		}
	}
}
