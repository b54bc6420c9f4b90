package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"skink/internal/tools/postgrestest"
)

// A plantedFault is a fault that a page of the changing site may have.
type plantedFault struct {
	finding string                   // name of the finding in the audit
	at      func(page string) string // path of the URL that the finding lists
	page    func(p *changingPage, name string)
}

// A changingPage is a page without a fault. A plantedFault changes it.
type changingPage struct {
	head  string // elements of the head in addition to the title and the description
	title string
	descr string
	lang  string
	h1    string
	body  string
}

func itself(page string) string { return "/" + page }

// plantedFaults has faults of ten kinds.
var plantedFaults = []plantedFault{
	{"broken.gone", func(page string) string { return "/gone-" + page }, func(p *changingPage, name string) {
		p.body += `<a href="/gone-` + name + `">a page that does not exist</a>`
	}},
	{"broken.server", func(page string) string { return "/fails-" + page }, func(p *changingPage, name string) { p.body += `<a href="/fails-` + name + `">a page that fails</a>` }},
	{"redirects.chain", func(page string) string { return "/first-" + page }, func(*changingPage, string) {}},
	{"titles.missing", itself, func(p *changingPage, name string) { p.title = "" }},
	{"descriptions.missing", itself, func(p *changingPage, name string) { p.descr = "" }},
	{"headings.missing", itself, func(p *changingPage, name string) { p.h1 = "" }},
	{"markup.lang", itself, func(p *changingPage, name string) { p.lang = "" }},
	{"images.alt", itself, func(p *changingPage, name string) { p.body = strings.Replace(p.body, ` alt="a picture"`, "", 1) }},
	{"links.fragments", itself, func(p *changingPage, name string) { p.body += `<a href="/parts#lost">a part that does not exist</a>` }},
	{"noindex", itself, func(p *changingPage, name string) { p.head += `<meta name="robots" content="noindex">` }},
}

// A changingSite serves a page without a fault for each of plantedFaults that becomes faulty with version
// 2, one that is faulty only in version 1, and one that is always faulty. Version 3 has no faults except
// those. The page /down has no title, and fails from version 2 on.
type changingSite struct {
	version atomic.Int32
}

// faulty reports whether the page of a group has its fault in a version.
func (s *changingSite) faulty(group string) bool {
	switch group {
	case "worse":
		return s.version.Load() == 2
	case "better":
		return s.version.Load() == 1
	}
	return true
}

