package cli

import "testing"

func TestGrowth(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		live, goal int64
		want       int
	}{
		{0, 256 * mb, maxPercent},
		{60 * mb, 256 * mb, maxPercent}, // the usual size of a crawl: far below the goal
		{128 * mb, 256 * mb, 100},
		{160 * mb, 256 * mb, 60},
		{256 * mb, 256 * mb, crawlPercent}, // at the goal
		{800 * mb, 256 * mb, crawlPercent},
	} {
		if got := growth(tt.live, tt.goal, crawlPercent); got != tt.want {
			t.Errorf("growth(%d MB, %d MB) = %d%%, want %d%%", tt.live/mb, tt.goal/mb, got, tt.want)
		}
	}
}
