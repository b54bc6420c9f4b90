//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

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

	again := filepath.Join(t.TempDir(), "again")
	replayed(t, skink, again, archive)
	samePages(t, exported(t, skink, again), exported(t, skink, shared))
	sameClusters(t, completeReport(t, skink, again), completeReport(t, skink, shared))
}
