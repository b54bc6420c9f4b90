package ingest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/precedence"
)

func containing(t testing.TB, share float64) Options {
	opt := testOptions(t)
	opt.Rule.Contained = share
	return opt
}

// Pages that are all looked up before any of them is committed get the same verdicts as pages that
// are judged one after the other, if the rule is containment.
func TestContainedAtOnce(t *testing.T) {
	part, long, other := words(1, 100), words(2, 300), words(3, 200)
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"an excerpt after its source", []string{long + part, part}, "0 unique; 1 near of 0 0.233 by runs contained 1.000"},
		{"an excerpt before its source", []string{part, long + part}, "0 unique; 1 unique"},
		{"two sources, of which the first leads", []string{long + part, other + part, part}, "0 unique; 1 unique; 2 near of 0 0.233 by runs contained 1.000"},
		{"a page that resembles another is unique if it has text of its own", []string{part, part + words(9, 12)}, "0 unique; 1 unique"},
		{"a copy of an excerpt", []string{long + part, part, part}, "0 unique; 1 near of 0 0.233 by runs contained 1.000; 2 near of 0 0.233 by runs contained 1.000"},
		{"a copy of a source", []string{long + part, long + part, part}, "0 unique; 1 exact of 0 1.000 by text; 2 near of 0 0.233 by runs contained 1.000"},
		{"a changed excerpt", []string{long + part, but(part, "changed")}, "0 unique; 1 near of 0 0.230 by runs contained 0.990"},
		{"a short excerpt", []string{long + part, words(1, 40)}, "0 unique; 1 thin"},
		{"noindex", []string{"noindex:" + long + part, part, "noindex:" + part}, "0 unique; 1 unique; 2 exact of 1 1.000 by text"},
	} {
		together, alone := judgeTexts(t, containing(t, .95), c.texts, true), judgeTexts(t, containing(t, .95), c.texts, false)
		same(t, c.name+", one after another", alone, c.want)
		same(t, c.name+", all at once", together, c.want)
	}
}

// If the rule is containment, a page replaces a leader only if both have the same text. An excerpt
// that would lead by its host or its canonical link does not, because its source has more text. If
// several leaders contain a page, it follows the one at its canonical URL.
func TestContainedElection(t *testing.T) {
	part, long, other := words(1, 100), words(2, 300), words(3, 200)
	opt := containing(t, .95)
	var err error
	if opt.Order, err = precedence.Add(t.Context(), storetest.NewMemory(), nil, []string{"b.test", "a.test"}); err != nil {
		t.Fatal(err)
	}
	s := storetest.NewMemory()
	p := start(t, s, opt)
	defer p.Close()
	handle(t, p, articleOf("http://a.test/1", "http://b.test/2", long+part), article("http://a.test/second", other+part))
	// The host of the second page precedes, and its source names it. The third page names the second
	// source. The host of the fourth page precedes, and the pages that followed the replaced leader are
	// judged again, so they follow the earliest source that leads.
	handle(t, p, article("http://b.test/2", part), articleOf("http://a.test/3", "http://a.test/second", but(part, "third")))
	want(t, s, "http://a.test/1 unique", "http://a.test/second unique",
		"http://b.test/2 near of http://a.test/1 0.233 by runs contained 1.000", "http://a.test/3 near of http://a.test/second 0.308 by runs contained 0.990")
	handle(t, p, articleOf("http://b.test/4", "http://b.test/4", long+part), article("http://a.test/5", but(part, "other")))
	want(t, s, "http://a.test/1 exact of http://b.test/4 1.000 by text", "http://b.test/4 unique",
		"http://b.test/2 near of http://a.test/second 0.313 by runs contained 1.000", "http://a.test/3 near of http://a.test/second 0.308 by runs contained 0.990",
		"http://a.test/5 near of http://a.test/second 0.308 by runs contained 0.990")
}

// want checks the verdicts of some pages, which begin with the URL of the page.
func want(t *testing.T, s store.Store, verdicts ...string) {
	t.Helper()
	for _, v := range verdicts {
		url, _, _ := strings.Cut(v, " ")
		same(t, url, verdict(&content(t, s, url).Record), v)
	}
}

// When a source changes, its excerpts are judged again.
func TestSourceChanges(t *testing.T) {
	part, long := words(1, 100), words(2, 300)
	s := storetest.NewMemory()
	p := start(t, s, containing(t, .95))
	defer p.Close()
	handle(t, p, article("http://a.test/1", long+part), article("http://a.test/2", part), article("http://a.test/3", part))
	handle(t, p, again(article("http://a.test/1", long+words(4, 100)), 1))
	want(t, s, "http://a.test/1 unique", "http://a.test/2 unique", "http://a.test/3 exact of http://a.test/2 1.000 by text")
}

// A page is compared with a limited number of leaders that have most of its samples, and with a
// limited number of their words.
func TestContainedIsBounded(t *testing.T) {
	for _, c := range []struct{ leaders, words, texts int }{
		{dedup.MaxVerify + 10, 200, dedup.MaxVerify},
		{15, 100_000, dedup.MaxVerifyWords/100_000 + 1},
	} {
		s := &textCounter{Store: storetest.NewMemory()}
		p := start(t, s, containing(t, .95))
		part, rest := words(1, 160), words(2, 40)
		for i := range c.leaders {
			leader := judgedFile(t, p, fmt.Sprint(i), part+words(uint64(1000+i), c.words), false)
			if err := p.commitInOrder(t.Context(), []*file{leader}); err != nil {
				t.Fatal(err)
			}
			if got := leader.judgement.record.Verdict; got != dedup.Unique {
				t.Fatalf("leader %d is %s", i, got)
			}
		}
		s.texts = 0
		p.judge.leaders = newLeaderCache(s, p.opt.Rule, 1<<20)
		f := judgedFile(t, p, "page", part+rest, false)
		if f.judgement.record.Verdict != dedup.Unique || s.texts != c.texts {
			t.Errorf("the page is %s, and was compared with %d texts of %d words, want unique and %d", f.judgement.record.Verdict, s.texts, c.words, c.texts)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A textCounter counts the texts that are read.
type textCounter struct {
	store.Store
	texts int
}

func (s *textCounter) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	if want&store.WantText != 0 {
		s.texts += len(ids)
	}
	return s.Store.Pages(ctx, ids, want)
}

// BenchmarkContained judges pages that share nothing, by both rules, and reports the number of keys
// of a page.
func BenchmarkContained(b *testing.B) {
	for _, share := range []float64{0, .95} {
		b.Run(fmt.Sprint(share), func(b *testing.B) {
			s := storetest.NewMemory()
			p := start(b, s, containing(b, share))
			defer p.Close()
			n, keys := uint64(0), 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				f := judgedFile(b, p, fmt.Sprint(n), words(n, 1000), false)
				keys += len(f.reading.keys)
				if err := p.commitInOrder(b.Context(), []*file{f}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(keys)/float64(n), "keys/page")
		})
	}
}
