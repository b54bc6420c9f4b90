package postgres

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/postgrestest"
	"skink/store"
)

// TestScale discovers many URLs in the order in which pages link to them, and commits many
// sketches. Every tenth sketch resembles an earlier one and is only looked up. The test prints the
// bytes on disk, and by which factor the last million takes more processor time of the server than
// the first. It also prints the share of the planted duplicates that is found, and the share that
// the scheme should find in theory.
//
// By default there are 10,000 URLs of 50 hosts, and 2,000 sketches. SKINK_SCALE=URLS/SKETCHES sets
// other numbers, with a host for each 200 URLs:
//
//	SKINK_SCALE=20000000/5000000 go test -run TestScale -v -timeout 3h ./store/postgres
func TestScale(t *testing.T) {
	long(t)
	urls, sketches := 10_000, 2_000
	asked := os.Getenv("SKINK_SCALE")
	if asked != "" {
		if n, err := fmt.Sscanf(asked, "%d/%d", &urls, &sketches); n != 2 || err != nil {
			t.Fatalf("SKINK_SCALE=%s: want URLS/SKETCHES", asked)
		}
	}
	server := postgrestest.Start(t, "shared_buffers=512MB", "max_wal_size=4GB")
	s := openAt(t, server.URL("scale"))
	hosts := max(urls/200, 1)

	empty := onDisk(t, server)
	discovering := newPace(server, urls)
	for n := 0; n < urls; {
		items := make([]frontier.Item, min(5000, discovering.part, urls-n))
		for i := range items { // twenty links on each page, all to its own host
			host := (n + i) / 20 * 7919 % hosts
			items[i] = frontier.Item{URL: fmt.Sprintf("https://www.host%d.example/articles/2026/november/%d.html", host, n+i), Depth: 1}
		}
		added, err := s.Discover(t.Context(), items)
		if err != nil || added != len(items) {
			t.Fatalf("%d of %d URLs were new, %v", added, len(items), err)
		}
		n += len(items)
		discovering.did(len(items))
	}
	t.Logf("%d URLs of %d hosts: %.0f bytes each on disk; %v", urls, hosts, float64(onDisk(t, server)-empty)/float64(urls), discovering)

	empty = onDisk(t, server)
	committing := newPace(server, sketches)
	planted, err := commitMany(t.Context(), s, sketches, committing)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d sketches: %.0f bytes each on disk; %v", sketches, float64(onDisk(t, server)-empty)/float64(sketches), committing)
	for i, like := range likenesses {
		found, all := float64(planted[i].found.Load()), float64(planted[i].all.Load())
		want := scaleScheme.Probability(like)
		t.Logf("resemblance %.2f: %.4f of %.0f found, %.4f by the curve", like, found/all, all, want)
		if off := 4*math.Sqrt(want*(1-want)/all) + 1/all; math.Abs(found/all-want) > off { // allowed difference: four standard errors
			t.Errorf("resemblance %.2f: the share found is %.4f, want %.4f within %.4f", like, found/all, want, off)
		}
	}
	for name, p := range map[string]*pace{"URLs": discovering, "sketches": committing} {
		if asked != "" && p.dearer() > 1.4 { // processor time does not depend on other load of the machine
			t.Errorf("the last million of the %s costs the server %.2f times the first, want 1.4 at most", name, p.dearer())
		}
	}
}

