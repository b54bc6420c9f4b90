// Package tree parses HTML and XHTML as a browser without scripts would. The trees of hostile pages
// have a limited size and depth.
package tree

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// # A limit on the size of the tree
//
// As the HTML standard requires, the parser reopens unclosed formatting elements in each new
// paragraph. A 46 KB page with 50 <font> and 10,000 <p> becomes half a million nodes, each with its
// attributes. Honest pages need far fewer nodes: the four bytes "<p>a" make two nodes. So the tree
// has a limit in bytes, which is enforced while the parser works.
//
// The parser reads its input in pieces from growth.Read. Before Read returns a piece, it computes
// the maximum number of bytes that the piece can add to the tree. Each token adds at most a fixed
// number of nodes. It can also reopen the formatting elements that are active or that the piece
// itself adds. The standard's adoption agency algorithm adds at most 32 nodes for a tag (eight
// rounds of four). The sum of these estimates is far above the actual size. If the sum reaches the
// limit, Read measures the tree, and continues from the actual size. If even then the piece could
// exceed the limit, parsing fails. So the limit holds for every input, and honest pages are
// measured rarely or never. If measuring itself takes too much work, parsing fails too.
//
// Most formatting elements of honest pages hold a link or a word, as in <a
// href="/x"><code>x</code></a>. If no formatting element is active before such an element, and it
// ends before any other kind of element begins, none is active after it, and nothing is reopened.
// The code calls such elements calm, and estimates only their own nodes. A piece is cut before such
// an element if the element does not end within the piece. The estimate also holds if the tags are
// inside a comment, an attribute or a script. If such a comment ends in the middle of a calm
// element, what follows consists of whole elements of the same kind, and of end tags without a
// start tag.
//
// The parser does not export which formatting elements are active. A growth reads them from
// unexported fields of the parser. [TestParserFields] fails if a new version renames the fields.

// Max is the maximum size of a page's tree in bytes, about a million nodes. The HTML standard
// itself, a very long page, needs half of that. The limit for a short page is lower: 8 MB plus 64
// bytes for each byte of the page, which suffices even if "<p>a" is repeated.
const (
	Max   = 128 << 20
	least = 8 << 20
	aByte = 64
)

// These are the errors of [HTML].
var (
	ErrLarge = errors.New("the HTML tree of the page is larger than the limit, or measuring it would take too much work")
	ErrDeep  = errors.New("the HTML tree of the page is too deep")
)

// These are sizes and limits, in bytes unless stated otherwise.
const (
	nodeBytes  = 112  // size of an html.Node, rounded up by the allocator
	attrBytes  = 80   // size of an attribute of a copied element
	newAttr    = 160  // size of a new attribute, with the spare capacity of the slice
	ownNodes   = 4    // maximum number of nodes that a token adds: itself, and an implied tbody, tr and td
	adoptions  = 32   // maximum number of nodes that the adoption agency algorithm copies for a tag
	maxActive  = 1024 // maximum number of active formatting elements
	pieceBytes = 1 << 10
	minPiece   = 64             // a piece of at most this size is not halved further
	beginning  = 16 * nodeBytes // size of the html, head and body nodes, and of the nodes that the end of a page implies
	copies     = 64             // maximum number of times that the tokenizer may move the page's bytes while a token is unfinished
	weighings  = 1              // number of nodes that may be measured for each byte of the page
	free       = 4 << 20        // number of nodes that may be measured on any page; 16 times as many bytes may be moved
)

// A growth is the [io.Reader] from which the parser reads a page. It prevents the parser's tree
// from growing beyond a limit in bytes.
type growth struct {
	text  []byte
	at    int // number of bytes that the parser has read
	limit int64

	weighed int64 // size of the tree at the last measurement
	since   int64 // upper bound on the number of bytes added after the last measurement
	copied  int64 // number of bytes of unfinished tokens that the tokenizer has moved
	nodes   int64 // total number of nodes that were measured
	last    int   // size of the last piece in bytes

	doc       **html.Node // unexported fields of the parser
	active    *[]*html.Node
	tokenizer **html.Tokenizer
	raw       *string // name of the element, such as script, whose text the tokenizer is reading

	watch func(size int64) // receives the largest possible size of the tree, in tests; may be nil
}

