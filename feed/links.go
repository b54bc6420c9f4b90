package feed

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"skink/base/harmless"
	"skink/base/table"
	"skink/feed/release"
	"skink/store"
)

// A Link is one link of the link graph, from one URL to another. SCHEMA.md describes each field.
type Link struct {
	Source   string         `json:"source"`
	Target   string         `json:"target"`
	Text     string         `json:"text,omitempty"`
	Kind     store.LinkKind `json:"kind"`
	NoFollow bool           `json:"nofollow,omitempty"`
	Position int            `json:"position"`
}

const redirectKind store.LinkKind = "redirect"

// LinkFormat is a format in which [WriteLinks] writes the link graph.
type LinkFormat string

const (
	LinksCSV       LinkFormat = "csv"
	LinksJSONLines LinkFormat = "jsonl"
	LinksParquet   LinkFormat = "parquet"
)

var linkColumns = columnsOf(reflect.TypeFor[Link]())

// WriteLinks writes to w all links and redirects of s, in the order in which their pages were
// judged. The links of a page are in page order. Of opt, it uses Private and Left. WriteLinks
// returns the number of links that it wrote.
func WriteLinks(ctx context.Context, w io.Writer, s store.Reader, format LinkFormat, opt Options) (links int, err error) {
	out := bufio.NewWriterSize(w, bufferSize)
	write, end, err := linkWriter(out, format)
	if err != nil {
		return 0, fmt.Errorf("write links: %w", err)
	}
	gate := release.Gate{Filter: release.Filter{Include: release.Records, Private: opt.Private}, Left: opt.Left}
	for released, err := range gate.Pages(ctx, s, store.WantLinks) {
		if err != nil {
			return links, fmt.Errorf("write links: %w", err)
		}
		page := released.Content()
		r := &page.Record
		if r.Kind == store.Redirect && r.Location != "" {
			page.Links = []store.Link{{URL: r.Location, Kind: redirectKind}}
		}
		for i := range page.Links {
			l := &page.Links[i]
			if err := write(&Link{r.URL, l.URL, l.Text, l.Kind, l.NoFollow, i}); err != nil {
				return links, fmt.Errorf("write links: %w", err)
			}
			links++
		}
	}
	if err := errors.Join(end(), out.Flush()); err != nil {
		return links, fmt.Errorf("write links: %w", err)
	}
	return links, nil
}

func linkWriter(out *bufio.Writer, format LinkFormat) (write func(*Link) error, end func() error, err error) {
	switch format {
	case LinksParquet:
		t := table.NewWriter(out, table.NewSchema(linkColumns))
		return func(l *Link) error {
			return t.Write([]any{valid(l.Source), valid(l.Target), valid(l.Text), string(l.Kind), l.NoFollow, l.Position})
		}, t.Close, nil
	case LinksJSONLines:
		return lineWriter[Link](out), func() error { return nil }, nil
	}
	guard := harmless.CSV(out)
	sheet := csv.NewWriter(guard)
	row := make([]string, 0, len(linkColumns))
	for _, c := range linkColumns {
		row = append(row, c.Name)
	}
	if err := sheet.Write(row); err != nil {
		return nil, nil, err
	}
	write = func(l *Link) error {
		row = append(row[:0], harmless.Cell(l.Source), harmless.Cell(l.Target), harmless.Cell(l.Text), string(l.Kind), strconv.FormatBool(l.NoFollow), strconv.Itoa(l.Position))
		return sheet.Write(row)
	}
	return write, func() error {
		sheet.Flush()
		return errors.Join(sheet.Error(), guard.Flush())
	}, nil
}
