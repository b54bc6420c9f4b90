package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/internal/cli"
)

// TestShop crawls a generated shop (internal/tools/webgen --shop) with and without learning, and
// compares the statistics of the shop. Learning must save at least 60% of the fetches of copies.
// The same crawl must find at least 98% of the different texts, or 99.5% in a shop of 1,000
// products, where the few texts hidden among copies are a smaller share. All texts must be found
// after the postponed URLs were fetched too. On the host "plain", where there is nothing to learn,
// learning must not miss a page.
//
// The host plain is then crawled alone, with one request at a time, so that the order of the pages
// is reproducible. Learning may cost at most 1% more requests, and may delay a page by at most
// fewPlaces positions. Some positions are lost on a busy machine, because pages are stored while
// the next request runs. A postponed page would be delayed behind nearly all others.
//
// SKINK_LONG=short has a shop of 200 products, SKINK_LONG=full three shops of 1,000 products.
func TestShop(t *testing.T) {
	t.Parallel()
	const fewPlaces = 50
	products, seeds, found := 120, []int{1}, 0.98
	if long(t) == full {
		products, seeds, found = 1000, []int{1, 2, 3}, 0.995
	}
	bin := filepath.Join(t.TempDir(), "webgen")
	if out, err := exec.Command("go", "build", "-o", bin, "./internal/tools/webgen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			all := startShop(t, bin, products, seed)
			all.crawl(t, t.TempDir(), "--learn", "off")
			without := all.sofar(t)

			shop, dir := startShop(t, bin, products, seed), t.TempDir()
			shop.crawl(t, dir)
			with := shop.sofar(t)
			shop.crawl(t, dir, "--budget", "off")
			after := shop.sofar(t)

			t.Logf("without learning: %d fetches, %d of %d texts, %d copies", without.Fetched, without.Unique, without.All, without.Copies)
			t.Logf("with learning:    %d fetches, %d texts, %d copies (%.1f%% fewer), %d on the plain host; then %d texts",
				with.Fetched, with.Unique, with.Copies, 100*(1-float64(with.Copies)/float64(without.Copies)), with.Hosts["plain"], after.Unique)
			switch {
			case without.Unique != without.All:
				t.Errorf("without learning %d of %d texts were found; missing %v", without.Unique, without.All, without.Missing)
			case float64(with.Copies) > 0.4*float64(without.Copies):
				t.Errorf("%d copies were fetched, %d without learning", with.Copies, without.Copies)
			case float64(with.Unique) < found*float64(with.All):
				t.Errorf("%d of %d texts were found; missing %v", with.Unique, with.All, with.Missing)
			case after.Unique != after.All:
				t.Errorf("in the end %d of %d texts were found; missing %v", after.Unique, after.All, after.Missing)
			case with.Hosts["plain"] != without.Hosts["plain"] || with.Hosts["plain"] != products:
				t.Errorf("the plain host was asked for %d pages, and for %d without learning; it has %d", with.Hosts["plain"], without.Hosts["plain"], products)
			}
			with, without = crawlPlain(t, bin, products, seed, "on"), crawlPlain(t, bin, products, seed, "off")
			asked, allowed, late := with.Fetched+with.Other, without.Fetched+without.Other, latest(with.Plain, without.Plain)
			t.Logf("the plain host alone: %d requests, %d without learning; no page more than %d places later", asked, allowed, late)
			switch {
			case len(with.Plain) != products || len(without.Plain) != products:
				t.Errorf("of the plain host's %d pages %d were found, and %d without learning", products, len(with.Plain), len(without.Plain))
			case asked > allowed+allowed/100 || late > fewPlaces:
				t.Errorf("learning costs the plain host %d requests for %d, and a page comes %d places later", asked, allowed, late)
			}
		})
	}
}

// crawlPlain crawls only the host plain of a shop, with one request at a time.
func crawlPlain(t *testing.T, bin string, products, seed int, learn string) sold {
	t.Helper()
	shop := startShop(t, bin, products, seed)
	shop.seeds = shop.seeds[len(shop.seeds)-1:]
	shop.crawl(t, t.TempDir(), "--parallel", "1", "--delay", "20ms", "--learn", learn)
	return shop.sofar(t)
}

// latest returns the largest number of positions by which a text in order comes later than in
// other.
func latest(order, other []string) (places int) {
	was := map[string]int{}
	for i, text := range other {
		was[text] = i
	}
	for i, text := range order {
		places = max(places, i-was[text])
	}
	return places
}

