package e2e

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skink/internal/cli"
)

// BenchmarkCrawl crawls two generated sites of 2,000 pages into a store. SKINK_URLS may name other
// URLs. A profile shows where the time is spent:
//
//	SKINK_URLS=http://127.0.0.1:8080/ go test -run - -bench Crawl -benchtime 1x -cpuprofile cpu.prof ./internal/e2e
func BenchmarkCrawl(b *testing.B) {
	seeds := strings.Fields(os.Getenv("SKINK_URLS"))
	if len(seeds) == 0 {
		seeds = startSites(b, 2000).seeds
	}
	n := strconv.Itoa(parallel)
	for i := 0; b.Loop(); i++ {
		store := filepath.Join(b.TempDir(), strconv.Itoa(i))
		args := append([]string{"crawl", "--quiet", "--store", store, "--delay", "0", "--parallel", n, "--per-host", n}, seeds...)
		if code := cli.Run(context.Background(), args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: os.Stderr}); code != 0 {
			b.Fatalf("exit code %d", code)
		}
	}
}
