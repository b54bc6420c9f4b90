package e2e

import (
	"bufio"
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
	"testing"
	"time"
)

var (
	metricName = regexp.MustCompile(`\b(?:skink|process|go)_[a-z0-9_]+`)
	seriesName = regexp.MustCompile(`(?m)^([a-z0-9_]+)(?:\{(.*)\})? \S+$`)
	labelOf    = regexp.MustCompile(`(\w+)="([^"]*)"`)
	matcherOf  = regexp.MustCompile(`(\w+)=~?\\?"([^"\\]*)\\?"`)
)

// TestMetrics checks that a running crawl serves the metrics that the dashboard and the alert rules
// name, and the label values that they select, except for HTTP statuses.
func TestMetrics(t *testing.T) {
	t.Parallel()
	names, values := servedMetrics(t)
	for _, file := range []string{"ops/grafana.json", "ops/alerts.yml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := metricName.FindAllString(string(text), -1)
		if len(found) < 7 {
			t.Errorf("%s names only %d metrics", file, len(found))
		}
		for _, name := range found {
			if !names[name] {
				t.Errorf("%s names the metric %s, which is not served", file, name)
			}
		}
		for _, m := range matcherOf.FindAllStringSubmatch(string(text), -1) {
			if label := m[1]; label == "job" || label == "instance" || label == "status" {
				continue
			}
			for value := range strings.SplitSeq(m[2], "|") {
				if !values[m[1]+"="+value] {
					t.Errorf("%s asks for %s=%q, which is not served", file, m[1], value)
				}
			}
		}
	}
}

// servedMetrics crawls a site that answers slowly, and that has a page of each verdict and of each
// kind of record. It returns the names of the metrics that the crawl serves in the meantime, and
// the values of their labels as "label=value".
func servedMetrics(t *testing.T) (names, values map[string]bool) {
	release := make(chan struct{})
	text := func(n int) string {
		return "<!doctype html><main><p>" + strings.Repeat(fmt.Sprintf("word%d of a page. ", n), 60)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, text(0), `<a href="/1">1</a> <a href="/2">2</a> <a href="/moved">moved</a> <a href="/lost">lost</a> <a href="/slow">slow</a>`)
	})
	mux.HandleFunc("GET /1", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text(1)) })
	mux.HandleFunc("GET /2", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text(1)) })
	mux.HandleFunc("GET /moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/1", http.StatusFound) })
	mux.HandleFunc("GET /slow", func(http.ResponseWriter, *http.Request) { <-release })
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	t.Cleanup(func() { close(release) })

	cmd := exec.Command("skink", "crawl", "--delay", "0", "--per-host", "4", "--metrics", "0", "--grace", "0", site.URL+"/")
	cmd.Dir = t.TempDir()
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "Metrics are served at ")
	}
	go func() {
		for lines.Scan() {
		}
	}()
	defer func() { _ = cmd.Wait() }() // a stopped crawl exits with 1
	defer func() { _ = cmd.Process.Signal(os.Interrupt) }()

	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got := bodyAt(t, url)
		names, values = map[string]bool{}, map[string]bool{}
		for _, m := range seriesName.FindAllStringSubmatch(got, -1) {
			names[m[1]] = true
			for _, l := range labelOf.FindAllStringSubmatch(m[2], -1) {
				values[l[1]+"="+l[2]] = true
			}
		}
		if names["skink_errors"] && values["status=3xx"] && values["operation=commit"] && strings.Contains(got, `skink_pages{verdict="exact"} 1`) {
			return names, values
		}
		if time.Now().After(until) {
			t.Fatalf("the crawl does not serve all numbers:\n%s", got)
		}
	}
}

