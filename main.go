// Skink is a web crawler that finds duplicate and near-duplicate pages.
//
//	skink crawl [flags] [SEED...]   crawl sites and find duplicate pages
//	skink dedup [flags] PATH...     find duplicates among files
//	skink compare [flags] A B       compare two pages with all similarity measures
//	skink extract [flags] PAGE...   print the main text of pages
//	skink report [flags]            print the duplicates in a store, or an audit of its sites
//	skink export [flags]            write the pages of a store, for a search index
//	skink status [flags]            print the progress of a crawl
//	skink control [flags] ORDER...  steer a crawl: pause or stop it, block hosts, exclude URLs
//	skink delete [flags]            delete pages from a store
//	skink check [flags]             check a store for damage
//	skink store info|copy|drop [flags] [STORE...]
//	                                describe, copy or remove stores
//	skink view [flags]              show a store in a browser
//	skink tune [flags] PAIRS        find the best settings for labeled pairs
//	skink version                   print the version
//	skink help [COMMAND|TOPIC]      print the manual, the help of a command, or a topic
//
// A page is unique, exact (the same words as another page), near (it resembles another page at
// least as much as --similarity requires), or thin (too short to compare). The page that a
// duplicate repeats is its leader.
//
// Data goes to standard output, everything else to standard error. The exit codes are:
//
//	  0  done
//	  1  the command failed or was interrupted
//	  2  the command line has an error
//	  3  compare --check: the pages are not duplicates
//	  4  report --fail-on: a limit was exceeded
//	141  the program reading the output has exited
//
// The first Ctrl-C ends a crawl when the pages in flight are finished, and the second ends it at
// once. In both cases, the same command continues the crawl. If its terminal is closed, or the
// program that reads its output ends, skink ends as it does after Ctrl-C.
package main

import "skink/internal/cli"

func main() { cli.Main() }
