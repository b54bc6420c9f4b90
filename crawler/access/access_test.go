package access

import (
	"testing"
	"time"
)

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, host string
		want          bool
	}{
		{"example.org", "example.org", true},
		{"example.org", "example.org:8080", true},
		{"Example.org", "EXAMPLE.org:443", true},
		{"example.org", "www.example.org", false},
		{"example.org:8080", "example.org:8080", true},
		{"example.org:8080", "example.org:80", false},
		{"*.example.org", "www.example.org:80", true},
		{"*.example.org", "example.org", true},
		{"*.example.org", "badexample.org", false},
		{"*.example.org:81", "www.example.org:81", true},
		{"*.example.org:81", "www.example.org:80", false},
		{"[::1]", "[::1]:8080", true},
		{"[::1]:8080", "[::1]:8080", true},
		{"*", "anything:1", true},
		{"example.org", "example.org.:8080", true},
		{"example.org:8080", "example.org.:8080", true},
		{"example.org.:8080", "example.org:8080", true},
		{"*.example.org", "www.example.org.", true},
		{"", "example.org", false},
	} {
		if got := Matches(test.pattern, test.host); got != test.want {
			t.Errorf("Matches(%q, %q) = %v", test.pattern, test.host, got)
		}
	}
}

func TestFor(t *testing.T) {
	second, none := time.Second, time.Duration(0)
	table := Table{
		{Pattern: "www.example.org", Delay: &none},
		{Pattern: "*", UserAgent: "all", Pages: 1},
		{Pattern: "*.example.org", UserAgent: "below", Delay: &second, PerHost: 2},
		{Pattern: "*.org", PerHost: 9, Bytes: 7},
		{Pattern: "www.example.org:81", Pages: 5},
	}
	got := table.For("www.example.org:81")
	if got.Delay != &none || got.UserAgent != "below" || got.Pages != 5 || got.PerHost != 2 || got.Bytes != 7 {
		t.Errorf("a host with five patterns: %+v", got)
	}
	if got := table.For("example.com:80"); got.UserAgent != "all" || got.Pages != 1 || got.Delay != nil {
		t.Errorf("a host of * alone: %+v", got)
	}
	if got := (Table)(nil).For("example.com:80"); got.Pattern != "" {
		t.Errorf("no table: %+v", got)
	}
}
