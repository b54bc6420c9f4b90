package cli

import (
	"runtime/debug"
	"testing"
)

func TestBuildOf(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, c := range []struct {
		release           string
		info              debug.BuildInfo
		version, revision string
	}{
		{"", debug.BuildInfo{}, "(devel)", "unknown"},
		{"", debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-2025"}, Settings: []debug.BuildSetting{setting("vcs.revision", "abc")}}, "v0.0.0-2025", "abc"},
		{"", debug.BuildInfo{Settings: []debug.BuildSetting{setting("vcs.revision", "abc"), setting("vcs.modified", "true")}}, "(devel)", "abc with changes"},
		{"v1.2.3", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "v1.2.3", "unknown"},
	} {
		version = c.release
		if b := buildOf(&c.info); b.Version != c.version || b.Revision != c.revision || b.Go == "" {
			t.Errorf("%+v: %+v, want version %s, revision %s", c.info, b, c.version, c.revision)
		}
	}
	version = ""
}

func TestAffordable(t *testing.T) {
	for _, c := range []struct {
		asked int
		files int64
		want  int
	}{
		{1024, 0, 1024}, // nobody knows
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
