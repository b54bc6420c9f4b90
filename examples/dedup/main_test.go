package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("The lamp of the harbour was lit in a gale, by a keeper who had rowed out to it. ", 4)
	for name, content := range map[string]string{"1.txt": text, "2.txt": strings.ToUpper(text), "3.txt": text + "It burns.", "4.txt": "too short"} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob("*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(&out, names); err != nil {
		t.Fatal(err)
	}
	const want = "1.txt: unique\n2.txt: exact, 100% of 1.txt\n3.txt: near, 90% of 1.txt\n4.txt: thin\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
