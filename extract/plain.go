package extract

import "strings"

// plain takes a text as it is, a line a block. Its title is not known, and its links are not looked for: an address in
// a plain text is a mention.
func plain(text []byte, charset string) *Document {
	var w writer
	w.pre = 1
	w.write(string(text))
	w.flush()
	d := &Document{Charset: charset, Text: joinBlocks(&w, nil), Root: RootPlain, Sure: 1}
	d.Text = strings.TrimSpace(d.Text)
	if d.Text == "" {
		d.Root, d.Sure = RootNone, 0
	}
	d.Words = countWords(d.Text)
	d.Lang = lang(d)
	return d
}
