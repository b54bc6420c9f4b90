//go:build unix

package e2e

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/internal/cli"
	"skink/internal/tools/postgrestest"
)

// TestCopy interrupts a crawl into a folder, and copies the store to a folder, to a server, and
// from the server to another folder. It also backs up the folder with cp and the server with
// pg_dump, and restores the backups. Every copy has the same pages, verdicts, report and queue as
// the first store. A crawl that continues in a copy requests no URL again, and ends with the same
// pages as an undisturbed crawl.
func TestCopy(t *testing.T) {
	needServer(t)
	t.Parallel()
	r := refer(t, 4, 120)
	dir := t.TempDir()
	part := filepath.Join(dir, "part")
	run(t, crawlArgs(part, r.sites, "--quiet", "--max-pages", "40")...)
	known := exported(t, r.skink, part)
	want := contentsOf(t, part)
	if !strings.Contains(want, "pending") || len(known) < 40 {
		t.Fatalf("the crawl was not interrupted: %d records", len(known))
	}

	folder, server, back := filepath.Join(dir, "folder"), postgrestest.Start(t).URL("moved"), filepath.Join(dir, "back")
	run(t, "store", "copy", part, folder)
	run(t, "store", "copy", part, server)
	run(t, "store", "copy", server, back)
	plain := filepath.Join(dir, "plain")
	if out, err := exec.Command("cp", "-r", part, plain).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	copies := []string{folder, server, back, plain, restored(t, server)}
	for _, store := range copies {
		if got := contentsOf(t, store); got != want {
			t.Errorf("the copy %s differs:\n%s", store, firstDifference(got, want))
		}
		if !strings.Contains(store, "://") {
			run(t, "check", "--store", store)
		}
	}
	for _, store := range copies {
		r.sites.forget()
		run(t, crawlArgs(store, r.sites, "--quiet")...)
		r.sites.mu.Lock()
		for _, page := range known {
			if _, path, _ := strings.Cut(page.URL, "://"); r.sites.counts[path] > 0 {
				t.Errorf("%s was fetched again into %s", page.URL, store)
			}
		}
		r.sites.mu.Unlock()
		got := exported(t, r.skink, store)
		samePages(t, got, exported(t, r.skink, r.store))
		sameClusters(t, completeReport(t, r.skink, store), completeReport(t, r.skink, r.store))
		sound(t, got)
	}
}

// TestCopyOfRunningCrawl copies the store of a crawl that is running. The crawl ends as if nothing
// had happened. A crawl that continues in the copy ends with the same pages.
func TestCopyOfRunningCrawl(t *testing.T) {
	t.Parallel()
	r := refer(t, 4, 100)
	dir := t.TempDir()
	store, backup := filepath.Join(dir, "store"), filepath.Join(dir, "backup")
	crawl := r.worker(t, store, "one")
	<-r.sites.after(r.asked / 3)
	run(t, "store", "copy", store, backup)
	<-crawl.ended
	run(t, "check", "--store", backup)
	run(t, crawlArgs(backup, r.sites, "--quiet")...)
	want := exported(t, r.skink, r.store)
	for _, name := range []string{store, backup} {
		got := exported(t, r.skink, name)
		samePages(t, got, want)
		sameClusters(t, completeReport(t, r.skink, name), completeReport(t, r.skink, r.store))
		sound(t, got)
	}
}

// restored backs up a store of a server with pg_dump, and returns the address of the store that the backup
// becomes in a database of another server.
func restored(t *testing.T, store string) string {
	t.Helper()
	other := postgrestest.Start(t)
	dump := exec.Command("pg_dump", "--schema=moved", "--no-owner", strings.Split(store, "?")[0])
	text, err := dump.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	load := exec.Command("psql", "--quiet", "--set=ON_ERROR_STOP=1", strings.Split(other.URL(""), "?")[0])
	load.Stdin = bytes.NewReader(text)
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return other.URL("moved")
}

// contentsOf returns everything that commands print about a store, without its name.
func contentsOf(t *testing.T, store string) string {
	t.Helper()
	var all strings.Builder
	for _, args := range [][]string{{"export", "--include", "all"}, {"report"}, {"report", "--about", "audit"}, {"status"}, {"status", "--urls", "all"}} {
		out, _ := run(t, append(args, "--store", store)...)
		if slices.Contains(args, "all") && args[0] == "status" { // the output has no fixed order
			lines := strings.Split(out, "\n")
			slices.Sort(lines)
			out = strings.Join(lines, "\n")
		}
		if slices.Contains(args, "audit") { // the output names the first pending URLs, which have no fixed order
			out = regexp.MustCompile(`(?m)^ +such as .*\n`).ReplaceAllString(out, "")
		}
		for _, name := range []string{store, strings.Replace(store, postgrestest.User+"@", "…@", 1)} {
			out = strings.ReplaceAll(out, name, "STORE")
		}
		all.WriteString(out)
	}
	return all.String()
}

// TestKilledCopy kills copies at random moments. The new store then does not exist, or is complete. Copying
// again succeeds.
func TestKilledCopy(t *testing.T) {
	needServer(t)
	t.Parallel()
	r := refer(t, 4, 100)
	dir := t.TempDir()
	want := contentsOf(t, r.store)
	for _, to := range []string{filepath.Join(dir, "copy"), postgrestest.Start(t).URL("copy")} {
		states := map[string]int{}
		took := time.Second
		for n := range 6 {
			cmd := exec.Command(r.skink, "store", "copy", r.store, to)
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if n > 0 { // the first copy is not killed
				time.Sleep(rand.N(took))
				_ = cmd.Process.Kill()
			}
			if err := cmd.Wait(); err == nil {
				took = time.Since(began)
			}
			switch code, text := exitOf("status", "--store", to); {
			case code == 0:
				states["complete"]++
				if got := contentsOf(t, to); got != want {
					t.Errorf("a copy looks complete and differs: %s", firstDifference(got, want))
				}
				if code, text := exitOf("store", "copy", r.store, to); code == 0 || !strings.Contains(text, "already exists") {
					t.Errorf("a complete copy was replaced: %s", text)
				}
				run(t, "store", "drop", "--yes", to)
			case strings.Contains(text, "no such store"):
				states["not there"]++
			default:
				t.Errorf("skink status prints %s", text)
			}
		}
		t.Logf("copies to %s: %v", to, states)
		run(t, "store", "copy", r.store, to)
		if got := contentsOf(t, to); got != want {
			t.Errorf("the last copy differs: %s", firstDifference(got, want))
		}
	}
}

// exitOf runs a command in this process and returns its exit code and its output.
func exitOf(args ...string) (code int, text string) {
	var out strings.Builder
	code = cli.Run(context.Background(), args, cli.Console{In: strings.NewReader(""), Out: &out, Err: &out})
	return code, out.String()
}
