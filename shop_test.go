package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/internal/cli"
)

// TestShop crawls a generated shop (internal/tools/webgen --shop) with learning and without, and
// asks the shop what that cost it and what was found: at least 60 % fewer fetches of
// copies, at least 99 % of the different texts in the same crawl (99.5 % of a shop of 1,000
// products, where a few texts weigh less), all of them after what was put last was fetched too, and
// on the host where nothing is to be learned not a page less or later.
//
// 150 products; with SKINK_LONG 1,000, and three shops.
func TestShop(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process")
	}
	products, seeds, found := 150, []int{1}, 0.99
	if os.Getenv("SKINK_LONG") != "" {
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
			t.Logf("with learning:    %d fetches, %d texts, %d copies (%.1f %% fewer), %d on the plain host; then %d texts",
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
		})
	}
}

// A shop is one that is being served.
type shop struct {
	at    string // where it says what it was asked
	seeds []string
}

// sold is what a shop says of itself.
type sold struct {
	Fetched, Unique, Copies, All int
	Hosts                        map[string]int
	Missing, Seeds               []string
}

func startShop(t *testing.T, bin string, products, seed int) *shop {
	t.Helper()
	cmd := exec.Command(bin, "--shop", fmt.Sprint(products), "--seed", fmt.Sprint(seed))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // its end ends the process
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
