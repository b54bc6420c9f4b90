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
			_, err := fmt.Fprintf(con.Out, "skink %s\nbuilt with %s for %s/%s\n", b.Version, b.Go, runtime.GOOS, runtime.GOARCH)
			return err
		}
	},
}

// readBuild returns the version of the program. Without -ldflags, it is the version that the Go command has recorded:
// the tag or the commit, and whether there were local changes.
func readBuild() monitor.Build {
	info, _ := debug.ReadBuildInfo() // every program that is built as a module has it
	return monitor.Build{Version: cmp.Or(version, info.Main.Version, "(devel)"), Go: runtime.Version()}
}
