// Package node reads parsed HTML. Names of elements and attributes are in lower case, as the parser
// returns them.
package node

import (
	"strings"

	"golang.org/x/net/html"
)

// Attr returns the value of an attribute, or "" if the element does not have it.
func Attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val
		}
	}
	return ""
}

// HasAttr reports whether the element has an attribute, even an empty one.
func HasAttr(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return true
		}
	}
	return false
}

// HasToken reports whether list, such as a class attribute, contains token. The list is separated
// by white space. Case is ignored.
func HasToken(list, token string) bool {
	if len(list) < len(token) {
		return false
	}
	for t := range strings.FieldsSeq(list) {
		if strings.EqualFold(t, token) {
			return true
		}
	}
	return false
}

// Around returns the innermost element with this name around n, or nil.
func Around(n *html.Node, name string) *html.Node {
	for n = n.Parent; n != nil && n.Data != name; n = n.Parent {
	}
	return n
}

// IsLine reports whether a text without white space around it is one line: it must be printable ASCII without double spaces.
func IsLine(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && s[i-1] == ' ' {
			return false
		}
	}
	return true
}

// Text returns the text in n with its white space.
func Text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
