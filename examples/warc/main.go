// Command warc prints the URL, the title and the number of words of each page in WARC files:
//
//	go run ./examples/warc *.warc.gz
package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"skink/extract"
	"skink/warc"
)

func main() {
	for _, name := range os.Args[1:] {
		f, err := os.Open(name)
		if err == nil {
			err = errors.Join(run(os.Stdout, bufio.NewReader(f)), f.Close())
		}
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

func run(out io.Writer, file io.Reader) error {
	r := warc.NewReader(file)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if lost, ok := errors.AsType[*warc.Damage](err); ok {
			log.Print(lost) // the reader continues after the damage
			continue
		}
		if err != nil {
			return err
		}
		if rec.Type() != warc.Response || !strings.HasPrefix(rec.URI(), "http") {
			continue
		}
		if err := show(out, rec); err != nil {
			log.Printf("%s: %v", rec.URI(), err)
		}
	}
}

// show prints a line about a response, if it is a page.
func show(out io.Writer, rec *warc.Record) error {
	m, err := rec.Message()
	if err != nil || m.Status() != 200 {
		return err
	}
	if m.Header.Get("Content-Encoding") == "gzip" { // the archive has the bytes that the server sent
		if m.Body, err = gzip.NewReader(m.Body); err != nil {
			return err
		}
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	doc, err := extract.Parse(body, m.Header.Get("Content-Type"))
	if errors.Is(err, extract.ErrNotText) {
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %q, %d words\n", rec.URI(), doc.Title, doc.Words())
	return nil
}
