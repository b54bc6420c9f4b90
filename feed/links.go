package feed

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"skink/base/harmless"
	"skink/feed/release"
	"skink/store"
)

const redirectKind store.LinkKind = "redirect"

// linkColumns are the columns of the link graph. SCHEMA.md describes each of them.
var linkColumns = []string{"source", "target", "text", "kind", "nofollow", "position"}

// WriteLinks writes to w all links and redirects of s as CSV, in the order in which their pages were
// judged. The links of a page are in page order. Of opt, it uses Private and Left. WriteLinks
// returns the number of links that it wrote.
func WriteLinks(ctx context.Context, w io.Writer, s store.Reader, opt Options) (links int, err error) {
	guard := harmless.CSV(w)
	sheet := csv.NewWriter(guard)
	if err := sheet.Write(linkColumns); err != nil {
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
			row := []string{harmless.Cell(r.URL), harmless.Cell(l.URL), harmless.Cell(l.Said()), string(l.Kind), strconv.FormatBool(l.NoFollow), strconv.Itoa(i)}
			if err := sheet.Write(row); err != nil {
				return links, fmt.Errorf("write links: %w", err)
			}
			links++
		}
	}
	sheet.Flush()
	if err := errors.Join(sheet.Error(), guard.Flush()); err != nil {
		return links, fmt.Errorf("write links: %w", err)
	}
	return links, nil
}
