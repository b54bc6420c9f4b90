package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

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
