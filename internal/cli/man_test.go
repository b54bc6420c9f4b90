package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestManPages writes the man pages and lets man format them, or mandoc check them.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	if code := Run(t.Context(), []string{"man", dir}, Console{Out: io.Discard, Err: os.Stderr}); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	for _, name := range append([]string{"skink"}, commandNames()...) {
		if name != "skink" {
			name = "skink-" + name
		}
		page := filepath.Join(dir, name+".1")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{".SH NAME\n" + roff(name) + ` \- `, ".SH SYNOPSIS\n", ".SH EXIT STATUS\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s.1 has no %q", name, want)
			}
		}
		if mandoc, err := exec.LookPath("mandoc"); err == nil {
			out, _ := exec.Command(mandoc, "-Tlint", "-Wwarning", page).CombinedOutput() // mandoc's exit code is not used, because the missing date changes it too
			for line := range strings.Lines(string(out)) {
				if !strings.Contains(line, "missing date") { // a build that is not a release has no date
					t.Errorf("mandoc: %s", line)
				}
			}
		}
		if man, err := exec.LookPath("man"); err == nil {
			cmd := exec.Command(man, "--warnings", "-l", page)
			cmd.Env = append(os.Environ(), "MANPAGER=cat", "MANWIDTH=100", "LC_ALL=C.UTF-8")
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "warning") || !strings.Contains(string(out), "EXIT STATUS") {
				t.Errorf("man -l %s.1: %v\n%s", name, err, out)
			}
		}
	}
}
