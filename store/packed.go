package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	"skink/dedup"
)

// A Packed is one page in the encoded and compressed form in which a store keeps it. The process
// that has a store open sends pages to other processes in this form, and they unpack them.
type Packed struct {
	Record []byte        // JSON of a [Record], or the result of [Record.AppendPacked], each perhaps with an update; see [Updated]; empty means that nothing is known about the page
	Text   []byte        // main text, packed by [Pack] or [PackMarked]
	Kept   bool          // whether a text is kept, even an empty one
	Sketch *dedup.Sketch // nil means that the page has no sketch, or that none was requested
	Links  []byte        // links, packed by [PackLinks]; empty means that none are kept or requested
}

// A PackedChange is a [Change] with its page in packed form.
type PackedChange struct {
	Packed
	Cursor Cursor // position after this change
}

// Unpack decodes p. It returns nil if p has no record.
func (p *Packed) Unpack() (*Content, error) {
	if len(p.Record) == 0 {
		return nil, nil
	}
	c := new(Content)
	if err := p.unpackTo(c); err != nil {
		return nil, err
	}
	return c, nil
}

func (p *Packed) unpackTo(c *Content) (err error) {
	c.Kept, c.Sketch = p.Kept, p.Sketch
	if err := c.Record.unpack(p.Record); err != nil {
		return err
	}
	if len(p.Links) > 0 {
		if c.Links, err = UnpackLinks(c.Record.URL, p.Links); err != nil {
			return fmt.Errorf("read the links of %s: %w", c.Record.URL, err)
		}
	}
	if !p.Kept {
		return nil
	}
	text, markdown, headings, err := UnpackMarked(p.Text)
	if err != nil {
		return fmt.Errorf("read the text of %s: %w", c.Record.URL, err)
	}
	c.Text, c.Markdown, c.Headings = string(text), string(markdown), headings
	return nil
}

// Unpack returns the change with its page unpacked. It returns [ErrCorrupt] for a change without a
// record.
func (p *PackedChange) Unpack() (*Change, error) {
	if len(p.Record) == 0 {
		return nil, fmt.Errorf("%w: a change has no record", ErrCorrupt)
	}
	c := &Change{Cursor: p.Cursor}
	if err := p.unpackTo(&c.Content); err != nil {
		return nil, err
	}
	c.Kind = ChangeOf(&c.Record)
	return c, nil
}

// UnpackRecord decodes a record from its JSON, from the result of [Record.AppendPacked], or from the
// result of [Updated].
func UnpackRecord(packed []byte) (*Record, error) {
	r := new(Record)
	return r, r.unpack(packed)
}

func (r *Record) unpack(packed []byte) error {
	if len(packed) > 0 && packed[0] == packedForm {
		return r.unpackPacked(packed[1:])
	}
	text, update, _ := bytes.Cut(packed, []byte{packedForm})
	if err := json.Unmarshal(text, r); err != nil {
		return fmt.Errorf("%w: a record cannot be parsed: %v", ErrCorrupt, err)
	}
	return r.Update(update)
}

// Unpacked yields unpack(p) for each p of packed. If packed or unpack fails, Unpacked yields the
// error and ends.
func Unpacked[P, T any](packed iter.Seq2[P, error], unpack func(P) (T, error)) iter.Seq2[T, error] {
	return Sequence(func(yield func(T) error) error {
		return Forward(packed, func(p P) error {
			v, err := unpack(p)
			if err == nil {
				err = yield(v)
			}
			return err
		})
	})
}
