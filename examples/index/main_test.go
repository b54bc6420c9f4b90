package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.index")
	for _, c := range []struct{ in, want string }{
		{
			"The lamp was lit in 1884, in a gale, by the keeper.\nhello\nThe lamp was lit in 1884, in a gale, by a keeper.\nHello!\n",
			"The lamp was lit in 1884, in a gale, by the keeper.\nhello\n",
		},
		{"THE LAMP was lit in 1884, in a gale, by the keeper.\nThe ferry leaves at noon.\nhello\n", "The ferry leaves at noon.\n"},
	} {
		var out strings.Builder
		if err := run(file, strings.NewReader(c.in), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("got %q, want %q", out.String(), c.want)
		}
	}
}
