package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skink/base/segment"
	"skink/dedup"
	"skink/store"
)

// SegmentTotals is the argument by of [ReadTotals] for the totals of each segment.
const SegmentTotals = "segments"

const inText = "text:" // begins the argument by of ReadTotals for a search

// HasTotals reports whether by is an argument of [ReadTotals]. The error is that of a regular expression.
func HasTotals(by string) (bool, error) {
	if pattern, is := strings.CutPrefix(by, inText); is {
		_, err := regexp.Compile(pattern)
		return true, err
	}
	return slices.Contains([]string{"hosts", folders, SegmentTotals, "types", "statuses", "seeds"}, by), nil
}

// totalColumns are the first columns of all tables but that of the seeds. All but the first two are only by folder.
var totalColumns = []Column{
	{Name: "urls", Title: "URLs", Brief: true}, {Name: "bytes", Title: "bytes", Brief: true},
	{Name: "milliseconds_median", Title: "median ms", Brief: true}, {Name: "milliseconds_95", Title: "95% ms", Brief: true},
	{Name: "pages", Title: "pages", Brief: true}, {Name: "duplicates", Title: "duplicates", Brief: true},
}

// ReadTotals returns a table of the records of a store whose URLs in has. By host, media type or status, it has the number
// of URLs and the size of their decoded bodies in bytes, largest number first. By segment, and by folder, the first of the
// path, it also has the median and the 95th percentile of the times from a request to the last byte of its
// response, in milliseconds: the least time that 50% and 95% of the responses did not exceed, and the
// numbers of pages and of those that are duplicates. It keeps 8 bytes in memory for each response. By seed, it has each seed with its status, the kind of its record, and
// the target of its redirect. If by is "text:" with a regular expression, the table has the pages whose title
// or main text the expression matches.
func ReadTotals(ctx context.Context, s store.Reader, by string, in segment.Choice) (t Table, err error) {
	if by == "seeds" {
		return readSeeds(ctx, s, in)
	}
	if pattern, is := strings.CutPrefix(by, inText); is {
		return readMatches(ctx, s, pattern, in)
	}
	type total struct {
		urls, bytes       int64
		pages, duplicates int64
		took              []int64
	}
	names := map[string]string{"hosts": "host", folders: "folder", SegmentTotals: "segment", "types": "type", "statuses": "status"}
	totals, timed := map[string]*total{}, by == folders || by == SegmentTotals
	for c, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return t, err
		}
		if !in.Has(c.Record.URL) {
			continue
		}
		name := cmp.Or(groupOf(&c.Record, by, in), "(no "+names[by]+")")
		if totals[name] == nil {
			totals[name] = &total{}
		}
		totals[name].urls++
		totals[name].bytes += c.Record.Size
		if c.Record.Kind == store.Page {
			totals[name].pages++
		}
		if c.Record.Verdict == dedup.Exact || c.Record.Verdict == dedup.Near {
			totals[name].duplicates++
		}
		if c.Record.Status != 0 && timed {
			totals[name].took = append(totals[name].took, c.Record.Took)
		}
	}
	columns := totalColumns
	if !timed {
		columns = totalColumns[:2]
	}
	t.Columns = append(slices.Clone(columns), Column{Name: names[by], Title: names[by], Brief: true})
	for name, sum := range totals {
		slices.Sort(sum.took)
		cells := []any{sum.urls, sum.bytes, percentile(sum.took, 50), percentile(sum.took, 95), sum.pages, sum.duplicates}
		t.Rows = append(t.Rows, Row{Cells: append(cells[:len(columns)], name)})
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Cells[0].(int64), a.Cells[0].(int64)), cmp.Compare(a.Cells[len(columns)].(string), b.Cells[len(columns)].(string)))
	})
	return t, nil
}

