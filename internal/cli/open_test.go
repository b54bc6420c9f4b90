package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skink/store/badger"
)

// A crawl waits for a process that holds the store only for a moment, as skink control does.
func TestCrawlWaitsForAMoment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := badger.Open(dir, badger.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	time.AfterFunc(100*time.Millisecond, func() { closed <- s.Close() })
	var messages strings.Builder
	code := Run(t.Context(), []string{"crawl", "--store", dir, filepath.Join("..", "..", "testdata", "site")}, Console{Out: io.Discard, Err: &messages})
	if err := <-closed; err != nil || code != 0 {
		t.Errorf("exit code %d, %v\n%s", code, err, &messages)
	}
}
