package sitemap

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"skink/base/harmless"
)

// A grammar describes one kind of XML list: which elements contain its entries and URLs.
type grammar struct {
	entry []string // names of the elements that are entries, at any depth
	url   string   // name of the element, inside an entry, that contains the entry's URL
	href  bool     // the URL is in the href attribute of that element
	index bool     // the entries are other lists, not pages
	many  bool     // an entry with several URLs counts as several entries
	other string   // name of an element whose text is used as the entry's URL if the entry has no other; "" if there is none
}

// grammars holds the supported kinds of lists, by the name of the first element of a file.
var grammars = map[string]grammar{
	"urlset":       {entry: []string{"url"}, url: "loc", many: true},
	"sitemapindex": {entry: []string{"sitemap"}, url: "loc", index: true, many: true},
	"rss":          {entry: []string{"item"}, url: "link", other: "guid"},
	"rdf":          {entry: []string{"item"}, url: "link"},
	"feed":         {entry: []string{"entry"}, url: "link", href: true},
}

type list struct {
	grammar
	prefix string   // namespace prefix of the first element, with its colon; the other elements of the list share it
	open   []string // names of the open elements, without the prefix

	entry Entry
	other string // URL to use if the entry has no other URL
	text  []byte // text of the innermost element; inside a URL, including the text of nested elements
	long  bool   // the text is too long, or must not be used
}

func readXML(in *bufio.Reader, emit func(Entry) error) error {
	m := newMarkup(in)
	l, err := begin(m)
	if err != nil {
		return err
	}
	for {
		p, err := m.next()
		switch {
		case err == io.EOF && len(l.open) > 0:
			return fmt.Errorf("the end of the file is missing: %w", io.ErrUnexpectedEOF)
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

// begin reads up to the first element, which determines the kind of list.
func begin(m *markup) (*list, error) {
	for {
		p, err := m.next()
		switch {
		case err == io.EOF:
			return nil, fmt.Errorf("the file contains no element: %w", ErrNone)
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
			return nil, fmt.Errorf("the first element is <%s>: %w", harmless.Clip(p.name, 40), ErrNone)
		}
		if name == "rdf" {
			prefix = "" // the items of RSS 1.0 have no prefix
		}
		l := &list{grammar: g, prefix: prefix}
		if !p.close {
			l.open = append(l.open, strings.TrimPrefix(p.name, prefix))
		}
		return l, nil
	}
}

func (l *list) take(p piece, emit func(Entry) error) error {
	name := strings.TrimPrefix(p.name, l.prefix)
	switch {
	case p.name == "":
		if l.long = l.long || p.long || len(l.text)+len(p.text) > MaxText; !l.long {
			l.text = append(l.text, p.text...)
		}
		return nil
	case p.open:
		if l.inURL() && l.isEntry(name) && len(bytes.TrimSpace(l.text)) > 0 { // the closing tags of the last URL and its entry are missing
			if err := l.closed(l.url, emit); err != nil {
				return err
			}
			if err := l.closed(name, emit); err != nil {
				return err
			}
		}
		if len(l.open) == MaxDepth {
			return ErrDepth
		}
		l.begun(&p, name)
	}
	if p.close {
		return l.closed(name, emit)
	}
	return nil
}

func (l *list) begun(p *piece, name string) {
	if l.inURL() { // text inside a nested element is part of the URL
		l.open = append(l.open, name)
		return
	}
	l.ownText()
	l.open = append(l.open, name)
	l.text, l.long = l.text[:0], false
	switch {
	case l.isEntry(name):
		l.entry, l.other = Entry{Index: l.index}, ""
	case l.href && name == l.url && l.inEntry() && l.entry.URL == "" && !p.long:
		if rel := p.attributes["rel"]; rel == "" || rel == "alternate" {
			l.entry.URL = strings.TrimSpace(p.attributes["href"])
		}
	case name == l.grammar.other && strings.EqualFold(p.attributes["ispermalink"], "false"):
		l.long = true // the file declares that this text is not a URL, so do not use it
	}
}

func (l *list) isFeed() bool { return !l.many } // only sitemaps have several URLs in an entry

func (l *list) isEntry(name string) bool { return slices.Contains(l.grammar.entry, name) }

// inEntry reports whether the innermost element is a direct child of an entry.
func (l *list) inEntry() bool { return len(l.open) > 1 && l.isEntry(l.open[len(l.open)-2]) }

// inURL reports whether the innermost element is, or is inside, the element that holds an entry's
// URL.
func (l *list) inURL() bool {
	if l.href {
		return false
	}
	for i := 1; i < len(l.open); i++ {
		if l.open[i] == l.url && l.isEntry(l.open[i-1]) {
			return true
		}
	}
	return false
}

// ownText processes text directly inside an entry, because some lists have the URL there.
func (l *list) ownText() {
	if l.many && len(l.open) > 0 && l.isEntry(l.open[len(l.open)-1]) && !l.long && l.other == "" {
		l.asOther()
	}
}

func (l *list) asOther() {
	if text := bytes.TrimSpace(l.text); isWebURL(text) {
		l.other = string(text)
	}
}

// closed processes the end of an element, and of the open elements inside it. It ignores the end of
// an element that is not open.
func (l *list) closed(name string, emit func(Entry) error) error {
	for place := lastIndex(l.open, name); len(l.open) > place && place >= 0; {
		inURL, last := l.inURL(), l.open[len(l.open)-1]
		var err error
		switch {
		case inURL && !l.inEntry(): // an element inside the element with the URL
			l.open = l.open[:len(l.open)-1]
			continue
		case l.isEntry(last):
			l.ownText()
			if l.entry.URL == "" {
				l.entry.URL = l.other
			}
			err = l.yield(emit)
		case l.inEntry() && !l.long:
			err = l.field(last, emit)
		}
		l.open = l.open[:len(l.open)-1]
		l.text, l.long = l.text[:0], false
		if err != nil {
			return err
		}
	}
	return nil
}

// yield passes the open entry to emit, if it has a URL, and begins another.
func (l *list) yield(emit func(Entry) error) error {
	e := l.entry
	l.entry, l.other = Entry{Index: l.index}, ""
	if e.URL == "" {
		return nil
	}
	return emit(e)
}

// field processes an element of an entry. If an element occurs several times, the first one counts.
func (l *list) field(name string, emit func(Entry) error) error {
	text := strings.TrimSpace(string(l.text))
	switch {
	case name == l.url && !l.href && text != "":
		if l.entry.URL != "" && !l.many {
			return nil
		}
		if l.entry.URL != "" {
			if err := l.yield(emit); err != nil {
				return err
			}
		}
		l.entry.URL = text
	case name == l.grammar.other:
		l.asOther()
	}
	return nil
}

func lastIndex(names []string, name string) int {
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return i
		}
	}
	return -1
}