// percentile returns the least of the sorted values that percent of them do not exceed, or nil if there are none.
func percentile(sorted []int64, percent int) any {
	if len(sorted) == 0 {
		return nil
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

const folders = "folders"

var firstFolder = regexp.MustCompile(`^https?://[^/?#]*/(?:[^/?#]+/)?`)

// groupOf returns the name of the group of a record, or "" if it has none.
func groupOf(r *store.Record, by string, in segment.Choice) string {
	switch {
	case by == "hosts":
		return store.HostOf(r.URL)
	case by == folders:
		return firstFolder.FindString(r.URL)
	case by == SegmentTotals:
		return in.Of(r.URL)
	case by == "types":
		return r.ContentType
	case r.Status != 0:
		return strconv.Itoa(r.Status)
	}
	return cmp.Or(r.Problem, string(r.Kind))
}

func readSeeds(ctx context.Context, s store.Reader, in segment.Choice) (t Table, err error) {
	for _, name := range []string{"status", "kind", "url", "location"} {
		t.Columns = append(t.Columns, Column{Name: name, Title: name, Brief: true})
	}
	for c, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return t, err
		}
		if r := &c.Record; r.Depth == 0 && r.Via == "" && !r.Requisite && !r.Sitemap && in.Has(r.URL) {
			row := []any{int64(r.Status), string(r.Kind), URL(r.URL), nil}
			if r.Location != "" {
				row[3] = URL(r.Location)
			}
			t.Rows = append(t.Rows, Row{Cells: row})
		}
	}
	return t, nil
}

const (
	maxMatches = 10_000 // matches counted on a page
	maxFound   = 20     // different matches shown of a page
)

// readMatches returns the pages that a regular expression matches, most matches first. The column found has the different
// matches of the first group, or of the whole expression if there is no group. A match without characters does not count.
func readMatches(ctx context.Context, s store.Reader, pattern string, in segment.Choice) (t Table, err error) {
	expr, err := regexp.Compile(pattern)
	if err != nil {
		return t, err
	}
	group := min(1, expr.NumSubexp())
	names := []string{"matches", "url", "private", "found"}
	if len(in.List) > 0 {
		names = append(names, "segment")
	}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name, Title: name, Brief: true})
	}
	for c, err := range s.Changes(ctx, "", store.WantText) {
		if err != nil {
			return t, err
		}
		count, found := int64(0), []string{}
		for _, match := range expr.FindAllStringSubmatch(c.Record.Title+"\n"+c.Text, maxMatches) {
			if match[0] == "" {
				continue
			}
			if count++; len(found) < maxFound && !slices.Contains(found, match[group]) {
				found = append(found, match[group])
			}
		}
		if count > 0 && in.Has(c.Record.URL) {
			private := any(nil)
			if c.Record.Private {
				private = "private"
			}
			cells := []any{count, URL(c.Record.URL), private, strings.Join(found, "; "), in.Of(c.Record.URL)}
			t.Rows = append(t.Rows, Row{Cells: cells[:len(names)]})
		}
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Cells[0].(int64), a.Cells[0].(int64)), cmp.Compare(a.Cells[1].(URL), b.Cells[1].(URL)))
	})
	return t, nil
}

// WriteTotals writes a table of [ReadTotals] as text, CSV or JSON.
func WriteTotals(w io.Writer, t Table, format Format) error {
	out := bufio.NewWriter(w)
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	switch format {
	case Text:
		if len(t.Rows) == 0 {
			fmt.Fprintln(out, "none")
		}
		t.WriteText(out, "", "  ")
	case CSV:
		sheet, err := NewSheet(out, nil, names...)
		for i := 0; i < len(t.Rows) && err == nil; i++ {
			err = sheet.Row(t.Rows[i].Cells...)
		}
		if err = cmp.Or(err, sheet.End()); err != nil {
			return err
		}
	case JSON:
		all := []map[string]any{}
		for _, r := range t.Rows {
			one := map[string]any{}
			for i, cell := range r.Cells {
				one[names[i]] = cell
			}
			all = append(all, one)
		}
		if err := WriteJSON(out, all); err != nil {
			return err
		}
	default:
		return fmt.Errorf("totals are written as text, csv or json, not as %s", format)
	}
	return out.Flush()
}
