package e2e

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// sites of pages that may be left out, each for one reason: the columns of the table in
// docs/output.md. Each page contains its mark.
var leftOutFor = []struct{ column, mark, head, text string }{
	{"private pages", "mark-private", "", salaries},
	{"content signal", "mark-signal", "", mountains},
	{"noindex", "mark-noindex", "<meta name=robots content=noindex>", strings.ReplaceAll(salaries, "e", "i")},
	{"duplicates", "mark-duplicate", "", rivers},
	{"thin pages", "mark-thin", "", "Two words"},
	{"few words", "mark-few", "", strings.Join(strings.Fields(strings.ReplaceAll(mountains, "a", "o"))[:30], " ")},
}

var (
	rivers    = sentences("river", "valley", "water", "bridge", "harbour")
	salaries  = sentences("salary", "contract", "office", "signature", "folder")
	mountains = sentences("mountain", "summit", "glacier", "shepherd", "meadow")
)

func sentences(words ...string) string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "%s %s%d ", words[i%len(words)], words[(i*i+1)%len(words)], i)
	}
	return b.String()
}

// TestReleaseTable checks the table of docs/output.md with the real binary: for each output and each
// reason, whether the output contains a page, without and with the flag that the table names.
func TestReleaseTable(t *testing.T) {
	long(t)
	t.Parallel()
	skink := buildSkink(t)
	dir := t.TempDir()
	var seeds []string
	page := func(mark, head, text, robots string) string {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/robots.txt":
				fmt.Fprintf(w, "User-agent: *\n%s\nAllow: /\n", robots)
			case "/":
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>%s</title>%s<main><p>%s %s</p><a href=/leaf>%s</a></main>", mark, head, mark, text, mark)
			default:
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(site.Close)
		seeds = append(seeds, site.URL+"/")
		return strings.TrimPrefix(site.URL, "http://")
	}
	page("mark-plain", "", rivers, "")
	config := filepath.Join(dir, "skink.toml")
	for _, p := range leftOutFor {
		robots := ""
		if p.column == "content signal" {
			robots = "Content-Signal: ai-train=no"
		}
		host := page(p.mark, p.head, p.text, robots)
		if p.column == "private pages" {
			writeText(t, config, "[host.\""+host+"\"]\nheaders = { \"X-Token\" = \"t\" }\n")
		}
	}
	run := func(args ...string) []byte {
		cmd := exec.Command(skink, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	list := filepath.Join(dir, "seeds.txt")
	writeText(t, list, strings.Join(seeds, "\n"))
	feed := filepath.Join(dir, "feed.jsonl")
	run("crawl", "--config", config, "--delay", "0", "--parallel", "1", "--markdown", "--warc", "kept", "--feed", feed, list)
	export := func(how []string, flags []string) []byte {
		file := filepath.Join(dir, "out"+strings.Join(append(how, flags...), ""))
		said := run(append(append([]string{"export", "--out", file}, how...), flags...)...)
		out, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return out
	}
	outputs := map[string]func(flags []string) string{
		"`--format parquet`": func(flags []string) string {
			out := export([]string{"--format", "parquet"}, flags)
			rows, err := parquet.Read[struct {
				Text string `parquet:"text,optional"`
			}](bytes.NewReader(out), int64(len(out)))
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(rows)
		},
		"`--format wacz`": func(flags []string) string { return unpacked(t, export([]string{"--format", "wacz"}, flags)) },
		"`--to`": func(flags []string) string {
			index := &bulkIndex{}
			server := httptest.NewServer(index)
			defer server.Close()
			run(append([]string{"export", "--to", server.URL + "/pages"}, flags...)...)
			return index.got.String()
		},
		"`crawl --feed`": func([]string) string {
			out, err := os.ReadFile(feed)
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		},
	}
	for _, how := range []string{"--format jsonl", "--markdown", "--chunks", "--format links"} {
		outputs["`"+how+"`"] = func(flags []string) string { return string(export(strings.Fields(how), flags)) }
	}
	columns, rows := tableAfter(t, "docs/output.md", "## What leaves the store")
	for _, row := range rows {
		output := outputs[row[0]]
		if output == nil {
			if row[0] != "`report`, `view`" {
				t.Errorf("the table has an unknown output %s", row[0])
			}
			continue
		}
		delete(outputs, row[0])
		plain := output(nil)
		if !strings.Contains(plain, "mark-plain") {
			t.Errorf("%s: not even the plain page", row[0])
		}
		for i, p := range leftOutFor {
			if columns[i+1] != p.column {
				t.Fatalf("column %q, want %q", columns[i+1], p.column)
			}
			first, then, changes := strings.Cut(row[i+1], "; ")
			if got := strings.Contains(plain, p.mark); got != (first == "in") {
				t.Errorf("%s: %s: the table says %s, and the page is there: %t", row[0], p.column, first, got)
			}
			if !changes {
				continue
			}
			m := regexp.MustCompile("^(in|out) with `(.*)`$").FindStringSubmatch(then)
			if got := strings.Contains(output(strings.Fields(m[2])), p.mark); got != (m[1] == "in") {
				t.Errorf("%s %s: %s: the table says %s, and the page is there: %t", row[0], m[2], p.column, m[1], got)
			}
		}
	}
	for name := range outputs {
		t.Errorf("the table does not have %s", name)
	}
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// tableAfter returns the head and the rows of the first table after a heading of a manual page.
func tableAfter(t *testing.T, name, heading string) (head []string, rows [][]string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), heading+"\n")
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case head == nil:
			head = cells
		case !strings.HasPrefix(line, "|---"):
			rows = append(rows, cells)
		}
	}
	return head, rows
}

// unpacked returns all files of a WACZ package, decompressed.
func unpacked(t *testing.T, wacz []byte) string {
	z, err := zip.NewReader(bytes.NewReader(wacz), int64(len(wacz)))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		in := io.Reader(r)
		if strings.HasSuffix(f.Name, ".gz") {
			if in, err = gzip.NewReader(r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.Copy(&all, in); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// A bulkIndex accepts all documents of bulk requests.
type bulkIndex struct {
	mu  sync.Mutex
	got strings.Builder // guarded by mu
}

func (x *bulkIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var items []map[string]map[string]any
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var action map[string]map[string]any
		if err := json.Unmarshal(lines.Bytes(), &action); err != nil || len(action) != 1 {
			x.got.Write(lines.Bytes())
			continue
		}
		for _, item := range action {
			item["status"] = 200
		}
		items = append(items, action)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
}
