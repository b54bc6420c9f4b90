package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBashCompletion loads the script into a bash and completes command lines.
func TestBashCompletion(t *testing.T) {
	t.Parallel()
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
	script := scriptOf(t, dir, "skink.bash", "bash")
	for _, c := range []struct {
		line string // the words, separated by |, as bash splits them; the last one is completed
		want string // completions, each of which must be offered
		not  string // completions that must not be offered
	}{
		{"skink|cr", "crawl", "dedup"},
		{"skink|", "crawl help", ""},
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
	t.Parallel()
	dir := t.TempDir()
	zsh, fish := scriptOf(t, dir, "_skink", "zsh"), scriptOf(t, dir, "skink.fish", "fish")
	t.Run("zsh", func(t *testing.T) {
		// The functions in place of the real ones, which work only inside the line editor, print what
		// they get.
		program := `compdef() { }; source "$1"; shift; compset() { }; _files() { print files $@ }; _describe() { print -l -- ${(P)2} }; words=("$@"); CURRENT=$#; _skink`
		for line, want := range map[string]string{
			"skink cra":              "crawl:crawl sites and find duplicate pages",
			"skink crawl --sc":       "--scope:follow links to the host",
			"skink crawl --scope=d":  "--scope=domain",
			"skink crawl --scope ":   "prefix",
			"skink crawl --warc=x":   "files -/",
			"skink crawl se":         "files",
			"skink store ":           "info",
			"skink store info ":      "files -/",
			"skink extract --links ": "absolute",
		} {
			out := runShell(t, "zsh", append([]string{"-f", "-c", program, "zsh", zsh}, strings.Split(line, " ")...)...)
			if !strings.Contains("\n"+out, "\n"+want) {
				t.Errorf("%s: completions %q, want %s among them", line, out, want)
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
			"skink crawl --warc=int": "--warc=internal/",
			"skink crawl --warc int": "internal/",
			"skink extract READ":     "README.md",
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

func scriptOf(t *testing.T, dir, name, shell string) (path string) {
	t.Helper()
	script, err := exec.Command("skink", "completion", shell).Output()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, script, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