// Limit returns the maximum size of the tree, in bytes, for a page of the given size in bytes.
// limit is an upper bound; 0 means [Max].
func Limit(size int, limit int64) int64 {
	if limit <= 0 {
		limit = Max
	}
	return min(limit, least+aByte*int64(size))
}

// HTML parses a page. It returns [ErrLarge] if the tree might need more than limit bytes, and
// [ErrDeep] if more than 512 elements are open at once. With scripting on, the parser would return
// the content of <noscript> as one string of markup. That would lose text, because some forums keep
// whole threads in <noscript>.
func HTML(text []byte, limit int64) (root *html.Node, err error) {
	defer func() {
		if recover() != nil { // a crawl goes on if a page makes the parser panic
			root, err = nil, ErrDeep
		}
	}()
	root, err = (&growth{text: text, limit: limit, since: beginning}).parse()
	if err != nil && !errors.Is(err, ErrLarge) {
		err = ErrDeep
	}
	return root, err
}

func (g *growth) parse() (*html.Node, error) {
	return html.ParseWithOptions(g, html.ParseOptionEnableScripting(false), option(html.ParseOption(nil), g.look))
}

// option makes a parser option that calls see. P is the parser's type, which is not exported.
func option[O ~func(P), P any](_ O, see func(any)) O { return func(p P) { see(p) } }

// look stores pointers to the parser's unexported fields.
func (g *growth) look(parser any) {
	p := reflect.ValueOf(parser).Elem()
	g.doc = field[*html.Node](p, "doc")
	g.active = field[[]*html.Node](p, "afe")
	g.tokenizer = field[*html.Tokenizer](p, "tokenizer")
	g.raw = field[string](p.FieldByName("tokenizer").Elem(), "rawTag")
}

func field[T any](of reflect.Value, name string) *T {
	f := of.FieldByName(name)
	if !f.IsValid() || !f.Type().ConvertibleTo(reflect.TypeFor[T]()) {
		panic("the HTML parser has no field " + name + " as it is known here")
	}
	return (*T)(f.Addr().UnsafePointer())
}

func (g *growth) Read(p []byte) (int, error) {
	pending := len((*g.tokenizer).Raw())
	if g.copied += int64(pending); g.copied > copies*int64(len(g.text))+16*free {
		return 0, ErrLarge
	}
	// The tokenizer moves the unfinished token in memory at each read. To bound this work, the pieces
	// grow with the token.
	n := min(max(pieceBytes, min(pending, 2*g.last)), len(p), len(g.text)-g.at)
	n, bound := g.nextPiece(pending, n)
	for bound > g.limit/8 && n > minPiece {
		n, bound = g.nextPiece(pending, n/2)
	}
	if g.since+bound > g.limit-g.weighed {
		g.weighed, g.since = weigh(*g.doc), g.unfinished(pending)
		if g.nodes += g.weighed / nodeBytes; g.nodes > weighings*int64(len(g.text))+free {
			return 0, ErrLarge
		}
	}
	if g.since += bound; g.since > g.limit-g.weighed || len(*g.active) > maxActive {
		return 0, ErrLarge
	}
	if g.watch != nil {
		g.watch(g.weighed + g.since)
	}
	copy(p, g.text[g.at:g.at+n])
	g.at, g.last = g.at+n, n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// unfinished estimates the size of the attributes of the unfinished token. They are not in the tree
// yet, so measuring the tree does not count them.
func (g *growth) unfinished(pending int) int64 {
	token := g.text[g.at-pending : g.at]
	if pending == 0 || token[0] != '<' || *g.raw != "" {
		return 0
	}
	return newAttr * int64(separators(token))
}

// weigh returns the size of a tree in bytes. It is not recursive, because on a hostile page most of
// the time is spent here.
func weigh(root *html.Node) int64 {
	sum := int64(0)
	for n := root; ; {
		sum += nodeBytes
		if len(n.Attr) > 0 {
			sum += int64(attrBytes-48)*int64(len(n.Attr)) + 48*int64(cap(n.Attr))
		}
		if n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
		}
		if n == root {
			return sum
		}
		n = n.NextSibling
	}
}

