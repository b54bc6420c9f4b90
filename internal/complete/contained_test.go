package complete

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/store"
)

// containing returns a rule by which a page belongs to a cluster if the leader contains this share
// of it.
func containing(rule dedup.Rule, share float64) dedup.Rule {
	rule.Contained = share
	return rule
}

// containedTexts draws random texts, of which many are parts of other texts with a few changes.
func containedTexts(t *rapid.T) (texts []string) {
	for i := range rapid.IntRange(2, 30).Draw(t, "texts") {
		own := strings.Fields(words(uint64(1000+i), rapid.IntRange(8, 200).Draw(t, "own words")))
		if i == 0 || rapid.IntRange(0, 3).Draw(t, "new") == 0 {
			texts = append(texts, strings.Join(own, " "))
			continue
		}
		of := strings.Fields(texts[rapid.IntRange(0, i-1).Draw(t, "of")])
		from := rapid.IntRange(0, len(of)-1).Draw(t, "from")
		part := slices.Clone(of[from:rapid.IntRange(from+1, len(of)).Draw(t, "to")])
		for range rapid.IntRange(0, len(part)/20).Draw(t, "changes") {
			part[rapid.IntRange(0, len(part)-1).Draw(t, "at")] = "changed"
		}
		if rapid.Bool().Draw(t, "longer") {
			part = append(part, own...)
		}
		texts = append(texts, strings.Join(part, " "))
	}
	return texts
}

// The clusters must be those that a comparison of all pairs finds, in the order of length. Each
// record must have the exact containment and the exact resemblance.
func TestContainedIsExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rule := containing(ruleFor(t, .8, 10), rapid.SampledFrom([]float64{.3, .9, .95, 1}).Draw(r, "contained"))
		var pages []page
		for i, text := range containedTexts(r) {
			pages = append(pages, article(fmt.Sprintf("http://a.test/%d", i), text))
		}
		s := storeOf(t, rule, pages...)
		kept := kept{Reader: s}
		for range 2 { // the second time, the result is read from the cache
			checkContained(r, judge(t, &kept, Options{Rule: rule, Keep: true, Memory: someMemory(r)}), rule, pages)
		}
		if kept.reads == 0 {
			r.Fatal("the result was not read from the cache")
		}
	})
}

// A kept is a store in whose cache the results of comparisons are kept.
type kept struct {
	store.Reader
	result []byte
	reads  int
}

func (k *kept) Keep(_ context.Context, _ string, result []byte) error {
	k.result = result
	return nil
}

func (k *kept) Kept(context.Context, string) ([]byte, error) {
	if k.result != nil {
		k.reads++
	}
	return k.result, nil
}

func checkContained(t *rapid.T, w *Whole, rule dedup.Rule, pages []page) {
	var canon dedup.Text
	runs := make([]dedup.Set, len(w.short))
	shingles := make([]dedup.Set, len(w.short))
	for i := range w.short {
		url := urlOf(pages, w.pages.lead(i))
		runs[i] = dedup.Runs(&canon, pages[slices.IndexFunc(pages, func(p page) bool { return p.url == url })].text)
		shingles[i] = shinglesOf(rule, pages, url)
	}
	leads := make([]int, len(w.short))
	for i := range w.short {
		leads[i] = i
		for leader := range i {
			if leads[leader] == leader && !w.short[leader] && !w.short[i] && dedup.Containment(runs[i], runs[leader]) >= rule.Contained {
				leads[i] = leader
				break
			}
		}
		r := pageOf(t, w, w.pages.lead(i)).Record
		leader := leads[i]
		if leader == i {
			if r.Follows() || r.Containment != 0 {
				t.Fatalf("%s leads, and its record is %+v", r.URL, r)
			}
			continue
		}
		if r.Leader != w.pages.lead(leader) || r.Verdict != dedup.Near ||
			r.Containment != dedup.Containment(runs[i], runs[leader]) || r.Resemblance != dedup.Resemblance(shingles[i], shingles[leader]) {
			t.Fatalf("%s has the record %+v, want the leader %s, containment %v, resemblance %v",
				r.URL, r, urlOf(pages, w.pages.lead(leader)), dedup.Containment(runs[i], runs[leader]), dedup.Resemblance(shingles[i], shingles[leader]))
		}
	}
}

// A source leads its excerpts in whichever order they were stored, and two sources that share an
// excerpt stay apart. A page that may be indexed is no excerpt of one that may not.
func TestContainedClusters(t *testing.T) {
	rule := containing(defaultRule(t), .95)
	part, long, other := words(1, 100), words(2, 300), words(3, 200)
	for _, c := range []struct {
		why   string
		pages []page
		want  string
	}{
		{"a short path does not lead", []page{article("http://a.test/1", part), article("http://a.test/source", long+part)},
			"http://a.test/source (longest text), 1: http://a.test/1 near 0.233;\n"},
		{"two sources", []page{article("http://a.test/1", part), article("http://a.test/2", other+part), article("http://a.test/3", part+long)},
			"http://a.test/3 (longest text), 1: http://a.test/1 near 0.233;\n"},
		{"copies of an excerpt", []page{article("http://a.test/1", part), article("http://a.test/2", part), article("http://a.test/3", part+long)},
			"http://a.test/3 (longest text), 2: http://a.test/1 near 0.233; http://a.test/2 near 0.233;\n"},
		{"noindex", []page{article("http://a.test/1", part), noindex(article("http://a.test/2", part+long))}, ""},
		{"too short to be compared", []page{article("http://a.test/1", words(1, 40)), article("http://a.test/2", words(1, 40)+long)}, ""},
		{"not enough of it", []page{article("http://a.test/1", part+words(9, 10)), article("http://a.test/2", part+long)}, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			same(t, "clusters", clustersOf(t, judge(t, storeOf(t, rule, c.pages...), Options{Rule: rule})), c.want)
		})
	}
}
