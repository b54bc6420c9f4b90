package extract

import "skink/internal/language"

// A Block is a paragraph, a heading, a list item or a table row of a document that is not HTML.
type Block struct {
	Text  string
	Level int // of a heading, from 1; 0: it is none
}

// FromBlocks fills the text of a document that another package read. d has what the document says
// of itself. FromBlocks sets its text and what follows from that: the words, the language and the
// first headings. All of the text is main text.
func FromBlocks(d *Document, blocks []Block) {
	var w writer
	for _, b := range blocks {
		before := len(w.blocks)
		w.write(b.Text)
		w.flush()
		if len(w.blocks) == before { // it shows nothing
			continue
		}
		d.levels = append(d.levels, b.Level)
		if b.Level == 1 && len(d.H1) < maxHeadings {
			h := line{most: maxHeading}
			h.add(b.Text)
			d.H1 = append(d.H1, string(h.text))
		}
	}
	d.Text = joinBlocks(&w, nil)
	d.Root, d.Sure = RootDocument, 1
	if d.Text == "" {
		d.Root, d.Sure = RootNone, 0
	}
	d.Title, d.Author, d.Description = oneSpace(d.Title), oneSpace(d.Author), oneSpace(d.Description)
	if d.Title == "" && len(d.H1) > 0 {
		d.Title, d.TitleFrom = d.H1[0], "h1"
	}
	d.Words = countWords(d.Text)
	d.DeclaredLang, d.Lang = language.Primary(d.Lang), lang(d)
}
