package extract

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Some sites keep their text in <script type="text/x-handlebars-template">, whole, and have a
// script move it into view. Where the page shows next to nothing otherwise, that text is the
// page's.

func isTemplateScript(n *html.Node) bool {
	switch strings.ToLower(strings.TrimSpace(attr(n, "type"))) {
	case "text/x-handlebars-template", "text/x-handlebars":
		return n.FirstChild != nil
	}
	return false
}

// expression is what the engine replaces: {{name}}, {{{name}}}, {{#if name}}.
var expression = regexp.MustCompile(`\{\{\{?[^{}]*\}?\}\}`)

// addTemplates walks the markup of template scripts as if it stood at the end of the page.
func (s *survey) addTemplates() {
	scripts := s.scripts
	s.scripts = nil
	for _, script := range scripts {
		markup := expression.ReplaceAllString(script.FirstChild.Data, " ")
		body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
		nodes, err := html.ParseFragment(strings.NewReader(markup), body)
		if err != nil {
			continue // nested too deep: no text of a page
		}
		box := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
		for _, n := range nodes {
			box.AppendChild(n)
		}
		s.walk(box)
		s.flush()
	}
}
