// Command resume crawls sites and adds each page to a file of its own, as JSON Lines. It can be killed at any time: the
// same command continues the crawl, and adds the pages that the file does not have:
//
//	go run ./examples/resume pages.jsonl https://example.com/
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"

	"skink/crawl"
	"skink/store"
	"skink/store/badger"
)

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: resume FILE URL...")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2:], crawl.Defaults()); err != nil {
		log.Fatal(err)
	}
}

// A line is a page in the file. Its cursor is where the crawl continues after the page.
type line struct {
	URL      string       `json:"url"`
	Title    string       `json:"title"`
	Markdown string       `json:"markdown"`
	Cursor   store.Cursor `json:"cursor"`
}

func run(ctx context.Context, name string, seeds []string, opt crawl.Options) error {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	if opt.After, err = last(file); err != nil {
		return err
	}
	s, err := badger.Open(name+".crawl", badger.Options{Create: true})
	if err != nil {
		return err
	}
	opt.Markdown = store.WordsOnly
	err = crawl.Run(ctx, s, seeds, opt, func(_ context.Context, p *store.Change) error {
		r := &p.Record
		if r.Kind != store.Page || r.DuplicateOf != "" || r.NoIndex || r.Private {
			return nil
		}
		return json.NewEncoder(file).Encode(line{r.URL, r.Title, p.Markdown, p.Cursor})
	})
	return errors.Join(err, s.Close())
}

// last returns the cursor of the last whole line of a file, and cuts off the rest.
func last(file *os.File) (at store.Cursor, err error) {
	lines, size := bufio.NewReader(file), int64(0)
	for {
		text, err := lines.ReadBytes('\n')
		if err == io.EOF { // the text has no end, because the program was killed while it wrote it
			_, err := file.Seek(size, io.SeekStart)
			return at, errors.Join(err, file.Truncate(size))
		}
		if err != nil {
			return "", err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return "", err
		}
		at, size = l.Cursor, size+int64(len(text))
	}
}
