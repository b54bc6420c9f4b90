package extract

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
// the maximum number of bytes that the piece can add to the tree. Usually a piece ends with the
// first tag in it. A token adds at most a fixed number of nodes. It can also reopen the formatting
// elements that are active. The standard's adoption agency algorithm adds at most 32 nodes for a
// tag (eight rounds of four). The sum of these estimates is above the actual size. If the sum
// reaches the limit, Read measures the tree, and continues from the actual size. If even then the
// piece could exceed the limit, parsing fails. So the limit holds for every input, and honest pages
// are measured rarely or never. If measuring itself takes too much work, parsing fails too.
//
// Inside a long comment or attribute, and with many active elements, a piece is longer. It then
// counts as if each "<" in it began a formatting element.
//
// The parser does not export which elements are open and active. A growth reads them from
// unexported fields of the parser. [TestParserFields] fails if a new version renames the fields.

// MaxTree is the maximum size of a page's tree in bytes, about a million nodes. The HTML standard
// itself, a very long page, needs half of that. The limit for a short page is lower: 8 MB plus 64
// bytes for each byte of the page, which suffices even if "<p>a" is repeated.
const (
	MaxTree   = 128 << 20
	freeTree  = 8 << 20
	treeAByte = 64
)

var (
	errOutgrown = errors.New("the HTML tree of the page is larger than the limit")
	errTangled  = errors.New("measuring the HTML tree of the page would take too much work")
)

// These are sizes and limits, in bytes unless stated otherwise.
const (
	nodeBytes  = 112  // size of an html.Node, rounded up by the allocator
	attrBytes  = 80   // size of an attribute of a copied element
	newAttr    = 160  // size of a new attribute, with the spare capacity of the slice
	ownNodes   = 4    // maximum number of nodes that a token adds: itself, and an implied tbody, tr and td
	textNodes  = 3    // maximum number of nodes that the text or the end of a comment before a tag adds
	adoptions  = 32   // maximum number of nodes that the adoption agency algorithm copies for a tag
	maxActive  = 1024 // maximum number of active formatting elements
	fewActive  = 16   // with more active formatting elements, a piece may have several tags
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
	open      *[]*html.Node
	tokenizer **html.Tokenizer
	raw       *string // name of the element, such as script, whose text the tokenizer is reading

	watch func(size int64) // receives the largest possible size of the tree, in tests; may be nil
}

// maxTree returns the maximum size of the tree, in bytes, for a page of the given size in bytes.
// limit is an upper bound; 0 means MaxTree.
func maxTree(size int, limit int64) int64 {
	if limit <= 0 {
		limit = MaxTree
	}
	return min(limit, freeTree+treeAByte*int64(size))
}

// parseWithin parses HTML as a browser without scripts would. If the tree might exceed the limit,
// in bytes, it fails with errOutgrown or errTangled.
func parseWithin(text []byte, limit int64) (*html.Node, error) {
	return (&growth{text: text, limit: limit, since: beginning}).parse()
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
	g.open = field[[]*html.Node](p, "oe")
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
		return 0, errTangled
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
			return 0, errTangled
		}
	}
	if g.since += bound; g.since > g.limit-g.weighed || len(*g.active) > maxActive {
		return 0, errOutgrown
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

// nextPiece returns the length of the next piece, at most n, and the maximum number of bytes that
// the piece can add to the tree. pending is the number of bytes in the unfinished token before the
// piece.
func (g *growth) nextPiece(pending, n int) (int, int64) {
	end := g.at + n
	start := g.firstTag(pending, end)
	if i := bytes.IndexByte(g.text[start:end], '<'); i >= 0 {
		start += i
	} else {
		start = end
	}
	var all, largest int64
	for _, e := range *g.active {
		w := weightOf(len(e.Attr))
		all, largest = all+w, max(largest, w)
	}
	if pending < pieceBytes && len(*g.active) <= fewActive {
		behind := max(start, g.at)
		if i := bytes.IndexByte(g.text[behind:end], '>'); i >= 0 {
			end = behind + i + 1
		}
		return end - g.at, g.byOneTag(g.text[start:end], all, largest)
	}
	part := g.text[max(start, g.at):end]
	tags, attrs := int64(bytes.Count(part, []byte("<"))+1), int64(separators(part))
	seen := attrs
	if start < g.at && formatting(g.text[start:]) {
		seen += int64(separators(g.text[start:g.at]))
	}
	all, largest = all+tags*nodeBytes+seen*attrBytes, max(largest, nodeBytes+seen*attrBytes)
	return end - g.at, (2*tags+1)*(ownNodes*nodeBytes+all) + newAttr*(attrs+1) + adoptions*tags*largest
}

// byOneTag returns the maximum number of bytes that text and a tag after it add to the tree. all is
// the total size of the active formatting elements, and largest is that of the largest.
func (g *growth) byOneTag(tag []byte, all, largest int64) int64 {
	sum := int64(textNodes+ownNodes)*nodeBytes + newAttr*int64(separators(tag)+1)
	if all == 0 {
		return sum
	}
	name, closing := tagName(tag)
	is := func(e *html.Node) bool { return bytes.EqualFold(name, []byte(e.Data)) }
	last := (*g.active)[len(*g.active)-1]
	isOpen := slices.Contains(*g.open, last)
	if !isOpen { // the text or the tag reopens them
		sum += all
	}
	if !closing && (slices.ContainsFunc(*g.active, is) || bytes.EqualFold(name, []byte("button"))) { // the tag may end some and reopen others
		sum += all
	}
	if innermost := isOpen && last == (*g.open)[len(*g.open)-1]; slices.ContainsFunc(*g.active, is) && !(closing && innermost && is(last)) {
		sum += adoptions * largest
	}
	return sum
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

// tagName returns the letters at the beginning of a tag's name.
func tagName(tag []byte) (name []byte, closing bool) {
	name, closing = bytes.CutPrefix(tag[min(len(tag), 1):], []byte("/"))
	i := 0
	for i < len(name) && 'a' <= name[i]|0x20 && name[i]|0x20 <= 'z' {
		i++
	}
	return name[:i], closing
}

func formatting(tag []byte) bool {
	name, _ := tagName(tag)
	return slices.Contains(strings.Fields("a b big code em font i nobr s small strike strong tt u"), string(bytes.ToLower(name)))
}

// firstTag returns the first offset at which a tag can begin, which may be that of the unfinished
// token. Inside a script, only the script's end tag counts, and inside a comment, only its end.
func (g *growth) firstTag(pending, end int) int {
	switch {
	case bytes.HasPrefix(g.text[g.at-pending:g.at], []byte("<!--")):
		for i := g.at; i < end; i++ {
			if g.text[i] == '>' && (g.text[i-1] == '-' || g.text[i-1] == '!') {
				return i
			}
		}
		return end
	case *g.raw == "":
		return g.at - pending
	}
	ending := "</" + *g.raw
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
