package e2e

import (
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skink/store"
	"skink/store/badger"
	"skink/warc"
)

// TestKilledArchive kills a crawl with --warc several times at random moments, and continues it
// each time. One of its two sites is private. In the end, archive and store must agree record by
// record. The response of each record must be at the position that the store names, and no other
// response in the archive may count as a page. A replay must give the same verdicts, and the same
// pages must be private.
//
// SKINK_LONG=short kills the crawl of a small generated site four times, and SKINK_LONG=full that of
// a larger one twenty times.
func TestKilledArchive(t *testing.T) {
	t.Parallel()
	kills, pages := 4, 800
	if long(t) == full {
		kills, pages = 20, 4000
	}
	skink := buildSkink(t)
	sites := startSites(t, pages)
	dir := t.TempDir()
	name, archive := filepath.Join(dir, "store"), filepath.Join(dir, "archive")
	config := filepath.Join(dir, "skink.toml")
	private := strings.Trim(strings.TrimPrefix(sites.seeds[1], "http:"), "/")
	if err := os.WriteFile(config, []byte("[host.\""+private+"\"]\nheaders = { \"X-Token\" = \"t\" }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for left := kills; left > 0; left-- {
		share := (pages - sites.answered()) / left
		if crawlOnce(t, skink, name, sites, 1+rng.IntN(max(2*share, 1)), "--config", config, "--warc", archive, "--warc-size", "200KB") {
			killed++
		}
	}
	crawlOnce(t, skink, name, sites, 0, "--config", config, "--warc", archive, "--warc-size", "200KB")
	t.Logf("seed %d: %d of %d runs killed", seed, killed, kills)
	if killed == 0 {
		t.Error("no run was killed")
	}
	s, err := badger.Open(name, badger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, s, archive)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again := filepath.Join(dir, "again")
	replayed(t, skink, again, archive)
	got, want := exportLines(t, skink, again), exportLines(t, skink, name)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("the archive judged again gives another export than the crawl: %d lines, want %d; line %d:\n got %.600s\nwant %.600s",
				len(got), len(want), i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""))
		}
	}
}

// TestKilledNight kills a crawl that visits an archived site again, and whose server answers only that no
// page has changed. Many of these visits are committed together. Archive and store must agree, and each
// page must have a response of the night.
//
// SKINK_LONG=short has 600 pages and three kills, and SKINK_LONG=full 6,000 pages and twenty kills.
func TestKilledNight(t *testing.T) {
	t.Parallel()
	pages, kills := 600, 3
	if long(t) == full {
		pages, kills = 6000, 20
	}
	skink := buildSkink(t)
	steady, asked := &steadySite{pages: pages}, atomic.Int64{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		steady.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	dir := t.TempDir()
	name, archive := filepath.Join(dir, "store"), filepath.Join(dir, "archive")
	crawl := func(most int64, more ...string) (killed bool) {
		args := append([]string{"crawl", "--quiet", "--store", name, "--warc", archive, "--delay", "0", "--budget", "off"}, more...)
		cmd := exec.Command(skink, append(args, site.URL)...)
		most += asked.Load()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for {
			select {
			case err := <-ended:
				if err != nil && !killed {
					t.Fatal(err)
				}
				return killed
			case <-time.After(time.Millisecond):
				if !killed && asked.Load() >= most {
					killed = cmd.Process.Kill() == nil
				}
			}
		}
	}
	crawl(1 << 40)
	began := time.Now()
	for range kills {
		if !crawl(int64(pages/(kills+2)), "--recrawl", "0s") {
			t.Fatal("a run was not killed")
		}
	}
	crawl(1<<40, "--recrawl", "0s")
	s, err := badger.Open(name, badger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	agree(t, s, archive)
	for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		if r := &c.Record; r.VisitedAt.Before(began) || r.Answered == (store.Archived{}) {
			t.Errorf("%s was not visited in the night: %v %+v", r.URL, r.VisitedAt, r.Answered)
		}
	}
}

// agree checks that an archive and a store contain the same records. A page whose bytes another page has
// stands there as a revisit record, and its body at the position of the other.
func agree(t *testing.T, s store.Reader, archive string) {
	t.Helper()
	places, bodies := map[store.Archived]*store.Record{}, map[store.Archived]string{}
	for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		r := &c.Record
		own := cmp.Or(r.Answered, r.Archive)
		if own.Digest = ""; places[own] != nil {
			t.Errorf("%s and %s have one place in the archive: %+v", r.URL, places[own].URL, own)
		}
		if places[own] = r; r.Answered != (store.Archived{}) {
			bodies[r.Archive] = r.URL
		}
	}
	files, err := os.ReadDir(archive)
	if err != nil {
		t.Fatal(err)
	}
	records := len(places)
	for _, f := range files {
		switch {
		case strings.HasSuffix(f.Name(), ".warc.gz"):
			inArchive(t, archive, f.Name(), places, bodies)
		case !strings.HasSuffix(f.Name(), ".cdxj"):
			t.Errorf("%s is left over", f.Name())
		}
	}
	for place, r := range places {
		t.Errorf("%s is not in the archive at %+v", r.URL, place)
	}
	for place, url := range bodies {
		t.Errorf("the body of %s is not in the archive at %+v", url, place)
	}
	t.Logf("%d records of the store, %d files", records, len(files))
}

