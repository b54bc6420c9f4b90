package sitemap

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A grammar is how one kind of list is written, below its first element.
type grammar struct {
	entry   []string // names of the elements that are entries, whatever stands around them
	url     string   // element inside an entry that holds its URL
	href    bool     // the URL stands in that element's href
	lastMod []string // elements inside an entry that hold a date, the best first
	index   bool     // entries are other lists
}

// grammars are those that are read, by the name of the first element.
var grammars = map[string]grammar{
	"urlset":       {entry: []string{"url"}, url: "loc", lastMod: []string{"lastmod"}},
	"sitemapindex": {entry: []string{"sitemap"}, url: "loc", lastMod: []string{"lastmod"}, index: true},
	"rss":          {entry: []string{"item"}, url: "link", lastMod: []string{"pubdate", "dc:date"}},
	"rdf":          {entry: []string{"item"}, url: "link", lastMod: []string{"dc:date"}},
	"feed":         {entry: []string{"entry"}, url: "link", href: true, lastMod: []string{"updated", "published"}},
}

// A list is read element by element.
type list struct {
	grammar
	prefix string   // of the first element, with its colon; others of the same vocabulary have it too
	open   []string // names of the elements that are open, without that prefix

	entry Entry  // that is open
	text  []byte // of the innermost element
	long  bool   // the text was cut
}

// readXML reads a list in markup.
func readXML(in *bufio.Reader, emit func(Entry) error) error {
	m := &markup{in: in}
	l, err := begin(m)
	if err != nil {
		return err
	}
	for {
		p, err := m.next()
		switch {
		case err == io.EOF && len(l.open) > 0:
			return fmt.Errorf("its end is missing: %w", io.ErrUnexpectedEOF)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := l.take(p, emit); err != nil {
			return err
		}
	}
}

// begin reads up to the first element, which says what the file is.
func begin(m *markup) (*list, error) {
	for {
		p, err := m.next()
		switch {
		case err == io.EOF:
			return nil, fmt.Errorf("it has no element: %w", ErrNone)
		case err != nil:
			return nil, err
		case !p.open:
			continue
		}
		prefix, name := "", p.name
		if colon := strings.LastIndexByte(p.name, ':'); colon >= 0 {
			prefix, name = p.name[:colon+1], p.name[colon+1:]
		}
		g, known := grammars[name]
		if !known {
			return nil, fmt.Errorf("it begins with <%s>: %w", clip(p.name), ErrNone)
		}
		if name == "rdf" {
			prefix = "" // the items of RSS 1.0 have none
		}
		l := &list{grammar: g, prefix: prefix}
		if !p.close {
			l.open = append(l.open, strings.TrimPrefix(p.name, prefix))
		}
		return l, nil
	}
}

// clip keeps what a file makes us say of it short.
func clip(name string) string {
	const most = 40
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strings.ToValidUTF8(name, "")
}

// take takes in a piece.
func (l *list) take(p piece, emit func(Entry) error) error {
	name := strings.TrimPrefix(p.name, l.prefix)
	switch {
	case p.name == "":
		l.chars(p)
		return nil
	case p.open:
		if len(l.open) == MaxDepth {
			return ErrDepth
		}
		l.open = append(l.open, name)
		l.text, l.long = l.text[:0], false
		l.begun(&p, name)
	}
	if p.close {
		return l.closed(name, emit)
	}
	return nil
}

// chars takes in text of the innermost element.
func (l *list) chars(p piece) {
	if l.long = l.long || p.cut || len(l.text)+len(p.text) > MaxText; !l.long {
		l.text = append(l.text, p.text...)
	}
}

// begun takes in an element that was just opened.
func (l *list) begun(p *piece, name string) {
	switch {
	case l.isEntry(name):
		l.entry = Entry{Index: l.index}
	case l.href && name == l.url && l.inEntry() && l.entry.URL == "" && !p.cut:
		if rel := p.attribute("rel"); rel == "" || rel == "alternate" {
			l.entry.URL = strings.TrimSpace(p.attribute("href"))
		}
	}
}

func (l *list) isEntry(name string) bool { return slices.Contains(l.grammar.entry, name) }

// inEntry says whether the innermost element stands in an entry, and not deeper.
func (l *list) inEntry() bool { return len(l.open) > 1 && l.isEntry(l.open[len(l.open)-2]) }

// closed takes in the end of an element, and of those in it that were left open. An end
// of what is not open means nothing.
func (l *list) closed(name string, emit func(Entry) error) error {
	place := lastIndex(l.open, name)
	for len(l.open) > place && place >= 0 {
		last := l.open[len(l.open)-1]
		switch {
		case l.isEntry(last):
			if l.entry.URL != "" {
				e := l.entry
				l.entry = Entry{Index: l.index}
				if err := emit(e); err != nil {
					return err
				}
			}
		case l.inEntry() && !l.long:
			l.field(last)
		}
		l.open = l.open[:len(l.open)-1]
		l.text, l.long = l.text[:0], false
	}
	return nil
}

// field takes in an element of an entry. The first of several counts, but a better
// date takes the place of a worse one.
func (l *list) field(name string) {
	switch text := strings.TrimSpace(string(l.text)); {
	case name == l.url && !l.href && l.entry.URL == "":
		l.entry.URL = text
	case name == l.lastMod[0]:
		if date := parseDate(text); !date.IsZero() {
			l.entry.LastMod = date
		}
	case slices.Contains(l.lastMod, name) && l.entry.LastMod.IsZero():
		l.entry.LastMod = parseDate(text)
	}
}

func lastIndex(names []string, name string) int {
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return i
		}
	}
	return -1
}
