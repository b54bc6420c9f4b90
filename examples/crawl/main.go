// Command crawl crawls sites into the folder skink-data and prints, for each page, whether it
// duplicates an earlier one. If it is killed, it continues with the same command:
//
//	go run ./examples/crawl https://example.com/
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"skink/crawl"
	"skink/store"
	"skink/store/badger"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, "skink-data", os.Args[1:], crawl.Defaults()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, dir string, seeds []string, opt crawl.Options) error {
	s, err := badger.Open(dir, badger.Options{Create: true})
	if err != nil {
		return err
	}
	err = crawl.Run(ctx, s, seeds, opt, func(_ context.Context, p *store.Change) error {
		r := &p.Record
		switch r.Kind {
		case store.Page:
			fmt.Fprintln(out, r.URL, r.Verdict, r.DuplicateOf)
		case store.Redirect:
			fmt.Fprintln(out, r.URL, "leads to", r.Location)
		default:
			fmt.Fprintln(out, r.URL, r.Kind, r.Problem)
		}
		return nil
	})
	return errors.Join(err, s.Close())
}
