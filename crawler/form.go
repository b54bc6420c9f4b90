package crawler

import (
	"bytes"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"skink/base/node"
	"skink/crawler/access"
)

// # Filling in a form
//
// A login form is submitted as a browser submits it (HTML Standard 4.10.21). A control belongs to
// the form that its attribute form names, or else to the form around it. A form that begins between
// the rows of a table has no content in the tree, so it owns the controls that follow in the table.
//
// Only the submit button that was pressed is sent, and it may change the target, the method and the
// encoding. A user presses the button that the settings name, or else the first one after the last
// field that was filled in. Without such a button, the first one of the form is pressed.

// A form is a form of a page, filled in.
type form struct {
	base   string // href of the page's <base>
	action string // URL to which the form is submitted, as written; "" means the URL of the page
	post   bool
	parts  bool // the encoding is multipart/form-data
	values url.Values

	names   map[string]bool // names of all controls, also those that are not sent
	buttons []*html.Node    // the submit buttons
	last    int             // number of submit buttons before the last field of the settings
	named   *html.Node      // the submit button that the settings name; nil if they name none
}

// findForm finds the first form that has all these fields, and fills them in. All other fields keep
// their values, as in a browser.
func findForm(body []byte, fields map[string]access.Secret) (*form, error) {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	var known []string // names of the fields of all forms
	for _, f := range readForms(root, fields) {
		known = append(known, slices.Collect(maps.Keys(f.names))...)
		missing := func(name string) bool { return !f.names[name] }
		if slices.ContainsFunc(slices.Collect(maps.Keys(fields)), missing) {
			continue
		}
		f.press()
		for name, value := range fields {
			f.values.Set(name, string(value))
		}
		return f, nil
	}
	want := strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
	if len(known) == 0 {
		return nil, fmt.Errorf("the page has no form with the fields %s", want)
	}
	slices.Sort(known)
	return nil, fmt.Errorf("the page has no form with the fields %s; its forms have the fields %s", want, cut(strings.Join(slices.Compact(known), ", ")))
}

// A formReader reads the forms of a page.
type formReader struct {
	base    string // href of the page's <base>
	all     []*form
	of      map[*html.Node]*form
	ids     map[string]*html.Node     // the first element with each id
	inTable map[*html.Node]*html.Node // for each table, the last form that begins between its rows
}

// readForms returns the forms of a page with the values of their controls.
func readForms(root *html.Node, fields map[string]access.Secret) []*form {
	r := &formReader{of: map[*html.Node]*form{}, ids: map[string]*html.Node{}, inTable: map[*html.Node]*html.Node{}}
	for n := range root.Descendants() {
		r.element(n)
	}
	for n := range root.Descendants() {
		if f := r.of[r.owner(n)]; f != nil {
			f.control(n, fields)
		}
	}
	return r.all
}

func (r *formReader) element(n *html.Node) {
	if id := node.Attr(n, "id"); id != "" && r.ids[id] == nil {
		r.ids[id] = n
	}
	switch {
	case n.Type != html.ElementNode:
	case n.Data == "base" && r.base == "":
		r.base = node.Attr(n, "href")
	case n.Data == "form":
		f := &form{values: url.Values{}, names: map[string]bool{}, base: r.base}
		f.submitWith(n, "")
		r.all, r.of[n] = append(r.all, f), f
		if table := node.Around(n, "table"); table != nil && n.FirstChild == nil {
			r.inTable[table] = n
		}
	}
}

// owner returns the form of a control, or nil.
func (r *formReader) owner(n *html.Node) *html.Node {
	if n.Type != html.ElementNode || n.Data != "input" && n.Data != "select" && n.Data != "textarea" && n.Data != "button" {
		return nil
	}
	if id := node.Attr(n, "form"); id != "" {
		return r.ids[id]
	}
	if around := node.Around(n, "form"); around != nil {
		return around
	}
	return r.inTable[node.Around(n, "table")]
}

// submitWith takes the target, the method and the encoding from the attributes of a form, or from
// those of a button, whose names begin with "form".
func (f *form) submitWith(n *html.Node, prefix string) {
	if node.HasAttr(n, prefix+"action") {
		f.action = node.Attr(n, prefix+"action")
	}
	if node.HasAttr(n, prefix+"method") {
		f.post = strings.EqualFold(node.Attr(n, prefix+"method"), "post")
	}
	if node.HasAttr(n, prefix+"enctype") {
		f.parts = strings.EqualFold(node.Attr(n, prefix+"enctype"), "multipart/form-data")
	}
}

