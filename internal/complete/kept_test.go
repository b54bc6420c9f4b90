package complete

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
)

// A watched is a store that counts the texts that are read from it.
type watched struct {
	*storetest.Memory
	texts   int
	refuses error  // error that Keep and Kept return, if not nil
	during  func() // called once, before the first text is read
	kept    func() // called after each call of Keep, if not nil
}

func (w *watched) reads() {
	w.texts++
	if during := w.during; during != nil {
		w.during = nil
		during()
	}
}

func (w *watched) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		for change, err := range w.Memory.Changes(ctx, after, want) {
			if want&store.WantText != 0 {
				w.reads()
			}
			if !yield(change, err) {
				return
			}
		}
	}
}

func (w *watched) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	if want&store.WantText != 0 {
		w.reads()
	}
	return w.Memory.Pages(ctx, ids, want)
}

func (w *watched) Keep(ctx context.Context, name string, value []byte) error {
	if w.refuses != nil {
		return w.refuses
	}
	err := w.Memory.Keep(ctx, name, value)
	if w.kept != nil {
		w.kept()
	}
	return err
}

func (w *watched) Kept(ctx context.Context, name string) ([]byte, error) {
	if w.refuses != nil {
		return nil, w.refuses
	}
	return w.Memory.Kept(ctx, name)
}

// read returns the number of texts that fn reads.
func (w *watched) read(fn func()) int {
	before := w.texts
	fn()
	return w.texts - before
}

// watchedSite returns a site with doorway pages, and with pages that share a menu. Each of the
// latter resembles one other page.
func watchedSite(t testing.TB, rule dedup.Rule) *watched {
	pages := doorways("Berlin", "Hamburg", "Munich", "Cologne", "Frankfurt", "Stuttgart")
	for i := range 24 {
		pages = append(pages, article(fmt.Sprintf("http://menu.test/%d", i), "Home and all that stands in the menu of this site\n"+words(uint64(i/2), 90)+" "+words(uint64(99+i), 15)))
	}
	return &watched{Memory: storeOf(t, rule, pages...)}
}

// As long as a store does not change, its pages are compared once, whichever question comes first.
// Each answer must equal that of an uncached comparison.
func TestComparedOnce(t *testing.T) {
	rule := defaultRule(t)
	ctx := context.Background()
	keep := Options{Rule: rule, Keep: true}
	questions := []struct {
		name string
		ask  func(store.Reader, Options) (show func() string)
	}{
		{"whole", func(s store.Reader, opt Options) func() string {
			w := judge(t, s, opt)
			return func() string { return shown(t, w) }
		}},
		{"at another similarity", func(s store.Reader, opt Options) func() string {
			opt.Similarity = 0.5
			w := judge(t, s, opt)
			return func() string { return shown(t, w) }
		}},
		{"nearly", func(s store.Reader, opt Options) func() string {
			a, err := FindAlike(ctx, s, opt, MinAlike, rule.Similarity)
			return func() string { return fmt.Sprint(a.Below(rule.Similarity), a.Steps(), err) }
		}},
		{"curve", func(s store.Reader, opt Options) func() string {
			a, err := FindAlike(ctx, s, opt, EachTwentieth(rule.Similarity)...)
			return func() string {
				above, below := nearPairs(t, a, s, 0.4, 5)
				return fmt.Sprint(a.Steps(), a.taken.Pairs(), above, below, err)
			}
		}},
	}
	for first := range questions {
		s := watchedSite(t, rule)
		for i := range questions {
			q := questions[(first+i)%len(questions)]
			var show func() string
			read := s.read(func() { show = q.ask(s, keep) })
			if i == 0 && read == 0 || i > 0 && read > 0 {
				t.Errorf("%s after %d other questions reads %d texts", q.name, i, read)
			}
			if got, want := show(), q.ask(s.Memory, Options{Rule: rule})(); got != want {
				t.Errorf("%s:\n got %v\nwant %v", q.name, got, want)
			}
		}
	}
}

// shown describes the whole result of a comparison.
func shown(t testing.TB, w *Whole) string {
	out := clustersOf(t, w)
	for change, err := range w.Changes(context.Background(), "", store.WantText) {
		if err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintf("%+v\n", change.Record)
	}
	return out
}

