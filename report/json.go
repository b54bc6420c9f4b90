package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// jsonPrinter writes the JSON of a [Report] without ever holding one. The totals are one member a
// line; a host, a leader and a member of a cluster are one line each, so that the file can also be
// read with line tools.
type jsonPrinter struct {
	w        *bufio.Writer
	clusters int
}

func (p *jsonPrinter) begin(h head) error {
	b, err := json.MarshalIndent(h.Totals, "", "  ")
	if err != nil {
		return err
	}
	p.w.Write(bytes.TrimSuffix(b, []byte("\n}")))
	if h.About != nil {
		p.w.WriteString(",\n  \"about\": ")
		if err := p.element(0, "", h.About); err != nil {
			return err
		}
	}
	if err := array(p, "hosts", h.Hosts); err != nil {
		return err
	}
	if h.LeftOut != nil {
		if err := array(p, "left_out", h.LeftOut); err != nil {
			return err
		}
	}
	if h.Canonicals != nil {
		if err := array(p, "false_canonicals", h.Canonicals); err != nil {
			return err
		}
	}
	if h.Learned != nil {
		if err := array(p, "learned", h.Learned); err != nil {
			return err
		}
	}
	_, err = p.w.WriteString(",\n  \"clusters\": [")
	return err
}

// array writes a member whose elements are one line each.
func array[T any](p *jsonPrinter, name string, all []T) error {
	fmt.Fprintf(p.w, ",\n  %q: [", name)
	for i, v := range all {
		if err := p.element(i, "\n    ", v); err != nil {
			return err
		}
	}
	return p.endArray(len(all), "\n  ]")
}

func (p *jsonPrinter) cluster(c Cluster) error {
	l, err := c.leader()
	if err != nil {
		return err
	}
	if err := p.element(p.clusters, "\n    {\"leader\": ", l); err != nil {
		return err
	}
	p.clusters++
	p.w.WriteString(",\n     \"members\": [")
	members := 0
	for m, err := range c.Members {
		if err != nil {
			return err
		}
		if err := p.element(members, "\n      ", m); err != nil {
			return err
		}
		members++
	}
	return p.endArray(members, "\n     ]}")
}

func (p *jsonPrinter) end() error {
	p.endArray(p.clusters, "\n  ]")
	_, err := p.w.WriteString("\n}\n")
	return err
}

// element writes the i-th element of an array, or its beginning, after lead.
func (p *jsonPrinter) element(i int, lead string, v any) error {
	if i > 0 {
		p.w.WriteByte(',')
	}
	p.w.WriteString(lead)
	b, err := compact(v)
	if err != nil {
		return err
	}
	_, err = p.w.Write(b)
	return err
}

// endArray closes an array of n elements; an empty one stays on its line.
func (p *jsonPrinter) endArray(n int, bracket string) error {
	if n == 0 {
		bracket = strings.TrimLeft(bracket, "\n ")
	}
	_, err := p.w.WriteString(bracket)
	return err
}

// compact is v on one line, with the & of a URL as it is.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
