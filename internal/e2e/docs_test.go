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
	"strconv"
	"strings"
	"testing"

	"skink/internal/tools/buckettest"
	"skink/internal/tools/postgrestest"
)

// documents returns the names of the README and the files beside it, the pages of the manual, and the
// page about the fields of the feed.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages in docs: %v", len(pages), err)
	}
	return append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "feed/SCHEMA.md")
}

// TestDocs runs the commands in the README and the manual. The commands of one page run in their
// order in one folder, by a shell. If a page shows the output of a command, the output is compared.
//
// The first block of TOML in a page becomes the file skink.toml. The test replaces hosts and
// addresses by servers on loopback, and uses the delay 0 unless a command has another.
func TestDocs(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, page := range documents(t) {
		shown += len(commandsOf(t, page))
		if page == "docs/many-machines.md" {
			continue // TestManyMachines runs these commands and checks their results
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			runPage(t, page)
		})
	}
	if shown < 60 {
		t.Errorf("only %d commands are found in the documents", shown)
	}
}

// A ran is the state after the commands of a page were run.
type ran struct {
	dir      string
	org, com string // URLs of the sites that replace example.org and example.com
	server   *postgrestest.Server
}

const (
	shownDatabase = "postgres://skink@db.example.org/crawls?schema="
	shownIndex    = "https://localhost:9200/pages"
	shownBucket   = "https://s3.example.org"
	shownProxy    = "socks5://127.0.0.1:1080"
	shownApp      = "https://app.example.org"
)

func runPage(t *testing.T, page string) (r ran) {
	t.Helper()
	if page == "docs/rendering.md" {
		needBrowser(t)
	}
	commands := commandsOf(t, page)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	r = ran{dir: t.TempDir(), org: exampleSite(t, "org"), com: exampleSite(t, "com")}
	shop := shopSite(t)
	replace := []string{
		"https://example.org", r.org, "https://example.com", r.com,
		"https://shop.example.org", shop, "shop.example.org", strings.TrimPrefix(shop, "http://"),
	}
	if strings.Contains(string(text), shownApp) {
		replace = append(replace, shownApp, newWebApp(t, "react").URL)
	}
	if strings.Contains(string(text), "$ skink") && strings.Contains(string(text), shownDatabase) {
		r.server = postgrestest.Start(t)
		replace = append(replace, shownDatabase, r.server.URL(""))
	}
	if strings.Contains(string(text), shownProxy) {
		address, _ := startSOCKS(t, "")
		replace = append(replace, shownProxy, "socks5://"+address)
	}
	if strings.Contains(string(text), shownBucket) {
		replace = append(replace, shownBucket, buckettest.Start(t).URL)
	}
	if strings.Contains(string(text), shownIndex) {
		s := &server{}
		replace = append(replace, shownIndex, "http://"+serveIndex(s, "")+"/pages")
		t.Cleanup(s.close)
	}
	if err := os.CopyFS(filepath.Join(r.dir, "testdata"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	seeds := "# two seeds\n" + r.org + "/other.html # a page\n" + r.com + "/\n"
	if err := os.WriteFile(filepath.Join(r.dir, "seeds.txt"), []byte(seeds), 0o666); err != nil {
		t.Fatal(err)
	}
	if block := regexp.MustCompile("(?ms)^```toml\n(.*?)^```$").FindStringSubmatch(string(text)); block != nil {
		hosts := strings.NewReplacer(`"example.org"`, strconv.Quote(strings.TrimPrefix(r.org, "http://")))
		if err := os.WriteFile(filepath.Join(r.dir, "skink.toml"), []byte(hosts.Replace(block[1])), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	back := make([]string, len(replace))
	for i := range replace {
		back[i^1] = replace[i]
	}
	hosts, names := strings.NewReplacer(replace...), strings.NewReplacer(back...)
	for _, c := range commands {
		switch c.line {
		case "go test ./...":
			calledByCI(t, c.line)
			continue
		case `go install -ldflags="-s -w" .`:
			installed(t, c.line)
			continue
		}
		if args, ok := strings.CutPrefix(c.line, "skink view"); ok {
			viewed(t, r.dir, strings.Fields("view"+args))
			continue
		}
		line := onLoopback(hosts.Replace(c.line))
		if !regexp.MustCompile(`\bskink\b`).MatchString(line) && !strings.HasPrefix(line, "cat ") {
			t.Errorf("%s: $ %s does not call skink", page, c.line)
		}
		if i := slices.IndexFunc(strings.Fields(line), leavesLoopback); i >= 0 {
			t.Fatalf("%s: $ %s would ask %s", page, c.line, strings.Fields(line)[i])
		}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = r.dir
		out, err := cmd.CombinedOutput()
		got := names.Replace(string(out))
		if err != nil {
			t.Errorf("%s: $ %s: %v\n%s", page, c.line, err, got)
		}
		if c.output != "" && !showsLines(got, c.output) {
			t.Errorf("%s: $ %s\nprints\n%s\nand the page shows\n%s", page, c.line, got, c.output)
		}
	}
	return r
}

// onLoopback changes a command for the test. It uses the program of this test, no delay unless the
// command has one, and ports that the system chooses.
func onLoopback(line string) string {
	line = strings.Replace(line, "go run . ", "skink ", 1)
	if strings.Contains(line, "skink crawl ") && !strings.Contains(line, "--delay") {
		line = strings.Replace(line, "skink crawl ", "skink crawl --delay 0 ", 1)
	}
	line = strings.Replace(line, "--view ", "--view=127.0.0.1:0 ", 1)
	return regexp.MustCompile(`--metrics \d+`).ReplaceAllString(line, "--metrics 0")
}

// leavesLoopback reports whether an argument is a URL on another machine. Names below .localhost
// are on this machine. The site that publishes a key is never contacted.
func leavesLoopback(arg string) bool {
	_, rest, isURL := strings.Cut(arg, "://")
	host, _, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndex(host, "@")+1:]
	return isURL && !strings.HasPrefix(host, "127.") && !strings.HasSuffix(host, ".localhost") && host != "crawler.example" &&
		!strings.HasPrefix(strings.Trim(arg, "'"), "s3://") // a bucket of the server that AWS_ENDPOINT_URL names
}

// A shownCommand is a command in a document: a line that begins with $. The field output is the
// output in the document, or "" if there is none.
type shownCommand struct{ line, output string }

func commandsOf(t *testing.T, file string) (all []shownCommand) {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?ms)^ *```console\n(.*?)^ *```$").FindAllStringSubmatch(string(doc), -1) {
		first := true
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "$ "); ok {
				all = append(all, shownCommand{line: strings.TrimSpace(command)})
			} else if first {
				t.Errorf("%s: a block begins with output: %s", file, line)
			} else {
				all[len(all)-1].output += line
			}
			first = false
		}
	}
	return all
}

