package session

import "testing"

func TestAffordable(t *testing.T) {
	for _, c := range []struct {
		asked int
		files int64
		want  int
	}{
		{1024, 0, 1024}, // unknown
		{1024, 1 << 20, 1024},
		{1024, 1024, 448},
		{16, 1024, 16},
		{1024, 64, 1},
	} {
		if got := affordable(c.asked, c.files); got != c.want {
			t.Errorf("%d connections with %d files: %d, want %d", c.asked, c.files, got, c.want)
		}
	}
}
