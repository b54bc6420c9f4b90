package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"skink/feed"
	"skink/report"
	"skink/store"
)

func (f *exportFlags) checkChunks() error {
	switch {
	case f.to != "" || f.format != feed.JSONLines:
		return usagef("--chunks writes JSON Lines: omit --to and --format")
	case f.since.given():
		return usagef("--chunks compares the passages of all pages: omit --since and --cursor; a passage whose words have not changed keeps its id")
	case f.markdown:
		return usagef("--chunks writes passages of the text: omit --markdown")
	case f.strip:
		return usagef("--chunks writes repeated text only once: omit --strip-repeated")
	case len(f.fields) > 0:
		return usagef("--fields adds fields to pages, and --chunks writes passages: omit one of the two")
	}
	return nil
}

func (f *exportFlags) writeChunks(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	passages := 0
	err := f.out.write(ctx, con, func(out io.Writer) (err error) {
		passages, err = feed.WritePassages(ctx, out, s, opt, f.most)
		return err
	})
	return f.told(con, "pages", passages, opt, err)
}

const formatLinks = "links"

func (f *exportFlags) checkLinks() error {
	switch {
	case f.to != "":
		return usagef("--to sends pages to an index: omit --format links")
	case f.since.given():
		return usagef("--format links writes all links: omit --since and --cursor")
	case f.markdown || f.strip || f.minWords > 0 || len(f.without) > 0 || len(f.fields) > 0 || f.flags.Changed("include"):
		return usagef("--format links writes the links of all pages: omit the flags that choose pages or fields")
	}
	return nil
}

func (f *exportFlags) linkFormat() feed.LinkFormat {
	name := strings.TrimSuffix(strings.TrimSuffix(f.out.out, ".gz"), ".zst")
	switch {
	case strings.HasSuffix(name, ".parquet"):
		return feed.LinksParquet
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".ndjson"):
		return feed.LinksJSONLines
	}
	return feed.LinksCSV
}

func (f *exportFlags) writeLinks(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	links := 0
	err := f.out.write(ctx, con, func(out io.Writer) (err error) {
		links, err = feed.WriteLinks(ctx, out, s, f.linkFormat(), opt)
		return err
	})
	if err == nil && f.out.out != "-" {
		fmt.Fprintf(con.Err, "wrote %s to %s\n", report.Counted(links, "link"), f.out.out)
	}
	return f.told(con, "links", links, opt, err)
}
