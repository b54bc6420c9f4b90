//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
	"skink/store/postgres"
)

// TestWorkersArchive crawls the same sites with two processes into one shared store, with one
// folder for their archives. Each process writes its own files. Together the files must agree with
// the store record by record. A crawl from the archive must give the same pages.
func TestWorkersArchive(t *testing.T) {
	t.Parallel()
	pages := map[form]int{short: 240, full: 4000}[long(t)]
	shared := postgrestest.Start(t).URL("web")
	skink := buildSkink(t)
	sites := startHosts(t, 6, pages)
	dir := t.TempDir()
	archive := filepath.Join(dir, "archive")
	workers := []string{"one", "two"}
	var wg sync.WaitGroup
	for _, name := range workers {
		wg.Go(func() {
			args := crawlArgs(shared, sites, "--quiet", "--worker", name, "--warc", archive, "--warc-size", "100KB", "--crawl-log", filepath.Join(dir, name+".log"))
			if out, err := exec.Command(skink, args...).CombinedOutput(); err != nil {
				t.Errorf("worker %s: %v\n%s", name, err, out)
			}
		})
	}
	wg.Wait()

	for _, name := range workers {
		if files, err := filepath.Glob(filepath.Join(archive, "*-"+name+"-*.warc.gz")); err != nil || len(files) == 0 {
			t.Errorf("worker %s has the files %q, %v; want some", name, files, err)
		}
		log, err := os.ReadFile(filepath.Join(dir, name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(log)) { // time, status, size, URL, path from a seed, referrer
			if f := strings.Fields(line); (f[4] == "-") != (f[5] == "-") {
				t.Errorf("the log of worker %s has a wrong referrer: %s", name, line)
			}
		}
	}
	agreeShared(t, shared, archive)
	t.Run("other reader", func(t *testing.T) { readByOther(t, otherReader(t), archive) })

	again := filepath.Join(t.TempDir(), "again")
	replayed(t, skink, again, archive)
	samePages(t, exported(t, skink, again), exported(t, skink, shared))
	sameClusters(t, completeReport(t, skink, again), completeReport(t, skink, shared))
}

// agreeShared checks that an archive and a shared store contain the same records.
func agreeShared(t *testing.T, shared, archive string) {
	t.Helper()
	address, err := postgres.ParseAddress(shared)
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), address, postgres.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	agree(t, s, archive)
}

// TestWorkersAdopt kills one of two workers, and stops the other for a while. As long as their
// leases last, an export to WACZ must not touch their open files. After that, it must complete the
// file of the killed worker, and leave that of the stopped worker alone. The stopped worker must
// continue with a new file. When both have ended, the package must contain every page of the store.
func TestWorkersAdopt(t *testing.T) {
	t.Parallel()
	long(t)
	server := postgrestest.Start(t)
	skink, sites := buildSkink(t), startHosts(t, 6, 240)
	shared, dir := server.URL("web"), t.TempDir()
	archive, wacz := filepath.Join(dir, "archive"), filepath.Join(dir, "site.wacz")
	export := []string{"export", "--store", shared, "--format", "wacz", "--out", wacz}
	begin := func(name string) *worker {
		return startWorker(t, skink, crawlArgs(shared, sites, "--quiet", "--worker", name, "--delay", "50ms", "--warc", archive)...)
	}
	one, two := begin("one"), begin("two")
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) { // each question starts a process of the server
		text, err := server.Text(t.Context(), "SELECT count(DISTINCT record -> 'archive' ->> 'file')::text FROM web.page JOIN web.visit ON visit.id = page.visit")
		if err == nil && text == "2" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the two workers still do not have a page each: %s, %v\n%s\n%s", text, err, one.said.String(), two.said.String())
		}
	}
	if err := one.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_ = two.Process.Kill()
	<-two.ended

	startWorker(t, skink, export...).fails(t, "which is not complete", " has the file open and sent a heartbeat ")
	if left := openOf(t, archive); len(left) != 2 {
		t.Errorf("while the leases last, open are %q, want two files", left)
	}
	silence(t, server, "one", "two")
	hostsOf(t, server, "one", "infinity") // keep its claims on hosts, so that only its lease expires
	hostsOf(t, server, "two", "epoch")
	startWorker(t, skink, export...).fails(t, "worker two ended without closing ", "worker one has the file open: wait until that process ends")
	if left := openOf(t, archive); len(left) != 1 || !strings.Contains(left[0], "-one-") {
		t.Errorf("once the leases have expired, open are %q, want the file of worker one", left)
	}
	if err := one.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	endWell(t, one, begin("two"))

	if files, err := filepath.Glob(filepath.Join(archive, "*-two-*.warc.gz")); err != nil || len(files) != 2 {
		t.Errorf("worker two has the files %q, %v; want two", files, err)
	}
	agreeShared(t, shared, archive)
	run(t, export...)
	again := filepath.Join(dir, "again")
	replayed(t, skink, again, wacz)
	samePages(t, exported(t, skink, again), exported(t, skink, shared))
}

