package redis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/redis/redistest"
)

// TestScale discovers many URLs, and commits many sketches, of which every tenth is like an earlier
// one and is only looked up. It prints the memory of the server, its commands a second, how much
// slower the last million is than the first, in time and in processor time of the server, and which
// share of the planted duplicates is found, beside the share that the curve of the scheme gives.
//
// 10,000 URLs of 500 hosts and 2,000 sketches; SKINK_SCALE=URLS/SKETCHES says other numbers, with
// a host for each 200 URLs:
//
//	SKINK_SCALE=20000000/5000000 go test -run TestScale -v -timeout 3h ./store/redis
func TestScale(t *testing.T) {
	urls, sketches, hosts := 10_000, 2_000, 500
	asked := os.Getenv("SKINK_SCALE")
	if asked != "" {
		if n, err := fmt.Sscanf(asked, "%d/%d", &urls, &sketches); n != 2 || err != nil {
			t.Fatalf("SKINK_SCALE=%s: want URLS/SKETCHES", asked)
		}
		hosts = max(urls/200, 1)
	}
	server := redistest.Start(t)
	s := openNamed(t, server.Addr, "x")
	empty := usage(t, server)

	discovering := newPace(t, server, urls)
	discoverMany(t, s, urls, hosts, discovering)
	s.growing.Wait()
	t.Logf("%d URLs of %d hosts: %.1f bytes each; %v", urls, hosts, float64(usage(t, server)-empty)/float64(urls), discovering)
	if counts, err := s.Counts(t.Context()); err != nil || counts.Pending != int64(urls) {
		t.Errorf("%d URLs are pending, %v; want %d", counts.Pending, err, urls)
	}

	before := usage(t, server)
	committing := newPace(t, server, sketches)
	planted := commitMany(t, s, sketches, committing)
	s.growing.Wait()
	t.Logf("%d sketches: %.0f bytes each; %v", sketches, float64(usage(t, server)-before)/float64(sketches), committing)
	for i, like := range likenesses {
		found, all := float64(planted[i].found.Load()), float64(planted[i].all.Load())
		want := scaleScheme.Probability(like)
		t.Logf("resemblance %.2f: %.4f of %.0f found, %.4f by the curve", like, found/all, all, want)
		if off := 4*math.Sqrt(want*(1-want)/all) + 1/all; math.Abs(found/all-want) > off { // four standard errors
			t.Errorf("resemblance %.2f: the share found is %.4f, want %.4f within %.4f", like, found/all, want, off)
		}
	}
	for name, p := range map[string]*pace{"URLs": discovering, "sketches": committing} {
		if asked != "" && p.dearer() > 1.3 { // what else the machine does is not in it
			t.Errorf("the last million of the %s costs the server %.2f times the first, want 1.3 at most", name, p.dearer())
		}
	}
}

// A pace is how fast something is done many times: the first and the last million of it, or tenth
// if there are less.
type pace struct {
	t      *testing.T
	server *redistest.Server
	all    int
	part   int
	began  time.Time
	before int // commands of the server

	mu    sync.Mutex
	done  int             // guarded by mu
	parts []time.Duration // guarded by mu: when each part was done, since the beginning
	costs []float64       // guarded by mu: seconds of processor time that the server had used then
}

func newPace(t *testing.T, server *redistest.Server, all int) *pace {
	_, commands := scriptCalls(t, server)
	return &pace{t: t, server: server, all: all, part: max(min(1_000_000, all/10), 1), began: time.Now(), before: commands,
		costs: []float64{processorTime(t, server)}}
}

// did counts what was done.
func (p *pace) did(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.done += n; p.done/p.part > len(p.parts); {
		p.parts = append(p.parts, time.Since(p.began))
		p.costs = append(p.costs, processorTime(p.t, p.server))
	}
}

// processorTime is how many seconds of processor time a server has used.
func processorTime(t *testing.T, server *redistest.Server) (all float64) {
	t.Helper()
	out, err := server.CLI("info", "cpu")
	if err != nil {
		t.Error(err)
		return 0
	}
	info := infoOf(out)
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := strconv.ParseFloat(info[name], 64)
		if err != nil {
			t.Error(err)
			return 0
		}
		all += seconds
	}
	return all
}

func (p *pace) first() time.Duration { return p.parts[0] }

