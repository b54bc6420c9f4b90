//go:build unix

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"skink/internal/cli"
	"skink/internal/tools/postgrestest"
)

// checkStore runs skink check, and returns its exit code and what it prints.
func checkStore(t *testing.T, store string) (code int, out string) {
	t.Helper()
	var said bytes.Buffer
	code = cli.Run(context.Background(), []string{"check", "--store", store}, cli.Console{In: strings.NewReader(""), Out: &said, Err: &said})
	return code, said.String()
}

func checkSound(t *testing.T, when, store string) {
	t.Helper()
	if code, out := checkStore(t, store); code != 0 || !strings.Contains(out, " is not damaged; it contains ") {
		t.Errorf("%s: skink check exits with %d:\n%s", when, code, out)
	}
}

// TestCheckShared checks a store on PostgreSQL after a crawl, during a recrawl, after a killed worker, and after
// pages were deleted. Then it damages each kind of row, once in a copy each: skink check must name it, and
// what it says to do must mend it.
//
// SKINK_LONG=full crawls 20,000 pages, and logs the processor time.
func TestCheckShared(t *testing.T) {
	t.Parallel()
	hosts, pages := 4, 60
	if os.Getenv("SKINK_LONG") == string(full) {
		hosts, pages = 40, 20_000
	}
	server := postgrestest.Start(t)
	store := server.URL("checked")
	r := refer(t, hosts, pages)
	half := r.sites.after(r.asked / 2)
	workers := []*worker{r.worker(t, store, "one"), r.worker(t, store, "two")}
	<-half
	checkSound(t, "during a crawl", store)
	_ = workers[0].Process.Kill()
	<-workers[0].ended
	checkSound(t, "after a kill", store)
	endWell(t, workers[1])
	before := server.CPU()
	checkSound(t, "after a crawl", store)
	t.Logf("the server used %v", server.CPU()-before)
	if os.Getenv("SKINK_LONG") == string(full) {
		return
	}
	run(t, "delete", "--store", store, "--match", `/1[0-3]\.html`)
	checkSound(t, "after pages were deleted", store)
	again := crawlArgs(store, r.sites, "--quiet", "--recrawl", "1ns", "--worker", "three")
	r.sites.slow(200 * time.Millisecond) // some 45 seconds, so that the crawl goes on while it is checked
	stopped, stop := context.WithCancel(t.Context())
	ended, some := make(chan struct{}), r.sites.after(20)
	go func() {
		defer close(ended)
		var said bytes.Buffer
		if cli.Run(stopped, again, cli.Console{In: strings.NewReader(""), Out: &said, Err: &said}); stopped.Err() == nil {
			t.Errorf("the recrawl ended early: %s", &said)
		}
	}()
	select {
	case <-some:
	case <-ended:
	}
	checkSound(t, "during a recrawl", store)
	stop()
	<-ended
	r.sites.slow(0)
	checkSound(t, "in a stopped recrawl", store)

	if err := server.Exec(t.Context(), "CREATE TABLE checked.kept AS TABLE checked.run"); err != nil {
		t.Fatal(err)
	}
	const (
		leads = "SELECT leader FROM page WHERE leader IS NOT NULL ORDER BY place LIMIT 1"
		last  = "SELECT id FROM page WHERE leader IS NOT NULL ORDER BY place DESC LIMIT 1"
	)
	for n, tt := range []struct{ damage, want string }{
		{"UPDATE turn SET place = 3", `turn: the last place is 3, but a page has the place \d+`},
		{"DELETE FROM visit WHERE page = (" + last + ")", `page [0-9a-f-]{36}: it has no visit`},
		{"DELETE FROM page WHERE id = (" + last + "); INSERT INTO meta SELECT 0, 'swept', decode('ff' || repeat('0', 30), 'hex') ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value", `visit [0-9a-f-]{36}: no page has this visit of http`},
		{"DELETE FROM posting WHERE ctid = (SELECT ctid FROM posting LIMIT 1)", `page [0-9a-f-]{36}: the page at place \d+ has \d+ of \d+ index keys, so later copies of http\S+ are not found`},
		{"INSERT INTO posting VALUES (1, 2), (3, 2)", `posting 2: 2 index keys belong to no page`},
		{"DELETE FROM page WHERE id = (" + leads + ")", `page [0-9a-f-]{36}: http\S+ duplicates the page \S+, which is not in the store`},
		{"UPDATE page SET hash = NULL WHERE id = (" + leads + ")", `http\S+ duplicates the page \S+, which has no text`},
		{"UPDATE visit SET keys = '{}' FROM page WHERE page.visit = visit.id AND page.id = (" + leads + "); DELETE FROM posting WHERE place = (SELECT place FROM page WHERE id = (" + leads + "))", `page [0-9a-f-]{36}: http\S+ has no index keys`},
		{"DELETE FROM known WHERE ctid = (SELECT k.ctid FROM known k WHERE state = 2 AND NOT EXISTS (SELECT FROM queue q WHERE q.hash = k.hash) LIMIT 1)", `page [0-9a-f-]{36}: http\S+ is not known`},
		{"INSERT INTO known VALUES ('00000000-0000-0000-0000-000000000001', 1, 0)", `known 00000000-0000-0000-0000-000000000001: the URL is pending, but not in the queue`},
		{"INSERT INTO queue (hash, host, rank, item) VALUES ('00000000-0000-0000-0000-000000000001', 'x.example', 0, '{\"URL\": \"http://x.example/\"}')", `(?s)host x\.example: no worker claims it, but 1 of its URLs are pending\n.*queue 00000000-0000-0000-0000-000000000001: hash, host or rank are not those of http://x.example/`},
		{"UPDATE counter SET n = n + 7 WHERE name = 'unique' AND slot = (SELECT min(slot) FROM counter WHERE name = 'unique')", `counter unique: it is \d+, but the rows are \d+`},
		{"DELETE FROM counter WHERE name = 'state 2'", `counter state 2: it is missing, but the rows are \d+`},
		{"UPDATE page SET leader = NULL WHERE leader IS NOT NULL", `page [0-9a-f-]{36}: page.leader differs from the record of http`},
		{"UPDATE page SET lane = 1 WHERE id = (" + last + ")", `page [0-9a-f-]{36}: page.lane differs from the record of http`},
		{"UPDATE visit SET text_hash = visit.id FROM page WHERE page.visit = visit.id AND page.id = (" + last + ")", `page [0-9a-f-]{36}: the hash of http\S+ is not that of its text|visit.text_hash differs`},
		{"UPDATE visit SET targets = targets[2:] WHERE cardinality(targets) > 0", `page [0-9a-f-]{36}: visit.targets differs from the record of http`},
		{"UPDATE visit SET sketch = '\\x01' FROM page WHERE page.visit = visit.id AND page.id = (" + last + ")", `page [0-9a-f-]{36}: .*invalid sketch of 1 bytes`},
		{"UPDATE visit SET packed = '\\x01' FROM page WHERE page.visit = visit.id AND page.id = (" + last + ")", `page [0-9a-f-]{36}: `},
		{"UPDATE visit SET record = '{\"url\": \"http://other.example/\"}' FROM page WHERE page.visit = visit.id AND page.id = (" + last + ")", `page [0-9a-f-]{36}: its record is of another URL, http://other.example/|read the links of http://other.example/`},
		{"UPDATE run SET places[1] = 999999", `run -?\d+, \d+: the page to visit again at place 999999 is not in the store`},
		{"UPDATE run SET visits = visits[2:]", `run -?\d+, \d+: its columns do not match`},
		{"UPDATE run SET seq = 1, wanted[1] = 5; UPDATE host SET rank = NULL", `host 127.0.0.1:\d+: no worker claims it, but \d+ of its URLs are pending`},
		{"UPDATE run SET seq = NULL, wanted[1] = 5", `run -?\d+, \d+: its pages are pending, but no worker takes them; UPDATE run `},
	} {
		if n%4 != 0 && long(t) != full {
			continue
		}
		name := fmt.Sprintf("damaged%d", n)
		damaged := server.URL(name)
		if ofRuns := strings.HasPrefix(tt.damage, "UPDATE run"); ofRuns { // a copy has no runs
			name, damaged = "checked", store
			tt.damage = "TRUNCATE run; INSERT INTO run SELECT * FROM kept; " + tt.damage
		} else {
			run(t, "store", "copy", store, damaged)
			checkSound(t, "a copy", damaged)
		}
		if err := server.Exec(t.Context(), "SET search_path = "+name+"; "+tt.damage); err != nil {
			t.Errorf("%s: %v", tt.damage, err)
			continue
		}
		code, out := checkStore(t, damaged)
		if code != 1 || !regexp.MustCompile(tt.want).MatchString(out) {
			t.Errorf("%s: skink check exits with %d and prints\n%s\nwant %s", tt.damage, code, out, tt.want)
			continue
		}
		for _, m := range regexp.MustCompile(`; (UPDATE run .*)`).FindAllStringSubmatch(out, -1) {
			if err := server.Exec(t.Context(), "SET search_path = "+name+"; "+m[1]); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(out, "skink delete --again") {
			del := []string{"delete", "--store", damaged, "--again"}
			for _, m := range regexp.MustCompile(`: (http\S+) has no index keys`).FindAllStringSubmatch(out, -1) {
				del = append(del, "--url", m[1])
			}
			run(t, del...)
		}
		for round := 0; round < 3 && (round == 0 || code != 0); round++ { // the members of a page that is deleted follow
			if _, drop, found := strings.Cut(out, "contradict others"); found || strings.Contains(out, "DELETE FROM page") {
				for _, m := range regexp.MustCompile(`page (\S+): `).FindAllStringSubmatch(cmp.Or(drop, out), -1) {
					if err := server.Exec(t.Context(), "DELETE FROM "+name+".page WHERE id = '"+m[1]+"'"); err != nil {
						t.Fatal(err)
					}
				}
			}
			next := fmt.Sprintf("mended%d_%d", n, round)
			run(t, "store", "copy", damaged, server.URL(next))
			name, damaged = next, server.URL(next)
			code, out = checkStore(t, damaged)
		}
		if code != 0 {
			t.Errorf("what skink check says does not mend %s:\n%s", tt.damage, out)
		}
	}
}
