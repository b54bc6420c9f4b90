package cli

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/pflag"
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
		{"", debug.BuildInfo{Settings: []debug.BuildSetting{setting("vcs.revision", "abc"), setting("vcs.modified", "true")}}, "(devel)", "abc with local changes"},
		{"v1.2.3", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "v1.2.3", "unknown"},
	} {
		version = c.release
		if b := buildOf(&c.info); b.Version != c.version || b.Revision != c.revision || b.Go == "" {
			t.Errorf("%+v: %+v, want version %s, revision %s", c.info, b, c.version, c.revision)
		}
	}
	version = ""
}

// TestParallel checks that more pages are processed at once if the store is on a server, unless the
// flag gives a number.
func TestParallel(t *testing.T) {
	server := "postgres://u@127.0.0.1:5432/d?schema=s"
	for _, test := range []struct {
		args []string
		want int
	}{
		{[]string{"--store", "folder"}, 16},
		{[]string{"--store", server}, 128},
		{[]string{"--store", server, "--parallel", "3"}, 3},
		{[]string{"--store", server, "--parallel", "16"}, 16},
	} {
		flags := pflag.NewFlagSet("crawl", pflag.ContinueOnError)
		f := newCrawlFlags(flags)
		if err := flags.Parse(test.args); err != nil {
			t.Fatal(err)
		}
		if o, _, err := f.settle(nil); err != nil || o.Crawl.Parallel != test.want {
			t.Errorf("%v: %d pages at once, %v; want %d", test.args, o.Crawl.Parallel, err, test.want)
		}
	}
}

func TestPrintError(t *testing.T) {
	a, b := errors.New("write:\nno space"), errors.New("close: no space")
	for want, err := range map[string]error{
		"skink: write: no space\n":                                a,
		"skink: write: no space\nskink: close: no space\n":        errors.Join(a, b),
		"skink: crawl: write: no space close: no space\n":         fmt.Errorf("crawl: %w", errors.Join(a, b)),
		"skink: write: no space: close: no space\n":               fmt.Errorf("%w: %w", a, b),
		"skink: close: no space\nskink: crawl: close: no space\n": errors.Join(b, errors.Join(nil, fmt.Errorf("crawl: %w", b))),
	} {
		var got strings.Builder
		if printError(&got, err); got.String() != want {
			t.Errorf("got %q, want %q", got.String(), want)
		}
	}
}
