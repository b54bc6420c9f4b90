package view

import (
	"context"
	"fmt"
	"net/http"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

type compareView struct {
	A, B     *store.Record
	Measures dedup.Comparison
	Same     bool // whether the two texts have the same words
	Beside   report.Sides
	Missing  string // why the two texts cannot be compared; "" if they can
}

// comparePage shows two pages side by side. The request parameters a and b name them by ID or URL.
func (v *View) comparePage(ctx context.Context, r *http.Request) (*screen, error) {
	c := &compareView{}
	var texts [2]*store.Content
	err := v.opt.Store.Read(ctx, func(s store.Reader) (err error) {
		for i, name := range []string{"a", "b"} {
			if texts[i], err = content(ctx, s, r.URL.Query().Get(name), store.WantText); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.A, c.B = &texts[0].Record, &texts[1].Record
	s := &screen{name: "compare", title: "Comparison of two pages", Content: c}
	for i, t := range texts {
		name := string(rune('A' + i))
		switch {
		case t.Record.Kind != store.Page:
			c.Missing = fmt.Sprintf("%s has no text, because its kind is %s.", name, t.Record.Kind)
			return s, nil
		case !t.Kept:
			c.Missing = "The store has no text of " + name + ". A crawl with --on-duplicate tag stores the texts of duplicates."
			return s, nil
		}
	}
	var a, b dedup.Text
	v.read(&a, texts[0])
	v.read(&b, texts[1])
	c.Measures = dedup.Compare(&a, &b, v.opt.Rule.Shingling)
	c.Same = a.Hash() == b.Hash()
	c.Beside = report.Beside([2]string{v.short(c.A.URL), v.short(c.B.URL)}, [2]string{texts[0].Text, texts[1].Text})
	return s, nil
}

// maxCompared is the maximum number of bytes of each text that a request compares.
const maxCompared = 1 << 20

// read sets t to the words of the beginning of a page's text.
func (v *View) read(t *dedup.Text, c *store.Content) {
	t.ReadString(c.Text[:min(len(c.Text), maxCompared)])
}
