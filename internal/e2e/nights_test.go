package e2e

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
)

// TestNights crawls generated pages, and then again each night. No page changes. One server
// answers with status 304, and another sends each page whole. It prints the processor time of skink and the growth of the store for each
// page and visit: bytes of files for a store in a folder, and bytes of the log for PostgreSQL.
//
// A night must cost at most 100 bytes a page in a folder, and less processor time than the first visit; with
// SKINK_LONG=full at most half. SKINK_LONG=short has 4,000 pages and one night, and SKINK_LONG=full 120,000 pages and five
// nights.
func TestNights(t *testing.T) {
	pages, nights, share := 4000, 1, time.Duration(1)
	if long(t) == full {
		pages, nights, share = 120_000, 5, 2
	}
	skink := buildSkink(t)
	site := httptest.NewServer(&steadySite{pages: pages})
	t.Cleanup(site.Close)
	untagged := httptest.NewServer(&steadySite{pages: pages, untagged: true})
	t.Cleanup(untagged.Close)
	for name, seed := range map[string]string{"folder": site.URL, "whole": untagged.URL} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			n := &nightly{t: t, skink: skink, store: dir, seed: seed, pages: pages, size: func() int64 { return bytesIn(t, dir) }}
			if first, later, grown := n.crawlAll(nights); grown > 100 || later > first/share {
				t.Errorf("a night takes %v and %d bytes a page, want at most 100 bytes and a share of 1/%d of %v", later, grown, share, first)
			}
		})
	}
	t.Run("postgres", func(t *testing.T) {
		server := postgrestest.Start(t)
		log := func() int64 {
			text, err := server.Text(t.Context(), "SELECT (pg_current_wal_lsn() - '0/0')::text")
			if err != nil {
				t.Fatal(err)
			}
			at, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		n := &nightly{t: t, skink: skink, store: server.URL("nights"), seed: site.URL, pages: pages, size: log}
		if _, _, grown := n.crawlAll(nights); grown > 200 { // 90 of them are what the crawl learned about the host, whatever the number of pages
			t.Errorf("a night takes %d bytes of log a page, want at most 200", grown)
		}
	})
}

// A nightly crawls one store again and again.
type nightly struct {
	t            *testing.T
	skink, store string
	seed         string
	pages        int
	size         func() int64
}

// crawlAll returns the processor time for a page of the first crawl and of the nights, and the growth
// of the store in bytes for a page and night.
func (n *nightly) crawlAll(nights int) (first, later time.Duration, grown int64) {
	first = n.crawl("first visit")
	before := n.size()
	for night := range nights {
		later += n.crawl(fmt.Sprint("night ", night+1), "--recrawl", "0s")
	}
	return first, later / time.Duration(nights), (n.size() - before) / int64(nights*n.pages)
}

func (n *nightly) crawl(what string, more ...string) time.Duration {
	n.t.Helper()
	before := int64(0)
	if len(more) > 0 {
		before = n.size()
	}
	args := append([]string{"crawl", "--store", n.store, "--quiet", "--delay", "0", "--budget", "off", "--allow-private", "127.0.0.0/8"}, more...)
	cmd := exec.Command(n.skink, append(args, n.seed)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("%s: %v\n%s", what, err, out)
	}
	cost := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / time.Duration(n.pages)
	n.t.Logf("%s: %v and %d bytes a page", what, cost, (n.size()-before)/int64(n.pages))
	return cost
}

// bytesIn returns the size of the files in a folder.
func bytesIn(t *testing.T, dir string) (bytes int64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// A steadySite has pages of 300 words that never change. Page n links to the pages from 20n+1 to
// 20n+20.
type steadySite struct {
	pages    int
	untagged bool // pages have no ETag
}

func (s *steadySite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if r.URL.Path == "/" {
		n, err = 0, nil
	}
	if err != nil || n >= s.pages {
		http.NotFound(w, r)
		return
	}
	tag := fmt.Sprintf(`"%d"`, n)
	if !s.untagged {
		w.Header().Set("Etag", tag)
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	b := fmt.Appendf(nil, "<!DOCTYPE html><html lang=en><title>Page %d</title><article><h1>Page %[1]d</h1>", n)
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range 300 {
		if i%60 == 0 {
			b = append(b, "<p>"...)
		}
		b = append(strconv.AppendUint(append(b, 'w'), rng.Uint64N(4000), 36), ' ')
	}
	b = append(b, "</article><nav>"...)
	for to := 20*n + 1; to <= 20*n+20 && to < s.pages; to++ {
		b = fmt.Appendf(b, "<a href=/%d>page %[1]d</a> ", to)
	}
	_, _ = w.Write(append(b, "</nav></html>"...))
}
