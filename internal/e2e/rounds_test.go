package e2e

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/cli"
	"skink/store"
	"skink/store/badger"
)

// TestRounds crawls a generated web repeatedly. The changes between the rounds are known
// (internal/tools/webgen/rounds.go). Every change must be found and classified correctly, and the
// transferred bytes must be a small part of those of a fresh crawl. The first feed with the changes
// of all rounds applied must equal the feed of a fresh crawl, except for times. The same is true of
// report --complete. The store must not keep anything of pages that are gone.
//
// Some rounds are killed at random moments and continued with the same command. Their result must
// be the same.
//
// The crawls request one URL after another, so that the same pages lead in both crawls. Otherwise
// the leaders would depend on the order of responses. SKINK_LONG=short has 300 pages, three rounds
// and four kills. SKINK_LONG=full has 3,000 pages, ten rounds and twenty kills.
func TestRounds(t *testing.T) {
	pages, rounds, kills := 300, 3, 4
	if long(t) == full {
		pages, rounds, kills = 3000, 10, 20
	}
	r := &revisits{
		t: t, skink: buildSkink(t), webgen: buildWebgen(t), dir: t.TempDir(), pages: pages,
		rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)), feed: map[string]string{},
	}
	r.serve(0)
	r.crawl(r.store("kept"), 0)
	first := r.asked()
	r.apply()
	changes := map[string]int{}
	for n := 1; n <= rounds; n++ {
		r.serve(n)
		began := r.asked()
		ended := false
		for left := killsIn(n, rounds, kills); left > 0 && !ended; left-- {
			ended = r.crawl(r.store("kept"), 1+r.rng.Int64N(int64(r.pages/(2*left))), "--recrawl", "0s")
		}
		if !ended { // a round that has ended must not be continued, because that would begin another round
			r.crawl(r.store("kept"), 0, "--recrawl", "0s")
		}
		again := r.asked()
		for change, pages := range r.grade(n) {
			changes[change] += pages
		}
		r.apply()
		share := float64(again.Bytes-began.Bytes) / float64(first.Bytes)
		t.Logf("round %d: %d requests, %d bytes of bodies, %.1f%% of the first crawl's; state of %d bytes; store %s", n, again.All-began.All, again.Bytes-began.Bytes, 100*share, r.state(), r.size())
		if n == 1 && share > 0.12 { // this is only true of the round without kills, because a kill repeats requests
			t.Errorf("coming back was sent %.1f%% of what the first crawl was", 100*share)
		}
	}
	for _, change := range []string{"little", "wholly", "gone", "new"} {
		if changes[change] == 0 {
			t.Errorf("the rounds change too little to show anything: %v", changes)
		}
	}
	before := r.state()
	r.crawl(r.store("kept"), 0, "--recrawl", "0s") // nothing has changed since the last round
	quiet := r.state()
	t.Logf("a round without changes: state of %d bytes after %d; store %s", quiet, before, r.size())
	if quiet > before+before/100 {
		t.Errorf("the store holds %d bytes after a round without changes, and %d before", quiet, before)
	}
	fresh := r.store("fresh")
	r.crawl(fresh, 0)
	r.compare(fresh)
}

// killsIn returns the number of kills in a round. The first round has none, because its transfer is
// measured.
func killsIn(round, rounds, kills int) int {
	upTo := func(n int) int { return kills * max(n-1, 0) / (rounds - 1) }
	return upTo(round) - upTo(round-1)
}

// A revisits holds the state of repeated crawls of a changing web.
type revisits struct {
	t             *testing.T
	skink, webgen string // paths of the programs
	dir           string
	pages         int
	rng           *rand.Rand
	web           *webgen
	listen        string
	feed          map[string]string // the first feed with all later changes applied, by page id
}

func (r *revisits) store(name string) string { return filepath.Join(r.dir, name) }

// serve serves the web as it is after the given number of rounds, always at the same address.
func (r *revisits) serve(round int) {
	r.t.Helper()
	if r.web != nil {
		r.web.stop()
	}
	if r.listen == "" {
		r.listen = "127.0.0.1:0"
	}
	r.web = runWebgen(r.t, r.webgen, "--hosts", "1", "--pages", fmt.Sprint(r.pages), "--seed", "5", "--listen", r.listen, "--round", fmt.Sprint(round))
	u, err := url.Parse(r.web.truth.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	r.listen = "127.0.0.1:" + u.Port()
	r.web.readTruth(r.t)
}

type sent struct{ All, Bytes int64 }

// asked returns the totals of the server since its start.
func (r *revisits) asked() (a sent) {
	resp, err := http.Get("http://" + r.listen + "/")
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		r.t.Fatal(err)
	}
	return a
}

