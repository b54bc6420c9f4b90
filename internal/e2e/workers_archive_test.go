//go:build unix

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skink/store/postgres"
	"skink/store/postgres/postgrestest"
)

// TestWorkersArchive lets two processes crawl the same sites into one store on a server, with their
// archives in one folder. Each writes files of its own. Together they agree with the store record
// by record, and judged again they give the pages of the crawl.
func TestWorkersArchive(t *testing.T) {
	pages := map[form]int{short: 240, full: 4000}[long(t)]
	shared := postgrestest.Start(t).URL("web")
	skink := buildSkink(t)
	sites := startHosts(t, 6, pages)
	archive := filepath.Join(t.TempDir(), "archive")
	workers := []string{"one", "two"}
	var wg sync.WaitGroup
	for _, name := range workers {
		wg.Go(func() {
			args := crawlArgs(shared, sites, "--quiet", "--worker", name, "--warc", archive, "--warc-size", "100KB")
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
	}
	agreeShared(t, shared, archive)

	again := filepath.Join(t.TempDir(), "again")
	replayed(t, skink, again, archive)
	samePages(t, exported(t, skink, again), exported(t, skink, shared))
	sameClusters(t, completeReport(t, skink, again), completeReport(t, skink, shared))
}

// agreeShared holds an archive and a store on a server against each other.
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

// TestWorkersAdopt kills one of two workers, and stops the other for a while. An export to WACZ leaves
// the files of both alone as long as their leases last. Then it completes the file of the one that is
// dead, and leaves that of the one that is stopped. The worker that comes back goes on with a new file,
// and once both have ended, the package holds every page of the store.
func TestWorkersAdopt(t *testing.T) {
	long(t)
	server := postgrestest.Start(t)
	skink, sites := buildSkink(t), startHosts(t, 6, 240)
	shared, dir := server.URL("web"), t.TempDir()
	archive, wacz := filepath.Join(dir, "archive"), filepath.Join(dir, "site.wacz")
	export := []string{"export", "--store", shared, "--format", "wacz", "--include", "all", "--out", wacz}
	begin := func(name string) *worker {
		return startWorker(t, skink, crawlArgs(shared, sites, "--quiet", "--worker", name, "--delay", "50ms", "--warc", archive)...)
	}
	one, two := begin("one"), begin("two")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		text, err := server.Text(t.Context(), "SELECT count(DISTINCT record -> 'archive' ->> 'file')::text FROM web.page JOIN web.visit ON visit.id = page.visit")
		if err == nil && text == "2" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute the two workers have no page each: %s, %v\n%s\n%s", text, err, one.said.String(), two.said.String())
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
	hostsOf(t, server, "one", "infinity") // however long it is stopped, only its lease is over
	hostsOf(t, server, "two", "epoch")
	startWorker(t, skink, export...).fails(t, "worker two died and left ", "worker one has the file open: wait until it ends")
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

// TestWorkersAdoptAtTheEnd kills a worker for good. Another that ends the crawl completes its file.
func TestWorkersAdoptAtTheEnd(t *testing.T) {
	long(t)
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
	if !strings.Contains(heir.said.String(), "worker dead died and left ") {
		t.Errorf("the heir said\n%s", heir.said.String())
	}
	agreeShared(t, shared, archive)
	r.same(t, shared)
}

// openOf are the files of an archive that are open.
func openOf(t *testing.T, archive string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(archive, "*.warc.gz.open"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// silence makes the leases of workers expire, as if they had been silent for an hour.
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

// hostsOf sets until when a worker holds its hosts.
func hostsOf(t *testing.T, server *postgrestest.Server, worker, until string) {
	t.Helper()
	if err := server.Exec(t.Context(), "UPDATE web.host SET until = '"+until+"' WHERE worker = '"+worker+"'"); err != nil {
		t.Fatal(err)
	}
}
