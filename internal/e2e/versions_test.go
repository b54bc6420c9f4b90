package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"skink/internal/cli"
	"skink/store"
	"skink/store/badger"
)

// TestVersions opens stores of other versions of skink. Sketches of another version must not be
// compared with new ones, and pages that another version has parsed differently must not be mixed
// with new ones. Reports on such stores must work.
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		change           func(*store.Settings)
		crawls, compares bool
		says             string
	}{
		{"this one", func(*store.Settings) {}, true, true, ""},
		{"another sketch", func(s *store.Settings) { s.Sketch += 7 }, false, false, "sketch version"},
		{"another tokenizer", func(s *store.Settings) { s.Tokenizer += 7 }, false, false, "tokenizer version"},
		{"another extractor", func(s *store.Settings) { s.Extractor += 7 }, false, true, "extractor version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			if code, said := runCLI("crawl", "--quiet", "--max-pages", "3", "--store", dir, "testdata/site"); code != 0 {
				t.Fatal(said)
			}
			changeSettings(t, dir, c.change)
			for _, try := range []struct {
				want bool
				args []string
			}{
				{c.crawls, []string{"crawl", "--quiet", "--max-pages", "3", "--store", dir}},
				{true, []string{"report", "--store", dir}}, // a report on the stored results must work
				{c.compares, []string{"report", "--complete", "--store", dir}},
			} {
				code, said := runCLI(try.args...)
				if (code == 0) != try.want || !try.want && !strings.Contains(said, c.says) {
					t.Errorf("%s: exit code %d: %s", try.args[0], code, said)
				}
			}
		})
	}
}

func runCLI(args ...string) (code int, said string) {
	var out, err bytes.Buffer
	code = cli.Run(context.Background(), args, cli.Console{In: strings.NewReader(""), Out: &out, Err: &err})
	return code, err.String()
}

func changeSettings(t *testing.T, dir string, change func(*store.Settings)) {
	t.Helper()
	s, err := badger.Open(dir, badger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	set, err := store.ReadSettings(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	change(set)
	text, err := json.Marshal(set)
	if err == nil {
		err = s.SetMeta(t.Context(), "settings", text)
	}
	if err != nil {
		t.Fatal(err)
	}
}
