package view

import (
	"fmt"
	"math"
	"strings"
)

// A chart is the data for a line chart. Both axes are labeled at their ends and in the middle, and
// the vertical axis begins at 0.
type chart struct {
	Label  string // description for screen readers
	Curves []curve
	Y      [3]string // labels of the vertical axis, top to bottom
	X      [3]string // labels of the horizontal axis, left to right
	Unit   string    // what the horizontal axis measures; "" if its labels say so
	Mark   string    // position of a vertical line, 0 to 600; "" if there is none
}

type curve struct {
	Name   string // description of the values, with their unit
	Class  string // CSS class
	Points string // points of an SVG polyline in an area of 600 by 100 units
}

// newCurve returns a curve through values at the given positions, each between 0 and 1. top is the
// value at the top of the chart.
func newCurve(name, class string, positions, values []float64, top float64) curve {
	var points strings.Builder
	for i, v := range values {
		if i > 0 {
			points.WriteByte(' ')
		}
		fmt.Fprintf(&points, "%.1f,%.1f", 600*positions[i], 100-100*v/top)
	}
	return curve{name, class, points.String()}
}

// roundUp returns a round number for the top of a chart. Half of it is also a round number. The
// result is at least 1. It may be up to 1% less than highest, because rates are not exact.
func roundUp(highest float64) float64 {
	if highest <= 1 {
		return 1
	}
	ten := math.Pow(10, math.Floor(math.Log10(highest)))
	for _, n := range []float64{1, 2, 3, 4, 6, 8} {
		if 1.01*n*ten >= highest {
			return n * ten
		}
	}
	return 10 * ten
}