func (s *changingSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	group, rest, _ := strings.Cut(path, "-")
	switch {
	case path == "robots.txt", path == "sitemap.xml", group == "gone":
		http.NotFound(w, r)
		return
	case path == "picture.png":
		w.Header().Set("Content-Type", "image/png")
		return
	case group == "fails", path == "down" && s.version.Load() > 1:
		http.Error(w, "failed", http.StatusInternalServerError)
		return
	case group == "first": // such as /first-worse-2
		to := "/parts"
		if of, _, _ := strings.Cut(rest, "-"); s.faulty(of) {
			to = "/second-" + rest
		}
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return
	case group == "second":
		http.Redirect(w, r, "/parts", http.StatusMovedPermanently)
		return
	}
	p := changingPage{
		title: "The title of the page " + path, lang: ` lang="en"`, h1: "<h1>The heading of " + path + "</h1>",
		descr: "The description of the page " + path + ", which is long enough that search engines show it whole.",
		body:  `<img src="/picture.png" width="9" height="9" alt="a picture">`,
	}
	switch {
	case path == "":
		p.title, p.descr, p.h1 = "The first page of the site", "The description of the first page, which is long enough that search engines show it whole.", "<h1>The site</h1>"
		for i := range plantedFaults {
			p.body += fmt.Sprintf(`<a href="/worse-%[1]d">worse %[1]d</a> <a href="/better-%[1]d">better %[1]d</a> <a href="/same-%[1]d">same %[1]d</a> `, i)
		}
		p.body += `<a href="/down">down</a> <a href="/parts">parts</a>`
	case path == "parts":
		p.body += `<p id="part">the only part of this page</p>`
	case path == "down":
		p.title = ""
	default:
		var i int
		if _, err := fmt.Sscan(rest, &i); err != nil || i >= len(plantedFaults) {
			http.NotFound(w, r)
			return
		}
		if plantedFaults[i].finding == "redirects.chain" {
			p.body += `<a href="/first-` + path + `">a redirect</a>`
		}
		if s.faulty(group) {
			plantedFaults[i].page(&p, path)
		}
	}
	var words []string
	for i := range 60 {
		words = append(words, fmt.Sprintf("%s%d", strings.ReplaceAll(path, "-", ""), i))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	title, descr := "", ""
	if p.title != "" {
		title = "<title>" + p.title + "</title>"
	}
	if p.descr != "" {
		descr = `<meta name="description" content="` + p.descr + `">`
	}
	fmt.Fprintf(w, `<!doctype html><html%s><head>%s%s<meta name="viewport" content="width=device-width"><link rel="canonical" href="http://%s%s">%s</head><body>%s<p>%s</p>%s</body></html>`,
		p.lang, title, descr, r.Host, r.URL.Path, p.head, p.h1, strings.Join(words, " "), p.body)
}

// sinceReport is the part of the JSON of an audit that describes its difference from an earlier crawl.
type sinceReport struct {
	Since    struct{ Crawl int }
	Findings []struct {
		Name  string
		Count int
		Since *struct{ New, Fixed, Remaining, Unchecked int }
		Rows  []struct{ URL, Change string }
	}
}

func readSince(t *testing.T, dir string, args ...string) (r sinceReport) {
	t.Helper()
	out := runIn(t, dir, append([]string{"report", "--about", "audit", "--format", "json"}, args...)...)
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// rows returns the rows with a change, each as "finding path", sorted.
func (r *sinceReport) rows(change, origin string) (all []string) {
	for _, f := range r.Findings {
		for _, row := range f.Rows {
			if f.Name == "slow" { // on a busy machine, any page may be slow
				continue
			}
			if row.Change == change {
				all = append(all, f.Name+" "+strings.TrimPrefix(row.URL, origin))
			}
		}
	}
	slices.Sort(all)
	return all
}

// planted returns the rows of the audit that the faults of a group of pages cause.
func planted(group string, more ...string) (all []string) {
	for i, f := range plantedFaults {
		all = append(all, f.finding+" "+f.at(fmt.Sprintf("%s-%d", group, i)))
	}
	all = append(all, more...)
	slices.Sort(all)
	return all
}

// TestSince crawls a site three times. Before the second crawl, ten faults were added and ten repaired.
// Exactly these must be reported as new and fixed, in both kinds of stores.
func TestSince(t *testing.T) {
	needServer(t)
	t.Parallel()
	for name, storeOf := range map[string]func(t *testing.T) string{
		"folder":     func(t *testing.T) string { return "docs" },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.Start(t).URL("docs") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := &changingSite{}
			server := httptest.NewServer(site)
			t.Cleanup(server.Close)
			dir, store := t.TempDir(), storeOf(t)
			crawl := func(version int32, args ...string) {
				t.Helper()
				site.version.Store(version)
				runIn(t, dir, append([]string{"crawl", "--quiet", "--audit", "--store", store, "--delay", "0", "--retries", "0"}, args...)...)
			}
			crawl(1, server.URL+"/")
			wantSaid(t, dir, 1, "docs has no saved findings of such a crawl; earlier crawls with saved findings: none; a crawl saves them with --audit, as in skink crawl --audit --recrawl 0s", "report", "--store", store, "--about", "audit", "--since", "LAST")
			crawl(2, "--recrawl", "0s")

			r := readSince(t, dir, "--store", store, "--since", "LAST")
			if r.Since.Crawl != 1 {
				t.Errorf("compared with crawl %d", r.Since.Crawl)
			}
			down := "titles.missing /down"
			wantRows(t, "new", r.rows("new", server.URL), planted("worse"))
			wantRows(t, "fixed", r.rows("fixed", server.URL), planted("better"))
			wantRows(t, "unchecked", r.rows("unchecked", server.URL), []string{down})
			remaining := r.rows("remaining", server.URL)
			for _, row := range planted("same") {
				if !slices.Contains(remaining, row) {
					t.Errorf("%s is not reported as remaining", row)
				}
			}
			if len(r.rows("new", server.URL)) != 10 || len(r.rows("fixed", server.URL)) != 10 {
				t.Error("the report does not have ten new and ten fixed findings")
			}

			report := []string{"report", "--store", store, "--about", "broken", "--since", "LAST"}
			wantSaid(t, dir, 4, "--fail-on new:broken: 2, limit 0", append(report, "--fail-on", "new:broken>0")...)
			wantSaid(t, dir, 4, "--fail-on fixed:broken: 2, must be at least 3", append(report, "--fail-on", "fixed:broken<3")...)
			wantSaid(t, dir, 0, "", append(report, "--fail-on", "new:broken>2,new:error>5")...)
			wantSaid(t, dir, 2, "--fail-on new:broken requires --since: try --since LAST", "report", "--store", store, "--fail-on", "new:broken>0")

			copied := filepath.Join(dir, "copied")
			runIn(t, dir, "store", "copy", store, copied)
			again := readSince(t, dir, "--store", copied, "--since", "LAST")
			wantRows(t, "new in the copy", again.rows("new", server.URL), planted("worse"))

			crawl(3, "--recrawl", "0s")
			r = readSince(t, dir, "--store", store, "--since", "LAST")
			wantRows(t, "new in crawl 3", r.rows("new", server.URL), nil)
			wantRows(t, "fixed in crawl 3", r.rows("fixed", server.URL), planted("worse"))
			runIn(t, dir, "crawl", "--quiet", "--store", store, "--delay", "0", "--retries", "0", "--recrawl", "0s") // keeps no findings
			runIn(t, dir, "crawl", "--quiet", "--store", store, "--delay", "0", "--retries", "0", "--recrawl", "0s")
			wantSaid(t, dir, 1, "docs has no saved findings of such a crawl; earlier crawls with saved findings: --since 20", "report", "--store", store, "--about", "audit", "--since", "LAST")
			r = readSince(t, dir, "--store", store, "--since", "0s")
			wantRows(t, "new since crawl 3", r.rows("new", server.URL), []string{"broken.server /down"}) // after the third failure, the page counts as gone
			if r.Since.Crawl != 3 {
				t.Errorf("the last crawl with findings is %d, want 3", r.Since.Crawl)
			}
			wantSaid(t, dir, 1, "docs has no saved findings of such a crawl; earlier crawls with saved findings: --since 20", "report", "--store", store, "--about", "audit", "--since", "2026-01-01")
		})
	}
}