// showsLines reports whether an output contains the lines that a page shows, in their order. A line
// "..." in the page matches any lines.
func showsLines(got, want string) bool {
	parts := strings.Split("\n"+normal(want)+"\n", "\n...\n")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`^` + strings.Join(parts, `\n(?:.*\n)*`) + `$`).MatchString("\n" + normal(got) + "\n")
}

// viewed runs skink view at a port that the system chooses, opens its page, and stops it.
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
		t.Errorf("skink %s: %q: %v", strings.Join(args, " "), lines.Text(), err)
	} else {
		resp.Body.Close()
	}
	_ = cmd.Process.Signal(os.Interrupt)
	for lines.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("skink %s, after Ctrl-C: %v", strings.Join(args, " "), err)
	}
}

// installed runs a command that installs the program, into a temporary folder.
func installed(t *testing.T, command string) {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = append(os.Environ(), "GOBIN="+bin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("$ %s: %v\n%s", command, err, out)
	}
	if out, err := exec.Command(filepath.Join(bin, "skink"), "help").Output(); err != nil || !strings.Contains(string(out), "skink crawl") {
		t.Errorf("the program that %s installs: %v\n%s", command, err, out)
	}
}

// normal replaces the parts of an output that depend on the machine or the time: times, rates,
// sizes, and the results of learning.
func normal(output string) string {
	for _, n := range []struct{ what, is string }{
		{`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`, "2026-11-25 00:00:00"},
		{`[0-9.]+ m?s\b`, "0 s"},
		{`[0-9.]+ a second`, "0 a second"},
		{`[0-9.]+ (bytes|KB|MB)`, "0 KB"},
		// The number of postponed URLs depends on the order of the responses.
		{`\d+ +URLs (postponed|like)`, "0 URLs $1"},
		{`\d+ of \d+ fetched`, "0 of 0 fetched"},
		{`/lamp/\d\?color=\d`, "/lamp/0?color=0"},
	} {
		output = regexp.MustCompile(n.what).ReplaceAllString(output, n.is)
	}
	return strings.TrimSpace(output)
}

// calledByCI checks that a command in a document is also run by the script .ci/run.
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

// exampleSite serves a small site on loopback. It has a page at two URLs, a page in a folder, a
// link to a missing page, and no link to another host.
func exampleSite(t *testing.T, name string) (url string) {
	page := "<title>%s of %s</title><main><p>" + strings.Repeat("Some words about %[2]s that are long enough to be a text. ", 8) + "</main>"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, page+`<a href="/docs/">documents</a> <a href="/other.html">the same</a> <a href="/old.html">old</a>`, "Start", "the start of "+name)
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

// shopSite serves a shop of ten lamps. Each lamp has eight colours, whose pages have the same text.
func shopSite(t *testing.T) (url string) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<title>Shop</title><main><p>", strings.Repeat("We sell lamps for every room of a house. ", 10), "</p>")
		for lamp := range 10 {
			fmt.Fprintf(w, "<a href=/lamp/%d>lamp %[1]d</a> ", lamp)
		}
	})
	mux.HandleFunc("GET /lamp/{n}", func(w http.ResponseWriter, r *http.Request) {
		lamp := r.PathValue("n")
		if len(lamp) > 1 {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "<title>Lamp %s</title><main><p>", lamp)
		for part := range 40 {
			fmt.Fprintf(w, "lamp%s has part%d ", lamp, part)
		}
		for color := range 8 {
			fmt.Fprintf(w, "<a href=/lamp/%s?color=%d>colour</a> ", lamp, color)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}
