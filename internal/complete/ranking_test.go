package complete

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"skink/dedup"
	"skink/store"
	"skink/store/precedence"
)

// withField sets the field "f" of a page; value is JSON.
func withField(p *store.Entry, value string) *store.Entry {
	if value != "" {
		p.Record.Fields = json.RawMessage(`{"f":` + value + `,"g":1}`)
	}
	return p
}

// Numbers are ordered by value, and come before other values. Pages without a value come last, whether the
// largest or the smallest value is wanted. Of equal pages, the one stored first is first.
func TestRankingByField(t *testing.T) {
	ascending := []string{`-1e300`, `"-20"`, `-3.5`, `0`, `2`, `"10"`, `1e300`}
	words := []string{`"2024-01-31"`, `"2024-02-01"`, `"a"`, `"a\u0000"`, `"ab"`, `"b"`, `true`}
	for _, least := range []bool{true, false} {
		order := slices.Concat(ascending, words)
		if !least {
			slices.Reverse(ascending)
			slices.Reverse(words)
			order = slices.Concat(ascending, words)
		}
		order = append(order, "", "")
		r := rankingOf(Options{Field: "f", Least: least})
		keys := make([]string, len(order))
		for i, value := range order {
			page := withField(article(fmt.Sprint("http://a.test/", len(order)-i), "Text").entry(defaultRule(t)), value)
			standing := precedence.Of(&page.Record, &precedence.Order{})
			keys[i] = string(r.key(r.valueOf(&page.Record), &standing, 1, i))
		}
		if !slices.IsSorted(keys) {
			for i := range keys[1:] {
				if keys[i] > keys[i+1] {
					t.Errorf("least %v: %s is not before %s", least, order[i], order[i+1])
				}
			}
		}
	}
}

// The text with the largest or smallest field leads each cluster, whatever the order of the store. A private
// page and one with noindex do not lead others, whatever their values are.
func TestKeepsByField(t *testing.T) {
	rule := defaultRule(t)
	text := words(1, 200)
	pages := []struct{ url, text, value string }{
		{"http://a.test/none", text, ""}, {"http://a.test/5", text, `5`}, {"http://a.test/40", but(text, "other"), `"40"`},
		{"http://a.test/-1", text, `-1`}, {"http://b.test/alone", words(2, 100), ""},
		{"http://a.test/noindex", text, `-99`}, {"http://a.test/private", text, `99`},
	}
	for seed := range uint64(20) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		s := storeOf(t, rule)
		for _, p := range pages {
			e := withField(article(p.url, p.text).entry(rule), p.value)
			e.Record.NoIndex, e.Record.Private = p.value == `-99`, p.value == `99`
			if _, err := s.Commit(t.Context(), []*store.Entry{e}); err != nil {
				t.Fatal(err)
			}
		}
		for want, opt := range map[string]Options{
			"http://a.test/40 (f 40)": {Rule: rule, Field: "f"},
			"http://a.test/-1 (f -1)": {Rule: rule, Field: "f", Least: true},
		} {
			w := judge(t, s, opt)
			if got := clustersOf(t, w); !strings.HasPrefix(got, want) || w.Ranked() != 5 {
				t.Errorf("seed %d: %d pages are ranked, and the clusters are %s; want %s first", seed, w.Ranked(), got, want)
			}
			for url, want := range map[string]int{"http://a.test/5": 6, "http://b.test/alone": 1, "http://a.test/absent": 0} {
				if got := w.Size(&store.Record{ID: dedup.HashOf([]byte(url))}); got != want {
					t.Errorf("seed %d: the cluster of %s has %d pages, want %d", seed, url, got, want)
				}
			}
		}
	}
}
