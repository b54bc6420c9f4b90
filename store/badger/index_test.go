package badger

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/badger/postings"
)

// TestIndex measures the lookups and writes of pages that are judged only by their sketches, and
// checks that the index finds the pages that it must find. Sketches are random: 14 bands of 6
// minima each. One page in fifty is planted: each of its minima is, with probability J, that of the
// same earlier page. Workers look a page up by its text hash and 14 keys. One committer writes the
// pages, 64 at a time: a unique page with record, sketch and keys, and a page that resembles
// another without keys. Texts and links are left out, because their cost does not depend on the
// index.
//
// By default there are 20,000 pages. To measure other sizes, set SKINK_INDEX:
//
//	SKINK_INDEX=1000000,5000000 go test -run=TestIndex$ -v -timeout=2h ./store/badger
func TestIndex(t *testing.T) {
	sizes := []int{20_000}
	if list := os.Getenv("SKINK_INDEX"); list != "" {
		sizes = nil
		for s := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Fatalf("SKINK_INDEX: %v", err)
			}
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) { measureIndex(t, n) })
	}
}

const (
	indexGroup  = 64   // number of pages in one commit
	indexAhead  = 8    // number of groups looked up before the first of them is committed
	indexFresh  = 1024 // number of pages before a planted page that cannot be its original, because they may not be committed yet
	plantedEach = 50
)

var plantedJ = []float64{0.7, 0.8, 0.9, 0.95}

// A sample is one synthetic page.
type sample struct {
	sketch   dedup.Sketch
	keys     []uint64
	original int  // the page that it was planted from; -1 means that it was not planted
	grade    int  // index in plantedJ of its probability J
	shares   bool // the page has a key in common with its original
	found    bool // the index found its original
	hash     dedup.Hash
}

// sampler returns the source of random numbers for page n, which always gives the same page.
func sampler(n int) *rand.Rand { return rand.New(rand.NewPCG(0x5C, uint64(n))) }

func isPlanted(r *rand.Rand, n int) bool { return r.IntN(plantedEach) == 0 && n > 2*indexFresh }

func makeSample(scheme dedup.Scheme, n int) *sample {
	r := sampler(n)
	s := &sample{original: -1, hash: dedup.Hash(frontier.ID(strconv.Itoa(n)))}
	planted := isPlanted(r, n)
	for i := range s.sketch {
		s.sketch[i] = r.Uint32()
	}
	if !planted {
		s.keys = scheme.Keys(nil, &s.sketch)
		return s
	}
	s.grade = r.IntN(len(plantedJ))
	for {
		s.original = r.IntN(n - indexFresh)
		if !isPlanted(sampler(s.original), s.original) {
			break
		}
	}
	o := makeSample(scheme, s.original)
	for i := range s.sketch {
		if r.Float64() < plantedJ[s.grade] {
			s.sketch[i] = o.sketch[i]
		}
	}
	s.keys = scheme.Keys(nil, &s.sketch)
	for i, k := range s.keys {
		s.shares = s.shares || k == o.keys[i]
	}
	return s
}

// lookUp makes the lookup that a crawl makes before a page is judged.
func (s *sample) lookUp(ctx context.Context, st *Store, n int) (*store.Entry, error) {
	ask := store.Ask{ID: sampleID(n), Hashes: []dedup.Hash{s.hash}, Keys: s.keys, Limit: dedup.MaxPosting}
	all, err := st.Lookup(ctx, []store.Ask{ask})
	if err != nil {
		return nil, err
	}
	found := &all[0]
	if found.Copy != nil {
		return nil, fmt.Errorf("a text that is new has page %s", found.Copy.URL)
	}
	s.found = s.original >= 0 && slices.ContainsFunc(found.Leaders, func(l store.Leader) bool { return l.ID == sampleID(s.original) })
	e := &store.Entry{
		Record: store.Record{ID: sampleID(n), URL: sampleURL(n), Kind: store.Page, Status: 200, Fetch: store.Fetch{Hash: s.hash}, Judged: store.Judged{Verdict: dedup.Unique}},
		State:  frontier.Fetched,
		Basis:  found.Basis(ask),
		Sketch: &s.sketch,
		Hash:   s.hash,
	}
	if s.found {
		e.Record.Verdict, e.Record.Leader, e.Record.Resemblance = dedup.Near, sampleID(s.original), plantedJ[s.grade]
	} else {
		e.Keys = s.keys
	}
	return e, nil
}