// TestWorkersAdoptAtTheEnd kills a worker. Another worker that finishes the crawl must complete the
// file of the killed worker.
func TestWorkersAdoptAtTheEnd(t *testing.T) {
	t.Parallel()
	if long(t) != full {
		t.Skip("TestWorkersAdopt shows most of it: SKINK_LONG=full runs it")
	}
	server := postgrestest.Start(t)
	r := refer(t, 2, 80)
	shared, archive := server.URL("web"), filepath.Join(t.TempDir(), "archive")
	some := r.sites.after(40)
	dead := r.worker(t, shared, "dead", "--warc", archive)
	<-some
	_ = dead.Process.Kill()
	<-dead.ended
	heir := startWorker(t, r.skink, crawlArgs(shared, r.sites, "--worker", "heir", "--warc", archive)...)
	for heir.runs() && !strings.Contains(heir.said.String(), "the crawl in ") {
		time.Sleep(time.Millisecond)
	}
	silence(t, server, "dead")
	hostsOf(t, server, "dead", "epoch")
	endWell(t, heir)
	if !strings.Contains(heir.said.String(), "worker dead ended without closing ") {
		t.Errorf("the heir said\n%s", heir.said.String())
	}
	agreeShared(t, shared, archive)
	r.same(t, shared)
}

// openOf returns the open files of an archive.
func openOf(t *testing.T, archive string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(archive, "*.warc.gz.open"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// silence lets the leases of workers expire, as if the workers had sent no heartbeat for an hour.
func silence(t *testing.T, server *postgrestest.Server, workers ...string) {
	t.Helper()
	conn, err := server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for {
		var old []byte
		if err := conn.QueryRow(t.Context(), "SELECT value FROM web.meta WHERE kind = 0 AND name = 'workers'").Scan(&old); err != nil {
			t.Fatal(err)
		}
		all := map[string]map[string]any{}
		if err := json.Unmarshal(old, &all); err != nil {
			t.Fatal(err)
		}
		for _, name := range workers {
			if all[name] == nil {
				t.Fatalf("there is no worker %s in %s", name, old)
			}
			all[name]["seen"] = time.Now().Add(-time.Hour)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		tag, err := conn.Exec(t.Context(), "UPDATE web.meta SET value = $1 WHERE kind = 0 AND name = 'workers' AND value = $2", text, old)
		if err != nil {
			t.Fatal(err)
		}
		if tag.RowsAffected() == 1 {
			break
		}
	}
}

// hostsOf sets the time until which a worker's claims on hosts last.
func hostsOf(t *testing.T, server *postgrestest.Server, worker, until string) {
	t.Helper()
	if err := server.Exec(t.Context(), "UPDATE web.host SET until = '"+until+"' WHERE worker = '"+worker+"'"); err != nil {
		t.Fatal(err)
	}
}
