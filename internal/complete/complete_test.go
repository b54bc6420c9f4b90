package complete

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
)

func TestMain(m *testing.M) {
	flag.Set("rapid.checks", "40") // set before the flags of the command line are parsed, which may override it
	goleak.VerifyTestMain(m)
}

// words returns a text of n words, the same for the same seed.
func words(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%d ", rng.IntN(10_000))
	}
	return b.String()
}

// but replaces the first word of a text. In a text of 100 words, 90 of 91 shingles stay, so the
// resemblance is 90/92.
func but(text, word string) string {
	_, rest, _ := strings.Cut(text, " ")
	return word + " " + rest
}

// similarTexts draws random texts that share paragraphs. Some of the texts are equal.
func similarTexts(t *rapid.T) (texts []string) {
	parts := rapid.IntRange(4, 10).Draw(t, "parts")
	for i := range rapid.IntRange(2, 40).Draw(t, "texts") {
		own := rapid.IntRange(0, parts-1).Draw(t, "own parts")
		var paragraphs []string
		for part := range uint64(parts) {
			if part < uint64(own) {
				part = uint64(1000 + rapid.IntRange(0, i).Draw(t, "of"))
			}
			paragraphs = append(paragraphs, words(part, 8))
		}
		texts = append(texts, strings.Join(paragraphs, " ")) // a single block, which cannot be a repeated block
	}
	return texts
}

func ruleFor(t testing.TB, similarity float64, minWords int) dedup.Rule {
	t.Helper()
	rule, err := dedup.NewRule(similarity, "bands", minWords)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

func defaultRule(t testing.TB) dedup.Rule {
	return ruleFor(t, dedup.DefaultSimilarity, dedup.DefaultMinWords)
}

// A page holds the properties of a stored page that matter to these tests.
type page struct {
	url, title, text string
	canonical        string // canonical URL that the page names
	noindex          bool
	verdict          dedup.VerdictKind // verdict of the crawl
	noText           bool              // the text was not stored
}

func article(url, text string) page { return page{url: url, title: "T", text: text} }

func noindex(p page) page {
	p.noindex = true
	return p
}

func canonical(p page, to string) page {
	p.canonical = to
	return p
}

// entry returns the store entry of a page.
func (p page) entry(rule dedup.Rule) *store.Entry {
	var canon dedup.Text
	canon.ReadString(p.text)
	e := &store.Entry{Record: store.Record{
		ID: dedup.HashOf([]byte(p.url)), URL: p.url, Kind: store.Page, Judged: store.Judged{Verdict: p.verdict,
			NoText: p.noText},
		Title: p.title, Lang: "en", CanonicalURL: p.canonical, NoIndex: p.noindex,
		Fetch: store.Fetch{Words: canon.Len(), Hash: canon.Hash()},
	}}
	if e.Record.Verdict == "" {
		e.Record.Verdict = dedup.Unique
	}
	if canon.Len() > 0 {
		sketch := dedup.NewSketch(rule.Shingles(&canon))
		e.Sketch = &sketch
	}
	if !p.noText {
		e.Text = store.Pack([]byte(p.text))
	}
	return e
}

// storeOf returns a store with the given pages, committed in this order.
func storeOf(t testing.TB, rule dedup.Rule, pages ...page) *storetest.Memory {
	t.Helper()
	s := storetest.NewMemory()
	for _, p := range pages {
		if _, err := s.Commit(context.Background(), []*store.Entry{p.entry(rule)}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func judge(t testing.TB, s store.Reader, opt Options) *Whole {
	t.Helper()
	w, err := Judge(context.Background(), s, opt)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// pageOf reads a page from a store. It fails the test if the page is missing.
func pageOf(t interface{ Fatalf(string, ...any) }, s store.Reader, id dedup.Hash) *store.Content {
	pages, err := s.Pages(context.Background(), []dedup.Hash{id}, store.WantText)
	if err != nil || pages[0] == nil {
		t.Fatalf("page %s: %v, %v", id, pages, err)
	}
	return pages[0]
}

// A cluster is a leader and its members, the member with the highest resemblance first.
type cluster struct {
	leader  *store.Record
	members []*store.Record
}

func clusters(t testing.TB, w *Whole) (all []cluster) {
	t.Helper()
	for c, err := range w.Clusters(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		leader := &pageOf(t, w, c.Leader).Record
		members := collect(t, w.Members(context.Background(), []dedup.Hash{c.Leader}))
		if len(members) != c.Members {
			t.Errorf("the cluster of %s has %d members, and says %d", leader.URL, len(members), c.Members)
		}
		all = append(all, cluster{leader, members})
	}
	return all
}

func collect[T any](t testing.TB, records iter.Seq2[T, error]) (all []T) {
	t.Helper()
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// clustersOf describes the clusters of a whole comparison, one on each line.
func clustersOf(t testing.TB, w *Whole) string {
	t.Helper()
	var b strings.Builder
	for _, c := range clusters(t, w) {
		why, err := w.WhyLeads(context.Background(), c.leader)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s (%s), %d:", c.leader.URL, why, len(c.members))
		for _, m := range c.members {
			fmt.Fprintf(&b, " %s %s %.3f;", m.URL, m.Verdict, m.Resemblance)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func same(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}
