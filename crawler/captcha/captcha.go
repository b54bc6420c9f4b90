// Package captcha recognizes pages that a server returns in place of the requested page, to find out
// whether the visitor is human. It does no I/O.
package captcha

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// # Evidence
//
// Such a page has status 200 on many servers (Fossil, Cloudflare, Anubis, DataDome), so only its
// content shows what it is. It is short, and has one of these signs:
//
//   - a response header, an attribute or a script that only such pages have; see marks;
//   - a form without other fields than one for a code, or the widget of a service, and a phrase that
//     asks for a proof in the title, a heading or the form;
//   - a script, such a phrase in the title or a heading, nearly no other words, and nearly no links.
//
// A password, an e-mail address, a message or a choice is a field that no captcha has. So a form for
// messages or a login with a widget is an ordinary page, and so is a long page about captchas.
//
// Known weaknesses: a page in a language that phrases does not list has only marks. A stub of an
// article that is named "Are you human?" and has a form with only a button counts as a captcha.

const (
	maxBytes  = 1 << 18 // size of a captcha with its scripts and styles
	maxTags   = 300     // approximate number of tags of a captcha
	maxMarked = 400     // words of a page with a mark; Anubis explains itself in 200 words
	maxForm   = 150     // words of a page with a form or a widget; the menu of the site counts
	maxScript = 60      // words of a page with only a script
	maxLinks  = 3       // links of such a page
)

// marks are parts of attributes and scripts that only captchas have. A service adds other scripts to
// ordinary pages.
var marks = []string{
	"anubis_challenge", "/.within.website/x/cmd/anubis/", "_cf_chl_opt", "cf-browser-verification", "captcha-delivery.com/",
	"px-captcha", "/sgcaptcha/", "gokuProps", "/_Incapsula_Resource?SWUDNSAI",
}

// roots are parts of phrases. A page without any of them, which is soon found out, has no phrase.
var roots = []string{
	"uman", "umain", "mensch", "robo", " bot", "captcha", "browser", "moment", "traffic", "security",
	"робот", "человек", "ロボット", "机器人", "真人", "機器人",
}

// headers are response headers that only captchas have.
var headers = []string{"Cf-Mitigated", "X-Amzn-Waf-Action"}

// phraseLines ask for a proof, in lower case.
//
//go:embed phrases.txt
var phraseLines string

var phrases = strings.Split(strings.TrimSpace(phraseLines), "\n")

// Is reports whether an HTML response is a captcha.
func Is(header map[string][]string, body []byte) bool {
	for _, name := range headers {
		if len(header[name]) > 0 {
			return true
		}
	}
	var p page
	return mayAsk(body) && p.read(body) && p.asks()
}

// mayAsk is false for nearly all other pages, and much faster than reading them.
func mayAsk(body []byte) bool {
	if len(body) > maxBytes || bytes.Count(body, []byte("<")) > maxTags {
		return false
	}
	words := atLeast(body, maxMarked)
	if words > maxMarked || words > maxForm && !isMarked(string(body)) {
		return false
	}
	return isMarked(string(body)) || containsAny(strings.ToLower(string(body)), roots)
}

// atLeast returns about the number of words that a page shows, and seldom more. It stops after most words.
func atLeast(body []byte, most int) (words int) {
	for len(body) > 0 && words <= most {
		text, rest, _ := bytes.Cut(body, []byte("<"))
		if text = bytes.TrimSpace(text); len(text) > 0 {
			words += 1 + bytes.Count(text, []byte(" "))
		}
		_, body, _ = bytes.Cut(rest, []byte(">"))
		for _, hidden := range []string{"script", "style"} {
			for inside := isTag(rest, hidden); inside && len(body) > 0; inside = !isTag(body, hidden) {
				_, body, _ = bytes.Cut(body, []byte("</"))
			}
		}
	}
	return words
}

func isTag(b []byte, name string) bool {
	return len(b) >= len(name) && strings.EqualFold(string(b[:len(name)]), name)
}

