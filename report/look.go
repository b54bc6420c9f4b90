package report

import (
	_ "embed"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"skink/internal/harmless"
)

// The pages that this program writes look alike: they have one style sheet, one head and one way to
// link to a crawled page.

// Style is the style sheet.
//
//go:embed look.css
var Style string

//go:embed look.html
var lookSource string

var look = template.Must(template.New("look.html").Funcs(template.FuncMap{
	"look":     func() template.CSS { return template.CSS(Style) },
	"group":    Grouped,
	"count":    Counted,
	"percent":  Share,
	"bar":      bar,
	"similar":  resemblance,
	"plain":    plain,
	"hostname": hostName,
	"quote":    func(s string) string { return plain(Clip(s, cellWidth)) },
	"sentence": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." },
}).Parse(lookSource + sidesSource))

// Templates returns what the pages of reports have in common, to be added to:
//
//	top         the head of a page with the title given
//	page        a [PageLink]
//	bar         what the function bar returns, as a picture
//	figures     [Totals] or a store's tally: how many pages got each verdict
//	words       a dedup.Rule: what the words of a report mean
//	sides       [Sides], and legend, which it begins with
//	host table  some [Host]
//	table       a [Table]
//
// Their functions are look, the style sheet; group, count, percent and similar, which write
// numbers; plain, which makes one line of a text; bar and sentence. No template has a script or a
// style attribute.
func Templates() *template.Template { return template.Must(look.Clone()) }

// A PageLink is a crawled page as a template shows it.
type PageLink struct {
	Link string // "" for what is not an http or https URL: it is shown, and leads nowhere
	URL  string
}

// LinkTo is the link to a URL that was crawled.
func LinkTo(rawURL string) PageLink { return PageLink{webLink(rawURL), plain(rawURL)} }

func isWeb(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

// webLink is rawURL if a browser may be sent there, else "".
func webLink(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || !isWeb(u) || u.Host == "" || !utf8.ValidString(rawURL) {
		return ""
	}
	return rawURL
}

// plain is s on one line; the template escapes it, and its <bdi> keeps writing that runs the other
// way inside.
func plain(s string) string { return strings.TrimSpace(harmless.Plain(s)) }

// A Segment is a part of a bar, which is 100 wide.
type Segment struct{ Class, At, Width string }

// bar cuts a bar into segments. Each pair is a class of the style sheet, and how much of the whole
// is of it. A segment that is not empty is wide enough to be seen.
func bar(of int64, pairs ...any) (segments []Segment) {
	const seen = 0.3
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
	at := 0.0
	for i := 0; i+1 < len(pairs); i += 2 {
		n := pairs[i+1].(int64)
		if n <= 0 {
			continue
		}
		wide := max(percent(n, of), seen)
		segments = append(segments, Segment{pairs[i].(string), number(at), number(wide)})
		at += wide
	}
	return segments
}
