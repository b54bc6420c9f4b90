package cli

import "testing"

func TestMeant(t *testing.T) {
	meant := map[string]func(string) string{"int": meantWhole, "float64": meantRatio, "duration": meantDuration, "size": meantSize}
	for _, c := range []struct{ kind, value, want string }{
		{"int", "1,000", "1000"},
		{"int", "10k", "10000"},
		{"int", "2M", "2000000"},
		{"int", "5.0", "5"},
		{"int", "1.5", ""},
		{"int", "many", ""},
		{"float64", "0,8", "0.8"},
		{"float64", "80%", "0.8"},
		{"float64", "80 %", "0.8"},
		{"float64", "high", ""},
		{"duration", "5", "5s"},
		{"duration", "0.5", "0.5s"},
		{"duration", "2 s", "2s"}, // the value has a space
		{"duration", "3 days", "72h"},
		{"duration", "1w", "168h"},
		{"duration", "10min", "10m"},
		{"duration", "2 hours", "2h"},
		{"duration", "soon", ""},
		{"size", "10MiB", "10MB"},
		{"size", "big", ""},
	} {
		if got := meant[c.kind](unspaced(c.value)); got != c.want {
			t.Errorf("meant(%s, %q) = %q, want %q", c.kind, c.value, got, c.want)
		}
	}
}
