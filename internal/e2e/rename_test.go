package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// module is the name of the module, which .ci/rename changes.
func module(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^module (.+)$`).FindSubmatch(text)
	if name == nil {
		t.Fatalf("go.mod has no name of the module:\n%s", text)
	}
	return string(name[1])
}

// TestRename renames the module in a copy, builds the copy, and builds and runs a program of another module
// that imports its packages.
func TestRename(t *testing.T) {
	long(t)
	doc, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^\.ci/rename (\S+)`).FindStringSubmatch(string(doc))
	if command == nil {
		t.Fatal("CONTRIBUTING.md does not show .ci/rename")
	}
	dir, other, name := filepath.Join(t.TempDir(), "renamed"), t.TempDir(), command[1]
	copyTracked(t, dir)
	in := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	in(dir, strings.Fields(command[0])...)
	in(dir, "go", "build", "./...")
	in(filepath.Join(dir, "bench"), "go", "vet", ".")
	if left := in(dir, "sh", "-c", `grep -rnE '"`+module(t)+`/[a-z]+"' --include='*.go' . || true`); left != "" {
		t.Errorf("these lines have the old name:\n%s", left)
	}
	if out := in(dir, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted: %s", out)
	}

	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"go.mod": "module example.com/user\n\ngo 1.26.0\n\nrequire " + name + " v0.0.0\n\nreplace " + name + " => " + dir + "\n",
		"go.sum": string(sums),
		"main.go": `package main

import (
	"fmt"

	"` + name + `/dedup"
	"` + name + `/extract"
)

func main() {
	var a, b dedup.Text
	a.Read([]byte("a b c"))
	doc, err := extract.Parse([]byte("<p>A, b, c!"), "text/html")
	b.Read([]byte(doc.Text))
	fmt.Println(dedup.Resemblance(a.Set(2), b.Set(2)), err)
}
`,
	} {
		if err := os.WriteFile(filepath.Join(other, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := in(other, "go", "run", "-mod=mod", "."); got != "1 <nil>\n" {
		t.Errorf("the program prints %q", got)
	}
}

// copyTracked copies the source to a folder.
func copyTracked(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("git does not list the files of the source: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
