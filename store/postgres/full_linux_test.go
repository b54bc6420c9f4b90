package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"skink/internal/tools/postgrestest"
	"skink/store"
)

// The tables are on a separate disk, which becomes full. A commit then fails at once with
// store.ErrFull. When there is space again, the same commit succeeds, and every page that was
// committed is there.
func TestDiskFull(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	dir, err := os.MkdirTemp("", "skink-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	mount := func(options string) error {
		out, err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=777,"+options, "tmpfs", dir).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}
	if err := mount("size=2m"); err != nil {
		t.Skip("no file system may be mounted: ", err)
	}
	t.Cleanup(func() {
		server.Kill()
		_ = exec.Command("umount", "-l", dir).Run()
	})
	tables := dir + "/tables"
	if err := errors.Join(os.Mkdir(tables, 0o777), server.Own(tables)); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CREATE TABLESPACE small LOCATION '" + tables + "'", "ALTER ROLE " + postgrestest.User + " SET default_tablespace = small"} {
		if err := server.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	s := openAt(t, server.URL("full"))
	acknowledged := map[string]bool{}
	var e *store.Entry
	for i := 0; err == nil; i++ {
		if i == 5000 {
			t.Fatal("5000 pages fit into 2 MiB")
		}
		url := fmt.Sprintf("https://full.example/%d", i)
		e = pageOf(url)
		if _, err = s.Commit(ctx, []*store.Entry{e}); err == nil {
			acknowledged[url] = true
		}
	}
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "free some space there") {
		t.Fatalf("on a full disk: %v", err)
	}
	if err := mount("remount,size=64m"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(ctx, []*store.Entry{e}); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	acknowledged[e.Record.URL] = true
	wantAll(t, s, acknowledged)
}