// A page holds the evidence of one page.
type page struct {
	words, links   int
	marked, script bool
	other          bool // a field that no captcha has
	form, widget   bool
	text, loud     strings.Builder // all text, and that of the title, headings and forms

	in     atom.Atom // the element whose text is not shown, or is loud
	inForm bool
	codes  int // fields of the form in which a code can be typed
}

// read reports whether the page is short enough to be a captcha.
func (p *page) read(body []byte) bool {
	z := html.NewTokenizer(bytes.NewReader(body))
	for p.words <= maxMarked {
		switch z.Next() {
		case html.ErrorToken:
			return true
		case html.TextToken:
			p.say(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			p.open(atom.Lookup(name), attributes(z, more))
		case html.EndTagToken:
			name, _ := z.TagName()
			p.close(atom.Lookup(name))
		}
	}
	return false
}

func attributes(z *html.Tokenizer, more bool) map[string]string {
	var all map[string]string
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "id", "class", "src", "action", "name", "type", "role", "value", "content":
			if all == nil {
				all = map[string]string{}
			}
			all[string(key)] = string(value)
		}
	}
	return all
}

func (p *page) say(text []byte) {
	switch p.in {
	case atom.Script:
		p.marked = p.marked || isMarked(string(text))
		return
	case atom.Style:
		return
	}
	for word := range strings.FieldsSeq(string(text)) {
		p.words++
		p.add(word)
	}
}

func (p *page) add(word string) {
	p.text.WriteString(word + " ")
	if p.in != 0 || p.inForm {
		p.loud.WriteString(word + " ")
	}
}

func (p *page) open(name atom.Atom, attr map[string]string) {
	for key, value := range attr {
		p.marked = p.marked || key != "content" && key != "value" && isMarked(value)
	}
	if names := strings.ToLower(attr["class"] + attr["id"] + attr["src"] + attr["name"]); name != atom.Script {
		p.widget = p.widget || strings.Contains(names, "captcha") || strings.Contains(names, "turnstile")
	}
	switch name {
	case atom.Script, atom.Style, atom.Title, atom.H1, atom.H2:
		p.in = name
		p.script = p.script || name == atom.Script
	case atom.A:
		p.links++
	case atom.Form:
		p.inForm, p.codes = !isSearch(attr), 0
	case atom.Select:
		p.other = true
	case atom.Textarea:
		p.other = p.other || !strings.Contains(attr["name"], "captcha")
	case atom.Input:
		p.field(attr)
	case atom.Button:
		p.form = p.form || p.inForm
	}
}

func (p *page) field(attr map[string]string) {
	switch strings.ToLower(attr["type"]) {
	case "hidden", "search", "checkbox", "radio", "reset":
	case "submit", "button", "image":
		p.form = p.form || p.inForm
		p.say([]byte(attr["value"]))
	case "", "text":
		if isSearch(attr) {
			p.inForm = false
			break
		}
		p.codes++
		p.other = p.other || p.codes > 1 || strings.Contains(strings.ToLower(attr["name"]), "mail")
	default:
		p.other = true
	}
}

// isSearch reports whether a form or a field is for a search.
func isSearch(attr map[string]string) bool {
	name := strings.ToLower(attr["name"])
	return attr["role"] == "search" || name == "q" || name == "s" || strings.Contains(name+strings.ToLower(attr["action"]+attr["class"]), "search")
}

func (p *page) close(name atom.Atom) {
	switch name {
	case p.in:
		p.in = 0
	case atom.Form:
		p.inForm = false
	}
}

func (p *page) asks() bool {
	switch {
	case p.marked:
		return true
	case p.other || p.words > maxForm:
		return false
	case isProof(p.loud.String()), p.words <= maxScript && isProof(p.text.String()):
		return p.form || p.widget || p.script && p.words <= maxScript && p.links <= maxLinks
	}
	return false
}

func isMarked(s string) bool { return containsAny(s, marks) }

func isProof(text string) bool {
	return containsAny(strings.ReplaceAll(strings.ToLower(text), "’", "'"), phrases)
}

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}
