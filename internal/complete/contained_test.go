package complete

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	runs := make([]dedup.Set, len(w.texts))
	shingles := make([]dedup.Set, len(w.texts))
	for i := range w.texts {
		url := urlOf(pages, w.pages.lead(i))
		runs[i] = dedup.Runs(&canon, pages[slices.IndexFunc(pages, func(p page) bool { return p.url == url })].text)
		shingles[i] = shinglesOf(rule, pages, url)
	}
	leads := make([]int, len(w.texts))
	for i := range w.texts {
		leads[i] = i
		for leader := range i {
			if leads[leader] == leader && !w.texts[leader].short && !w.texts[i].short && dedup.Containment(runs[i], runs[leader]) >= rule.Contained {
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

// On a host with a template, an excerpt is found without the template's text, and pages that share
// only the template are no excerpts.
func TestContainedWithoutTemplate(t *testing.T) {
	rule := containing(defaultRule(t), .95)
	template := "\n" + words(7, 1500) + "\n"
	var pages []page
	for i := range uint64(30) {
		p := article(fmt.Sprintf("http://a.test/%d", i), words(100+i, 60)+template)
		p.title = fmt.Sprint(i)
		pages = append(pages, p)
	}
	pages = append(pages, article("http://b.test/source", words(5, 2000)+words(105, 60)))
	s := storeOf(t, rule, pages...)
	same(t, "clusters", clustersOf(t, judge(t, s, Options{Rule: rule})),
		"http://b.test/source (longest text), 1: http://a.test/5 near 0.014;\n")
	if got := clustersOf(t, judge(t, s, Options{Rule: rule, WholeText: true})); !strings.Contains(got, ", 29:") {
		t.Errorf("by the whole text, 29 pages are duplicates of one; got %s", got)
	}
}

// A block that the host repeats may be in the middle of an excerpt, whether its source has the block
// or not. Removing it must not create runs of words that the source does not have.
func TestContainedAroundBlocks(t *testing.T) {
	rule := containing(defaultRule(t), .95)
	names := []string{"Syntax", "Parameters", "Return value", "Examples", "See also", "Notes"}
	sections := func(seed uint64) (text string) {
		for i, name := range names {
			text += name + "\n" + words(seed+uint64(i), 20) + "\n"
		}
		return text
	}
	var manual []page
	for i := range uint64(30) {
		p := article(fmt.Sprintf("http://a.test/%d", i), sections(1000+10*i)+words(5000+i, 200))
		p.title = fmt.Sprint("page ", i)
		manual = append(manual, p)
	}
	for _, c := range []struct {
		name, want string
		pages      []page
	}{
		{"the source has the blocks", "http://a.test/3 (longest text), 1: http://a.test/excerpt near 0.373;\n", []page{article("http://a.test/excerpt", sections(1030))}},
		{"the source has not", "http://b.test/source (longest text), 1: http://a.test/excerpt near 0.099;\n", []page{
			article("http://a.test/excerpt", words(1, 25)+"\nNotes\n"+words(2, 25)+"\nNotes\n"+words(3, 25)),
			article("http://b.test/source", words(9, 200)+"\n"+words(1, 25)+"\n"+words(2, 25)+"\n"+words(3, 25)+"\n"+words(11, 200)),
		}},
		{"parts too short for a run", "", []page{
			article("http://a.test/list", strings.Repeat("two words\nNotes\nmore words\nSyntax\n", 20)),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storeOf(t, rule, append(slices.Clone(manual), c.pages...)...)
			same(t, "clusters", clustersOf(t, judge(t, s, Options{Rule: rule})), c.want)
		})
	}
}

// BenchmarkContained compares the cost of the two rules for a store of pages that share nothing.
func BenchmarkContained(b *testing.B) {
	var pages []page
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range uint64(2000) {
		pages = append(pages, article(fmt.Sprintf("http://a.test/%d", i), words(i, 100+rng.IntN(900))))
	}
	for _, share := range []float64{0, .95} {
		b.Run(fmt.Sprint(share), func(b *testing.B) {
			rule := containing(defaultRule(b), share)
			s := storeOf(b, rule, pages...)
			b.ReportAllocs()
			for b.Loop() {
				judge(b, s, Options{Rule: rule, Sparing: true})
			}
		})
	}
}
