package extract

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

type emphasis struct{ strong, em, del bool }

// A span is a piece of text that has the same link, code and emphasis throughout.
type span struct {
	text   []byte
	spaced bool
	link   *html.Node // the <a> with an address around the span, or nil
	code   *html.Node // the <code> or similar element around the span, or nil
	image  *html.Node // the <img> if the span is an image, which has no text; otherwise nil
	emphasis
}

func (m *markdown) inline(nodes []placed) string {
	var spans []span
	for _, p := range nodes {
		sp := marksOf(p.node)
		if p.node.Type == html.TextNode {
			text := m.survey.text[p.from:p.to]
			sp.text = bytes.TrimLeft(text, " \t")
			sp.spaced = len(sp.text) < len(text)
			if len(sp.text) == 0 {
				continue
			}
		} else {
			sp.image, sp.spaced = p.node, true
		}
		spans = join(spans, sp)
	}
	settle(spans)
	return m.writeSpans(spans)
}

// marksOf returns an empty span with the link, code and emphasis of the elements around n.
func marksOf(n *html.Node) (sp span) {
	inHeading := false
	for a := n.Parent; a != nil; a = a.Parent {
		switch a.DataAtom {
		case atom.A:
			if sp.link == nil && address(node.Attr(a, "href")) != "" {
				sp.link = a
			}
		case atom.Strong, atom.B, atom.Dt:
			sp.strong = !inHeading
		case atom.Em, atom.I:
			sp.em = true
		case atom.Del, atom.S, atom.Strike:
			sp.del = true
		case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
			sp.code = a
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			inHeading, sp.strong = true, false // headings are bold anyway
		}
	}
	if inHeading { // programs that read headings expect only words
		sp.link = nil
	}
	return sp
}

// join appends a span, or merges it into the last one if both have the same link, code and
// emphasis. Two pieces of code with no space between them become one, because their backticks would
// run together.
func join(spans []span, sp span) []span {
	if len(spans) > 0 && sp.image == nil {
		last := &spans[len(spans)-1]
		if last.image == nil && last.link == sp.link && last.emphasis == sp.emphasis && last.sameCode(&sp) {
			if sp.spaced {
				last.text = append(last.text, ' ')
			}
			last.text = append(last.text, sp.text...)
			return spans
		}
	}
	sp.text = bytes.Clone(sp.text)
	return append(spans, sp)
}

func (sp *span) sameCode(next *span) bool {
	return sp.code == next.code || sp.code != nil && next.code != nil && !next.spaced
}

// settle removes or extends emphasis that Markdown cannot represent, because it begins or ends
// directly next to punctuation or other emphasis. Markdown would show its asterisks as text.
func settle(spans []span) {
	for i := 1; i < len(spans); i++ {
		a, b := &spans[i-1], &spans[i]
		if b.spaced || a.link != b.link || a.emphasis == b.emphasis {
			continue
		}
		switch none := (emphasis{}); {
		case a.emphasis != none && b.emphasis != none:
			b.emphasis = a.emphasis
		case a.emphasis != none && a.endsInMark() && !b.beginsWithMark():
			a.emphasis = none
		case b.emphasis != none && b.beginsWithMark() && !a.endsInMark():
			b.emphasis = none
		}
	}
}

func (sp *span) endsInMark() bool {
	r, _ := utf8.DecodeLastRune(sp.text)
	return sp.code != nil || sp.image != nil || isPunct(r)
}

