// Package selector finds the parts of a page that a user names with CSS selectors: the elements with the main text, the
// elements to drop from it, and the values of fields. It is pure. Start with [Rules].
package selector

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"skink/base/node"
)

// Rules are CSS selectors by what they select: "main" and "drop" select elements, "fields.NAME" the value of a field,
// and "fields.NAME[]" the values of a field that is a list. If the selector of a field ends in @NAME, the value is that
// attribute, and otherwise the text of the element. Use [Rules.Add], which checks selectors.
type Rules map[string][]string

// Limits of the values of a page, in bytes. Records are read often, so they must stay small.
const (
	maxValue  = 16 << 10
	maxValues = 64 << 10
)

var (
	validKey  = regexp.MustCompile(`^(main|drop|fields\.[A-Za-z_][A-Za-z0-9_-]*(\[\])?)$`)
	attribute = regexp.MustCompile(`^(.+)@([A-Za-z_][\w:.-]*)$`)
)

// Add adds a selector. An error names the key and the selector.
func (r *Rules) Add(key, text string) error {
	_, _, err := parse(key, text)
	switch {
	case !validKey.MatchString(key):
		return fmt.Errorf("%s: the name of a field has only letters, digits, _ and -", key)
	case err != nil:
		return fmt.Errorf("%s: %q must be a CSS selector: %w", key, text, err)
	case *r == nil:
		*r = Rules{}
	}
	(*r)[key] = append((*r)[key], text)
	return nil
}

func parse(key, text string) (css cascadia.SelectorGroup, attr string, err error) {
	if at := attribute.FindStringSubmatch(text); at != nil && strings.HasPrefix(key, "fields.") {
		text, attr = at[1], at[2]
	}
	css, err = cascadia.ParseGroup(text)
	return css, attr, err
}

// ID returns a text that is the same only for equal rules, and "" if there are none.
func (r Rules) ID() string {
	if len(r) == 0 {
		return ""
	}
	text, _ := json.Marshal(r) // strings can always be encoded
	return fmt.Sprintf("%x", sha256.Sum256(text))[:16]
}

// Parts is what selectors find in a page.
type Parts struct {
	Main, Drop []*html.Node
	Fields     json.RawMessage // an object with a string or a list of strings for each field; nil if no field has a value
	Missed     []string        // the selectors that found nothing, after their keys
}

// Read applies the selectors to a page. The function text returns the text of an element, cut to limit bytes.
func (r Rules) Read(root *html.Node, text func(n *html.Node, limit int) string) (p Parts) {
	fields, left := map[string]any{}, maxValues
	for _, key := range slices.Sorted(maps.Keys(r)) {
		name, isList := strings.CutSuffix(strings.TrimPrefix(key, "fields."), "[]")
		var values []string
		for _, selector := range r[key] {
			css, attr, _ := parse(key, selector) // Add has checked it
			found, before := cascadia.QueryAll(root, css), len(values)
			for _, n := range found {
				value := strings.TrimSpace(node.Attr(n, attr))
				if attr == "" && name != key {
					value = text(n, maxValue)
				}
				if left -= len(value); value != "" && left >= 0 {
					values = append(values, value)
				}
			}
			switch {
			case len(found) == 0, name != key && len(values) == before:
				p.Missed = append(p.Missed, key+" "+selector)
			case key == "main":
				p.Main = append(p.Main, found...)
			case key == "drop":
				p.Drop = append(p.Drop, found...)
			case isList:
				fields[name] = values
			default:
				fields[name] = values[0]
			}
		}
	}
	if len(fields) > 0 {
		p.Fields, _ = json.Marshal(fields)
	}
	return p
}

// Cut removes the elements to drop from a tree. It returns a tree of the elements with the main text, or else the rest.
func (p *Parts) Cut(root *html.Node) *html.Node {
	for _, n := range p.Drop {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
	main := &html.Node{Type: html.DocumentNode}
	for _, n := range p.Main {
		above := n
		for above.Parent != nil {
			above = above.Parent
		}
		if above == root { // otherwise, another element with the main text, or one to drop, contains it
			n.Parent.RemoveChild(n)
			main.AppendChild(n)
		}
	}
	if len(p.Main) > 0 {
		return main
	}
	return root
}
