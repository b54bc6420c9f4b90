package session

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"skink/crawler"
)

func TestMerged(t *testing.T) {
	bad := errors.New("bad")
	pages := func(text string) iter.Seq2[*archivedPage, error] {
		return func(yield func(*archivedPage, error) bool) {
			for _, field := range strings.Fields(text) {
				p := &archivedPage{Page: new(crawler.Page)}
				if field == "bad" {
					yield(nil, bad)
					return
				}
				_, _ = fmt.Sscanf(field, "%d.%d", &p.crawl, &p.number)
				p.Page.Item.URL = field
				if !yield(p, nil) {
					return
				}
			}
		}
	}
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"0.1 0.1 0.3", "", "0.1 0.1 0.3"},
		{"", "0.2 0.4", "0.2 0.4"},
		{"0.1 0.1 0.3 0.5", "0.2 0.4 0.4 0.6", "0.1 0.1 0.2 0.3 0.4 0.4 0.5 0.6"},
		{"0.9 1.1 1.3", "0.8 0.10 1.2", "0.8 0.9 0.10 1.1 1.2 1.3"},
		{"0.1 0.3", "0.2 bad", "0.1 0.2 bad"},
		{"0.1 bad", "0.2", "0.1 bad"},
	} {
		var got []string
		for p, err := range merged(pages(c.a), pages(c.b)) {
			if err != nil {
				got = append(got, err.Error())
				break
			}
			got = append(got, p.Item.URL)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q and %q: got %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
