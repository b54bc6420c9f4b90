package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// # Kinds of page
//
// Threads, articles and products need rules of their own. Most such pages declare their kind to
// search engines, in schema.org markup or <meta property="og:type">.
//
// A thread consists of posts by many people: a forum topic, or a question with its answers. Its
// posts are the main text, although their boxes are called "comment". The details about the author
// beside each post are dropped. Question-and-answer sites also have short comments on each post.
// They are dropped like the comments below an article.
//
// An article is one text. Readers' comments below it are dropped, however many there are. A copy of
// an article on another site may lack the declaration, so the rules in root.go and labels.go work
// without it.
//
// A product page has a description by the seller. Reviews by buyers, questions, and links to other
// products are dropped. A review in a magazine may declare the product too. So the markup of shop
// software counts for more than schema.org's Product. A shop with neither of them is recognized by
// its add-to-cart button.

// genre records which kinds of page a page declares itself to be. Most pages declare no kind, and
// some declare several.
type genre struct {
	thread, answers, article, product, shop, blog, manual bool
	carts                                                 int // number of buttons and forms that put a product into a cart
	signs                                                 int // number of permalinks outside headings
	signatures                                            int // number of boxes called signatures
}

var (
	// threadSoftware lists names of forum software, found in <meta name=generator> or in the class or
	// id of <html> or <body>.
	threadSoftware = []string{"discourse", "phpbb", "vbulletin", "xenforo", "invision community", "flarum", "vanilla", "nodebb", "mybb", "simple machines", "question-page"}

	// manualSoftware lists generators of manuals. The rules for labels, repetitions and class names do
	// not apply to manuals, because a function's signature looks like a label, an overview repeats
	// sentences, and class names such as "tags" describe the parts of an entry.
	manualSoftware = []string{"javadoc", "doxygen", "docbook", "publican", "docutils", "mkdocs", "sphinx", "asciidoc", "docusaurus"}

	// blogSoftware lists blog systems. An element that such a system calls "comments" contains
	// readers' comments on a post or a page.
	blogSoftware = []string{"wordpress", "blogger", "movable type", "ghost"}

	// These are schema.org types as written in JSON-LD or microdata.
	threadTypes  = []string{"DiscussionForumPosting", "QAPage"}
	articleTypes = []string{`"Article"`, `"NewsArticle"`, `"BlogPosting"`, "schema.org/Article", "schema.org/NewsArticle", "schema.org/BlogPosting"}

	// shopPages lists names in the class or id of <html> or <body> that identify a product page of
	// WooCommerce, Shopify or BigCommerce.
	shopPages    = []string{"single-product", "template-product", "product-template", "page-product", "pages-product"}
	productTypes = []string{`"Product"`, `"ProductGroup"`, "schema.org/Product"}
)

func (g *genre) note(n *html.Node) {
	switch n.DataAtom {
	case atom.Meta:
		switch content := node.Attr(n, "content"); {
		case strings.EqualFold(node.Attr(n, "property"), "og:type"):
			g.article = g.article || strings.EqualFold(strings.TrimSpace(content), "article")
			g.shop = g.shop || strings.Contains(content, "product")
		case strings.EqualFold(node.Attr(n, "name"), "generator"):
			g.thread = g.thread || containsAny(strings.ToLower(content), threadSoftware)
			g.manual = g.manual || containsAny(strings.ToLower(content), manualSoftware)
			g.blog = g.blog || containsAny(strings.ToLower(content), blogSoftware)
		}
	case atom.Script:
		if n.FirstChild != nil && strings.EqualFold(node.Attr(n, "type"), "application/ld+json") {
			g.schema(n.FirstChild.Data)
		}
	case atom.Html, atom.Body:
		names := strings.ToLower(node.Attr(n, "class") + " " + node.Attr(n, "id"))
		g.thread = g.thread || containsAny(names, threadSoftware)
		g.answers = g.answers || strings.Contains(names, "question-page")
		g.shop = g.shop || containsAny(names, shopPages)
	}
}

func (g *genre) schema(text string) {
	g.thread = g.thread || containsAny(text, threadTypes)
	g.article = g.article || containsAny(text, articleTypes)
	g.product = g.product || containsAny(text, productTypes)
	g.answers = g.answers || strings.Contains(text, "QAPage")
}

// control counts n if it is a button or form that puts a product into a cart, such as <button
// class="add-to-cart">.
func (g *genre) control(n *html.Node) {
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "id", "name", "class", "action":
			if value := n.Attr[i].Val; len(value) < 200 && isCart(value) {
				g.carts++
				return
			}
		}
	}
}

func isCart(value string) bool {
	if !strings.Contains(value, "art") && !strings.Contains(value, "asket") {
		return false // fast path: neither "cart" nor "basket"
	}
	value = strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_':
			return -1
		case 'A' <= r && r <= 'Z':
			return r | 0x20
		}
		return r
	}, value)
	return strings.Contains(value, "addtocart") || strings.Contains(value, "addtobasket") || strings.HasSuffix(value, "/cart/add")
}

// sells reports whether the page sells one product. Such a page has one to three cart controls, but
// a list of products has one for each product.
func (g *genre) sells() bool { return 1 <= g.carts && g.carts <= 3 }

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// These methods are the conditions of the guards in prune.go.

func (g *genre) anything() bool   { return true }
func (g *genre) isThread() bool   { return g.thread }
func (g *genre) isArticle() bool  { return g.article && !g.thread && !g.shop }
func (g *genre) isText() bool     { return !g.thread && !g.isProduct() }
func (g *genre) notThread() bool  { return !g.thread }
func (g *genre) notManual() bool  { return !g.manual }
func (g *genre) isProduct() bool  { return g.shop || (g.product || g.sells()) && !g.article }
func (g *genre) hasRemarks() bool { return !g.thread || g.answers }

const entries = 4 // a page with this many entries of a manual is a manual

// findEntries recognizes a manual by its entries: lines of code, such as the signature of a
// function, each with a description below it, boxes that are called signatures, or signs beside
// its lines that link to them.
func (s *survey) findEntries() {
	s.manual = s.manual || s.signs >= entries || s.signatures >= 2 && !s.thread
	found := 0
	for i := 1; i < len(s.blocks) && !s.manual; i++ {
		above, b := &s.blocks[i-1], &s.blocks[i]
		if above.kind != pre && above.kind != item && above.code*5 >= above.size()*3 && b.code*2 < b.size() {
			found++
			s.manual = found == entries
		}
	}
}
