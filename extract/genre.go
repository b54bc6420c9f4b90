package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// # Kinds of page
//
// Three kinds of page are read differently. Most of them say what they are, to search engines if
// not to readers.
//
// A thread is a page whose text is its comments: a forum's topic, a question with its answers.
// Nothing is dropped there for being a comment. What stands beside each post about its writer is
// dropped. A page of questions and answers has remarks on them besides. Those are comments, as
// below an article.
//
// An article is one text by one hand. Comments below it are somebody else's, however many there
// are. Only the template says that a page is an article, and a copy may have another template. So
// whatever can be told without that word is: the column, and the labels.
//
// A product is described by its seller. Reviews and questions below it are the buyers', and most of
// what lies around it are other things to buy. An article that judges a product names it to search
// engines too, so the markup of the shop itself counts for more. A shop that says nothing has a
// button to buy the product.

// genre is what a page says it is; several may be true of one, and mostly none is.
type genre struct {
	thread, answers, article, product, shop, blog, manual bool
	carts                                                 int // controls that put a thing into a cart
}

var (
	// threadSoftware are forums that name themselves in <meta name=generator> or in the class or id
	// of <html> and <body>.
	threadSoftware = []string{"discourse", "phpbb", "vbulletin", "xenforo", "invision community", "flarum", "vanilla", "nodebb", "mybb", "simple machines", "question-page"}

	// manualSoftware writes manuals. Their signatures look like labels, and a sentence of a section
	// returns in an overview.
	manualSoftware = []string{"javadoc", "doxygen", "docbook", "publican", "docutils", "mkdocs", "sphinx", "asciidoc", "docusaurus"}

	// blogSoftware keeps what it calls comments below what it calls a post, or a page.
	blogSoftware = []string{"wordpress", "blogger", "movable type", "ghost"}

	// threadTypes, articleTypes and productTypes are schema.org's.
	threadTypes  = []string{"DiscussionForumPosting", "QAPage"}
	articleTypes = []string{`"Article"`, `"NewsArticle"`, `"BlogPosting"`, "schema.org/Article", "schema.org/NewsArticle", "schema.org/BlogPosting"}

	// shopPages are in the class or id of <html> and <body> of a product's page, as WooCommerce,
	// Shopify and BigCommerce write them.
	shopPages    = []string{"single-product", "template-product", "product-template", "page-product", "pages-product"}
	productTypes = []string{`"Product"`, `"ProductGroup"`, "schema.org/Product"}
)

// note reads what an element says about the page.
func (g *genre) note(n *html.Node) {
	switch n.DataAtom {
	case atom.Meta:
		switch content := attr(n, "content"); {
		case strings.EqualFold(attr(n, "property"), "og:type"):
			g.article = g.article || strings.EqualFold(strings.TrimSpace(content), "article")
			g.shop = g.shop || strings.Contains(content, "product")
		case strings.EqualFold(attr(n, "name"), "generator"):
			g.thread = g.thread || containsAny(strings.ToLower(content), threadSoftware)
			g.manual = g.manual || containsAny(strings.ToLower(content), manualSoftware)
			g.blog = g.blog || containsAny(strings.ToLower(content), blogSoftware)
		}
	case atom.Script:
		if n.FirstChild != nil && strings.EqualFold(attr(n, "type"), "application/ld+json") {
			g.schema(n.FirstChild.Data)
		}
	case atom.Html, atom.Body:
		names := strings.ToLower(attr(n, "class") + " " + attr(n, "id"))
		g.thread = g.thread || containsAny(names, threadSoftware)
		g.answers = g.answers || strings.Contains(names, "question-page")
		g.shop = g.shop || containsAny(names, shopPages)
	}
}

// schema reads a text that names types of schema.org.
func (g *genre) schema(text string) {
	g.thread = g.thread || containsAny(text, threadTypes)
	g.article = g.article || containsAny(text, articleTypes)
	g.product = g.product || containsAny(text, productTypes)
	g.answers = g.answers || strings.Contains(text, "QAPage")
}

// control notes a control that puts a thing into a cart.
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
		return false // nearly always
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

// sells reports a page with a thing to buy: a list of such things has a control for each, and the
// page of one has it once, and once more where it sticks to the screen.
func (g *genre) sells() bool { return 1 <= g.carts && g.carts <= 3 }

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// What the guards ask: see prune.

func (g *genre) anything() bool   { return true }
func (g *genre) isThread() bool   { return g.thread }
func (g *genre) isArticle() bool  { return g.article && !g.thread && !g.shop }
func (g *genre) isText() bool     { return !g.thread && !g.isProduct() }
func (g *genre) notThread() bool  { return !g.thread }
func (g *genre) isProduct() bool  { return g.shop || (g.product || g.sells()) && !g.article }
func (g *genre) hasRemarks() bool { return !g.thread || g.answers }
