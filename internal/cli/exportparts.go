package cli

import (
	"context"
	"fmt"
	"io"

	"skink/feed"
	"skink/report"
	"skink/store"
)

func (f *exportFlags) writeChunks(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	passages, err := f.out.count(ctx, con, func(out io.Writer) (int, error) { return feed.WritePassages(ctx, out, s, opt, f.most) })
	return f.told(con, "pages", passages, opt, err)
}

const formatLinks = "links"

func (f *exportFlags) writeLinks(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	links, err := f.out.count(ctx, con, func(out io.Writer) (int, error) { return feed.WriteLinks(ctx, out, s, opt) })
	if err == nil && f.out.out != "-" {
		fmt.Fprintf(con.Err, "wrote %s to %s\n", report.Counted(links, "link"), f.out.out)
	}
	return f.told(con, "links", links, opt, err)
}
