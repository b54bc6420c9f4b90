//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
	"skink/store"
	"skink/store/badger"
	"skink/store/postgres"
	"skink/warc"
)

// TestDelete deletes random pages of a crawl, and kills the command several times. Afterwards the store
// must equal that of a crawl that never saw these pages, but found all others. Each title, and each link to
// the page, contains a word that no other page has. The words of the deleted pages must be nowhere in the
// store, and their titles nowhere in the web archive, which a crawl must read as it reads the sites. A feed that is
// applied must equal a full export. Later crawls must not fetch the pages, and find the others in the archive.
//
// SKINK_LONG=full deletes 200 of 20,000 pages.
func TestDelete(t *testing.T) {
	needServer(t)
	t.Parallel()
	hosts, pages, deleted, kills := 4, 120, 15, 4
	if os.Getenv("SKINK_LONG") == string(full) {
		hosts, pages, deleted, kills = 20, 20_000, 200, 20
	}
	d := &deletion{t: t, skink: buildSkink(t), sites: &sites{counts: map[string]int{}}}
	for n := range hosts {
		server := httptest.NewServer(d.sites.counting(secretive{generated{pages: pages / hosts, number: 1 + n/2}}))
		t.Cleanup(server.Close)
		d.sites.seeds = append(d.sites.seeds, server.URL+"/")
	}
	for kind, name := range map[string]string{"folder": filepath.Join(t.TempDir(), "store"), "postgres": postgrestest.Start(t).URL("deleted")} {
		t.Run(kind, func(t *testing.T) {
			d := *d
			d.t, d.store, d.cursor, d.warc = t, name, filepath.Join(t.TempDir(), "cursor"), filepath.Join(t.TempDir(), "archive")
			d.test(deleted, kills)
		})
	}
}

// Two processes delete pages from one store on PostgreSQL, and then from one archive, too. One waits for the other.
func TestTwoDelete(t *testing.T) {
	needServer(t)
	t.Parallel()
	d := &deletion{t: t, skink: buildSkink(t), sites: &sites{counts: map[string]int{}}, gone: map[string]bool{}}
	server := httptest.NewServer(d.sites.counting(secretive{generated{pages: 40, number: 1}}))
	t.Cleanup(server.Close)
	d.sites.seeds = []string{server.URL + "/"}
	d.store, d.warc = postgrestest.Start(t).URL("deleted"), filepath.Join(t.TempDir(), "archive")
	run(t, crawlArgs(d.store, d.sites, "--quiet", "--worker", "one", "--warc", d.warc)...)
	for round, more := range [][]string{nil, {"--warc", d.warc}} {
		var both sync.WaitGroup
		for n := range 2 {
			url := fmt.Sprintf("%s/%d.html", server.URL, 5+6*round+n)
			d.gone[url] = true
			both.Go(func() {
				if out, err := exec.Command(d.skink, append([]string{"delete", "--store", d.store, "--url", url}, more...)...).CombinedOutput(); err != nil {
					t.Errorf("%s: %s", url, out)
				}
			})
		}
		both.Wait()
		found := d.secretsIn(d.store)
		if round == 1 {
			found = append(found, d.archived()...)
		}
		if len(found) > 0 {
			t.Errorf("round %d: left: %q", round, found)
		}
		clear(d.gone)
	}
}

// A deletion is one test of skink delete.
type deletion struct {
	t                    *testing.T
	skink, store, cursor string
	warc                 string // folder of the web archive
	sites                *sites
	gone                 map[string]bool   // URLs that are deleted
	feed                 map[string]string // lines by id
}

