// Skink is a web crawler that knows which pages say the same thing.
//
//	skink crawl   [flags] SEED...   crawl sites, and judge each page as it comes
//	skink dedup   [flags] PATH...   judge files that are on disk already
//	skink compare [flags] A B       compare two pages by every measure
//	skink extract [flags] FILE...   print what a crawl would take as the main text
//	skink report  [flags]           print the duplicate report of a store
//	skink export  [flags]           write the pages of a store for an index
//	skink status  [flags]           print how far a crawl has come
//	skink tune    [flags] PAIRS     find which shingle and threshold fit labelled pairs
//
// A page is unique, exact (the text of another), near (it resembles another at
// least as much as --similarity says), or thin (too short to compare). The page
// that a duplicate repeats is its leader, the first of its kind.
//
// Data goes to standard output, everything else to standard error. The exit code
// is 0 when done, 1 when that failed, 2 for a command line that makes no sense,
// and 3 when compare --check finds no duplicates.
//
// The first interrupt ends a crawl in order, after what is in flight; a second
// one ends it at once, which loses nothing either.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"skink/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on, signals do what they do by default
	fd := int(os.Stderr.Fd())
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Console{
		In:         os.Stdin,
		Out:        os.Stdout,
		Err:        os.Stderr,
		Terminal:   term.IsTerminal(fd),
		InTerminal: term.IsTerminal(int(os.Stdin.Fd())),
		Columns: func() int {
			if width, _, err := term.GetSize(fd); err == nil {
				return width
			}
			return 80
		},
	}))
}
