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

// # A tree in proportion
//
// The standard has formatting elements that were never closed opened again in every paragraph: 50
// <font> and 10,000 <p>, 46 KB, become half a million nodes, each with its attributes. No page
// needs that: "<p>a" is four bytes and two nodes. So the tree has a bound in bytes. The bound is
// kept while the parser works, not by a guess about the page.
//
// The parser asks for its input piece by piece. Between two pieces its tree is weighed, and a piece
// is only given if the tree stays within the bound whatever the piece does. Each token in the piece
// makes at most so many nodes of its own. It opens again at most the formatting elements that are
// active or that the piece itself can add, and at most 32 more by the adoption agency, which takes
// eight rounds of four. That is far more than honest pieces make, so the sum over the pieces is not
// the weight of the tree. When the sum reaches the bound, the tree is weighed anew, and the sum
// goes on from there. The bound holds for every input, and an honest page is weighed seldom or
// never. A page that makes much work of weighing is itself out of proportion.
//
// Most of what honest pages format is a link or a word: <a href="/x"><code>x</code></a>. While no
// formatting element is active, an element that ends properly before anything begins but its like
// leaves none active either, and nothing of it is copied. So such elements count as what they are,
// and a piece is cut where one of them begins that does not end within the piece. That holds even
// if the tags are no tags, because they stand in a comment, an attribute or a script. If that ends
// among them, what is left of them are whole elements of the same kind, and end tags that find
// nothing to end.
//
// The parser tells nobody which formatting elements are active. A growth reads that from the
// parser's own fields, whose names [TestParserFields] holds.

// MaxTree is how many bytes the tree of a page may take, some million nodes: the longest page of
// the standard itself has half of it. The tree of a shorter page may take 8 MB and 64 bytes for
// each of its own, which is what "<p>a" needs: a page that takes more has its elements multiplied.
const (
	MaxTree   = 128 << 20
	freeTree  = 8 << 20
	treeAByte = 64
)

var (
	errOutgrown = errors.New("the tree is larger than its limit")
	errTangled  = errors.New("the tree would take too much work to keep within its limit")
)

// What a tree is made of, in bytes.
const (
	nodeBytes  = 112 // an html.Node, as it is allocated
	attrBytes  = 80  // an attribute of a copied element: its slot, and a share of its strings
	newAttr    = 160 // an attribute as it is read, with room that the list of them grew into
	ownNodes   = 4   // nodes of a token at most: itself, and tbody, tr and td that it implies
	adoptions  = 32  // nodes that the adoption agency copies at most for a tag
	activeMost = 1024
	pieceBytes = 1 << 10
	pieceLeast = 64
	beginning  = 16 * nodeBytes // html, head, body, and what the end of a page implies
	copies     = 64             // times that a page's bytes may be moved in tokens that do not end
	weighings  = 1              // nodes that may be weighed for each byte
	free       = 4 << 20        // nodes weighed, and bytes moved 16 times, in any page
)

// A growth hands a page to the parser, and holds the parser's tree within limit.
type growth struct {
	text  []byte
	at    int // bytes handed over
	limit int64

	weighed int64 // the tree, when it was last weighed
	since   int64 // what can have come to it since, at most
	copied  int64 // bytes of unfinished tokens that the tokenizer has moved
	nodes   int64 // weighed, in all
	last    int   // bytes of the last piece

	doc       **html.Node // of the parser
	active    *[]*html.Node
	tokenizer **html.Tokenizer
	raw       *string // the element, such as script, in whose text the tokenizer is

	watch func(most int64) // told in tests how heavy the tree can be by now; nil: nobody is
}

// mostTree is how many bytes the tree of a page of so many may take, if limit lets it.
func mostTree(size int, limit int64) int64 {
	if limit <= 0 {
		limit = MaxTree
	}
	return min(limit, freeTree+treeAByte*int64(size))
}

// parseWithin parses a page as a browser without scripts would, with a tree of at most limit bytes.
func parseWithin(text []byte, limit int64) (*html.Node, error) {
	return (&growth{text: text, limit: limit, since: beginning}).parse()
}

func (g *growth) parse() (*html.Node, error) {
	return html.ParseWithOptions(g, html.ParseOptionEnableScripting(false), option(html.ParseOption(nil), g.look))
}

// option makes an option of a function that wants to see the parser, whose type has no name outside
// its package.
func option[O ~func(P), P any](_ O, see func(any)) O { return func(p P) { see(p) } }

// look finds the fields of a parser.
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

