package e2e

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// releaseFlags are the flags with which releases and the image are built. The version follows them.
const releaseFlags = "-s -w -buildid= -X skink/internal/cli.version="

// TestReproducible builds a release twice, in folders of different names, and compares the programs. A
// release is one static file that contains no path of the machine that built it.
//
// It runs with SKINK_LONG=full only, because it compiles all dependencies twice.
func TestReproducible(t *testing.T) {
	if long(t) != full {
		t.Skip("SKINK_LONG=full runs it")
	}
	t.Parallel()
	for _, file := range []string{".goreleaser.yaml", "Dockerfile"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"-trimpath", "CGO_ENABLED=0", releaseFlags} {
			if !strings.Contains(string(text), flag) {
				t.Errorf("%s does not build with %s", file, flag)
			}
		}
	}
	root := t.TempDir()
	folders, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	paths := append(strings.Fields(string(folders)), root)
	var sums [2][sha256.Size]byte
	for i, name := range []string{"one", "another/folder"} {
		dir := filepath.Join(root, name)
		copySource(t, dir)
		bin := filepath.Join(root, "skink")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", releaseFlags+"v1.2.3", "-o", bin, ".")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		program, err := os.ReadFile(bin)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(program)
		for _, path := range paths {
			if bytes.Contains(program, []byte(path)) {
				t.Errorf("the program contains the path %s", path)
			}
		}
		if out, err := exec.Command(bin, "version").Output(); err != nil || !strings.HasPrefix(string(out), "skink v1.2.3\n") {
			t.Errorf("skink version: %v\n%s", err, out)
		}
		if runtime.GOOS == "linux" {
			wantStatic(t, program)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds of the same source differ: %x and %x", sums[0], sums[1])
	}
}

// wantStatic checks that a program needs no other file to run.
func wantStatic(t *testing.T, program []byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program is not static")
		}
	}
}

// copySource copies the source of the program, without its history and its test data.
func copySource(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bench" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReleaseConfiguration lets goreleaser check its configuration.
func TestReleaseConfiguration(t *testing.T) {
	t.Parallel()
	goreleaser, err := exec.LookPath("goreleaser")
	if err != nil {
		t.Skip("no goreleaser")
	}
	if out, err := exec.Command(goreleaser, "check").CombinedOutput(); err != nil {
		t.Errorf("goreleaser check: %v\n%s", err, out)
	}
}