// control adds a control to its form.
func (f *form) control(n *html.Node, fields map[string]access.Secret) {
	name, kind := node.Attr(n, "name"), strings.ToLower(node.Attr(n, "type"))
	if isDisabled(n) {
		return
	}
	_, given := fields[name]
	switch {
	case n.Data == "button" && kind != "button" && kind != "reset", n.Data == "input" && (kind == "submit" || kind == "image"):
		if f.buttons = append(f.buttons, n); given && f.named == nil {
			f.named = n
		}
	case given:
		f.last = len(f.buttons)
	}
	if name != "" {
		f.names[name] = true
		f.values[name] = append(f.values[name], valuesOf(n, kind)...)
	}
}

// isDisabled reports whether a control or an option is disabled, by itself or by a group around it. Those of a
// list of suggestions are never sent.
func isDisabled(n *html.Node) bool {
	if node.HasAttr(n, "disabled") || node.Around(n, "datalist") != nil {
		return true
	}
	for group := n.Parent; group != nil; group = group.Parent {
		if node.HasAttr(group, "disabled") && (group.Data == "optgroup" || group.Data == "fieldset") {
			return true
		}
	}
	return false
}

// valuesOf returns the values that a control sends.
func valuesOf(n *html.Node, kind string) []string {
	switch {
	case n.Data == "textarea":
		return []string{strings.ReplaceAll(node.Text(n), "\n", "\r\n")}
	case n.Data == "select":
		return selected(n)
	case n.Data == "button", kind == "button", kind == "reset", kind == "submit", kind == "image":
		return nil
	case kind == "hidden" && strings.EqualFold(node.Attr(n, "name"), "_charset_"):
		return []string{"UTF-8"}
	case kind != "checkbox" && kind != "radio":
		return []string{node.Attr(n, "value")}
	case !node.HasAttr(n, "checked"):
		return nil
	case !node.HasAttr(n, "value"):
		return []string{"on"}
	}
	return []string{node.Attr(n, "value")}
}

// selected returns the values of the selected options. If none is selected, a list that shows one
// option at a time has selected its first.
func selected(list *html.Node) (values []string) {
	several := node.HasAttr(list, "multiple")
	var first *html.Node
	chosen := false
	for n := range list.Descendants() {
		if n.Type != html.ElementNode || n.Data != "option" {
			continue
		}
		sent := !isDisabled(n)
		if node.HasAttr(n, "selected") {
			if chosen = true; !several {
				values = nil
			}
			if sent {
				values = append(values, valueOf(n))
			}
		} else if sent && first == nil {
			first = n
		}
	}
	if !several && !chosen && first != nil {
		return []string{valueOf(first)}
	}
	return values
}

func valueOf(option *html.Node) string {
	if node.HasAttr(option, "value") {
		return node.Attr(option, "value")
	}
	return strings.Join(strings.Fields(node.Text(option)), " ")
}

// press presses a submit button, if the form has one.
func (f *form) press() {
	button := f.named
	switch {
	case button != nil:
	case f.last < len(f.buttons):
		button = f.buttons[f.last]
	case len(f.buttons) > 0:
		button = f.buttons[0]
	default:
		return
	}
	f.submitWith(button, "form")
	name := node.Attr(button, "name")
	switch {
	case strings.EqualFold(node.Attr(button, "type"), "image"):
		if name != "" {
			name += "."
		}
		f.values.Add(name+"x", "0")
		f.values.Add(name+"y", "0")
	case name != "":
		f.values.Add(name, node.Attr(button, "value"))
	}
}

// encoded returns the body of a POST request for a form, and a header with its Content-Type.
func (f *form) encoded() (body string, header http.Header) {
	if !f.parts {
		return f.values.Encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	}
	var b strings.Builder
	w := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		for _, value := range f.values[name] {
			_ = w.WriteField(name, value) // a strings.Builder never fails
		}
	}
	_ = w.Close()
	return b.String(), http.Header{"Content-Type": {w.FormDataContentType()}}
}