// nextPiece returns the length of the next piece, and the maximum number of bytes that the piece
// can add to the tree. The length is at most n, and smaller if the piece has to end before an
// unfinished element. pending is the number of bytes in the unfinished token before the piece.
func (g *growth) nextPiece(pending, n int) (int, int64) {
	now := g.tags(pending, n)
	n = now.end - g.at
	all, largest := now.weight, now.largest
	for _, e := range *g.active {
		w := weightOf(len(e.Attr))
		all, largest = all+w, max(largest, w)
	}
	tokens, reopening, formatting := int64(2*now.tags+3), int64(2*(now.tags-now.calm)+3), int64(now.formatting)
	sum := tokens*ownNodes*nodeBytes + newAttr*int64(separators(g.text[g.at:now.end])+1)
	return n, sum + (reopening+formatting)*all + adoptions*formatting*largest
}

// noneActive reports whether no formatting element is active. The parser's list may still contain
// markers, which table cells and similar elements add.
func (g *growth) noneActive() bool {
	return !slices.ContainsFunc(*g.active, func(e *html.Node) bool { return e.Type == html.ElementNode })
}

func weightOf(attrs int) int64 { return nodeBytes + attrBytes*int64(attrs) }

// separators returns an upper bound on the number of attributes in a piece: the number of bytes
// that can precede an attribute.
func separators(piece []byte) (n int) {
	for _, b := range []string{" ", "\n", "\t", "\r", "\f", "/", `"`, "'"} {
		n += bytes.Count(piece, []byte(b))
	}
	return n
}

// tagsSeen holds counts of the tags in a piece, from which nextPiece computes its estimate.
type tagsSeen struct {
	half, end  int  // text offsets of the middle and the end of the piece
	quiet      bool // no formatting element can be active
	tags       int
	calm       int   // number of tags before the first one after which a formatting element can be active
	formatting int   // number of start and end tags of formatting elements after those tags
	weight     int64 // total size of the formatting elements among the start tags, in bytes
	largest    int64 // size of the largest formatting element among the start tags, in bytes
	scan       int   // number of bytes that may still be searched for attributes, which limits the work if a tag does not end
}

// tags counts everything in a piece that may be a tag, even in a comment, a script or an attribute.
func (g *growth) tags(pending, n int) *tagsSeen {
	seen := &tagsSeen{half: g.at + n/2, end: g.at + n, quiet: g.noneActive(), scan: pending + 4*n + pieceBytes}
	at := g.firstTag(pending, seen.end)
	if pending > 0 && g.text[g.at-pending] == '<' {
		at = max(at, seen.count(g.text, g.at-pending))
	}
	for at < seen.end {
		j := bytes.IndexByte(g.text[at:seen.end], '<')
		if j < 0 {
			break
		}
		at = seen.count(g.text, at+j)
	}
	return seen
}

// count counts the tag at text[i:], or the whole element if it leaves no formatting element active.
// It returns the offset after the tag or the element.
func (s *tagsSeen) count(text []byte, i int) int {
	rest := text[i:s.end]
	if s.quiet {
		length, tags, cut := quiet(rest)
		if length > 0 {
			s.tags += tags
			s.calm = s.tags
			return i + length
		}
		if cut && i > s.half {
			s.end = i
			return i
		}
		s.quiet = false
	}
	s.tags++
	s.add(rest)
	return i + 1
}

// quiet returns the length of the tag at the beginning of text, or of the whole element if it
// leaves no formatting element active, and the number of its tags. The length is 1 for a tag that
// does not open a formatting element, and 0 if another kind of element begins inside the element.
// cut reports whether text ends before the element does.
func quiet(text []byte) (length, tags int, cut bool) {
	var open [8][]byte
	for at, depth := 0, 0; at < len(text); {
		name, closing, rest := tagName(text[at:])
		if depth == 0 && (closing || len(rest) > 0 && !formatting(name)) {
			return 1, 1, false
		}
		at = len(text) - len(rest)
		if j := bytes.IndexByte(rest, '<'); j >= 0 {
			rest = rest[:j]
		}
		next := at + len(rest)
		_, end := attributes(rest)
		if end == len(rest) {
			return 0, 0, next == len(text)
		}
		if !endsName(rest[0]) {
			return 0, 0, false
		}
		tags++
		switch {
		case !closing && depth < len(open) && nests(name, open[:depth]):
			open[depth] = name
			depth++
		case !closing || !bytes.EqualFold(open[depth-1], name):
			return 0, 0, false
		case depth == 1:
			return at + end + 1, tags, false
		default:
			depth--
		}
		at = next
	}
	return 0, 0, true
}

