package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
)

// elements parses an SVG document, and returns its elements and its text.
func elements(t *testing.T, svg string) (all []xml.StartElement, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		switch token, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return all, text
		case err != nil:
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		default:
			switch e := token.(type) {
			case xml.StartElement:
				all = append(all, e)
			case xml.CharData:
				text += string(e)
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func draw(t *testing.T, c Chart) string {
	t.Helper()
	var b strings.Builder
	if err := c.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestChart(t *testing.T) {
	svg := draw(t, Chart{
		Title: "Quality", Subtitle: "of the default", Description: "F1 is 1 at 0.5.", X: "threshold", Y: "share",
		Lines: []Line{{"F1", []Point{{0, 0}, {.5, 1}, {1, .25}}}, {"recall", []Point{{0, 1}, {1, 0}}}},
		Mark:  Mark{"recommended", .5},
		Band:  Span{"interval", .4, .6},
		Range: Span{"same", .25, .75},
		Bar:   Bar{"interval of F1", .5, 1, .9, 1},
	})
	all, text := elements(t, svg)
	// The area is 616 units wide and begins at 72. It is 324 units high and begins at 124.
	for _, want := range []struct{ element, class, name, value string }{
		{"svg", "", "role", "img"},
		{"svg", "", "aria-labelledby", "title description"},
		{"polyline", "line l0", "points", "72.0,448.0 380.0,124.0 688.0,367.0"},
		{"polyline", "line l1", "points", "72.0,124.0 688.0,448.0"},
		{"path", "mark", "d", "M380.0 124 v324"},
		{"rect", "band", "x", "318.4"},
		{"rect", "band", "width", "123.2"},
		{"path", "range", "d", "M226.0 448 H534.0"},
		{"path", "bar", "d", "M380.0 124.0 V156.4 M374.0 124.0 h12 M374.0 124.0 h12 M374.0 156.4 h12"},
	} {
		found := false
		for _, e := range all {
			found = found || e.Name.Local == want.element && attribute(e, "class") == want.class && attribute(e, want.name) == want.value
		}
		if !found {
			t.Errorf("no %s of class %q with %s=%q in\n%s", want.element, want.class, want.name, want.value, svg)
		}
	}
	for _, want := range []string{"Quality", "of the default", "F1 is 1 at 0.5.", "threshold", "share", "F1", "recall", "recommended", "interval", "same", "interval of F1", "0.0", "1.0", "prefers-color-scheme:dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
}

// TestEmptyChart checks that a chart draws nothing for zero values.
func TestEmptyChart(t *testing.T) {
	all, _ := elements(t, draw(t, Chart{Lines: []Line{{Name: "none"}}}))
	for _, e := range all {
		if c := attribute(e, "class"); e.Name.Local == "polyline" || c == "mark" || c == "band" || c == "range" || c == "bar" {
			t.Errorf("unexpected %v", e)
		}
	}
}

// TestNames checks that names cannot add elements to the SVG, and that all text is inside the
// picture.
func TestNames(t *testing.T) {
	const name = `<script>alert("1")</script> & ]]>`
	all, text := elements(t, draw(t, Chart{Title: name, Subtitle: name, Description: name, X: name, Y: name, Lines: []Line{{name, []Point{{0, 0}}}}, Mark: Mark{name, 1}, Band: Span{name, 0, 1}, Range: Span{name, 0, 1}, Bar: Bar{name, 0, 0, 0, 1}}))
	for _, e := range all {
		if e.Name.Local == "script" {
			t.Error("a name added an element")
		}
		if at, err := strconv.ParseFloat(attribute(e, "y"), 64); err == nil && (at < 0 || at > height) {
			t.Errorf("%v is outside the picture", e)
		}
	}
	if n := strings.Count(text, name); n != 11 {
		t.Errorf("the text has the name %d times, want 11, with the title twice:\n%s", n, text)
	}
}
