package badger

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"skink/frontier"
	"skink/store"
)

func TestFull(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := openTest(t, dir)
	if _, err := s.Discover(ctx, []frontier.Item{{URL: "https://example.com/1"}}); err != nil {
		t.Fatal(err)
	}
	free := int64(100 << 20)
	s.disk.reserve = 0
	s.disk.space = func(string) (int64, int64, error) { return free, 100 << 30, nil }

	_, err := s.Discover(ctx, []frontier.Item{{URL: "https://example.com/2"}})
	wantError(t, dir, err, store.ErrFull)
	wantError(t, dir, commitError(t, s, entry(1)), store.ErrFull)
	wantError(t, dir, s.SetMeta(ctx, "name", nil), store.ErrFull)
	checkCounts(t, s, frontier.Counts{Pending: 1}) // the second URL was not written

	// A crawl can still end in order.
	g, err := s.Claim(ctx, "me", 1, time.Hour)
	if err != nil || len(g.Hosts) != 1 {
		t.Fatalf("Claim = %+v, %v", g, err)
	}
	c := g.Hosts[0].Claim
	if err := s.Release(ctx, c, frontier.Item{URL: "https://example.com/1"}); err != nil {
		t.Error(err)
	}
	if err := s.Return(ctx, c, frontier.Rest{Delay: time.Second}); err != nil {
		t.Error(err)
	}
	free = 10 << 30
	s.disk.asked = time.Time{}
	if err := commitError(t, s, entry(1)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestReserve(t *testing.T) {
	const MiB = 1 << 20
	for _, tt := range []struct {
		reserve, free, total int64
		full                 bool
	}{
		{0, 256 * MiB, 1 << 40, false},
		{0, 255 * MiB, 1 << 40, true},
		{0, 101 * MiB, 2000 * MiB, false}, // 5 % of a small disk
		{0, 99 * MiB, 2000 * MiB, true},
		{0, 65 * MiB, 100 * MiB, false}, // but never less than a flush may take
		{0, 63 * MiB, 100 * MiB, true},
		{10 * MiB, 10 * MiB, 1 << 40, false},
		{10 * MiB, 9 * MiB, 1 << 40, true},
		{-1, 0, 1 << 40, false},
	} {
		d := disk{reserve: tt.reserve, space: func(string) (int64, int64, error) { return tt.free, tt.total, nil }}
		if err := d.check(); errors.Is(err, store.ErrFull) != tt.full {
			t.Errorf("reserve %d, %d of %d free: %v", tt.reserve, tt.free, tt.total, err)
		}
	}
}

// The disk is asked seldom, because asking costs more than committing a page.
func TestDiskIsAskedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d := disk{space: func(string) (int64, int64, error) { asked++; return 1 << 40, 1 << 40, nil }}
		for range 1000 {
			if err := d.check(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if asked != 20 {
			t.Errorf("asked %d times in a second, want 20", asked)
		}
	})
}

func TestDiskSpace(t *testing.T) {
	free, total, err := diskSpace(t.TempDir())
	if err != nil || free <= 0 || total < free {
		t.Errorf("diskSpace = %d, %d, %v", free, total, err)
	}
	if _, _, err := diskSpace("/no/such/folder"); err == nil || strings.Contains(err.Error(), "full") {
		t.Errorf("of a folder that is not there: %v", err)
	}
}
