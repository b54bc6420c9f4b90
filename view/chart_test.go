package view

import "testing"

func TestRoundUp(t *testing.T) {
	for most, want := range map[float64]float64{0: 1, 0.3: 1, 1: 1, 1.5: 2, 2.5: 3, 5: 6, 9: 10, 20.1: 20, 21: 30, 739: 800, 2351: 3000, 1e6: 1e6} {
		if got := roundUp(most); got != want {
			t.Errorf("the top of a chart up to %v is %v, want %v", most, got, want)
		}
	}
}

func TestCurve(t *testing.T) {
	c := newCurve("pages", "first", []float64{0, 0.5, 1}, []float64{0, 10, 20}, 40)
	if want := "0.0,100.0 300.0,75.0 600.0,50.0"; c.Points != want {
		t.Errorf("points %s, want %s", c.Points, want)
	}
}
