package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The JSON form is one object: what the audit says of itself, and its findings, the one that
// matters most first. A row is an object on a line of its own, in which cells that have nothing to
// say are missing.

// findingJSON is a finding without its rows.
type findingJSON struct {
	Name   string `json:"name"`
	List   string `json:"list"`
	Weight string `json:"weight"` // fault, doubt, note or fine
	Title  string `json:"title"`
	Means  string `json:"means"`
	Mend   string `json:"mend"`
	Count  int    `json:"count"`
	Of     string `json:"of"`    // what it is counted in: pages or URLs
	Apart  int    `json:"apart"` // that ask not to be indexed, or name another
	Links  int64  `json:"links"` // into those that count
}

// listJSON counts a list.
type listJSON struct {
	Name    string `json:"name"`
	Count   int    `json:"count"`
	Of      string `json:"of"`
	Unknown string `json:"unknown,omitempty"`
}

func writeJSON(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	head, err := json.MarshalIndent(a.About, "", "  ")
	if err != nil {
		return err
	}
	out.Write(bytes.TrimSuffix(head, []byte("\n}")))
	out.WriteString(",\n  \"lists\": [")
	for i, l := range a.Lists {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		if err := writeCompact(out, listJSON{l.Name, l.Count(), l.Of, l.Unknown}); err != nil {
			return err
		}
	}
	out.WriteString("\n  ],\n  \"findings\": [")
	for i, f := range chosen {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		if err := f.writeJSON(ctx, out, o.top()); err != nil {
			return err
		}
	}
	if len(chosen) > 0 {
		out.WriteString("\n  ")
	}
	_, err = out.WriteString("]\n}\n")
	return err
}

func (f *Finding) writeJSON(ctx context.Context, out *bufio.Writer, top int) error {
	var b bytes.Buffer
	err := writeCompact(&b, findingJSON{
		f.FullName(), f.list.Name, f.Weight.String(), f.Title, f.Means, f.Mend, f.Count(), f.list.Of, f.Apart(), f.Links(),
	})
	if err != nil {
		return err
	}
	out.Write(bytes.TrimSuffix(b.Bytes(), []byte("}")))
	out.WriteString(",\n     \"rows\": [")
	n := 0
	for row, err := range f.Rows(ctx, 0) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if top >= 0 && n == top {
			break
		}
		if n++; n > 1 {
			out.WriteByte(',')
		}
		out.WriteString("\n      ")
		if err := f.list.writeRow(out, row); err != nil {
			return err
		}
	}
	_, err = out.WriteString("]}")
	return err
}

func (l *List) writeRow(out *bufio.Writer, row Row) error {
	lead := "{"
	member := func(name string, v any) error {
		fmt.Fprintf(out, "%s%q:", lead, name)
		lead = ","
		return writeCompact(out, v)
	}
	for i, c := range l.Columns {
		v := row.Cells[i]
		if v == nil {
			continue
		}
		if at, ok := v.(time.Time); ok {
			v = at.Format(time.RFC3339)
		}
		if err := member(c.Name, v); err != nil {
			return err
		}
	}
	if row.Apart != "" {
		if err := member("apart", row.Apart); err != nil {
			return err
		}
	}
	if len(row.From) > 0 {
		if err := member("linked_from", row.From); err != nil {
			return err
		}
	}
	if lead == "{" {
		out.WriteString(lead)
	}
	return out.WriteByte('}')
}

// writeCompact writes v on one line, with the & of a URL as it is.
func writeCompact(out interface{ Write([]byte) (int, error) }, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := out.Write([]byte(strings.TrimSuffix(b.String(), "\n")))
	return err
}