func (d *deletion) test(deleted, kills int) {
	t := d.t
	began := []string{"--quiet", "--warc", d.warc, "--warc-size", "1MB"}
	if strings.Contains(d.store, "://") {
		began = append(began, "--worker", "one")
	}
	run(t, crawlArgs(d.store, d.sites, began...)...)
	d.feed, d.gone = map[string]string{}, map[string]bool{}
	d.apply()
	urls := slices.Sorted(maps.Keys(d.contents(d.store)))
	rand.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
	var patterns []string
	for _, url := range urls[:deleted] {
		d.gone[url] = true
		patterns = append(patterns, regexp.QuoteMeta(url))
	}
	if found := d.secretsIn(d.store); len(found) == 0 {
		t.Fatal("the crawl has not stored the planted words")
	}
	before := d.files()

	if len(d.archived()) == 0 {
		t.Fatal("the archive has no planted words")
	}
	start := time.Now()
	run(t, "delete", "--store", d.store, "--url", urls[0], "--warc", d.warc)
	took := time.Since(start) + 200*time.Millisecond // also for its start
	args := []string{"delete", "--store", d.store, "--warc", d.warc, "--match", "^(" + strings.Join(patterns[1:], "|") + ")$"}
	if out, _ := run(t, append(args, "--dry-run")...); !strings.HasPrefix(out, fmt.Sprintf("would delete %d records", deleted-1)) {
		t.Errorf("a dry run prints %s", out)
	}
	for range kills {
		cmd := exec.Command(d.skink, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(took))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		run(t, "status", "--store", d.store) // the store can be read after each kill
	}
	out, _ := run(t, args...)
	t.Logf("killed within %v; then: %s", took, out)

	for _, found := range d.secretsIn(d.store) {
		t.Errorf("the store still has %s", found)
	}
	for name, sum := range d.files() {
		if before[name] != "" && before[name] == sum {
			t.Errorf("the file %s was not written again", name)
		}
	}
	for _, found := range d.archived() {
		t.Errorf("the archive still has %s", found)
	}
	d.apply()
	d.sameFeed()
	never := d.never(urls[deleted:], strings.Join(patterns, "|"))
	got, want := d.contents(d.store), d.contents(never)
	for url := range union(got, want) {
		if got[url] != want[url] {
			t.Errorf("%s differs from a crawl that never saw the deleted pages:\n got %.300s\nwant %.300s", url, got[url], want[url])
		}
	}
	again := filepath.Join(t.TempDir(), "again")
	run(t, "crawl", "--quiet", "--store", again, "--from", d.warc)
	for url, from := range d.contents(again) {
		if got[url] != from {
			t.Errorf("the archive gives for %s:\n got %.300s\nwant %.300s", url, from, got[url])
		}
		delete(got, url)
	}
	if len(got) > 0 {
		t.Errorf("the archive lacks %d pages: %.300q", len(got), slices.Sorted(maps.Keys(got)))
	}
	sound(t, exported(t, d.skink, d.store))
	if got, want := d.partition(d.store), d.partition(never); got != want {
		t.Errorf("clusters:\n%s", firstDifference(got, want))
	}
	d.sites.forget()
	known := len(d.records())
	run(t, crawlArgs(d.store, d.sites, append(began, "--recrawl", "0s")...)...)
	for _, r := range d.records()[known:] {
		if strings.Contains(r, "WARC-Type: response\r\n") && strings.Contains(r, "Skink-Page: yes\r\n") {
			t.Errorf("a page that the archive has was stored again: %.300s", r)
		}
	}
	d.sites.mu.Lock()
	defer d.sites.mu.Unlock()
	for url := range d.gone {
		if d.sites.counts[strings.TrimPrefix(url, "http://")] > 0 {
			t.Errorf("%s was fetched again", url)
		}
	}
}

// never crawls the pages that stay, without any other.
func (d *deletion) never(urls []string, exclude string) (name string) {
	dir := d.t.TempDir()
	list := filepath.Join(dir, "list.txt")
	if err := os.WriteFile(list, []byte(strings.Join(urls, "\n")), 0o666); err != nil {
		d.t.Fatal(err)
	}
	name = filepath.Join(dir, "never")
	run(d.t, append(crawlArgs(name, &sites{seeds: d.sites.seeds}, "--quiet", "--exclude", "^("+exclude+")$"), list)...)
	return name
}