func wantRows(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}

// wantSaid runs skink in a folder and checks its exit code and that its standard error contains a text.
func wantSaid(t *testing.T, dir string, code int, text string, args ...string) {
	t.Helper()
	cmd := exec.Command("skink", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	got := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != code || !strings.Contains(errs.String(), text) {
		t.Errorf("skink %s: exit code %d, %s; want %d, %s", strings.Join(args, " "), got, &errs, code, text)
	}
}

// TestKeptLater checks that findings which could not be kept at the end of a crawl, for example because the
// process was killed, are kept by the next run, which has nothing to fetch.
func TestKeptLater(t *testing.T) {
	t.Parallel()
	site := &changingSite{}
	server := httptest.NewServer(site)
	defer server.Close()
	dir := t.TempDir()
	site.version.Store(1)
	runIn(t, dir, "crawl", "--quiet", "--delay", "0", "--retries", "0", server.URL+"/")
	wantSaid(t, dir, 1, "skink-data has no saved findings of such a crawl; earlier crawls with saved findings: none; a crawl saves them with --audit", "report", "--about", "audit", "--since", "LAST")
	wantSaid(t, dir, 0, "Saved the findings of crawl 1", "crawl", "--audit")
	cmd := exec.Command("skink", "crawl", "--audit")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("Saved the findings")) {
		t.Errorf("the findings were kept a second time: %v\n%s", err, out)
	}
	site.version.Store(2)
	runIn(t, dir, "crawl", "--quiet", "--audit", "--delay", "0", "--retries", "0", "--recrawl", "0s")
	r := readSince(t, dir, "--since", "LAST")
	if n := len(r.rows("fixed", server.URL)); n == 0 {
		t.Error("nothing is fixed")
	}
}

// TestKilledAtEnd kills crawls after their summary, while they keep their findings. Whenever the kill comes,
// the findings of the earlier crawls stay readable, and the same command keeps those of the killed crawl.
func TestKilledAtEnd(t *testing.T) {
	t.Parallel()
	site := &changingSite{}
	server := httptest.NewServer(site)
	defer server.Close()
	dir := t.TempDir()
	args := []string{"crawl", "--audit", "--delay", "0", "--retries", "0", "--recrawl", "0s", server.URL + "/"}
	site.version.Store(1)
	runIn(t, dir, args...)
	first := 1
	site.version.Store(2)
	for range 3 {
		cmd := exec.Command("skink", args...)
		cmd.Dir = dir
		said, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(said)
		for lines.Scan() && !strings.Contains(lines.Text(), "see the duplicates with") {
		}
		_ = cmd.Process.Kill() // an error means that the crawl has ended already
		_ = cmd.Wait()
		r := readSince(t, dir, "--since", "0s") // the last crawl whose findings are kept
		if r.Since.Crawl < first {
			t.Errorf("the findings of crawl %d are kept, but not those of crawl %d", r.Since.Crawl, first)
		}
		runIn(t, dir, args...)
		r = readSince(t, dir, "--since", "LAST")
		if r.Since.Crawl < first {
			t.Errorf("compared with crawl %d, want at least crawl %d", r.Since.Crawl, first)
		}
		if r.Since.Crawl == 1 {
			wantRows(t, "new", r.rows("new", server.URL), planted("worse"))
		}
		first = r.Since.Crawl + 1
	}
}