// crawl crawls into a store. If answers is more than 0, the crawl is killed after that many
// responses. The result ended reports whether the crawl ended before that.
func (r *revisits) crawl(dir string, answers int64, more ...string) (ended bool) {
	r.t.Helper()
	args := append([]string{"crawl", "--store", dir, "--delay", "0", "--retries", "1", "--scope", "any", "--allow-private", "127.0.0.0/8", "--parallel", "1", "--connections", "1"}, more...)
	cmd := exec.Command(r.skink, append(args, r.web.truth.URL)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	last := r.asked().All + answers
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	exit := make(chan error, 1)
	go func() { exit <- cmd.Wait() }()
	for {
		select {
		case err := <-exit:
			if err != nil {
				r.t.Fatalf("%v: %v\n%s", args, err, &said)
			}
			return true
		case <-time.After(2 * time.Millisecond):
			if answers > 0 && r.asked().All >= last {
				_ = cmd.Process.Kill()
				return <-exit == nil
			}
		}
	}
}

// run runs a command in this process, and returns its standard output.
func (r *revisits) run(args ...string) string {
	r.t.Helper()
	var out, said bytes.Buffer
	if code := cli.Run(r.t.Context(), args, cli.Console{In: strings.NewReader(""), Out: &out, Err: &said}); code != 0 {
		r.t.Fatalf("%v: exit code %d\n%s", args, code, &said)
	}
	return out.String()
}

// grade compares the findings of a round with the known changes. It returns the number of pages for
// each kind of change.
func (r *revisits) grade(round int) map[string]int {
	r.t.Helper()
	found, wrong := map[string]int{}, 0
	records := map[string]*store.Record{}
	for _, rec := range readRecords(r.t, r.store("kept")) {
		records[rec.URL] = rec
	}
	for _, a := range r.web.addresses {
		rec := records[a.URL]
		if rec == nil {
			r.t.Errorf("round %d: %s (%s) has no record", round, a.URL, a.Change)
			continue
		}
		if a.Kind != "page" && a.Change == "" {
			continue
		}
		found[a.Change]++
		resemblance := 0.0
		if len(rec.Earlier) > 0 {
			resemblance = rec.Earlier[0].Resemblance
		}
		ok := true
		switch a.Change {
		case "little":
			ok = rec.Visit == store.Altered && resemblance > 0.04 && resemblance < 1
		case "wholly":
			ok = rec.Visit == store.Altered && resemblance < 0.04
		case "gone":
			ok = rec.Visit == store.Vanished && rec.Kind == store.Error
		case "new":
			ok = rec.Visit == store.FirstVisit && rec.Kind == store.Page
		default:
			ok = rec.Visit == store.NotModified || rec.Visit == store.Failed
		}
		if !ok {
			if wrong++; wrong < 10 {
				r.t.Errorf("round %d: %s changed %q, and the visit found %q, %v the same", round, a.URL, a.Change, rec.Visit, resemblance)
			}
		}
	}
	r.t.Logf("round %d: %v", round, found)
	return found
}

// apply applies the changes since the last call to the first feed.
func (r *revisits) apply() {
	r.t.Helper()
	for line := range strings.Lines(r.run("export", "--store", r.store("kept"), "--cursor", filepath.Join(r.dir, "cursor"))) {
		var l struct{ ID, Change string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			r.t.Fatal(err)
		}
		switch l.Change {
		case "gone":
			delete(r.feed, l.ID)
		case "new", "changed":
			r.feed[l.ID] = plainLine(r.t, line)
		default:
			r.t.Fatalf("a change of no kind: %s", line)
		}
	}
}

// plainLine returns a line of a feed without times, and without fields that exist only in a feed of
// changes.
func plainLine(t *testing.T, line string) string {
	t.Helper()
	var l map[string]any
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		t.Fatal(err)
	}
	delete(l, "fetched_at")
	delete(l, "change")
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// compare compares the store of the repeated crawls with that of a fresh crawl.
func (r *revisits) compare(fresh string) {
	r.t.Helper()
	want := map[string]string{}
	for line := range strings.Lines(r.run("export", "--store", fresh)) {
		var l struct{ ID string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			r.t.Fatal(err)
		}
		want[l.ID] = plainLine(r.t, line)
	}
	wrong := 0
	for id := range union(r.feed, want) {
		if r.feed[id] != want[id] {
			if wrong++; wrong <= 3 {
				r.t.Errorf("the first feed with all changes has\n%.99s … %s\nand that of a fresh crawl\n%.99s … %s", r.feed[id], tail(r.feed[id]), want[id], tail(want[id]))
			}
		}
	}
	r.findNothingGone()
	r.t.Logf("%d lines in the feed of a fresh crawl, %d that are others", len(want), wrong)
	complete := func(dir string) string {
		return sortedLines(r.run("report", "--store", dir, "--complete", "--format", "json"))
	}
	if got, want := complete(r.store("kept")), complete(fresh); got != want {
		r.t.Errorf("report --complete, where it is not what it is of a fresh crawl:\n%s", differing(got, want))
	}
}

// findNothingGone checks that the store has no data of pages that are gone, and no old words of
// pages that have changed.
func (r *revisits) findNothingGone() {
	s, err := badger.Open(r.store("kept"), badger.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	scheme, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		r.t.Fatal(err)
	}
	looked := 0
	for page, err := range s.Changes(r.t.Context(), "", store.WantRecord) {
		if err != nil {
			r.t.Fatal(err)
		}
		for _, v := range page.Record.Earlier {
			if len(v.Sketch) == 0 || v.Hash == page.Record.Hash {
				continue
			}
			looked++
			var sketch dedup.Sketch
			for i := range sketch {
				sketch[i] = binary.LittleEndian.Uint32(v.Sketch[4*i:])
			}
			found, err := s.Lookup(r.t.Context(), []store.Ask{{Hashes: []dedup.Hash{v.Hash}}, {Keys: scheme.Scheme.Keys(nil, &sketch), Limit: 1000}})
			if err != nil {
				r.t.Fatal(err)
			}
			for _, l := range found[1].Leaders {
				if l.ID == page.Record.ID && l.Hash == v.Hash {
					r.t.Errorf("%s is found by what it was at %v", page.Record.URL, v.At)
				}
			}
			if c := found[0].Copy; c != nil && c.ID == page.Record.ID {
				r.t.Errorf("%s is found by a text that it had at %v", page.Record.URL, v.At)
			}
		}
	}
	r.t.Logf("%d earlier selves of pages are found no more", looked)
}

// differing returns the lines that are in only one of two texts.
func differing(got, want string) string {
	var b strings.Builder
	for _, side := range []struct{ sign, a, b string }{{"got  ", got, want}, {"want ", want, got}} {
		for line := range strings.Lines(side.a) {
			if !strings.Contains(side.b, line) {
				b.WriteString(side.sign + line)
			}
		}
	}
	return b.String()
}

func tail(s string) string { return s[max(len(s)-200, 0):] }

func union(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for id := range a {
		all[id] = true
	}
	for id := range b {
		all[id] = true
	}
	return all
}

func sortedLines(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool {
		return strings.HasPrefix(strings.TrimSpace(l), `"about": `) // this line contains the name of the store
	})
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, ",")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// state returns the number of bytes that a store uses for its pages: records, texts and sketches.
// The size on disk would vary with the compaction of files.
func (r *revisits) state() (bytes int) {
	s, err := badger.Open(r.store("kept"), badger.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	for page, err := range s.Changes(r.t.Context(), "", store.WantText|store.WantSketch) {
		if err != nil {
			r.t.Fatal(err)
		}
		record, err := json.Marshal(&page.Record)
		if err != nil {
			r.t.Fatal(err)
		}
		bytes += len(record) + len(page.Text)
		if page.Sketch != nil {
			bytes += 4 * len(page.Sketch)
		}
	}
	return bytes
}

// size returns the size of a store on disk.
func (r *revisits) size() string {
	var bytes int64
	_ = filepath.WalkDir(r.store("kept"), func(_ string, d os.DirEntry, err error) error {
		if info, infoErr := d.Info(); err == nil && infoErr == nil && !d.IsDir() {
			bytes += info.Size()
		}
		return nil
	})
	return fmt.Sprintf("%d KB", bytes>>10)
}
