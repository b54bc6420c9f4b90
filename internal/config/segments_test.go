package config

import (
	"slices"
	"testing"
)

// Segments keep the order of the file in every form of TOML, and in copies of copies.
func TestSegmentsInOrder(t *testing.T) {
	want := []string{"zoo", "a.b \"c\"", "docs"}
	for _, text := range []string{
		"delay = \"1s\"\n[segments]\nzoo = '^/zoo/'\n\"a.b \\\"c\\\"\" = '\\.html$'\ndocs = '^/docs/$'\n[host.\"*\"]\ndelay = \"1s\"\n",
		`segments = { zoo = '^/zoo/', "a.b \"c\"" = '\.html$', docs = '^/docs/$' }`,
		"segments.zoo = '^/zoo/'\nsegments.\"a.b \\\"c\\\"\" = '\\.html$'\nsegments.docs = '^/docs/$'",
	} {
		for range 3 {
			for _, command := range []string{"crawl", "report", "view"} {
				opt := options()
				opt.Command = command
				f, err := Parse("skink.toml", []byte(text), opt)
				if err != nil {
					t.Fatalf("%v:\n%s", err, text)
				}
				if got := f.Segments.Names(); !slices.Equal(got, want) || f.Segments[2].Path.String() != "^/docs/$" {
					t.Errorf("%s: got %q, want %q, of:\n%s", command, got, want, text)
				}
			}
			copied, err := Copy("skink.toml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			text = string(copied)
		}
	}
}