// inArchive removes the records that are in a file of the archive from places, and the responses with
// their digests from bodies. It also checks the index of the file.
func inArchive(t *testing.T, archive, name string, places map[store.Archived]*store.Record, bodies map[store.Archived]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(archive, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := warc.NewReader(f)
	for first := true; ; first = false {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if first && rec.Type() != warc.Info {
			t.Errorf("%s: a %s at offset %d", name, rec.Type(), rec.Offset)
		}
		if rec.Type() == warc.Info && rec.Header.Has(warc.PrivateField) != strings.Contains(name, "-private") {
			t.Errorf("%s: the record at offset %d does not say whether it is private", name, rec.Offset)
		}
		answers := rec.Type() == warc.Response || rec.Type() == warc.Revisit
		isPage := answers && rec.Header.Get("Skink-Page") != "no" || rec.Type() == warc.Metadata && rec.Header.Get("Skink-Page") == "none"
		if _, err := io.Copy(io.Discard, rec.Block); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		place := store.Archived{File: name, Offset: rec.Offset, Length: rec.Length}
		if rec.Type() == warc.Response {
			body := place
			body.Digest = rec.Header.Get("WARC-Payload-Digest")
			isPage = isPage && (bodies[body] == "" || places[place] != nil) // otherwise it is the response of an earlier visit
			delete(bodies, body)
		}
		if !isPage {
			continue
		}
		page := places[place]
		if page == nil {
			t.Errorf("%s: %s at offset %d is no page of the store", name, rec.URI(), rec.Offset)
			continue
		}
		at := page.FetchedAt
		if rec.Type() == warc.Revisit && !page.VisitedAt.IsZero() {
			at = page.VisitedAt
		}
		if page.URL != rec.URI() || !at.Equal(rec.Date()) {
			t.Errorf("%s: %s of %v stands at offset %d, where %s of %v should be", name, rec.URI(), rec.Date(), rec.Offset, page.URL, at)
		}
		if page.Private != strings.Contains(name, "-private") {
			t.Errorf("%s: %s is private: %t", name, page.URL, page.Private)
		}
		delete(places, place)
	}
	sameIndex(t, archive, name)
}

// sameIndex checks that the index of a file, which was written while the file grew, equals an index
// of the complete file.
func sameIndex(t *testing.T, archive, name string) {
	t.Helper()
	f, err := os.Open(filepath.Join(archive, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, err := warc.IndexOf(f, name, func(d *warc.Damage) { t.Error(d) })
	var want strings.Builder
	got, readErr := os.ReadFile(filepath.Join(archive, strings.TrimSuffix(name, ".warc.gz")+".cdxj"))
	if err := errors.Join(err, readErr, warc.WriteIndex(&want, entries)); err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("the index of %s differs from the one that is made of it", name)
	}
}

// replayed crawls from an archive into a new store.
func replayed(t *testing.T, skink, name, archive string, more ...string) {
	t.Helper()
	if out, err := exec.Command(skink, append([]string{"crawl", "--quiet", "--store", name, "--from", archive}, more...)...).CombinedOutput(); err != nil {
		t.Fatalf("crawl --from: %v\n%s", err, out)
	}
}

// exportLines returns the lines of an export of all pages. It sorts them, because the order in a
// store depends on when a page became a leader.
func exportLines(t *testing.T, skink, name string) []string {
	t.Helper()
	out, err := exec.Command(skink, "export", "--store", name, "--include", "all", "--with-private").Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(strings.Lines(string(out)))
}