// apply applies the changes since the last call to the feed.
func (d *deletion) apply() {
	out, _ := run(d.t, "export", "--store", d.store, "--cursor", d.cursor)
	for line := range strings.Lines(out) {
		var l struct{ ID, Change string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			d.t.Fatal(err)
		}
		if d.feed[l.ID] = plainLine(d.t, line); l.Change == "gone" {
			delete(d.feed, l.ID)
		}
	}
}

func (d *deletion) sameFeed() {
	out, _ := run(d.t, "export", "--store", d.store)
	whole := map[string]string{}
	for line := range strings.Lines(out) {
		var l struct{ ID string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			d.t.Fatal(err)
		}
		whole[l.ID] = plainLine(d.t, line)
	}
	for id := range union(whole, d.feed) {
		if d.feed[id] != whole[id] {
			d.t.Errorf("the feed with all changes has\n%.200s\nand an export has\n%.200s", d.feed[id], whole[id])
		}
	}
}

// parts reads all that is in a store.
func (d *deletion) parts(name string) (all []*store.Part) {
	var s store.Store
	var err error
	if strings.Contains(name, "://") {
		at, parseErr := postgres.ParseAddress(name)
		if parseErr != nil {
			d.t.Fatal(parseErr)
		}
		s, err = postgres.Open(d.t.Context(), at, postgres.Options{ReadOnly: true})
	} else {
		s, err = badger.Open(name, badger.Options{ReadOnly: true})
	}
	if err != nil {
		d.t.Fatal(err)
	}
	defer s.Close()
	for part, err := range s.Dump(context.Background()) {
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, part)
	}
	return all
}

// contents returns what a store has of each page, without links to deleted pages.
func (d *deletion) contents(name string) map[string]string {
	all := map[string]string{}
	for _, p := range d.parts(name) {
		if p.Page == nil {
			continue
		}
		c, err := p.Page.Unpack()
		if err != nil {
			d.t.Fatal(err)
		}
		if c.Record.Kind != store.Page {
			continue
		}
		links := slices.DeleteFunc(c.Links, func(l store.Link) bool { return d.gone[l.URL] })
		all[c.Record.URL] = fmt.Sprint(c.Record.Title, c.Record.Words, c.Record.Hash, c.Text, links, c.Sketch != nil)
	}
	return all
}

