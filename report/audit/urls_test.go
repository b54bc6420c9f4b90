package audit

import (
	"strings"
	"testing"
)

func TestURLFaults(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com":                                 "",
		"https://example.com/":                                "",
		"https://example.com/docs/a?Q=A//B%20":                "",
		"https://example.com/docs//a":                         "slashes",
		"https://example.com/Docs/100%":                       "upper",
		"https://example.com/a%20b/%C3%A9":                    "spaces",
		"https://example.com/docs/docs/x":                     "repeated",
		"https://example.com/2026/06/06/x":                    "",
		"https://example.com/" + strings.Repeat("a", longURL): "long",
	} {
		if got := strings.Join(urlFaults(address), " "); got != want {
			t.Errorf("%.60s: %q, want %q", address, got, want)
		}
	}
}
