package redis

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/redis/redistest"
)

// usage is the memory that a server uses, in bytes.
func usage(t testing.TB, s *redistest.Server) int {
	t.Helper()
	out, err := s.CLI("info", "memory")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(infoOf(out)["used_memory"])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// scriptCalls is how many commands a server was sent, those of scripts not counted.
func scriptCalls(t testing.TB, s *redistest.Server) (scripts, all int) {
	t.Helper()
	out, err := s.CLI("info", "commandstats")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range infoOf(out) {
		calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
		n, _ := strconv.Atoi(calls)
		if all += n; name == "cmdstat_evalsha" {
			scripts = n
		}
	}
	return scripts, all
}

// keyMemory adds up MEMORY USAGE of the keys of some letters.
func keyMemory(t testing.TB, s *Store, letters string) (bytes, keys int64) {
	t.Helper()
	var cursor uint64
	for {
		page, err := s.Do(t.Context(), s.B().Scan().Cursor(cursor).Match("{"+string(s.keyspace)+":*").Count(2000).Build()).AsScanEntry()
		if err != nil {
			t.Fatal(err)
		}
		cmds := s.commands(len(page.Elements))
		for _, key := range page.Elements {
			if _, rest, _ := strings.Cut(key, "}"); strings.Contains(letters, rest[:1]) {
				cmds = append(cmds, s.B().MemoryUsage().Key(key).Samples(0).Build())
			}
		}
		for _, result := range s.do(t.Context(), cmds...) {
			n, _ := result.AsInt64()
			bytes, keys = bytes+n, keys+1
		}
		if cursor = page.Cursor; cursor == 0 {
			return bytes, keys
		}
	}
}

// What a URL costs: some thousands in CI, where nothing but the bounds is of interest, and
// with SKINK_LONG=full a million; SKINK_URLS says another number.
//
//	SKINK_LONG=full go test -run TestMemoryOfURLs -v ./store/redis
func TestMemoryOfURLs(t *testing.T) {
	urls, hosts := 200_000, 1000
	if os.Getenv("SKINK_LONG") == "full" {
		urls, hosts = 1_000_000, 10_000
	}
	if n, err := strconv.Atoi(os.Getenv("SKINK_URLS")); err == nil {
		urls, hosts = n, n/100
	}
	server := redistest.Start(t)
	s := openNamed(t, server.Addr, "x")
	empty := usage(t, server)
	began, length := time.Now(), 0
	const batch = 10_000
	for n := 0; n < urls; n += batch {
		items := make([]frontier.Item, batch)
		for i := range items {
			items[i] = frontier.Item{URL: fmt.Sprintf("https://www.host%d.example/articles/2026/november/%d.html", (n+i)%hosts, n+i), Depth: 1}
			length += len(items[i].URL)
		}
		discover(t, s, batch, items)
	}
	s.growing.Wait()
	known, buckets := keyMemory(t, s, "U")
	queued, lanes := keyMemory(t, s, "q")
	rest, _ := keyMemory(t, s, "hrwcs")
	total := float64(usage(t, server)-empty) / float64(urls)
	perURL := func(bytes int64) float64 { return float64(bytes) / float64(urls) }
	t.Logf("%d URLs of %d bytes on %d hosts in %v: known %.1f bytes a URL in %d buckets, queue %.1f in %d lanes, hosts %.1f (%.0f a host), all %.1f by INFO",
		urls, length/urls, hosts, time.Since(began).Round(time.Second), perURL(known), buckets, perURL(queued), lanes, perURL(rest), float64(rest)/float64(hosts), total)
	if perURL(known) > 20 {
		t.Errorf("to know a URL costs %.1f bytes, want 20 at most", perURL(known))
	}
	if total > 120 {
		t.Errorf("a queued URL costs %.1f bytes, want 120 at most", total)
	}
}

// What a page costs in memory, with its text and without, and in commands.
func TestMemoryOfPages(t *testing.T) {
	const pages = 2000
	for _, withText := range []bool{true, false} {
		server := redistest.Start(t)
		s := openNamed(t, server.Addr, "x")
		discover(t, s, pages, urlsOf("example.com", pages))
		g, err := s.Claim(t.Context(), "w", 1, time.Hour)
		if err != nil || len(g.Hosts) != 1 {
			t.Fatal(g, err)
		}
		var items []frontier.Item
		for len(items) < pages {
			some, err := s.Take(t.Context(), g.Hosts[0].Claim, 100)
			if err != nil || len(some) == 0 {
				t.Fatal(some, err)
			}
			items = append(items, some...)
		}
		before := usage(t, server)
		scriptsBefore, allBefore := scriptCalls(t, server)
		text := 0
		for i, it := range items {
			e := pageOf(it.URL, i)
			e.Claim = g.Hosts[0].Claim
			if !withText {
				e.Text = nil
			}
			text += len(e.Text)
			commitJudged(t, s, e)
		}
		scripts, all := scriptCalls(t, server)
		t.Logf("%d unique pages of 14 keys and 30 links with %d bytes of packed text each: %d bytes a page; %.1f scripts, %.1f commands by them and beside",
			pages, text/pages, (usage(t, server)-before)/pages, float64(scripts-scriptsBefore)/pages, float64(all-allBefore)/pages)
	}
}

// pageOf is a unique page with 14 keys, 30 links, and a text of some 2,600 bytes packed.
func pageOf(url string, n int) *store.Entry {
	words := make([]byte, 0, 6000)
	for i := range 700 {
		word := dedup.HashOf(fmt.Append(nil, n, i))
		words = fmt.Appendf(words, "%x ", word[:3])
	}
	hash := dedup.HashOf(words)
	e := &store.Entry{
		Record: store.Record{
			ID: dedup.HashOf([]byte(url)), URL: url, Kind: store.Page, FetchedAt: time.Now().UTC(), Status: 200, ContentType: "text/html; charset=utf-8",
			Depth: 1, Size: 15000, Lang: "en", Title: fmt.Sprint("The page with the number ", n), Root: "main", Words: 700, Hash: hash, Verdict: dedup.Unique,
		},
		State: frontier.Fetched, Text: store.Pack(words[:4200]), Sketch: new(dedup.Sketch), Hash: hash,
	}
	for i := range 14 {
		h := dedup.HashOf(fmt.Append(nil, "key", n, i))
		e.Keys = append(e.Keys, binary.BigEndian.Uint64(h[:]))
	}
	for i := range 30 {
		e.Links = append(e.Links, frontier.Item{URL: fmt.Sprintf("https://example.com/%d", (n*7+i)%2000), Depth: 2})
	}
	for i := range e.Sketch {
		e.Sketch[i] = uint32(n*84+i) * 0x9E3779B9
	}
	return e
}

// commitJudged looks a page up and commits it.
func commitJudged(t testing.TB, s store.Store, e *store.Entry) {
	t.Helper()
	ask := store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Keys: e.Keys, Limit: 1000}
	found, err := s.Lookup(t.Context(), []store.Ask{ask})
	if err != nil {
		t.Error(err)
	}
	e.Basis = found[0].Basis(ask)
	outcomes, err := s.Commit(t.Context(), []*store.Entry{e})
	if err != nil || outcomes[0] != store.Written {
		t.Error(outcomes, err)
	}
}