// A shop is a generated shop that is being served.
type shop struct {
	at    string // URL of the shop's statistics
	seeds []string
}

// sold holds the statistics of a shop.
type sold struct {
	Fetched, Unique, Copies, All, Other int
	Hosts                               map[string]int
	Missing, Seeds, Plain               []string
}

func startShop(t *testing.T, bin string, products, seed int) *shop {
	t.Helper()
	cmd := exec.Command(bin, "--shop", fmt.Sprint(products), "--seed", fmt.Sprint(seed))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // closing standard input ends the process
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	var says sold
	if err := json.NewDecoder(stdout).Decode(&says); err != nil {
		t.Fatalf("read what webgen says: %v", err)
	}
	port := says.Seeds[0][strings.LastIndexByte(says.Seeds[0], ':'):]
	return &shop{at: "http://127.0.0.1" + port, seeds: says.Seeds}
}

func (s *shop) args(dir string, flags ...string) []string {
	return slices.Concat([]string{"crawl", "--store", filepath.Join(dir, "store"), "--delay", "0", "--allow-private", "127.0.0.0/8", "--contact", "test@example.org"}, flags, s.seeds)
}

func (s *shop) crawl(t *testing.T, dir string, flags ...string) {
	t.Helper()
	var printed bytes.Buffer
	if code := cli.Run(t.Context(), s.args(dir, flags...), cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &printed}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &printed)
	}
}

func (s *shop) sofar(t *testing.T) (says sold) {
	t.Helper()
	resp, err := http.Get(s.at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&says); err != nil {
		t.Fatal(err)
	}
	return says
}

// TestShopKilled kills a crawl with learning at random moments. It must have found nearly all texts,
// with at most two fifths of the fetches that all pages take, and all texts after the postponed URLs
// were fetched too. An undisturbed crawl takes a fifth to a third of the fetches, depending on the
// order in which the hosts answer.
//
// SKINK_LONG=short kills twice, and SKINK_LONG=full twenty times.
func TestShopKilled(t *testing.T) {
	t.Parallel()
	const products = 150
	kills := 2
	if long(t) == full {
		kills = 20
	}
	bin := filepath.Join(t.TempDir(), "webgen")
	if out, err := exec.Command("go", "build", "-o", bin, "./internal/tools/webgen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	skink := buildSkink(t)
	calm := startShop(t, bin, products, 1)
	calm.crawl(t, t.TempDir())
	want := calm.sofar(t)

	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	shop, dir, killed := startShop(t, bin, products, 1), t.TempDir(), 0
	for left := kills; left > 0; left-- {
		before := shop.sofar(t).Fetched
		share := (want.Fetched - before) / left
		if shop.crawlUntil(t, skink, dir, before+1+rng.IntN(max(share, 1))) {
			killed++
		}
	}
	shop.crawl(t, dir)
	got := shop.sofar(t)
	shop.crawl(t, dir, "--budget", "off")
	after := shop.sofar(t)
	t.Logf("seed %d: %d of %d runs killed; %d fetches, %d of %d texts; undisturbed %d and %d; in the end %d texts with %d fetches", seed, killed, kills, got.Fetched, got.Unique, got.All, want.Fetched, want.Unique, after.Unique, after.Fetched)
	switch {
	case killed < max(kills/2, 1):
		t.Errorf("only %d of %d runs were killed before they ended", killed, kills)
	case float64(got.Unique) < 0.98*float64(got.All):
		t.Errorf("%d of %d texts were found; missing %v", got.Unique, got.All, got.Missing)
	case got.Fetched*5 > after.Fetched*2:
		t.Errorf("%d fetches, undisturbed %d, and %d without learning", got.Fetched, want.Fetched, after.Fetched)
	case after.Unique != after.All:
		t.Errorf("in the end %d of %d texts were found; missing %v", after.Unique, after.All, after.Missing)
	}
}

// crawlUntil runs a crawl in a separate process, and kills it after the given number of requests
// for pages. The result killed reports whether it was killed before it ended.
func (s *shop) crawlUntil(t *testing.T, skink, dir string, pages int) (killed bool) {
	t.Helper()
	cmd := exec.Command(skink, s.args(dir, "--quiet")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("crawl: %v\n%s", err, &out)
			}
			return false
		default:
		}
		if s.sofar(t).Fetched >= pages {
			_ = cmd.Process.Kill()
			return <-ended != nil
		}
	}
}