// partition returns the members of each cluster.
func (d *deletion) partition(name string) string {
	clusters := map[string][]string{}
	for _, l := range exported(d.t, d.skink, name) {
		leader := l.DuplicateOf
		if leader == "" {
			leader = l.URL
		}
		clusters[leader] = append(clusters[leader], l.URL)
	}
	var all []string
	for _, members := range clusters {
		slices.Sort(members)
		all = append(all, strings.Join(members, " "))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// secretsIn returns the planted words of deleted pages in a store, with where they are.
func (d *deletion) secretsIn(name string) (found []string) {
	words := d.words()
	look := func(where string, b []byte) {
		for _, word := range secretWord.FindAll(b, -1) {
			if words[string(word)] {
				found = append(found, string(word)+" in "+where)
			}
		}
	}
	for _, p := range d.parts(name) {
		text, err := json.Marshal(p)
		if p.Page != nil {
			c, unpackErr := p.Page.Unpack()
			if unpackErr != nil {
				d.t.Fatal(unpackErr)
			}
			text, err = json.Marshal(c)
		}
		if p.Value != nil {
			if text = p.Value.Value; len(text) > 0 {
				if plain, err := store.Unpack(text); err == nil {
					text = plain
				}
			}
		}
		if err != nil {
			d.t.Fatal(err)
		}
		look(fmt.Sprintf("a part: %.200s", text), text)
	}
	for name, content := range d.raw() {
		look(name, content)
	}
	return found
}

// records returns the records of the archive, in the order of its files. It fails the test for other files.
func (d *deletion) records() (all []string) {
	files, err := os.ReadDir(d.warc)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, file := range files {
		f, err := os.Open(filepath.Join(d.warc, file.Name()))
		if err != nil {
			d.t.Fatal(err)
		}
		defer f.Close()
		if strings.HasSuffix(file.Name(), ".cdxj") {
			continue
		}
		if !strings.HasSuffix(file.Name(), ".warc.gz") {
			d.t.Errorf("%s is left", file.Name())
		}
		for r := warc.NewReader(f); ; {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			var b []byte
			if err == nil {
				b, err = warc.Options{Plain: true}.Append(nil, rec)
			}
			if err != nil {
				d.t.Fatalf("%s: %v", file.Name(), err)
			}
			all = append(all, string(b))
		}
	}
	return all
}

// archived returns what the archive has of deleted pages: their titles, records about them, and lines of indexes.
func (d *deletion) archived() (found []string) {
	words := d.words()
	for _, r := range d.records() {
		title, target := titleWord.FindStringSubmatch(r), targetURI.FindStringSubmatch(r)
		if title != nil && words[title[1]] || target != nil && d.gone[target[1]] {
			found = append(found, r[:min(len(r), 300)])
		}
	}
	indexes, err := filepath.Glob(filepath.Join(d.warc, "*.cdxj"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, name := range indexes {
		f, err := os.Open(name)
		if err != nil {
			d.t.Fatal(err)
		}
		entries, err := warc.ReadIndex(f)
		f.Close()
		if err != nil {
			d.t.Fatal(err)
		}
		for _, e := range entries {
			if d.gone[e.URL] {
				found = append(found, "a line of an index: "+e.URL)
			}
		}
	}
	return found
}

// words returns the planted words of deleted pages.
func (d *deletion) words() map[string]bool {
	words := map[string]bool{}
	for url := range d.gone {
		words[secretOf(url)] = true
	}
	return words
}

// raw returns the files of a folder, or the tables of a schema.
func (d *deletion) raw() map[string][]byte {
	all := map[string][]byte{}
	if !strings.Contains(d.store, "://") {
		err := filepath.WalkDir(d.store, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				all[name], err = os.ReadFile(name)
			}
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
		return all
	}
	for _, table := range []string{"visit", "page", "run", "known", "queue", "host", "meta"} {
		out, err := exec.Command("psql", "--quiet", strings.Split(d.store, "?")[0], "-c", "SELECT t::text FROM deleted."+table+" t").Output()
		if err != nil {
			d.t.Fatal(err)
		}
		all[table] = out
	}
	return all
}

// files returns the content of the files of a folder that has any.
func (d *deletion) files() map[string]string {
	all := map[string]string{}
	if !strings.Contains(d.store, "://") {
		for name, content := range d.raw() {
			if len(bytes.Trim(content, "\x00")) > 100 {
				all[name] = string(content)
			}
		}
	}
	return all
}

// A secretive site has a word in each title, and in each link, that stands for one page. But some pages are
// the same, byte by byte, on two hosts.
type secretive struct{ generated }

var (
	titleWord  = regexp.MustCompile(`<title>Page (secret\d+x\d+x)`)
	targetURI  = regexp.MustCompile(`WARC-Target-URI: (\S+)`)
	secretWord = regexp.MustCompile(`secret\d+x\d+x`)
	plantedIn  = regexp.MustCompile(`(<title>Page )(\d+)|(html">)(\d+)`)
)

func (s secretive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	s.generated.ServeHTTP(answer, r)
	_, port, _ := strings.Cut(r.Host, ":")
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	w.WriteHeader(answer.Code)
	body := answer.Body.Bytes()
	var n int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d.html", &n); err == nil && n%7 == 3 {
		_, _ = w.Write(body)
		return
	}
	if r.URL.Path == "/" { // page 0 has two URLs
		body = bytes.Replace(body, []byte("<title>Page 0"), []byte("<title>Page 999999"), 1)
	}
	_, _ = w.Write(plantedIn.ReplaceAll(body, []byte("${1}${3}secret"+port+"x${2}${4}x")))
}

// secretOf returns the word of a page.
func secretOf(url string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	port, path, _ := strings.Cut(rest, "/")
	n := strings.TrimSuffix(path, ".html")
	if n == "" {
		n = "999999"
	}
	return "secret" + port + "x" + n + "x"
}
