package ingest

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/store"
)

// A program that judges texts with dedup.Index gets the same verdicts as a crawl of pages with
// these texts.
func TestIndexAgrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opt := testOptions(t)
		var err error
		opt.Rule, err = dedup.NewRule(rapid.SampledFrom([]float64{.2, .5, .8, 1}).Draw(rt, "similarity"), rapid.SampledFrom([]string{"bands", "super", "mega"}).Draw(rt, "scheme"), 10)
		if err != nil {
			t.Fatal(err)
		}
		opt.Rule.Shingling.K = 2
		opt.Rule.Contained = rapid.SampledFrom([]float64{0, 0, .5, .9}).Draw(rt, "contained")
		texts := append(similarTexts(rt), "too short", "", "Too short!", "...")
		texts = append(texts, rapid.SliceOfN(rapid.SampledFrom(texts), 0, 10).Draw(rt, "copies")...)

		index := dedup.NewIndex(opt.Rule)
		var got []string
		for i, text := range texts {
			v := index.Add(fmt.Sprint(i), text)
			r := store.Record{URL: fmt.Sprint(i), Judged: store.Judged{Verdict: v.Kind, DuplicateOf: v.DuplicateOf, Resemblance: v.Resemblance, Containment: v.Containment, Found: v.Method}}
			if v.Leader != 0 {
				r.Leader = dedup.HashOf([]byte(v.DuplicateOf))
			}
			if !strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") {
				r.Verdict, r.Kind = "", store.Skipped // a corpus has a kind of its own for texts without words
			}
			got = append(got, verdict(&r))
		}
		if want := judgeTexts(t, opt, texts, false); strings.Join(got, "; ") != want {
			rt.Fatalf("the index says\n%s\nthe pipeline\n%s", strings.Join(got, "; "), want)
		}
	})
}