// Only a change of a page makes the cached comparison stale.
func TestComparedAgain(t *testing.T) {
	rule := defaultRule(t)
	entry := func(p page, change func(*store.Entry)) *store.Entry {
		e := p.entry(rule)
		e.Revisit = true
		change(e)
		return e
	}
	same := func(*store.Entry) {}
	first := article("http://menu.test/0", "Home and all that stands in the menu of this site\n"+words(0, 90)+" "+words(99, 15))
	for _, c := range []struct {
		name   string
		change *store.Entry
		anew   bool
	}{
		{"a page comes", article("http://new.test/", words(7, 90)).entry(rule), true},
		{"a page has another text", entry(article("http://menu.test/0", words(8, 90)), same), true},
		{"a page has the same words in other lines", entry(article("http://menu.test/0", "Home and all that\nstands in the menu of this site\n"+words(0, 90)+" "+words(99, 15)), same), true},
		{"a page has another title", entry(first, func(e *store.Entry) { e.Record.Title = "Another" }), true},
		{"a page may be indexed no more", entry(first, func(e *store.Entry) { e.Record.NoIndex = true }), true},
		{"a page follows another", entry(first, func(e *store.Entry) {
			e.Record.Verdict, e.Record.Leader = dedup.Near, dedup.HashOf([]byte("http://menu.test/1"))
		}), true},
		{"a page goes", entry(first, func(e *store.Entry) { e.Record.Kind, e.Record.Words, e.Text = store.Error, 0, nil }), true},
		{"a page was found unchanged", entry(first, func(e *store.Entry) { e.Revisit, e.Touch = false, true }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := watchedSite(t, rule)
			keep := Options{Rule: rule, Keep: true}
			judge(t, s, keep)
			if _, err := s.Commit(context.Background(), []*store.Entry{c.change}); err != nil {
				t.Fatal(err)
			}
			for n, anew := range []bool{c.anew, false} {
				var w *Whole
				if read := s.read(func() { w = judge(t, s, keep) }); read > 0 != anew {
					t.Errorf("report %d after it reads %d texts", n+1, read)
				}
				if got, want := shown(t, w), shown(t, judge(t, s.Memory, Options{Rule: rule})); got != want {
					t.Errorf("report %d after it:\n got %s\nwant %s", n+1, got, want)
				}
			}
		})
	}
}

// Options that lead to another result must not share a cached comparison.
func TestComparedForAnotherQuestion(t *testing.T) {
	rule := defaultRule(t)
	other := rule
	other.MinWords = 20
	s := watchedSite(t, rule)
	judge(t, s, Options{Rule: rule, Keep: true})
	for _, opt := range []Options{
		{Rule: rule, Keep: true, Longest: true}, {Rule: other, Keep: true},
		{Rule: rule, Keep: true, Similarity: 0.57}, {Rule: rule, Keep: true, Similarity: 0.2},
	} {
		if s.read(func() { judge(t, s, opt) }) == 0 {
			t.Errorf("%+v is answered by what was kept", opt)
		}
		if read := s.read(func() { judge(t, s, opt) }); read > 0 {
			t.Errorf("%+v is compared again, and reads %d texts", opt, read)
		}
		opt.Keep = false
		got, want := shown(t, judge(t, s.Memory, Options{Rule: opt.Rule, Longest: opt.Longest, Similarity: opt.Similarity, Keep: true})), shown(t, judge(t, s.Memory, opt))
		if got != want {
			t.Errorf("%+v:\n got %s\nwant %s", opt, got, want)
		}
	}
}

