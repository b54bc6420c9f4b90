package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// screens is how many lines go doc may print about a package: two screens of 60 lines.
const screens = 2 * 60

// wide lists the packages about which go doc prints more, with the number of lines now and the reason.
var wide = map[string]struct {
	lines int
	why   string
}{
	"store": {132, "the contract of all stores, with what they share: records, links and texts in packed form"},
}

// TestSurface checks that the documentation of each package that other modules can import is short enough to be read
// before the first call. What only this project uses belongs into internal, or is not exported.
func TestSurface(t *testing.T) {
	t.Parallel()
	for folder := range table {
		if folder == "." || strings.HasPrefix(folder, "internal/") || strings.HasPrefix(folder, "examples/") || folder == "crawler/hostile" {
			continue
		}
		out, err := exec.Command("go", "doc", "./"+folder).Output()
		if err != nil {
			t.Fatalf("go doc ./%s: %v", folder, err)
		}
		lines, most := bytes.Count(out, []byte("\n")), screens
		if w, ok := wide[folder]; ok {
			if most = w.lines; lines < most {
				t.Errorf("go doc ./%s prints only %d lines: lower its limit of %d", folder, lines, most)
			}
		}
		if lines > most {
			t.Errorf("go doc ./%s prints %d lines, and its limit is %d: unexport what only this project uses, or move it to internal", folder, lines, most)
		}
	}
}

// TestExamples builds and runs the examples with their tests as a module of another owner, which cannot import
// internal packages.
func TestExamples(t *testing.T) {
	t.Parallel()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, name := t.TempDir(), module(t)
	if err := os.CopyFS(dir, os.DirFS("examples")); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"go.mod": "module example.com/user\n\ngo 1.26.0\n\nrequire " + name + " v0.0.0\n\nreplace " + name + " => " + root + "\n",
		"go.sum": string(sums),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-mod=mod", "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
