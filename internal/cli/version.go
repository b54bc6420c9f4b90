package cli

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"

	"skink/internal/monitor"
)

// version is the version of a release, or "" for other builds. The linker sets it when a release is
// built:
//
//	go build -ldflags "-X skink/internal/cli.version=v1.2.3"
var version string

var versionCommand = command{
	name:  "version",
	short: "print the version",
	setup: func(*pflag.FlagSet) func(context.Context, Console, []string) error {
		return func(_ context.Context, con Console, _ []string) error {
			b := readBuild()
			_, err := fmt.Fprintf(con.Out, "skink %s\nrevision %s\nbuilt with %s for %s/%s\n", b.Version, b.Revision, b.Go, runtime.GOOS, runtime.GOARCH)
			return err
		}
	},
}

func readBuild() monitor.Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) monitor.Build {
	b := monitor.Build{Version: version, Go: runtime.Version()}
	changed := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				changed = " with local changes"
			}
		}
	}
	b.Version = cmp.Or(b.Version, info.Main.Version, "(devel)")
	b.Revision = cmp.Or(b.Revision, "unknown") + changed
	return b
}