func onDisk(t *testing.T, server *postgrestest.Server) (bytes int64) {
	t.Helper()
	size, err := server.Text(t.Context(), "SELECT pg_database_size(current_database())::text")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(size, &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes
}

// A pace records the cost of an operation that is repeated many times, separately for each million
// operations, or for each tenth of fewer operations.
type pace struct {
	server *postgrestest.Server
	part   int
	began  time.Time

	mu    sync.Mutex
	done  int             // guarded by mu
	costs []time.Duration // guarded by mu: processor time of the server at the start, and after each part
}

func newPace(server *postgrestest.Server, all int) *pace {
	return &pace{server: server, part: max(min(1_000_000, all/10), 1), began: time.Now(), costs: []time.Duration{server.CPU()}}
}

// did adds n operations to the count.
func (p *pace) did(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.done += n; p.done/p.part >= len(p.costs); {
		p.costs = append(p.costs, p.server.CPU())
	}
}

// dearer returns the processor time for the last million operations, divided by that for the first
// million.
func (p *pace) dearer() float64 {
	n := len(p.costs)
	return (p.costs[n-1] - p.costs[n-2]).Seconds() / (p.costs[1] - p.costs[0]).Seconds()
}

func (p *pace) String() string {
	s := fmt.Sprintf("%.0f a second; microseconds of the server for each, by parts of %d:", float64(p.done)/time.Since(p.began).Seconds(), p.part)
	for i, c := range p.costs[1:] {
		s += fmt.Sprintf(" %.0f", float64((c-p.costs[i]).Microseconds())/float64(p.part))
	}
	return fmt.Sprintf("%s; the last %.2f times the first", s, p.dearer())
}

var (
	scaleScheme, _ = dedup.BandsFor(dedup.DefaultSimilarity)
	likenesses     = []float64{.7, .75, .8, .85, .9, .95}
)

// A tally counts the planted duplicates with one resemblance, and those among them that were found.
type tally struct{ all, found atomic.Int64 }

// commitMany commits sketches from many goroutines, and looks for the planted duplicates.
func commitMany(ctx context.Context, s *Store, sketches int, p *pace) (*[6]tally, error) {
	const atOnce, ahead = 64, 1000
	planted := new([6]tally)
	var next atomic.Uint64
	g, ctx := errgroup.WithContext(ctx)
	for range atOnce {
		g.Go(func() error {
			for n := next.Add(1) - 1; n < uint64(sketches); n = next.Add(1) - 1 {
				if n%10 == 9 && n > ahead {
					like := int(n/10) % len(likenesses)
					of := leaderBefore(n, ahead)
					planted[like].all.Add(1)
					met, err := meets(ctx, s, resembling(sketchOf(of), n, likenesses[like]), sketched(of).Record.ID)
					if err != nil {
						return err
					}
					if met {
						planted[like].found.Add(1)
					}
				} else if _, err := benchCommit(ctx, s, sketched(n)); err != nil {
					return err
				}
				p.did(1)
			}
			return nil
		})
	}
	return planted, g.Wait()
}

// leaderBefore returns the number of a unique page that was committed at least ahead pages before
// n.
func leaderBefore(n, ahead uint64) uint64 {
	of := rand.New(rand.NewPCG(n, 1)).Uint64N(n - ahead + 1)
	if of%10 == 9 {
		of--
	}
	return of
}

// sketchOf returns a random sketch, which resembles no other.
func sketchOf(n uint64) *dedup.Sketch {
	rng := rand.New(rand.NewPCG(n, 2))
	sketch := new(dedup.Sketch)
	for i := range sketch {
		sketch[i] = rng.Uint32()
	}
	return sketch
}

// resembling changes each minimum of a sketch with the probability that pages of a resemblance
// differ in it.
func resembling(sketch *dedup.Sketch, seed uint64, like float64) *dedup.Sketch {
	rng := rand.New(rand.NewPCG(seed, 3))
	for i := range sketch {
		if rng.Float64() >= like {
			sketch[i] = rng.Uint32()
		}
	}
	return sketch
}

// meets reports whether a lookup of a sketch finds a leader.
func meets(ctx context.Context, s *Store, sketch *dedup.Sketch, leader dedup.Hash) (bool, error) {
	found, err := s.Lookup(ctx, []store.Ask{{Keys: scaleScheme.Keys(nil, sketch), Meet: scaleScheme.Meet(), Limit: dedup.MaxPosting}})
	if err != nil {
		return false, err
	}
	for _, l := range found[0].Leaders {
		if l.ID == leader {
			return true, nil
		}
	}
	return false, nil
}

// sketched returns an entry for a unique page whose text is not kept.
func sketched(n uint64) *store.Entry {
	e := pageOf(fmt.Sprintf("https://leader%d.example/%d", n%100_000, n))
	e.Record.NoText, e.Text = true, nil
	e.Sketch = sketchOf(n)
	e.Keys = scaleScheme.Keys(nil, e.Sketch)
	return e
}