// Read implements [io.Reader].
func (g *growth) Read(p []byte) (int, error) {
	pending := len((*g.tokenizer).Raw())
	if g.copied += int64(pending); g.copied > copies*int64(len(g.text))+16*free {
		return 0, errTangled
	}
	// As much again as the token has that is being read, for the tokenizer moves that each time.
	n := min(max(pieceBytes, min(pending, 2*g.last)), len(p), len(g.text)-g.at)
	n, most := g.most(pending, n)
	for most > g.limit/8 && n > pieceLeast {
		n, most = g.most(pending, n/2)
	}
	if g.since+most > g.limit-g.weighed {
		g.weighed, g.since = weigh(*g.doc), g.unfinished(pending)
		if g.nodes += g.weighed / nodeBytes; g.nodes > weighings*int64(len(g.text))+free {
			return 0, errTangled
		}
	}
	if g.since += most; g.since > g.limit-g.weighed || len(*g.active) > activeMost {
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

// unfinished is what has been foreseen for a token that is being read, and is in no tree yet: its
// attributes.
func (g *growth) unfinished(pending int) int64 {
	token := g.text[g.at-pending : g.at]
	if pending == 0 || token[0] != '<' || *g.raw != "" {
		return 0
	}
	return newAttr * int64(separators(token))
}

// weigh adds up a tree. It takes most of the time of a hostile page, so it walks by hand.
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

// most is how much can come to the tree while the parser reads the next n bytes, or somewhat fewer,
// as it says, behind a token of which it has read some already.
func (g *growth) most(pending, n int) (int, int64) {
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

// noneActive reports that no formatting element is active. The list has marks too, of table cells
// and such.
func (g *growth) noneActive() bool {
	for _, e := range *g.active {
		if e.Type == html.ElementNode {
			return false
		}
	}
	return true
}

// weightOf is what a copy of an element with so many attributes takes.
func weightOf(attrs int) int64 { return nodeBytes + attrBytes*int64(attrs) }

// separators counts the bytes of which one is before each attribute.
func separators(piece []byte) (n int) {
	for _, b := range []string{" ", "\n", "\t", "\r", "\f", "/", `"`, "'"} {
		n += bytes.Count(piece, []byte(b))
	}
	return n
}

// tagsSeen counts the tags of a piece, and its formatting elements.
type tagsSeen struct {
	half, end  int  // of the piece
	quiet      bool // no formatting element can be active
	tags       int
	calm       int   // tags up to where one can
	formatting int   // tags of formatting elements behind those, of any kind
	weight     int64 // of those that can open one
	largest    int64
	scan       int // bytes that may still be looked at for attributes: a tag may reach to the end
}

// tags finds everything in a piece that can be a tag. Not all of it is: some may stand in a
// comment, a script or an attribute.
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

// count counts the tag at i, or the whole element, and returns where to go on.
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

// quiet is how far a text that begins with a "<" goes, and with how many tags, until no formatting
// element is active if none was before: one byte if the tag opens none, otherwise to the end of the
// element. The length is 0 if something comes in between that is not known to be harmless, or, as
// cut says, the text ends before the element does.
func quiet(text []byte) (length, tags int, cut bool) {
	var open [8][]byte // elements
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

// nests reports an element of which the parser does nothing but put it into those that are open.
func nests(name []byte, open [][]byte) bool {
	if bytes.EqualFold(name, []byte("span")) {
		return true
	}
	alone := bytes.EqualFold(name, []byte("a")) || bytes.EqualFold(name, []byte("nobr")) // they end those that are open
	return formatting(name) && !(alone && slices.ContainsFunc(open, func(o []byte) bool { return bytes.EqualFold(o, name) }))
}

// tagName reads the name of what begins with a "<", as far as one of a formatting element reaches,
// and returns what is behind it.
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

// firstTag is where the first tag that is not being read yet can begin, and in the text of a script
// where that may end.
func (g *growth) firstTag(pending, end int) int {
	ending := "</" + *g.raw
	if ending == "</" {
		return g.at - min(pending, 1) // a "<" does not end the text before it until it is known what follows
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

// add counts what begins with a "<", if it can be a formatting element.
func (s *tagsSeen) add(tag []byte) {
	name, closing, rest := tagName(tag)
	if len(rest) > 0 && !formatting(name) {
		return
	}
	s.formatting++
	if closing {
		return
	}
	most := (len(name) + len(rest)) / 2 // an attribute has a letter, and something before it
	if s.scan > 0 {
		n, read := attributes(rest)
		s.scan -= read
		most = n
	}
	w := weightOf(most)
	s.weight, s.largest = s.weight+w, max(s.largest, w)
}

// formatting reports one of the standard's formatting elements by its name.
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

// attributes counts those of a tag, from behind its name to its end, as the tokenizer does, and
// perhaps some too many. It says how far it read.
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
		i++ // a "=" here is the name's
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

// value returns where an attribute's value ends.
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

// endsName reports what ends the name of a tag.
func endsName(c byte) bool { return isSpace(c) || c == '/' || c == '>' }

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' && c != '\v' }