func sampleURL(n int) string { return "https://example.com/" + strconv.Itoa(n) }

func sampleID(n int) dedup.Hash { return dedup.Hash(frontier.ID(sampleURL(n))) }

func measureIndex(t *testing.T, size int) {
	scheme, err := dedup.BandsFor(0.8)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(dir, Options{Create: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	step := min(1_000_000, max(size/4, 1))
	var took []time.Duration
	var planted, found [4]int
	var work []float64 // processor time of this process in seconds, so that other load does not count
	start, before, last := time.Now(), processorTime(), 0
	err = judgeSamples(t.Context(), s, scheme, size, func(n int, p *sample) error {
		if p.original >= 0 {
			planted[p.grade]++
			if p.found {
				found[p.grade]++
			}
			if p.found != p.shares {
				return fmt.Errorf("page %d shares a band with page %d: %v, found: %v", n, p.original, p.shares, p.found)
			}
		}
		if (n+1)%step == 0 {
			now := time.Now()
			took = append(took, now.Sub(start))
			spent := processorTime()
			work = append(work, spent-before)
			t.Logf("pages %8d to %8d: %6.0f pages/s, %.0f µs of processor a page; %s", last, n+1,
				float64(step)/now.Sub(start).Seconds(), 1e6*(spent-before)/float64(step), memory())
			start, before, last = now, spent, n+1
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all time.Duration
	for _, d := range took {
		all += d
	}
	end := len(took) - 1
	t.Logf("%d pages: %.0f pages/s; last of %d steps costs %.2f times the first, in processor time %.2f times", size,
		float64(step*len(took))/all.Seconds(), len(took), float64(took[end])/float64(took[0]), work[end]/work[0])
	for i, j := range plantedJ {
		share, want := float64(found[i])/float64(planted[i]), scheme.Probability(j)
		t.Logf("resemblance %.2f: %6d planted, %.4f found, %.4f expected", j, planted[i], share, want)
		if se := math.Sqrt(want*(1-want)/float64(planted[i])) + 1/float64(planted[i]); math.Abs(share-want) > 4*se {
			t.Errorf("resemblance %.2f: %.4f found, want %.4f", j, share, want)
		}
	}
	reopenIndex(t, s, dir, size)
}

// reopenIndex measures the time for opening a store after a regular close, and with a damaged
// index.
func reopenIndex(t *testing.T, s *Store, dir string, size int) {
	start := time.Now()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	bytes := float64(folderSize(t, dir)) / float64(size)
	closed := time.Now()
	again, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	opened := time.Now()
	t.Logf("closed in %.2f s, opened in %.2f s; %.0f bytes a page on disk; %s",
		closed.Sub(start).Seconds(), opened.Sub(closed).Seconds(), bytes, memory())
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"+postings.SegmentExt))
	if err != nil || len(names) == 0 {
		return // a segment needs more pages
	}
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	start = time.Now()
	if again, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("opened without %s in %.2f s", filepath.Base(names[0]), time.Since(start).Seconds())
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// judgeSamples treats samples as the pipeline treats pages: it looks them up in parallel and
// commits them in their order. It calls seen with each one.
func judgeSamples(ctx context.Context, s *Store, scheme dedup.Scheme, size int, seen func(n int, p *sample) error) error {
	type group struct {
		first   int
		pages   []*sample
		entries []*store.Entry
		ready   chan struct{}
	}
	g, ctx := errgroup.WithContext(ctx)
	work, ordered := make(chan *group), make(chan *group, indexAhead)
	g.Go(func() error {
		defer close(work)
		defer close(ordered)
		for n := 0; n < size; n += indexGroup {
			c := &group{first: n, pages: make([]*sample, min(indexGroup, size-n)), entries: make([]*store.Entry, min(indexGroup, size-n)), ready: make(chan struct{})}
			for _, to := range []chan *group{ordered, work} {
				select {
				case to <- c:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range max(2, runtime.GOMAXPROCS(0)) {
		g.Go(func() error {
			for c := range work {
				for i := range c.pages {
					c.pages[i] = makeSample(scheme, c.first+i)
					var err error
					if c.entries[i], err = c.pages[i].lookUp(ctx, s, c.first+i); err != nil {
						return err
					}
				}
				close(c.ready)
			}
			return nil
		})
	}
	g.Go(func() error {
		for c := range ordered {
			select {
			case <-c.ready:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := commitSamples(ctx, s, c.first, c.pages, c.entries); err != nil {
				return err
			}
			for i, p := range c.pages {
				if err := seen(c.first+i, p); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return g.Wait()
}

// commitSamples writes a group in its order. It looks stale samples up again.
func commitSamples(ctx context.Context, s *Store, first int, pages []*sample, entries []*store.Entry) error {
	for len(entries) > 0 {
		outcomes, err := s.Commit(ctx, entries)
		if err != nil {
			return err
		}
		n := slices.Index(outcomes, store.Stale)
		if n < 0 {
			return nil
		}
		first, pages, entries = first+n, pages[n:], entries[n:]
		if entries[0], err = pages[0].lookUp(ctx, s, first); err != nil {
			return err
		}
	}
	return nil
}

// memory describes the memory of this process: the current amount of its own memory and of mapped
// files, the greatest amount of both together so far, and the heap.
func memory() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	kb := status("RssAnon", "RssFile", "VmHWM")
	return fmt.Sprintf("%.0f MB own and %.0f MB of files, at most %.0f MB; heap %.0f MB in use, %.0f MB taken",
		kb[0]/1000, kb[1]/1000, kb[2]/1000, float64(m.HeapAlloc)/1e6, float64(m.HeapSys-m.HeapReleased)/1e6)
}

// processorTime returns the processor time that this process has used, in seconds.
func processorTime() float64 {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100 // on every machine, Linux counts hundredths of a second here
}

// status reads the named numbers from /proc/self/status. A missing number is 0.
func status(names ...string) []float64 {
	values := make([]float64, len(names))
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return values
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		name, rest, _ := strings.Cut(in.Text(), ":")
		if i := slices.Index(names, name); i >= 0 {
			fmt.Sscan(rest, &values[i])
		}
	}
	return values
}

// A page whose URL was never in the frontier has no u key. The index finds it by its id: during the
// commit that writes it, after that commit, and after the process was killed. It is found only
// once, even when its URL is discovered later, in the same commit or in another.
func TestUndiscovered(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	linking := entry(4)
	linking.Links = []frontier.Item{{URL: entry(1).Record.URL}, {URL: "https://example.com/new"}}
	commit(t, s, entry(1), entry(2), entry(1), linking)
	checkUndiscovered(t, s, 2) // the two URLs that were linked
	checkUndiscovered(t, killed(t, s), 2)

	// Page 2 is discovered and fetched too, and its record is kept.
	item := frontier.Item{URL: entry(2).Record.URL}
	if n, err := s.Discover(ctx, []frontier.Item{item, item}); err != nil || n != 1 {
		t.Errorf("Discover = %d, %v; want 1", n, err)
	}
	commit(t, s, entry(2))
	checkUndiscovered(t, s, 3)
	checkCounts(t, s, frontier.Counts{Pending: 2, Fetched: 1})
	checkUndiscovered(t, killed(t, s), 3)
}

// checkUndiscovered fails the test unless the store has pages 1, 2 and 4, and the given number of u
// keys.
func checkUndiscovered(t *testing.T, s *Store, keys int) {
	t.Helper()
	for _, n := range []int{1, 2, 4} {
		if recordOf(t, s, n) == nil {
			t.Errorf("page %d has no record", n)
		}
	}
	records := 0
	for _, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		records++
	}
	got := 0
	err := s.scan(t.Context(), []byte{keyURL}, func(*badgerdb.Item) error { got++; return nil })
	if records != 3 || got != keys || err != nil {
		t.Errorf("%d records and %d keys u, %v; want 3 and %d", records, got, err, keys)
	}
}
