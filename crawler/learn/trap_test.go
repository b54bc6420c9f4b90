package learn

import (
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// Each form with endlessly many URLs is recognized, similar URLs are not, and no form alone
// postpones a URL.
func TestTrapOf(t *testing.T) {
	const near, far = "near", "far"
	for path, want := range map[string]string{
		"/a/a/a/": far, "/x/a/b/a/b/a/b/c": far, "/a/a/b": "", "/1/2/1/2/3": "", "/": "", "/a/b/c/a/b/c": "",
		"/" + strings.Repeat("a", 3000): far,
		"/calendar/2031/05":             far, "/calendar/2031-05-01": far, "/cal?day=2031-05-01": far, "/x/1066/10/14/": far,
		"/calendar/2027/05/": near, "/archive/1850/05/03": near, "/events?month=2026-05&view=week": near,
		"/product/2031": "", "/2031": "", "/p/9999-99": "", "/browse?vendor=3012": "", "/browse?end=2090": "", "/2026/04/title/": "", "/thread/5123/20": "",
	} {
		trap, is := addressOf(site + path).trap(now)
		got := ""
		switch {
		case is && trap.far:
			got = far
		case is:
			got = near
		}
		if got != want {
			t.Errorf("%.60s: %q, want %q", path, got, want)
		}
		if a := new(Host).Look(site+path, now); a.Rule != "" {
			t.Errorf("%.60s is postponed without evidence: %v", path, a)
		}
	}
}