func (p *pace) last() time.Duration {
	n := len(p.parts)
	return p.parts[n-1] - p.parts[max(n-2, 0)]
}

func (p *pace) slower() float64 { return p.last().Seconds() / p.first().Seconds() }

// dearer is slower in processor time of the server.
func (p *pace) dearer() float64 {
	n := len(p.costs)
	return (p.costs[n-1] - p.costs[n-2]) / (p.costs[1] - p.costs[0])
}

func (p *pace) String() string {
	took := p.parts[len(p.parts)-1]
	_, commands := scriptCalls(p.t, p.server)
	return fmt.Sprintf("%.0f a second, %.0f commands a second; the first %d in %v, the last in %v: %.2f times, %.2f times in processor time of the server", float64(p.all)/took.Seconds(),
		float64(commands-p.before)/took.Seconds(), p.part, p.first().Round(time.Millisecond), p.last().Round(time.Millisecond), p.slower(), p.dearer())
}

// discoverMany discovers URLs in batches, as the pages of a crawl bring them.
func discoverMany(t *testing.T, s *Store, urls, hosts int, p *pace) {
	t.Helper()
	for n := 0; n < urls; {
		items := make([]frontier.Item, min(5000, p.part, urls-n))
		for i := range items {
			items[i] = frontier.Item{URL: fmt.Sprintf("https://www.host%d.example/articles/2026/november/%d.html", (n+i)%hosts, n+i), Depth: 1}
		}
		discover(t, s, len(items), items)
		n += len(items)
		p.did(len(items))
	}
}

var (
	scaleScheme, _ = dedup.BandsFor(dedup.DefaultSimilarity)
	likenesses     = []float64{.7, .75, .8, .85, .9, .95}
)

// A count is how many duplicates of one likeness were planted, and how many of them were found.
type count struct{ all, found atomic.Int64 }

// commitMany commits sketches from many goroutines, and looks for the planted duplicates.
func commitMany(t *testing.T, s *Store, sketches int, p *pace) *[6]count {
	t.Helper()
	const atOnce, ahead = 32, 1000
	planted := new([6]count)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for n := next.Add(1) - 1; n < int64(sketches); n = next.Add(1) - 1 {
				if n%10 == 9 && n > ahead {
					like := int(n/10) % len(likenesses)
					of := leaderBefore(uint64(n), ahead)
					planted[like].all.Add(1)
					if meets(t, s, resembling(sketchOf(of), uint64(n), likenesses[like]), idOf(of)) {
						planted[like].found.Add(1)
					}
				} else {
					commitJudged(t, s, sketched(uint64(n)))
				}
				p.did(1)
			}
		})
	}
	wg.Wait()
	return planted
}

// leaderBefore is a page that was committed some pages before n, and that is no duplicate.
func leaderBefore(n uint64, ahead uint64) uint64 {
	of := rand.New(rand.NewPCG(n, 1)).Uint64N(n - ahead + 1)
	if of%10 == 9 {
		of--
	}
	return of
}

func idOf(n uint64) dedup.Hash { return dedup.HashOf(fmt.Append(nil, "page", n)) }

// sketchOf is a sketch that resembles no other.
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

// meets says whether a look-up of a sketch finds a leader.
func meets(t *testing.T, s *Store, sketch *dedup.Sketch, leader dedup.Hash) bool {
	found, err := s.Lookup(t.Context(), []store.Ask{{Keys: scaleScheme.Keys(nil, sketch), Meet: scaleScheme.Meet(), Limit: dedup.MaxPosting}})
	if err != nil {
		t.Error(err)
		return false
	}
	for _, l := range found[0].Leaders {
		if l.ID == leader {
			return true
		}
	}
	return false
}

// sketched is a unique page of which no text is kept.
func sketched(n uint64) *store.Entry {
	sketch := sketchOf(n)
	hash := dedup.HashOf(fmt.Append(nil, "text", n))
	return &store.Entry{
		Record: store.Record{
			ID: idOf(n), URL: fmt.Sprintf("https://leader%d.example/%d", n%100_000, n), Kind: store.Page, FetchedAt: time.Unix(1.7e9, 0).UTC(), Status: 200,
			Words: 700, Hash: hash, Verdict: dedup.Unique, NoText: true,
		},
		State: frontier.Fetched, Sketch: sketch, Hash: hash, Keys: scaleScheme.Keys(nil, sketch),
	}
}
