package markup

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

type reader struct {
	facts   Facts
	shown   [64]uint8 // number of examples collected for each fault
	anchors bool

	ids       []string // values of id attributes
	names     []string // further targets of fragments: the names of <a> elements, and the ids in images and <noscript>
	fragments []string

	titles, descriptions int
	level                int // level of the last heading; 0 if there was none
	lang, viewport       bool
	doctype              bool
	headScript           bool // <head> contains a <noscript>, after which the parser may end the head early
	inNoscript, inBody   int
	sharing              sharing
	data                 data
	labels               []string // values of the for attributes of labels
	fields               []field
}

// A field is an element of a form that has no name unless a label has its id.
type field struct {
	fault     Fault
	id, shown string // shown is the element with its name, id or class, such as "input email"
}

var readers = sync.Pool{New: func() any { return &reader{} }}

// release returns r to the pool of readers, without any strings of the page.
func (r *reader) release() {
	const large = 1 << 12
	if cap(r.ids) > large || cap(r.names) > large || cap(r.fragments) > large {
		return
	}
	clear(r.ids)
	clear(r.names)
	clear(r.fragments)
	*r = reader{ids: r.ids[:0], names: r.names[:0], fragments: r.fragments[:0]}
	readers.Put(r)
}

// walk visits all nodes of a tree. It skips templates, which are not part of the document. It may
// recurse, because the parsers limit the depth of a tree.
func (r *reader) walk(n *html.Node) {
	if r.enter(n) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			r.walk(c)
		}
	}
	r.leave(n)
}

// enter records a node. It reports whether to visit the node's children.
func (r *reader) enter(n *html.Node) bool {
	switch n.Type {
	case html.DoctypeNode:
		r.doctype = true
		return false
	case html.DocumentNode:
		return true
	case html.ElementNode:
	default:
		return false
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; {
		case a.Key != "id" || a.Val == "":
		case n.Namespace != "" || r.inNoscript > 0:
			r.names = append(r.names, a.Val)
		default:
			r.ids = append(r.ids, a.Val)
		}
	}
	if n.Namespace != "" && n.Namespace != "html" && n.DataAtom != atom.A {
		return true // a <title> inside an SVG drawing is not the title of the page
	}
	switch n.DataAtom {
	case atom.Template:
		return false
	case atom.Noscript:
		r.inNoscript++
		if r.inBody == 0 {
			r.headScript = true
		}
	case atom.Html:
		r.lang = r.lang || node.Attr(n, "lang") != "" || node.Attr(n, "xml:lang") != ""
	case atom.Body:
		r.inBody++
	case atom.Title:
		r.titles++
	case atom.Meta:
		r.meta(n)
	case atom.Link:
		r.link(n)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.heading(n)
	case atom.Img:
		r.image(n)
	case atom.A, atom.Area:
		r.anchor(n)
	case atom.Script:
		r.script(n)
	case atom.Iframe:
		r.file(node.Attr(n, "src"))
		if !named(n) && !isDecoration(n) && !bound(n) && !isHidden(n) && !r.unseen(n) {
			r.found(FrameTitle, node.Attr(n, "src"))
		}
	case atom.Frame, atom.Embed, atom.Video, atom.Audio, atom.Source, atom.Track:
		r.file(node.Attr(n, "src"))
	case atom.Object:
		r.file(node.Attr(n, "data"))
	case atom.Form:
		if isHTTP(node.Attr(n, "action")) {
			r.found(InsecureForm, node.Attr(n, "action"))
		}
	case atom.Label:
		if name := node.Attr(n, "for"); name != "" {
			r.labels = append(r.labels, name)
		}
	case atom.Input, atom.Select, atom.Textarea:
		r.field(n, FieldLabel)
	case atom.Button:
		r.button(n)
	}
	return true
}

func (r *reader) leave(n *html.Node) {
	if n.Type == html.ElementNode {
		switch n.DataAtom {
		case atom.Noscript:
			r.inNoscript--
		case atom.Body:
			r.inBody--
		}
	}
}

// conclude adds the faults that can be detected only after the whole document has been read.
func (r *reader) conclude() {
	f := &r.facts.Faults
	if !r.doctype {
		f.Add(NoDoctype)
	}
	if !r.lang {
		f.Add(NoLang)
	}
	if !r.viewport {
		f.Add(NoViewport)
	}
	if r.titles > 1 {
		f.Add(SeveralTitles)
	}
	if r.descriptions > 1 {
		f.Add(SeveralDescriptions)
	}
	for _, field := range r.fields {
		if field.id == "" || !slices.Contains(r.labels, field.id) {
			r.found(field.fault, field.shown)
		}
	}
	r.sharing.conclude(r)
	r.data.conclude(r)
	r.findFragments()
	if r.anchors {
		r.facts.Anchors = hashes(append(r.ids, r.names...))
	}
}

// findFragments finds ids that several elements have, and links to fragments that do not exist in the page.
func (r *reader) findFragments() {
	ids := make(map[string]bool, len(r.ids)+len(r.names))
	for _, id := range r.ids {
		if ids[id] {
			r.found(IDRepeated, id)
		}
		ids[id] = true
	}
	for _, name := range r.names {
		ids[name] = true
	}
	for _, fragment := range r.fragments {
		if ids[fragment] {
			continue
		}
		if decoded, err := url.PathUnescape(fragment); err != nil || !ids[decoded] {
			r.found(LinkFragment, "#"+fragment)
		}
	}
}

// IsAnchor reports whether a fragment names a place in a document. Other fragments are paths that a
// script interprets ("#/start", "#!start"), text to highlight ("#:~:text="), or the top of the
// page.
func IsAnchor(fragment string) bool {
	return fragment != "" && fragment[0] != '/' && fragment[0] != '!' && !strings.Contains(fragment, ":~:") && !strings.EqualFold(fragment, "top")
}

// Anchor returns a hash of a fragment, after percent-decoding it. Two different fragments have the
// same hash with a probability of 1 in 65,536, so a page with a thousand anchors hides 1.5% of the
// broken links to it.
func Anchor(fragment string) uint16 {
	if strings.IndexByte(fragment, '%') >= 0 {
		if decoded, err := url.PathUnescape(fragment); err == nil {
			fragment = decoded
		}
	}
	h := uint32(2166136261) // offset basis of the FNV-1a hash
	for i := range len(fragment) {
		h = (h ^ uint32(fragment[i])) * 16777619
	}
	return uint16(h>>16) ^ uint16(h)
}

// hashes returns the hashes of anchors, sorted and without duplicates. An id that contains percent
// signs has two hashes, because a link may contain it unchanged or encoded.
func hashes(ids []string) []uint16 {
	all := make([]uint16, 0, len(ids)+1)
	all = append(all, Anchor("")) // the top of the page, so the list is never empty
	for _, id := range ids {
		all = append(all, Anchor(id))
		if strings.IndexByte(id, '%') >= 0 {
			all = append(all, Anchor(url.PathEscape(id)))
		}
	}
	slices.Sort(all)
	return slices.Clone(slices.Compact(all))
}

func isHTTP(href string) bool {
	const scheme = "http://"
	return len(href) > len(scheme) && (href[0] == 'h' || href[0] == 'H') && strings.EqualFold(href[:len(scheme)], scheme)
}
