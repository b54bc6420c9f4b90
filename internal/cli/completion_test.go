package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBashCompletion loads the script into a bash and completes command lines.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	for _, name := range []string{"seeds one.txt", "sub/page.html"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	script := scriptOf(t, dir, "skink.bash", writeBash)
	for _, c := range []struct {
		line string // the words, separated by |, as bash splits them; the last one is completed
		want string // completions, each of which must be offered
		not  string // completions that must not be offered
	}{
		{"skink|cr", "crawl", "dedup"},
		{"skink|", "crawl help man", ""},
		{"skink|crawl|--max-h", "--max-host-pages --max-host-bytes", "--max-pages"},
		{"skink|crawl|--he", "--help", ""},
		{"skink|crawl|--a", "--add --all --allow-private", ""},
		{"skink|crawl|--scope|", "host domain prefix any", "crawl"},
		{"skink|crawl|--scope|=|do", "domain", "host"},
		{"skink|crawl|--scope|=", "host domain", ""},
		{"skink|crawl|--retry|=|", "failed all", ""},
		{"skink|crawl|--retry|se", "seeds_one.txt", "failed"}, // --retry takes no further word
		{"skink|crawl|se", "seeds_one.txt", ""},
		{"skink|crawl|--warc|s", "sub", "seeds_one.txt"},
		{"skink|crawl|--delay|", "", "seeds_one.txt sub"},
		{"skink|report|--format|", "html csv", ""},
		{"skink|report|--about|bro", "broken", "audit"},
		{"skink|status|--urls|po", "postponed", "pending"},
		{"skink|dedup|--unit|", "word char", ""},
		{"skink|help|du", "", "crawl"},
		{"skink|help|gl", "glossary", ""},
		{"skink|completion|", "bash zsh fish", ""},
	} {
		words := strings.Split(c.line, "|")
		program := `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _skink; printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.Command(bash, append([]string{"--norc", "-c", program, "bash", script}, words...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.line, err, out)
		}
		got := strings.Split(strings.ReplaceAll(strings.TrimSpace(string(out)), " ", "_"), "\n")
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%s: completions %q, want %s among them", c.line, got, want)
			}
		}
		for _, not := range strings.Fields(c.not) {
			if slices.Contains(got, not) {
				t.Errorf("%s: completions %q, want none of them %s", c.line, got, not)
			}
		}
	}
}

// TestZshAndFishCompletion lets both shells read their scripts, and fish complete command lines.
func TestZshAndFishCompletion(t *testing.T) {
	dir := t.TempDir()
	zsh, fish := scriptOf(t, dir, "_skink", writeZsh), scriptOf(t, dir, "skink.fish", writeFish)
	t.Run("zsh", func(t *testing.T) {
		// In place of the real _arguments, which works only inside the line editor, this function
		// prints its arguments.
		program := `compdef() { }; source "$1"; _arguments() { printf '%s\n' "$@"; }; words=(skink crawl --sc); CURRENT=3; _skink`
		out := runShell(t, "zsh", "-f", "-c", program, "zsh", zsh)
		for _, want := range []string{"--scope=[", ":(host domain prefix any)", "*--include=[", "--view=-[", "*:argument:_files"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in the arguments of skink crawl:\n%s", want, out)
			}
		}
	})
	t.Run("fish", func(t *testing.T) {
		for line, want := range map[string]string{
			"skink cra":              "crawl",
			"skink crawl --sco":      "--scope",
			"skink crawl --scope=do": "--scope=domain",
			"skink crawl --scope do": "domain",
			"skink report --format ": "html",
		} {
			out := runShell(t, "fish", "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, fish, line)
			if !strings.Contains(out, want) {
				t.Errorf("%s: completions %q, want %s among them", line, out, want)
			}
		}
	})
}

// runShell returns the output of a shell. The test is skipped if the shell is not installed.
func runShell(t *testing.T, shell string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("no %s", shell)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, out)
	}
	return string(out)
}

func scriptOf(t *testing.T, dir, name string, write func(io.Writer, []suggestions)) (path string) {
	t.Helper()
	var script bytes.Buffer
	write(&script, allSuggestions())
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, script.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
