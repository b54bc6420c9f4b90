package extract

import "skink/dedup/language"

// A Block is a paragraph, a heading, a list item or a table row of a document that is not HTML,
// such as a PDF.
type Block struct {
	Text  string
	Level int // heading level, from 1; 0 if the block is not a heading
}

// FromBlocks fills d with the text of a document, such as a PDF, that another package has read. The
// caller sets the metadata of d. FromBlocks sets Title if it is empty, and the fields that depend
// on the text, such as Words. The whole text is the main text.
func FromBlocks(d *Document, blocks []Block) {
	var w writer
	for _, b := range blocks {
		before := len(w.blocks)
		w.write(b.Text)
		w.flush()
		if len(w.blocks) == before { // the text had only white space or invisible characters
			continue
		}
		if b.Level > 0 {
			d.Headings = append(d.Headings, Heading{Line: before, Level: min(b.Level, 6)})
		}
		if b.Level == 1 && len(d.H1) < maxHeadings {
			d.H1 = append(d.H1, oneLineOf(b.Text, maxHeading))
		}
	}
	d.Text = joinBlocks(&w, nil)
	d.Root = RootDocument
	if d.Text == "" {
		d.Root = RootNone
	}
	d.Title, d.Author, d.Description = oneSpace(d.Title), oneSpace(d.Author), oneSpace(d.Description)
	if d.Title == "" && len(d.H1) > 0 {
		d.Title, d.TitleFrom = d.H1[0], "h1"
	}
	d.DeclaredLang, d.Lang = language.Primary(d.Lang), lang(d)
}
