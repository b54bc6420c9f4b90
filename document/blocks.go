package document

import (
	"fmt"
	"strings"

	"skink/extract"
)

// blocks collects the paragraphs and table rows of an office document. A paragraph may be inside
// another one, for example in a footnote or a text box. The inner paragraph then becomes a separate
// block after the outer one.
type blocks struct {
	all     []extract.Block
	open    []*openBlock
	size    int // bytes of text collected so far
	maxText int
	mute    int // number of open elements whose text is dropped, such as deleted text; if 0, text is collected
}

type openBlock struct {
	text  strings.Builder
	level int
	inner []extract.Block
	isRow bool
	skip  bool
}

// begin opens a paragraph, or a heading if level is not 0.
func (b *blocks) begin(level int) { b.open = append(b.open, &openBlock{level: level}) }

func (b *blocks) end() {
	last := len(b.open) - 1
	if last < 0 {
		return
	}
	o := b.open[last]
	b.open = b.open[:last]
	done := o.inner
	if o.text.Len() > 0 && !o.skip {
		done = append([]extract.Block{{Text: o.text.String(), Level: o.level}}, o.inner...)
	}
	switch {
	case last == 0:
		b.all = append(b.all, done...)
	case b.open[last-1].isRow && !o.isRow: // o is a cell of the row
		if !o.skip {
			b.open[last-1].text.WriteString(o.text.String() + " ")
		}
		b.open[last-1].inner = append(b.open[last-1].inner, o.inner...)
	default:
		b.open[last-1].inner = append(b.open[last-1].inner, done...)
	}
}

func (b *blocks) beginRow() { b.open = append(b.open, &openBlock{isRow: true}) }

// write adds text to the innermost open block. Text outside all blocks is dropped: it is white
// space, or not part of the document.
func (b *blocks) write(s string) {
	if b.mute > 0 || len(b.open) == 0 {
		return
	}
	o := b.open[len(b.open)-1]
	b.size += len(s)
	if b.size <= b.maxText && !o.isRow {
		o.text.WriteString(s)
	}
}

func (b *blocks) err() error {
	if b.size > b.maxText {
		return tooMuch(b.maxText)
	}
	return nil
}

func tooMuch(maxText int) error {
	return fmt.Errorf("%w: the text extracted from a file of this size may be at most %d KB", ErrTooLarge, maxText>>10)
}
