package report

import (
	_ "embed"
	"html/template"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"skink/base/harmless"
)

// All HTML pages of this program share a style sheet, a head, and the format of links to crawled
// pages, which are defined here.

// Style is the style sheet, in CSS.
//
//go:embed look.css
var Style string

//go:embed look.html
var lookSource string

var look = template.Must(template.New("look.html").Funcs(numbers).Funcs(template.FuncMap{
	"look":  func() template.CSS { return template.CSS(Style) },
	"bar":   bar,
	"plain": plain,
	"breaks": func(s string) template.HTML {
		return template.HTML(strings.NewReplacer("://", "://", "/", "/<wbr>").Replace(template.HTMLEscapeString(s)))
	},
	"quote":    func(s string) string { return plain(Clip(s, cellWidth)) },
	"sentence": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." },
}).Parse(lookSource + sidesSource))

// Templates returns a copy of the templates that all HTML pages share, so that a caller can add its
// own. The shared templates, and the data that each takes, are:
//
//	top         the head of a page; takes its title
//	page        a link to a crawled page; takes a [PageLink]
//	bar         a colored bar; takes the result of the function bar
//	figures     the number of pages with each verdict; takes [Totals] or a [store.Tally]
//	words       what the verdicts of a report mean; takes a [dedup.Rule]
//	legend      what the colors of the template sides mean; takes [Sides]
//	sides       two texts side by side; takes [Sides]
//	host table  counts by host; takes a slice of [Host]
//	table       a list; takes a [Table]
//
// Templates can call these functions. The function look returns the style sheet, plain puts text on one line, and
// breaks lets a browser break a URL at its slashes. The functions group, count, percent and a few others format numbers.
// bar returns the segments of a bar. No shared template contains a script or a style attribute.
func Templates() *template.Template { return template.Must(look.Clone()) }

// A PageLink is a link to a crawled page, for a template.
type PageLink struct {
	Link string // target; "" if URL is not an http or https URL, which is then shown without a link
	URL  string
}

// LinkTo returns a link to a crawled URL, for an HTML report.
func LinkTo(rawURL string) PageLink { return PageLink{webLink(rawURL), plain(rawURL)} }

func isWeb(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

// webLink returns rawURL if it is a valid http or https URL, and "" otherwise. A report must not
// contain links to URLs of any other kind.
func webLink(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || !isWeb(u) || u.Host == "" || !utf8.ValidString(rawURL) {
		return ""
	}
	return rawURL
}

// plain returns s on one line without control characters. The template escapes it for HTML, and
// puts it into a <bdi> element so that right-to-left text does not reorder the text after it.
func plain(s string) string { return strings.TrimSpace(harmless.Plain(s)) }

// A Segment is a segment of a bar chart: its CSS class, and its start and width as percentages of
// the bar.
type Segment struct{ Class, At, Width string }

// bar returns the segments of a bar whose full width represents whole. The argument pairs
// alternates between the CSS class of a segment and its number. A segment for a number above 0 is
// always wide enough to be visible.
func bar(whole int64, pairs ...any) (segments []Segment) {
	const seen = 0.3
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
	at := 0.0
	for i := 0; i+1 < len(pairs); i += 2 {
		n := reflect.ValueOf(pairs[i+1]).Int()
		if n <= 0 {
			continue
		}
		wide := max(percent(n, whole), seen)
		segments = append(segments, Segment{pairs[i].(string), number(at), number(wide)})
		at += wide
	}
	return segments
}
