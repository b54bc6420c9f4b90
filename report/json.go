package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"skink/base/harmless"
)

// An ObjectWriter writes one JSON object piece by piece, so the whole object is never in memory.
// Each list element is on its own line, for line-based tools such as grep. After an error it writes
// nothing more, and End returns the error.
type ObjectWriter struct {
	w       *bufio.Writer
	err     error
	members int // number of elements written so far to the current list
}

// NewObjectWriter begins an object. Its first members are the fields of the struct head, each on
// its own line.
func NewObjectWriter(w *bufio.Writer, head any) *ObjectWriter {
	b, err := json.MarshalIndent(head, "", "  ")
	w.Write(bytes.TrimSuffix(b, []byte("\n}")))
	return &ObjectWriter{w: w, err: err}
}

// Member adds a member to the object, with its value on one line.
func (o *ObjectWriter) Member(name string, v any) {
	fmt.Fprintf(o.w, ",\n  %q: ", name)
	o.value(v)
}

// List adds a member whose value is a list, and opens the list. EndList must close it.
func (o *ObjectWriter) List(name string) {
	fmt.Fprintf(o.w, ",\n  %q: [", name)
	o.members = 0
}

// Element adds an element to the open list.
func (o *ObjectWriter) Element(v any) {
	o.separate("\n    ")
	o.value(v)
}

// Group writes an element that is an object. If member is not "", the object's first member has
// that name and the value head. Otherwise head must be a struct, whose fields become the first
// members. The last member has the name list, and its value is an array of the elements. If there
// are any, Group writes end before the closing bracket of the array.
func (o *ObjectWriter) Group(member string, head any, list string, elements iter.Seq2[any, error], end string) error {
	o.separate("\n    ")
	b, err := compact(head)
	if err != nil {
		return err
	}
	if member != "" {
		fmt.Fprintf(o.w, "{%q: %s", member, b)
	} else {
		o.w.Write(bytes.TrimSuffix(b, []byte("}")))
	}
	fmt.Fprintf(o.w, ",\n     %q: [", list)
	groups := o.members
	o.members = 0
	for v, err := range elements {
		if err != nil {
			return err
		}
		o.separate("\n      ")
		o.value(v)
	}
	o.endList(end)
	o.members = groups
	_, err = o.w.WriteString("}")
	return cmp.Or(err, o.err)
}

// EndList closes the list. An empty list is written as [] on one line.
func (o *ObjectWriter) EndList() { o.endList("\n  ") }

func (o *ObjectWriter) endList(lead string) {
	if o.members > 0 {
		o.w.WriteString(lead)
	}
	o.w.WriteByte(']')
}

// End closes the object, and returns the first error of any call.
func (o *ObjectWriter) End() error {
	_, err := o.w.WriteString("\n}\n")
	return cmp.Or(err, o.err)
}

func (o *ObjectWriter) separate(lead string) {
	if o.members++; o.members > 1 {
		o.w.WriteByte(',')
	}
	o.w.WriteString(lead)
}

func (o *ObjectWriter) value(v any) {
	if fields, ok := v.(Fields); ok {
		o.fields(fields)
		return
	}
	b, err := compact(v)
	if o.w.Write(b); o.err == nil {
		o.err = err
	}
}

func (o *ObjectWriter) fields(all Fields) {
	lead := "{"
	for _, f := range all {
		if f.Value == nil {
			continue
		}
		fmt.Fprintf(o.w, "%s%q:", lead, f.Name)
		o.value(f.Value)
		lead = ","
	}
	o.w.WriteString(strings.TrimPrefix(lead, ",") + "}")
}

func list[T any](o *ObjectWriter, name string, all []T) {
	o.List(name)
	for _, v := range all {
		o.Element(v)
	}
	o.EndList()
}

// jsonPrinter writes a [Report] as JSON. Each total, host, leader and member is on its own line.
type jsonPrinter struct {
	w *bufio.Writer
	o *ObjectWriter
}

func (p *jsonPrinter) begin(r Report) error {
	p.o = NewObjectWriter(p.w, r.Totals)
	if r.About != nil {
		p.o.Member("about", r.About)
	}
	list(p.o, "hosts", r.Hosts)
	p.o.List("clusters")
	return p.o.err
}

func (p *jsonPrinter) cluster(c Cluster) error {
	return p.o.Group("leader", c.Leader, "members", func(yield func(any, error) bool) {
		for m, err := range c.Members {
			if !yield(m, err) {
				return
			}
		}
	}, "\n     ")
}

func (p *jsonPrinter) end(_, _ counted) error {
	p.o.EndList()
	return p.o.End()
}

// compact returns v as JSON on one line. Unlike encoding/json, it does not escape &, to keep URLs
// readable.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// WriteJSON writes v as JSON on several lines, with & unescaped as in [compact].
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(harmless.JSON(w))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