// nests reports whether the parser adds an element to the open elements without closing any. An <a>
// or <nobr> inside another one closes the outer one, so it does not nest.
func nests(name []byte, open [][]byte) bool {
	if bytes.EqualFold(name, []byte("span")) {
		return true
	}
	alone := bytes.EqualFold(name, []byte("a")) || bytes.EqualFold(name, []byte("nobr")) // inside itself, this element would close the outer one
	return formatting(name) && !(alone && slices.ContainsFunc(open, func(o []byte) bool { return bytes.EqualFold(o, name) }))
}

// tagName returns the name of the tag at the beginning of tag, and the text after the name. The
// name is cut to the length of the longest formatting element's name.
func tagName(tag []byte) (name []byte, closing bool, rest []byte) {
	rest = tag[1:]
	if closing = len(rest) > 0 && rest[0] == '/'; closing {
		rest = rest[1:]
	}
	i := 0
	for i < len(rest) && i <= len("strike") && 'a' <= rest[i]|0x20 && rest[i]|0x20 <= 'z' {
		i++
	}
	return rest[:i], closing, rest[i:]
}

// firstTag returns the first offset at which a tag can begin, apart from the unfinished tag. Inside
// a script, only the script's end tag counts.
func (g *growth) firstTag(pending, end int) int {
	ending := "</" + *g.raw
	if ending == "</" {
		return g.at - min(pending, 1) // examine a "<" at the end again, together with the next byte
	}
	at := g.at - min(pending, len(ending))
	for {
		i := bytes.Index(g.text[at:end], []byte("</"))
		if i < 0 {
			return end - min(end-at, 1)
		}
		if at += i; end-at < len(ending) || strings.EqualFold(string(g.text[at:at+len(ending)]), ending) {
			return at
		}
		at += 2
	}
}

func (s *tagsSeen) add(tag []byte) {
	name, closing, rest := tagName(tag)
	if len(rest) > 0 && !formatting(name) {
		return
	}
	s.formatting++
	if closing {
		return
	}
	bound := (len(name) + len(rest)) / 2 // upper bound: an attribute needs at least a letter and a separator
	if s.scan > 0 {
		n, read := attributes(rest)
		s.scan -= read
		bound = n
	}
	w := weightOf(bound)
	s.weight, s.largest = s.weight+w, max(s.largest, w)
}

func formatting(name []byte) bool {
	var lower [8]byte
	for i, c := range name {
		lower[i] = c | 0x20
	}
	switch string(lower[:len(name)]) {
	case "a", "b", "i", "u", "s", "tt", "em", "big", "code", "font", "nobr", "small", "strike", "strong":
		return true
	}
	return false
}

// attributes returns the number of attributes of a tag, or slightly more, and the number of bytes
// that it read. rest begins after the tag's name. It follows the tokenizer's rules.
func attributes(rest []byte) (n, i int) {
	for i < len(rest) {
		switch c := rest[i]; {
		case c == '>':
			return n, i
		case isSpace(c) || c == '/':
			i++
			continue
		}
		n++
		i++ // a "=" here belongs to the attribute's name
		for i < len(rest) && !isSpace(rest[i]) && rest[i] != '/' && rest[i] != '>' && rest[i] != '=' {
			i++
		}
		i = skipSpace(rest, i)
		if i < len(rest) && rest[i] == '=' {
			i = value(rest, skipSpace(rest, i+1))
		}
	}
	return n, i
}

// value returns the offset of the end of an attribute's value, which begins at rest[i].
func value(rest []byte, i int) int {
	if i >= len(rest) || rest[i] == '>' {
		return i
	}
	if q := rest[i]; q == '"' || q == '\'' {
		if j := bytes.IndexByte(rest[i+1:], q); j >= 0 {
			return i + 1 + j + 1
		}
		return len(rest)
	}
	for i < len(rest) && !isSpace(rest[i]) && rest[i] != '>' {
		i++
	}
	return i
}

func skipSpace(rest []byte, i int) int {
	for i < len(rest) && isSpace(rest[i]) {
		i++
	}
	return i
}

func endsName(c byte) bool { return isSpace(c) || c == '/' || c == '>' }

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' && c != '\v' }
