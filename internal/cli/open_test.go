package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skink/base/lock"
	"skink/store/badger"
)

func emptyStore(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s, err := badger.Open(dir, badger.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// holdForAMoment locks a store as a process does that has it open. On a busy machine, closing a store would take seconds.
func holdForAMoment(t *testing.T, dir string) {
	t.Helper()
	release, ok, err := lock.Try(dir)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	time.AfterFunc(100*time.Millisecond, release)
}

// A crawl waits for a process that holds the store only for a moment, as skink control does.
func TestCrawlWaitsForAMoment(t *testing.T) {
	dir := emptyStore(t)
	holdForAMoment(t, dir)
	var messages strings.Builder
	code := Run(t.Context(), []string{"crawl", "--store", dir, filepath.Join("..", "..", "testdata", "site")}, Console{Out: io.Discard, Err: &messages})
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, &messages)
	}
}

// A copy takes the place of a store although another process holds that store for a moment, as skink
// status does.
func TestCopyWaitsForAMoment(t *testing.T) {
	dir := emptyStore(t)
	beside, err := openAside(t.Context(), dir)
	if err == nil {
		err = beside.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	holdForAMoment(t, dir)
	if err := beside.take(); err != nil {
		t.Error(err)
	}
}
