// Skink is a web crawler that knows which pages say the same thing.
//
//	skink crawl   [flags] SEED...   crawl sites, and judge each page as it comes
//	skink dedup   [flags] PATH...   judge files that are on disk already
//	skink compare [flags] A B       compare two pages by every measure
//	skink extract [flags] PAGE...   print what a crawl would take as the main text
//	skink report  [flags]           print the duplicate report of a store
//	skink export  [flags]           write the pages of a store for an index
//	skink status  [flags]           print how far a crawl has come
//	skink check   [flags]           read all of a store, and say what is damaged
//	skink tune    [flags] PAIRS     find which shingle and threshold fit labelled pairs
//	skink version                   print which version this is
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
// one ends it at once, which loses nothing either. A terminal that is closed is an
// interrupt, and so is a pipe that nobody reads any more: then nothing is said, and
// the exit code is 141, as of a program that such a pipe ended at once.
package main

import "skink/internal/cli"

func main() { cli.Main() }
