// Command markdown prints the main text of HTML files as Markdown:
//
//	go run ./examples/markdown testdata/site/*.html
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"skink/extract"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer, names []string) error {
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		doc, err := extract.Parse(body, "") // "" is for a server that sends no Content-Type
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "%s\n\n", doc.Markdown(extract.MarkdownOptions{Images: true}))
	}
	return nil
}
