// Command crawl crawls sites and prints, for each page, whether it duplicates an earlier one:
//
//	go run ./examples/crawl https://example.com/
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"skink/crawler"
	"skink/dedup"
	"skink/extract"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:], crawler.Defaults()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, seeds []string, opt crawler.Options) error {
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		return err
	}
	index := dedup.NewIndex(rule)
	return crawler.Walk(ctx, seeds, opt, func(p *crawler.Page) (crawler.Links, error) {
		switch {
		case p.Problem != "":
			fmt.Fprintln(out, p.Item.URL, p.Problem, p.Detail)
			return crawler.Links{}, nil
		case p.Location != "":
			fmt.Fprintln(out, p.Item.URL, "leads to", p.Location)
			return crawler.Links{}, nil
		}
		doc, err := extract.Parse(p.Body, p.Header.Get("Content-Type"))
		if err != nil {
			fmt.Fprintln(out, p.Item.URL, err)
			return crawler.Links{}, nil
		}
		v := index.Add(p.Item.URL, doc.Text)
		fmt.Fprintln(out, p.Item.URL, v.Kind, v.DuplicateOf)
		return crawler.Links{Base: doc.Base, Hrefs: doc.Hrefs()}, nil
	})
}
