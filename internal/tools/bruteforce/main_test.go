package main

import (
	"strings"
	"testing"
)

// In TestMeasure, a and b are the same article on two hosts, c resembles a (10 of 12 shingles of
// three words), and d resembles no other page. The result counts a verdict that misses the pair,
// one with the wrong leader, and one with a missing leader.
func TestMeasure(t *testing.T) {
	const text = `"one two three four five six seven eight nine ten eleven twelve thirteen"`
	const changed = `"one two three four five six seven eight nine ten eleven twelve changed"`
	for _, c := range []struct {
		why   string
		lines []string
		want  result
	}{
		{"all found", []string{
			`{"url":"http://a.test/","text":` + text + `,"verdict":"unique"}`,
			`{"url":"http://b.test/","text":` + text + `,"verdict":"exact","duplicate_of":"http://a.test/","resemblance":1}`,
			`{"url":"http://b.test/c","text":` + changed + `,"verdict":"near","duplicate_of":"http://a.test/","resemblance":0.8333333333333334}`,
			`{"url":"http://b.test/d","text":"something else altogether that nobody else has ever said","verdict":"unique"}`,
		}, result{pages: 4, pairs: 2, found: 2, within: 1, foundInOne: 1, near: 1, right: 1}},
		{"a pair missed", []string{
			`{"url":"http://a.test/","text":` + text + `,"verdict":"unique"}`,
			`{"url":"http://b.test/","text":` + text + `,"verdict":"unique"}`,
		}, result{pages: 2, pairs: 1}},
		{"a wrong leader, and one that is not there", []string{
			`{"url":"http://a.test/","text":"quite another text than the one that follows here","verdict":"unique"}`,
			`{"url":"http://b.test/","text":` + text + `,"verdict":"near","duplicate_of":"http://a.test/","resemblance":0}`,
			`{"url":"http://b.test/c","text":"x y z","verdict":"near","duplicate_of":"http://gone.test/"}`,
		}, result{pages: 3, near: 1, lost: 1}},
		{"a redirected page is known by the URL that answered", []string{
			`{"url":"http://a.test/","redirected_from":"http://a.test/old","text":` + text + `,"verdict":"unique"}`,
			`{"url":"http://b.test/","text":` + text + `,"verdict":"exact","duplicate_of":"http://a.test/","resemblance":1}`,
		}, result{pages: 2, pairs: 1, found: 1}},
	} {
		got, err := measure(strings.NewReader(strings.Join(c.lines, "\n")), 0.8, 3)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.why, got, err, c.want)
		}
	}
}
