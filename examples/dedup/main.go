// Command dedup prints, for each text file, whether it duplicates an earlier one:
//
//	go run ./examples/dedup *.txt
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"skink/dedup"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer, names []string) error {
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		return err
	}
	index := dedup.NewIndex(rule)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		switch v := index.Add(name, string(text)); v.Kind {
		case dedup.Exact, dedup.Near:
			fmt.Fprintf(out, "%s: %s, %.0f%% of %s\n", name, v.Kind, 100*v.Resemblance, v.DuplicateOf)
		default:
			fmt.Fprintf(out, "%s: %s\n", name, v.Kind)
		}
	}
	return nil
}