// bodyAt requests a URL and returns the body of the response.
func bodyAt(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A dashboard is the part of ops/grafana.json that tests look at.
type dashboard struct {
	Title, UID string
	Panels     []struct {
		ID      int
		Title   string
		Type    string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, RefID string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("ops/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDashboard checks the parts of the dashboard that Grafana needs: panels with different ids and
// positions, each with a title and queries.
func TestDashboard(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	if d.Title == "" || d.UID == "" || len(d.Panels) < 10 {
		t.Errorf("the dashboard %q with the id %q has %d panels", d.Title, d.UID, len(d.Panels))
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Type == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q: its id is taken, or it lacks a title, a type or queries", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, q := range p.Targets {
			if q.RefID == "" || q.Expr == "" {
				t.Errorf("panel %q: a query has the id %q and the expression %q", p.Title, q.RefID, q.Expr)
			}
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, taken := places[[2]int{x, y}]; taken || x >= 24 {
					t.Fatalf("panel %q lies over %q or outside", p.Title, other)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
	}
}

// TestAlerts runs the tests of the alert rules. It also checks the expressions of the dashboard, as rules
// that record their values.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool: Debian's package prometheus has it")
	}
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for _, p := range readDashboard(t).Panels {
		for _, q := range p.Targets {
			rules = append(rules, rule{fmt.Sprintf("panel%d:%s", p.ID, q.RefID), q.Expr})
		}
	}
	type group struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	}
	text, err := json.Marshal(map[string][]group{"groups": {{"dashboard", rules}}}) // YAML contains JSON
	if err != nil {
		t.Fatal(err)
	}
	panels := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(panels, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "ops/alerts.yml"}, {"test", "rules", "ops/alerts.test.yml"}, {"check", "rules", panels}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestCompose loads the Compose file with the reference implementation of its specification, and lets promtool check
// the configuration of Prometheus in it.
func TestCompose(t *testing.T) {
	t.Parallel()
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("SKINK_LONG is not set")
	}
	text, err := os.ReadFile("ops/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.NewReplacer("${POSTGRES_PASSWORD:?}", "secret", "${SEED:?}", exampleSite(t, "compose")+"/").Replace(string(text)))
	project := filepath.Join(t.TempDir(), "compose.yaml")
	if err := os.WriteFile(project, text, 0o666); err != nil {
		t.Fatal(err)
	}
	load := exec.Command("go", "run", "github.com/compose-spec/compose-go/v2/cmd@v2.16.2", project)
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("compose-go: %v\n%s", err, out)
	}
	command := regexp.MustCompile(`command: \[(.*)\]`).FindSubmatch(text)
	config := regexp.MustCompile(`(?ms)^  prometheus:\n    content: \|\n(.*?)^  \w`).FindSubmatch(text)
	if command == nil || config == nil {
		t.Fatalf("no command, or no configuration of Prometheus, in\n%s", text)
	}
	flags := strings.NewReplacer(`"`, "", ",", "", "0.0.0.0:9464", "0").Replace(string(command[1]))
	crawl := exec.Command("skink", strings.Fields(flags)...)
	crawl.Env = append(os.Environ(), "SKINK_STORE="+t.TempDir())
	if out, err := crawl.CombinedOutput(); err != nil {
		t.Errorf("skink %s: %v\n%s", flags, err, out)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool: Debian's package prometheus has it")
	}
	rules, err := filepath.Abs("ops/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(config[1]), "/etc/prometheus/alerts.yml", rules)), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "check", "config", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// TestUnit lets systemd check the unit file, and requires an exposure of at most 2.5 of 10.
func TestUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze: the package systemd has it")
	}
	skink, err := exec.LookPath("skink")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("ops/skink@.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "skink@docs.service")
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/bin/skink", skink)), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=25", unit).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
	command := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/skink (.*)$`).FindStringSubmatch(string(text))
	if command == nil {
		t.Fatal("the unit does not start skink")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"docs.toml": "delay = \"0s\"\n", "docs.seeds": exampleSite(t, "docs") + "/\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	args := strings.Fields(strings.NewReplacer("%i", "docs", "/etc/skink", dir).Replace(command[1]))
	crawl := exec.Command("skink", args...)
	crawl.Env = append(os.Environ(), "SKINK_STORE="+filepath.Join(dir, "docs"))
	if out, err := crawl.CombinedOutput(); err != nil {
		t.Errorf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
