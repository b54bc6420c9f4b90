package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadme runs what the README tells its reader to run, in its order and in
// one folder, and compares the output where the README shows it. Two things are
// done in its stead: the tests are not run from within the tests, and the hosts
// of its examples are not asked; servers on loopback stand for them.
func TestReadme(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	org, com := exampleSite(t, "org"), exampleSite(t, "com")
	seeds := "# two seeds\n" + org + "/other.html # a page\n" + com + "/\n"
	if err := os.WriteFile(filepath.Join(dir, "seeds.txt"), []byte(seeds), 0o666); err != nil {
		t.Fatal(err)
	}
	hosts := strings.NewReplacer("https://example.org", org, "https://example.com", com)

	commands := commandsOf(t, "README.md")
	if len(commands) < 10 {
		t.Errorf("only %d commands are found in README.md", len(commands))
	}
	for _, c := range commands {
		switch c.line {
		case "go test ./...":
			calledByCI(t, c.line)
			continue
		case "go install .":
			installed(t)
			continue
		}
		args := strings.Fields(hosts.Replace(c.line))
		switch {
		case strings.HasPrefix(c.line, "go run . "):
			args = args[3:]
		case args[0] == "skink":
			args = args[1:]
		default:
			t.Errorf("README.md: $ %s: the test knows skink and go run . only", c.line)
			continue
		}
		if args[0] == "view" {
			viewed(t, dir, args)
			continue
		}
		if i := slices.IndexFunc(args, leavesLoopback); i >= 0 {
			t.Fatalf("README.md: $ %s would ask %s", c.line, args[i])
		}
		got := runReadme(t, dir, args, c)
		if c.output != "" && normal(got) != normal(c.output) {
			t.Errorf("README.md: $ %s\nprints\n%s\nand the README shows\n%s", c.line, got, c.output)
		}
	}
}

// leavesLoopback says whether an argument is a URL of another machine. Names below
// .localhost are of this one.
func leavesLoopback(arg string) bool {
	_, rest, isURL := strings.Cut(arg, "://")
	host, _, _ := strings.Cut(rest, "/")
	return isURL && !strings.HasPrefix(host, "127.0.0.1:") && !strings.HasSuffix(host, ".localhost")
}

// A readmeCommand is a line of the README that begins with $, and what it shows
// below it, "" if nothing.
type readmeCommand struct{ line, output string }

func commandsOf(t *testing.T, file string) (all []readmeCommand) {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?ms)^ *```console\n(.*?)^ *```$").FindAllStringSubmatch(string(doc), -1) {
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "$ "); ok {
				all = append(all, readmeCommand{line: strings.TrimSpace(command)})
			} else if len(all) > 0 {
				all[len(all)-1].output += line
			}
		}
	}
	return all
}

// runReadme runs skink, and returns what a terminal would show.
func runReadme(t *testing.T, dir string, args []string, c readmeCommand) (output string) {
	t.Helper()
	cmd := exec.Command("skink", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("README.md: $ %s: %v\n%s", c.line, err, out)
	}
	return string(out)
}

// viewed opens what skink view shows, at a port of the test's, and ends it as a reader would.
func viewed(t *testing.T, dir string, args []string) {
	t.Helper()
	cmd := exec.Command("skink", append(args, "--listen", "0")...)
	cmd.Dir = dir
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	lines.Scan()
	_, url, _ := strings.Cut(lines.Text(), " is shown at ")
	resp, err := http.Get(url)
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("README.md: skink %s: %q: %v", strings.Join(args, " "), lines.Text(), err)
	} else {
		resp.Body.Close()
	}
	_ = cmd.Process.Signal(os.Interrupt)
	for lines.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("README.md: skink %s, after Ctrl-C: %v", strings.Join(args, " "), err)
	}
}

// installed runs go install, into a folder of the test's.
func installed(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.Command("go", "install", ".")
	cmd.Env = append(os.Environ(), "GOBIN="+bin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("README.md: $ go install .: %v\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(bin, "skink"), "help").Output(); err != nil || !strings.Contains(string(out), "skink crawl") {
		t.Errorf("README.md: what go install . installs: %v\n%s", err, out)
	}
}

// normal is an output without what depends on the machine and the hour: times,
// rates and sizes, with the spaces before them, for they are aligned.
func normal(output string) string {
	for _, n := range []struct{ what, is string }{
		{`[0-9.]+ m?s\b`, "0 s"},
		{`[0-9.]+ a second`, "0 a second"},
		{`[0-9.]+ (bytes|KB|MB)`, "0 KB"},
	} {
		output = regexp.MustCompile(n.what).ReplaceAllString(output, n.is)
	}
	return strings.TrimSpace(output)
}

// calledByCI checks that the README's command is what the project's own check
// runs.
func calledByCI(t *testing.T, command string) {
	t.Helper()
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(strings.Split(string(script), "\n"), command) {
		t.Errorf(".ci/run does not call %q, which the README tells its reader to run", command)
	}
}

// exampleSite is a small site on loopback: with one page in two places, in a
// folder, and nothing that leads elsewhere.
func exampleSite(t *testing.T, name string) (url string) {
	page := "<title>%s of %s</title><main><p>" + strings.Repeat("Some words about %[2]s that are long enough to be a text. ", 8) + "</main>"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, page+`<a href="/docs/">documents</a>`, "Start", "the start of "+name)
	})
	for _, path := range []string{"GET /docs/{$}", "GET /other.html"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, page, "Documents", "the documents of "+name)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}