func (sp *span) beginsWithMark() bool {
	r, _ := utf8.DecodeRune(sp.text)
	return sp.code != nil || sp.image != nil || isPunct(r)
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// opened is a link or an emphasis that is still open. begin and end are its Markdown, such as "**".
type opened struct {
	begin, end string
	link       *html.Node
}

func (m *markdown) marks(sp *span) (all []opened) {
	if sp.link != nil {
		all = append(all, opened{"[", "](" + m.destination(address(node.Attr(sp.link, "href"))) + ")", sp.link})
	}
	if sp.strong {
		all = append(all, opened{"**", "**", nil})
	}
	if sp.em {
		all = append(all, opened{"*", "*", nil})
	}
	if sp.del {
		all = append(all, opened{"~~", "~~", nil})
	}
	return all
}

func (m *markdown) writeSpans(spans []span) string {
	var out strings.Builder
	var open []opened
	shut := func(to int) {
		for ; len(open) > to; open = open[:len(open)-1] {
			out.WriteString(open[len(open)-1].end)
		}
	}
	for i := range spans {
		sp := &spans[i]
		marks := m.marks(sp)
		common := 0
		for common < min(len(open), len(marks)) && open[common] == marks[common] {
			common++
		}
		shut(common)
		if sp.spaced && i > 0 {
			out.WriteByte(' ')
		}
		for _, mark := range marks[common:] {
			out.WriteString(mark.begin)
			open = append(open, mark)
		}
		switch {
		case sp.image != nil:
			out.WriteString("![" + escape(oneSpace(node.Attr(sp.image, "alt"))) + "](" + m.destination(source(sp.image)) + ")")
		case sp.code != nil:
			out.WriteString(codeSpan(string(sp.text)))
		default:
			out.WriteString(escape(string(sp.text)))
		}
	}
	shut(0)
	return out.String()
}

// codeSpan encloses code in backticks, one more than in the longest run inside the code.
func codeSpan(code string) string {
	marks := strings.Repeat("`", longestRun(code, '`')+1)
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	return marks + code + marks
}

var entity = regexp.MustCompile(`^&(#[0-9xX]|[A-Za-z][A-Za-z0-9]*;)`)

// escape adds backslashes to text so that Markdown shows it unchanged. guardStart handles the
// characters that matter only at the start of a line.
func escape(text string) string {
	if !strings.ContainsAny(text, "\\*`[]<_~&!") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		escaped := false
		switch c {
		case '\\', '*', '`', '[', ']', '<':
			escaped = true
		case '_':
			before, _ := utf8.DecodeLastRuneInString(text[:i])
			after, _ := utf8.DecodeRuneInString(text[i+1:])
			escaped = !isWord(before) || !isWord(after)
		case '~':
			escaped = i > 0 && text[i-1] == '~' || i+1 < len(text) && text[i+1] == '~'
		case '&':
			escaped = entity.MatchString(text[i:])
		case '!':
			escaped = i+1 == len(text) // a link may follow, which could turn the "!" into an image
		}
		if escaped {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	return out.String()
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

var startOf = regexp.MustCompile(`^(#{1,6}( |$)|>|[-+]( |$)|--|==|~~~|[0-9]{1,9}[.)]( |$))`)

// guardStart escapes the start of a line that Markdown would otherwise read as a heading, a list
// item, a quotation or a rule.
func guardStart(line string) string {
	mark := startOf.FindString(line)
	if mark == "" {
		return line
	}
	if at := strings.IndexAny(mark, ".)"); at > 0 {
		return line[:at] + `\` + line[at:]
	}
	return `\` + line
}

// address returns an address without control characters, or "" for javascript:, vbscript: and
// data:.
func address(href string) string {
	href = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || invisible(r) {
			return -1
		}
		return r
	}, strings.TrimSpace(href))
	scheme, _, _ := strings.Cut(href, ":")
	switch strings.ToLower(scheme) {
	case "javascript", "vbscript", "data":
		return ""
	}
	return href
}

func (m *markdown) destination(href string) string {
	if m.opt.Resolve != nil {
		href = m.opt.Resolve(href)
	}
	return destination(href)
}

// destination escapes an address so that Markdown does not end it too early, for example at a ")".
func destination(href string) string {
	var out strings.Builder
	named := html.UnescapeString(href) != href
	for _, r := range href {
		switch {
		case unicode.IsSpace(r):
			out.WriteString("%20")
		case r == '<':
			out.WriteString("%3C")
		case r == '>':
			out.WriteString("%3E")
		case r == '(' || r == ')' || r == '\\' || r == '&' && named:
			out.WriteByte('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
