// Package chart draws line charts as SVG.
//
// A chart is one file and contains neither scripts nor fonts. It follows the reader's choice of
// light or dark colors. Lines differ in color and in dash pattern. The title and description are
// part of the file, for readers who cannot see the picture.
package chart

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"
)

// A Chart shows lines in a square from 0 to 1 on both axes.
type Chart struct {
	Title       string
	Subtitle    string
	Description string // text alternative: what the chart shows, with the most important figures
	X, Y        string // titles of the axes, with their units
	Lines       []Line // at most four
	Mark        Mark
	Band        Span // range of the horizontal axis over which the plot area is shaded
	Range       Span // range of the horizontal axis that is marked
	Bar         Bar
}

// A Line connects points. The legend shows its name.
type Line struct {
	Name   string
	Points []Point
}

// A Point is a point of a [Line]. Both coordinates are from 0 to 1.
type Point struct{ X, Y float64 }

// A Mark is a vertical line at X. The zero value draws nothing.
type Mark struct {
	Name string
	X    float64
}

// A Span is an interval of the horizontal axis. The zero value draws nothing.
type Span struct {
	Name     string
	From, To float64
}

// A Bar is a vertical error bar for a value of the first line. The bar is at X. The zero value
// draws nothing.
type Bar struct {
	Name           string
	X, Y, From, To float64
}

// Sizes of the picture and of its plot area, in SVG user units.
const (
	width, height       = 720, 520
	left, top           = 72, 124
	areaWidth, areaHigh = 616, 324
)

// The contrast ratio between each line and the background is at least 3:1.
const style = `svg{--paper:#fcfbf8;--ink:#22262b;--soft:#626a73;--grid:#dfdcd4;--a:#1c5a8a;--b:#b4552d;--c:#3d7a6a;--d:#7a4f9a;--band:#22262b}` +
	`@media (prefers-color-scheme:dark){svg{--paper:#16191c;--ink:#dfe2e4;--soft:#98a0a8;--grid:#343a40;--a:#86bbe4;--b:#e08a62;--c:#6fbfaa;--d:#c3a0e0;--band:#dfe2e4}}` +
	`text{font:14px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;fill:var(--soft)}` +
	`.title{font-size:18px;font-weight:600;fill:var(--ink)}.name{fill:var(--ink)}.number{font-variant-numeric:tabular-nums}` +
	`.paper{fill:var(--paper)}.grid{stroke:var(--grid)}.axis{stroke:var(--soft)}.line{fill:none;stroke-width:2.5;stroke-linejoin:round}` +
	`.l0{stroke:var(--a)}.l1{stroke:var(--b);stroke-dasharray:9 4}.l2{stroke:var(--c);stroke-dasharray:2 4;stroke-linecap:round}.l3{stroke:var(--d);stroke-dasharray:12 4 2 4}` +
	`.mark{stroke:var(--ink);stroke-width:1.5}.band{fill:var(--band);opacity:.12}.range{stroke:var(--ink);stroke-width:6}.bar{stroke:var(--a);stroke-width:2.5;fill:none}`

func x(v float64) float64 { return left + v*areaWidth }
func y(v float64) float64 { return top + (1-v)*areaHigh }

// WriteSVG writes the chart as an SVG document.
func (c Chart) WriteSVG(w io.Writer) error {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title description">`, width, height)
	put(`<title id="title">%s</title>`, html.EscapeString(c.Title))
	put(`<desc id="description">%s</desc>`, html.EscapeString(c.Description))
	put(`<style>%s</style>`, style)
	put(`<rect class="paper" width="%d" height="%d"/>`, width, height)
	put(`<text class="title" x="%d" y="30">%s</text>`, left, html.EscapeString(c.Title))
	put(`<text x="%d" y="52">%s</text>`, left, html.EscapeString(c.Subtitle))
	c.axes(put)
	if c.Band.Name != "" {
		put(`<rect class="band" x="%.1f" y="%d" width="%.1f" height="%d"/>`, x(c.Band.From), top, max(x(c.Band.To)-x(c.Band.From), 1), areaHigh)
	}
	if c.Mark.Name != "" {
		put(`<path class="mark" d="M%.1f %d v%d"/>`, x(c.Mark.X), top, areaHigh)
	}
	if c.Range.Name != "" {
		put(`<path class="range" d="M%.1f %d H%.1f"/>`, x(c.Range.From), top+areaHigh, max(x(c.Range.To), x(c.Range.From)+1))
	}
	for i, l := range c.Lines {
		if len(l.Points) == 0 {
			continue
		}
		var points []string
		for _, p := range l.Points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(p.X), y(p.Y)))
		}
		put(`<polyline class="line l%d" points="%s"/>`, i, strings.Join(points, " "))
	}
	if e := c.Bar; e.Name != "" {
		put(`<path class="bar" d="%s"/>`, errorBar(x(e.X), y(e.Y), y(e.To), y(e.From)))
	}
	c.legend(put)
	put(`</svg>`)
	_, err := io.WriteString(w, b.String())
	return err
}

func errorBar(x, value, top, bottom float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%.1f %.1f V%.1f", x, top, bottom)
	for _, at := range []float64{top, value, bottom} {
		fmt.Fprintf(&b, " M%.1f %.1f h12", x-6, at)
	}
	return b.String()
}

func (c Chart) axes(put func(string, ...any)) {
	for i := 0; i <= 10; i += 2 {
		v := float64(i) / 10
		put(`<path class="%s" d="M%d %.1f h%d"/>`, grid(i), left, y(v), areaWidth)
		put(`<text class="number" x="%d" y="%.1f" text-anchor="end">%.1f</text>`, left-10, y(v)+5, v)
	}
	for i := 0; i <= 10; i++ {
		v := float64(i) / 10
		put(`<path class="%s" d="M%.1f %d v%d"/>`, grid(i), x(v), top, areaHigh)
		put(`<text class="number" x="%.1f" y="%d" text-anchor="middle">%.1f</text>`, x(v), top+areaHigh+20, v)
	}
	put(`<text x="%d" y="%d" text-anchor="middle">%s</text>`, left+areaWidth/2, height-24, html.EscapeString(c.X))
	put(`<text transform="translate(22 %d) rotate(-90)" text-anchor="middle">%s</text>`, top+areaHigh/2, html.EscapeString(c.Y))
}

func grid(i int) string {
	if i == 0 {
		return "axis"
	}
	return "grid"
}

func (c Chart) legend(put func(string, ...any)) {
	at, row := left, 80
	name := func(text, shape string, args ...any) {
		if text == "" {
			return
		}
		put(shape, args...)
		put(`<text class="name" x="%d" y="%d">%s</text>`, at+34, row+5, html.EscapeString(text))
		at += 46 + 8*utf8.RuneCountInString(text) // estimated width of the text in common fonts
	}
	for i, l := range c.Lines {
		name(l.Name, `<path class="line l%d" d="M%d %d h28"/>`, i, at, row)
	}
	at, row = left, 104
	name(c.Mark.Name, `<path class="mark" d="M%d %d v16"/>`, at+14, row-8)
	name(c.Band.Name, `<rect class="band" x="%d" y="%d" width="28" height="16"/>`, at, row-8)
	name(c.Range.Name, `<path class="range" d="M%d %d h28"/>`, at, row)
	name(c.Bar.Name, `<path class="bar" d="%s"/>`, errorBar(float64(at)+14, float64(row), float64(row)-8, float64(row)+8))
}
