package extract

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/extract/node"
)

// Some sites put all their text in <script type="text/x-handlebars-template">, and another script
// inserts it into the page. If the page has little other text, the text of these scripts is read
// too.

func isTemplateScript(n *html.Node) bool {
	switch strings.ToLower(strings.TrimSpace(node.Attr(n, "type"))) {
	case "text/x-handlebars-template", "text/x-handlebars":
		return n.FirstChild != nil
	}
	return false
}

// expression matches what a Handlebars template engine replaces: {{name}}, {{{name}}}, {{#if
// name}}.
var expression = regexp.MustCompile(`\{\{\{?[^{}]*\}?\}\}`)

// addTemplates reads the markup of template scripts as if it were at the end of the page.
func (s *survey) addTemplates() {
	scripts := s.scripts
	s.scripts = nil
	for _, script := range scripts {
		markup := expression.ReplaceAllString(script.FirstChild.Data, " ")
		body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
		nodes, err := html.ParseFragment(strings.NewReader(markup), body)
		if err != nil {
			continue // elements are nested too deeply
		}
		box := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
		for _, n := range nodes {
			box.AppendChild(n)
		}
		s.walk(box)
		s.flush()
	}
}