// A comparison with one goroutine has the same result as one with several.
func TestSparing(t *testing.T) {
	rule := defaultRule(t)
	s := watchedSite(t, rule)
	want := shown(t, judge(t, s, Options{Rule: rule}))
	if got := shown(t, judge(t, s, Options{Rule: rule, Sparing: true})); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// If a page changes while the texts are read, the comparison may mix its old and new state. Such a
// comparison must not be used again.
func TestNothingKeptOfAChange(t *testing.T) {
	rule := defaultRule(t)
	s := watchedSite(t, rule)
	s.during = func() {
		if _, err := s.Commit(context.Background(), []*store.Entry{article("http://late.test/", words(7, 90)).entry(rule)}); err != nil {
			t.Error(err)
		}
	}
	all := s.read(func() { judge(t, s, Options{Rule: rule, Keep: true}) })
	var w *Whole
	if again := s.read(func() { w = judge(t, s, Options{Rule: rule, Keep: true}) }); again < all {
		t.Errorf("%d texts are read, and then %d", all, again)
	}
	same(t, "result", shown(t, w), shown(t, judge(t, s.Memory, Options{Rule: rule})))
}

// A comparison that ends after any of its rounds continues there: the result is the same, and fewer
// pairs are compared. If all fits in memory, there is one round.
func TestContinued(t *testing.T) {
	rule := defaultRule(t)
	for name, opt := range map[string]Options{
		"resemblance": {Rule: rule}, "containment": {Rule: containing(rule, .95)},
	} {
		t.Run(name, func(t *testing.T) {
			pages := append(articles("a.test"), leaflets("b.test")...)
			pages = append(pages, sessions("c.test", 8, plainTitle)...)
			for i, p := range articles("a.test")[:6] {
				p.url, p.text = fmt.Sprintf("http://d.test/%d", i), strings.Join(strings.Split(p.text, "\n")[:4-i/3], "\n")
				pages = append(pages, p)
			}
			want := shown(t, judge(t, storeOf(t, rule, pages...), opt))
			opt.Keep, opt.Memory = true, 16*5000
			first := judge(t, storeOf(t, rule, pages...), opt)
			same(t, "in rounds", shown(t, first), want)
			rounds := 0
			for ; ; rounds++ {
				s := &watched{Memory: storeOf(t, rule, pages...)}
				ctx, cancel := context.WithCancel(t.Context())
				left := rounds
				s.kept = func() {
					if left--; left < 0 {
						cancel()
					}
				}
				_, err := Judge(ctx, s, opt)
				cancel()
				s.kept = nil
				if err == nil {
					break
				}
				w := judge(t, s, opt)
				same(t, fmt.Sprintf("after %d rounds", rounds+1), shown(t, w), want)
				if w.compared > first.compared || w.compared == first.compared && rounds > 5 {
					t.Errorf("after %d rounds: %d comparisons, %d in one go", rounds+1, w.compared, first.compared)
				}
			}
			if rounds < 3 {
				t.Errorf("it ended only after %d rounds", rounds)
			}
		})
	}
}

// A page may lose its text while the texts are read, because it is visited again and fails. The
// comparison must succeed nevertheless.
func TestGoneMeanwhile(t *testing.T) {
	rule := defaultRule(t)
	s := watchedSite(t, rule)
	id := dedup.HashOf([]byte("http://menu.test/23"))
	s.during = func() {
		pages, err := s.Memory.Pages(context.Background(), []dedup.Hash{id}, store.WantRecord)
		if err != nil || pages[0] == nil {
			t.Fatal(pages, err)
		}
		was := pages[0].Record
		gone := &store.Entry{Revisit: true, Replaces: was.Updated()}
		gone.Record = store.Record{ID: id, URL: was.URL, Kind: store.Error, Fetch: store.Fetch{Problem: "status 404", FetchedAt: was.FetchedAt.Add(time.Hour)}}
		if outcomes, err := s.Commit(context.Background(), []*store.Entry{gone}); err != nil || outcomes[0] != store.Written {
			t.Error(outcomes, err)
		}
	}
	judge(t, s, Options{Rule: rule})
}

// If the cache can be neither read nor written, the results are the same, without an error.
func TestNothingCanBeKept(t *testing.T) {
	rule := defaultRule(t)
	s := watchedSite(t, rule)
	s.refuses = errors.New("it is only read")
	want := shown(t, judge(t, s.Memory, Options{Rule: rule}))
	for range 2 {
		if got := shown(t, judge(t, s, Options{Rule: rule, Keep: true})); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// If the cached comparison is damaged, the pages are compared again.
func TestKeptDamaged(t *testing.T) {
	rule := defaultRule(t)
	s := watchedSite(t, rule)
	want := shown(t, judge(t, s.Memory, Options{Rule: rule}))
	keep := Options{Rule: rule, Keep: true}
	judge(t, s, keep)
	whole, err := s.Memory.Kept(context.Background(), "alike")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		bad := slices.Clone(whole)
		switch rapid.SampledFrom([]string{"cut", "flipped", "other"}).Draw(rt, "damage") {
		case "cut":
			bad = bad[:rapid.IntRange(0, len(bad)-1).Draw(rt, "length")]
		case "flipped":
			bad[rapid.IntRange(0, len(bad)-1).Draw(rt, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		case "other":
			bad = store.Pack(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes"))
		}
		if err := s.Memory.Keep(context.Background(), "alike", bad); err != nil {
			rt.Fatal(err)
		}
		if got := shown(t, judge(t, s, keep)); got != want {
			rt.Fatalf("got %s\nwant %s", got, want)
		}
	})
}
