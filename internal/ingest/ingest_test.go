package ingest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/badger"
)

func TestMain(m *testing.M) {
	flag.Set("rapid.checks", "40") // the command line may override this
	goleak.VerifyTestMain(m)
}

// words returns a text of n words, which is always the same for the same seed.
func words(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%d ", rng.IntN(10_000))
	}
	return b.String()
}

// but replaces the first word of a text. In a text of 100 words, 90 of 91 shingles stay the same,
// so the resemblance is 90/92.
func but(text, word string) string {
	_, rest, _ := strings.Cut(text, " ")
	return word + " " + rest
}

func testOptions(t testing.TB) Options {
	t.Helper()
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Rule: rule}
}

func start(t testing.TB, s store.Store, opt Options) *Pipeline {
	t.Helper()
	p, err := New(context.Background(), s, opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// page returns a fetched page with some HTML.
func page(url, html string) *crawler.Page {
	return &crawler.Page{
		Item: frontier.Item{URL: url}, FetchedAt: time.Unix(1e9, 0), Status: 200,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(html),
	}
}

func article(url, text string) *crawler.Page {
	return page(url, "<html lang=en><title>T</title><article><p>"+text+"</p></article>")
}

func noindex(p *crawler.Page) *crawler.Page {
	p.Header.Set("X-Robots-Tag", "noindex")
	return p
}

func handle(t testing.TB, p *Pipeline, pages ...*crawler.Page) {
	t.Helper()
	for _, page := range pages {
		if err := p.Handle(context.Background(), page, new(crawler.Leads)); err != nil {
			t.Fatal(err)
		}
	}
}

func records(t testing.TB, s store.Store) (all []*store.Record) {
	t.Helper()
	for page, err := range s.Changes(context.Background(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &page.Record)
	}
	return all
}

// content returns the record of a page in a store, with its text and sketch.
func content(t testing.TB, s store.Store, url string) *store.Content {
	t.Helper()
	pages, err := s.Pages(context.Background(), []dedup.Hash{dedup.HashOf([]byte(url))}, store.WantText|store.WantSketch)
	if err != nil || pages[0] == nil {
		t.Fatalf("%s: %v, %v", url, pages, err)
	}
	return pages[0]
}

// verdicts returns the verdicts in a store, one record per line.
func verdicts(t testing.TB, s store.Store) string {
	t.Helper()
	var b strings.Builder
	for _, r := range records(t, s) {
		b.WriteString(verdict(r) + "\n")
	}
	return b.String()
}

func verdict(r *store.Record) string {
	line := fmt.Sprintf("%s %s", r.URL, r.Kind)
	if r.Verdict != "" {
		line = fmt.Sprintf("%s %s", r.URL, r.Verdict)
	}
	if r.Follows() {
		line += fmt.Sprintf(" of %s %.3f by %s", r.DuplicateOf, r.Resemblance, r.Found)
	}
	if r.Containment > 0 {
		line += fmt.Sprintf(" contained %.3f", r.Containment)
	}
	if r.Capped {
		line += " capped"
	}
	return line
}

func same(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// Pages that are all looked up before any of them is committed get the same verdicts as pages that
// are judged one after the other.
func TestAtOnce(t *testing.T) {
	a, b := words(1, 100), words(2, 100)
	near, nearer := but(a, "changed"), but(a, "different")
	short := words(3, 20)
	before, middle, after := words(6, 12), words(7, 100), words(8, 12)
	hidden := func(text string) string { return "noindex:" + text }
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"nothing alike", []string{a, b}, "0 unique; 1 unique"},
		{"exact copies", []string{a, a, b, a}, "0 unique; 1 exact of 0 1.000 by text; 2 unique; 3 exact of 0 1.000 by text"},
		{"near copies", []string{a, near, nearer}, "0 unique; 1 near of 0 0.978 by bands; 2 near of 0 0.978 by bands"},
		{"a copy of a near member has its verdict", []string{a, near, near}, "0 unique; 1 near of 0 0.978 by bands; 2 near of 0 0.978 by bands"},
		{"copies in other clothes", []string{a, strings.ToUpper(a) + "!"}, "0 unique; 1 exact of 0 1.000 by text"},
		{"thin", []string{short, but(short, "x"), short}, "0 thin; 1 thin; 2 exact of 0 1.000 by text"},
		{"no words", []string{"", "", "!?"}, "0 skipped; 1 skipped; 2 skipped"},
		{"noindex after ordinary", []string{a, hidden(a), hidden(near), near}, "0 unique; 1 exact of 0 1.000 by text; 2 near of 0 0.978 by bands; 3 near of 0 0.978 by bands"},
		{"noindex before ordinary leads its like only", []string{hidden(a), a, hidden(near), near, hidden(a)},
			"0 unique; 1 unique; 2 near of 0 0.978 by bands; 3 near of 1 0.978 by bands; 4 exact of 0 1.000 by text"},
		{"thin noindex", []string{hidden(short), short, hidden(short)}, "0 thin; 1 thin; 2 exact of 0 1.000 by text"},
		{"ties go to the earliest", []string{words(4, 12) + before + middle, middle + after + words(5, 12), before + middle + after}, "0 unique; 1 unique; 2 near of 0 0.811 by bands"},
	} {
		together, alone := judgeTexts(t, testOptions(t), c.texts, true), judgeTexts(t, testOptions(t), c.texts, false)
		same(t, c.name+", one after another", alone, c.want)
		same(t, c.name+", all at once", together, c.want)
	}
}

// judgeTexts returns the verdicts on texts. If atOnce is true, all of them are looked up before the
// first is committed, and otherwise each is committed before the next is looked up.
func judgeTexts(t *testing.T, opt Options, texts []string, atOnce bool) string {
	t.Helper()
	s := storetest.NewMemory()
	p := start(t, s, opt)
	var all []*file
	commit := func() {
		if err := p.commitInOrder(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		all = nil
	}
	for i, text := range texts {
		text, aside := strings.CutPrefix(text, "noindex:")
		all = append(all, judgedFile(t, p, fmt.Sprint(i), text, aside))
		if !atOnce {
			commit()
		}
	}
	commit()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.TrimSpace(verdicts(t, s)), "\n", "; ")
}

// judgedFile returns a file with a text, judged by the present content of the store and not
// committed yet.
func judgedFile(t testing.TB, p *Pipeline, name, text string, aside bool) *file {
	t.Helper()
	r := &corpus.Record{Input: name, Raw: []byte(text), Type: "text/plain"}
	if aside {
		r.Raw, r.Type = []byte("<meta name=robots content=noindex><p>"+text), "text/html"
	}
	f := &file{from: r}
	f.read(t.Context(), &p.opt)
	f.reading.seen.URL, f.reading.seen.ID = name, dedup.HashOf([]byte(name))
	judgeVisit(t, p, f, firstVisit(f.reading))
	return f
}

// judgeVisit sets the visit of a file, and judges it by the present content of the store.
func judgeVisit(t testing.TB, p *Pipeline, f *file, v *visit) {
	t.Helper()
	var err error
	f.visit = v
	if f.judgement, err = p.judge.verdict(t.Context(), v, judging{}); err != nil {
		t.Fatal(err)
	}
}

// textFile returns the record of a file that is one text. textLine returns the record of a line
// that has a name and a text.
func textFile(name, text string) *corpus.Record {
	return &corpus.Record{Input: name, Raw: []byte(text), Type: "text/plain"}
}

func textLine(file string, n int, name, text string) *corpus.Record {
	return &corpus.Record{Input: file, Line: n, Raw: fmt.Appendf(nil, `{"url":%q,"text":%q}`, name, text)}
}

// noneBad returns options that fail the test if a file cannot be read.
func noneBad(t *testing.T) FileOptions {
	return FileOptions{Bad: func(bad *corpus.BadError) error { t.Error(bad); return nil }}
}

// A shaky store waits for a random time in each call, so that pages overtake each other.
type shaky struct {
	store.Store
	mu  sync.Mutex
	rng *rand.Rand // guarded by mu
}

func (s *shaky) pause() {
	s.mu.Lock()
	d := time.Duration(s.rng.IntN(300)) * time.Microsecond
	if s.rng.IntN(4) > 0 {
		d = 0
	}
	s.mu.Unlock()
	if d > 0 {
		time.Sleep(d)
	}
}

func (s *shaky) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	s.pause()
	return s.Store.Lookup(ctx, asks)
}

func (s *shaky) Commit(ctx context.Context, all []*store.Entry) ([]store.Outcome, error) {
	s.pause()
	return s.Store.Commit(ctx, all)
}

// similarTexts generates texts that share paragraphs. Some texts are equal.
func similarTexts(t *rapid.T) (texts []string) {
	parts := rapid.IntRange(4, 10).Draw(t, "parts")
	n := rapid.IntRange(2, 40).Draw(t, "texts")
	for i := range n {
		var b strings.Builder
		own := rapid.IntRange(0, parts-1).Draw(t, "own parts")
		for part := range parts {
			seed := uint64(part)
			if part < own {
				seed = uint64(1000 + rapid.IntRange(0, i).Draw(t, "of"))
			}
			b.WriteString(words(seed, 8) + "\n")
		}
		texts = append(texts, b.String())
	}
	return texts
}

// Pages get the same verdicts as if they were judged one after another in the order of their
// commits. This holds for twelve committers, with low limits on lists and comparisons, and with
// noindex pages among the pages.
func TestOrderAloneDecides(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		orderAloneDecides(t, func() store.Store { return storetest.NewMemory() })
	})
	t.Run("badger", func(t *testing.T) {
		orderAloneDecides(t, func() store.Store {
			s, err := badger.Open(t.TempDir(), badger.Options{Create: true, Reserve: -1})
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
}

func orderAloneDecides(t *testing.T, open func() store.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := similarTexts(rt)
		opt := testOptions(t)
		var err error
		opt.Rule, err = dedup.NewRule(rapid.SampledFrom([]float64{.2, .5, .8}).Draw(rt, "similarity"), rapid.SampledFrom([]string{"bands", "super", "mega"}).Draw(rt, "scheme"), 10)
		if err != nil {
			t.Fatal(err)
		}
		opt.Rule.Shingling.K = 2
		opt.Rule.Contained = rapid.SampledFrom([]float64{0, 0, .5, .9}).Draw(rt, "contained")
		posting := rapid.SampledFrom([]int{1, 3, dedup.MaxPosting}).Draw(rt, "posting")
		hidden := rapid.SliceOfN(rapid.IntRange(0, 5), len(texts), len(texts)).Draw(rt, "hidden")
		at := func(i int) *crawler.Page {
			p := article(fmt.Sprintf("http://a.test/%d", i), texts[i])
			if hidden[i] == 0 {
				p = noindex(p)
			}
			return p
		}

		s := open()
		defer s.Close()
		p := start(t, &shaky{Store: s, rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))}, opt)
		p.judge.posting = posting
		var wait sync.WaitGroup
		next := make(chan int)
		for range 12 {
			wait.Go(func() {
				for i := range next {
					handle(t, p, at(i))
				}
			})
		}
		for i := range texts {
			next <- i
		}
		close(next)
		wait.Wait()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}

		calm := storetest.NewMemory()
		q := start(t, calm, opt)
		q.judge.posting = posting
		for _, r := range records(t, s) {
			var i int
			fmt.Sscanf(r.URL, "http://a.test/%d", &i)
			handle(t, q, at(i))
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := verdicts(t, s), verdicts(t, calm); got != want {
			rt.Fatalf("at once:\n%s\none after another:\n%s", got, want)
		}
		sound(rt, s, opt)
	})
}

// sound checks that every verdict is right for the texts.
func sound(t *rapid.T, s store.Store, opt Options) {
	set := func(c *store.Content) dedup.Set {
		var canon dedup.Text
		canon.Read([]byte(c.Text))
		return canon.Set(opt.Rule.Shingling.K)
	}
	before := map[dedup.Hash]*store.Content{}
	for page, err := range s.Changes(context.Background(), "", store.WantText) {
		if err != nil {
			t.Fatal(err)
		}
		r := &page.Record
		before[r.ID] = &page.Content
		if !r.Follows() {
			continue
		}
		leader := before[r.Leader]
		switch {
		case leader == nil:
			t.Fatalf("%s is led by %s, which did not come before it", r.URL, r.DuplicateOf)
		case leader.Record.Follows() || leader.Record.URL != r.DuplicateOf:
			t.Fatalf("%s is led by %s, which does not lead, and says %s", r.URL, leader.Record.URL, r.DuplicateOf)
		case leader.Record.NoIndex && !r.NoIndex:
			t.Fatalf("%s may be fed and is led by %s, which may not", r.URL, leader.Record.URL)
		}
		got := dedup.Resemblance(set(&page.Content), set(leader))
		if got != r.Resemblance || opt.Rule.Contained == 0 && got < opt.Rule.Similarity {
			t.Fatalf("%s resembles its leader by %v, and says %v", r.URL, got, r.Resemblance)
		}
		if share, ok := opt.Rule.Contains(wordRuns(page.Text), wordRuns(leader.Text)); opt.Rule.Contained > 0 && r.Verdict == dedup.Near && (!ok || share != r.Containment) {
			t.Fatalf("the leader of %s contains %v of it, and the record has %v", r.URL, share, r.Containment)
		}
	}
}

func wordRuns(text string) dedup.Set { return dedup.Runs(new(dedup.Text), text) }

// If there are more candidates than can be compared, the same ones are chosen whether they were in
// the store at the first lookup or arrived while the page was judged.
func TestManyCandidates(t *testing.T) {
	opt := testOptions(t)
	opt.Rule, _ = dedup.NewRule(.2, "bands", 10)
	opt.Rule.Shingling.K = 2
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var texts []string
		var all strings.Builder
		for part := range uint64(12) {
			all.WriteString(words(part, 6))
		}
		for i := range uint64(2 * dedup.MaxVerify) {
			var b strings.Builder
			for _, part := range rng.Perm(12)[:5] {
				b.WriteString(words(uint64(part), 6))
			}
			texts = append(texts, b.String()+words(1000+i, 40))
		}
		texts = append(texts, all.String(), all.String()+" more")
		same(t, "all at once", judgeTexts(t, opt, texts, true), judgeTexts(t, opt, texts, false))
	}
}

// If pages that change a verdict were committed long after its lookup, the lookup is repeated
// before the page is committed.
func TestLongAgo(t *testing.T) {
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	a, short := words(1, 100), words(2, 10)
	var slow []*file
	for i, text := range []string{a, but(a, "x"), short, words(3, 100)} {
		v, share, err := p.readAndVisit(t.Context(), article(fmt.Sprintf("http://slow.test/%d", i), text), new(crawler.Leads))
		if err != nil {
			t.Fatal(err)
		}
		defer share.Release()
		f := new(file)
		judgeVisit(t, p, f, v)
		slow = append(slow, f)
	}
	handle(t, p, article("http://a.test/first", a), article("http://a.test/short", short))
	for i := range uint64(100) {
		handle(t, p, article(fmt.Sprintf("http://a.test/%d", i), words(100+i, 60)))
	}
	if err := errors.Join(p.commitInOrder(t.Context(), slow), p.Close()); err != nil {
		t.Fatal(err)
	}
	all := records(t, s)
	var got []string
	for _, r := range all[len(all)-4:] {
		got = append(got, verdict(r))
	}
	same(t, "verdicts", strings.Join(got, "\n"), `http://slow.test/0 exact of http://a.test/first 1.000 by text
http://slow.test/1 near of http://a.test/first 0.978 by bands
http://slow.test/2 exact of http://a.test/short 1.000 by text
http://slow.test/3 unique`)
}

// An index entry without a record, which a crash may leave behind, does not change the leader of
// other pages.
func TestPostingWithoutRecord(t *testing.T) {
	s := storetest.NewMemory()
	a := words(1, 100)
	var canon dedup.Text
	canon.Read([]byte(a))
	sketch := dedup.NewSketch(canon.Shingles(nil, dedup.DefaultShingle))
	opt := testOptions(t)
	p := start(t, leftover{s, store.Leader{ID: dedup.Hash{1}, Hash: canon.Hash(), Sketch: sketch}}, opt)
	handle(t, p, article("http://a.test/1", a), article("http://a.test/2", but(a, "x")), article("http://a.test/3", a))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "verdicts", verdicts(t, s), `http://a.test/1 unique
http://a.test/2 near of http://a.test/1 0.978 by bands
http://a.test/3 exact of http://a.test/1 1.000 by text
`)
}

// leftover is a store in which a page has index entries and a sketch, but no record.
type leftover struct {
	*storetest.Memory
	lost store.Leader
}

func (l leftover) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	all, err := l.Memory.Lookup(ctx, asks)
	for i := range all {
		if all[i].Copy == nil {
			all[i].Leaders = append([]store.Leader{l.lost}, all[i].Leaders...)
		}
	}
	return all, err
}

func TestSkipDuplicates(t *testing.T) {
	for _, skip := range []bool{false, true} {
		s := storetest.NewMemory()
		opt := testOptions(t)
		opt.SkipDuplicates = skip
		p := start(t, s, opt)
		a, short := words(1, 100), words(2, 20)
		with := func(url, text string) *crawler.Page {
			p := article(url, text)
			p.Item.Depth = 1
			p.Body = append(p.Body, []byte(`<nav><a href="`+url+`/next">next</a></nav>`)...)
			return p
		}
		follow(t, p, within(t, crawler.ScopeAny), with("http://a.test/1", a), with("http://a.test/2", a), with("http://a.test/3", but(a, "x")), with("http://a.test/4", short), with("http://a.test/5", short))
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		for _, r := range records(t, s) {
			c := content(t, s, r.URL)
			followed, _ := s.State(t.Context(), r.URL+"/next")
			kept := !skip || !r.Follows()
			if c.Kept != kept || r.NoText == kept || c.Sketch == nil || r.Hash.IsZero() {
				t.Errorf("skip %v, %s: text %v, sketch %v, no_text %v", skip, verdict(r), c.Kept, c.Sketch != nil, r.NoText)
			}
			if want := kept || r.Words < 50; (followed == frontier.Pending) != want {
				t.Errorf("skip %v, %s: its links are followed: %v, want %v", skip, verdict(r), followed == frontier.Pending, want)
			}
		}
		if tally := p.Added(); tally.Unkept != map[bool]int64{false: 0, true: 3}[skip] {
			t.Errorf("skip %v: %d were counted as stored without text", skip, tally.Unkept)
		}
	}
}

// The links of a skipped duplicate are followed if other pages may not have them: links of seeds
// and their redirect targets, of home pages, and of pages whose leader is on another host.
func TestSkippedDuplicateLeadsOn(t *testing.T) {
	text := words(1, 100)
	leader := article("http://copy.test/", text)
	for _, c := range []struct {
		name, url string
		depth     int
		near      bool
		followed  bool
	}{
		{name: "a seed", url: "http://a.test/start", followed: true},
		{name: "a home page that is no seed", url: "http://a.test/", depth: 2, followed: true},
		{name: "a page whose leader is on another host", url: "http://a.test/deep", depth: 3, followed: true},
		{name: "one that is near", url: "http://a.test/deep", depth: 3, near: true, followed: true},
		{name: "a seed whose leader is on its host", url: "http://copy.test/start", followed: true},
		{name: "a page whose leader is on its host", url: "http://copy.test/deep", depth: 1},
		{name: "one that is near", url: "http://copy.test/deep", depth: 1, near: true},
	} {
		s := storetest.NewMemory()
		opt := testOptions(t)
		opt.SkipDuplicates = true
		p := start(t, s, opt)
		own := text
		if c.near {
			own = but(text, "x")
		}
		copied := article(c.url, own)
		copied.Item.Depth = c.depth
		copied.Body = append(copied.Body, `<nav><a href="/next">next</a></nav>`...)
		follow(t, p, within(t, crawler.ScopeAny), leader, copied)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		kept := content(t, s, c.url)
		next := strings.SplitAfter(c.url, ".test")[0] + "/next"
		state, _ := s.State(t.Context(), next)
		if !kept.Record.NoText || kept.Kept || (state == frontier.Pending) != c.followed {
			t.Errorf("%s, %s: its text is kept: %v; its links are followed: %v, want %v", c.name, verdict(&kept.Record), kept.Kept, state == frontier.Pending, c.followed)
		}
	}
}

// If a page is handled again, as after a crash before its URL was finished, its record stays, it is
// not counted or exported again, and its URL is finished.
func TestReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	open := func() store.Store {
		s, err := badger.Open(dir, badger.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	a := words(1, 100)
	first := article("http://a.test/1", a)
	p := start(t, s, testOptions(t))
	v, share, err := p.readAndVisit(t.Context(), first, new(crawler.Leads))
	if err != nil {
		t.Fatal(err)
	}
	defer share.Release()
	v.state = frontier.Unknown // this is the same as if a crash had prevented the write of the URL's final state
	s.Discover(t.Context(), []frontier.Item{first.Item})
	if err := errors.Join(p.commit(t.Context(), v, p.writer(v, &crawler.Page{})), p.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}

	s = open()
	defer s.Close()
	p = start(t, s, testOptions(t))
	gone := *first
	gone.Problem, gone.Status = crawler.ProblemStatus, 404 // the page was removed in the meantime
	handle(t, p, &gone, article("http://a.test/2", a))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "verdicts", verdicts(t, s), "http://a.test/1 unique\nhttp://a.test/2 exact of http://a.test/1 1.000 by text\n")
	if all, added := p.Tally(), p.Added(); all.Pages() != 2 || added.Pages() != 1 || all.Errors != 0 {
		t.Errorf("counted %+v, added %+v", all, added)
	}
	if state, _ := s.State(t.Context(), first.Item.URL); state != frontier.Fetched {
		t.Errorf("the URL ended in state %d, want that of its record", state)
	}
}

var errDisk = errors.New("no space left")

// failing is a store in which all commits fail after the first few.
type failing struct {
	store.Store
	mu   sync.Mutex
	left int // guarded by mu: number of commits that still succeed
}

func (f *failing) Commit(ctx context.Context, all []*store.Entry) ([]store.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left < 0 {
		return nil, errDisk
	}
	return f.Store.Commit(ctx, all)
}

// When the store fails, all calls that write to it return the error, and none of them hangs.
func TestStoreFails(t *testing.T) {
	s := &failing{Store: storetest.NewMemory(), left: 2}
	p := start(t, s, testOptions(t))
	var wait sync.WaitGroup
	errs := make([]error, 200)
	for i := range errs {
		wait.Go(func() {
			errs[i] = p.Handle(context.Background(), article(fmt.Sprintf("http://a.test/%d", i), words(uint64(i), 60)), new(crawler.Leads))
		})
	}
	wait.Wait()
	well := 0
	for _, err := range errs {
		if err == nil {
			well++
		} else if !errors.Is(err, errDisk) {
			t.Errorf("got %v", err)
		}
	}
	if well != 2 {
		t.Errorf("%d pages were stored, want 2", well)
	}
	if _, err := p.Files(context.Background(), manyFiles(500), noneBad(t)); !errors.Is(err, errDisk) {
		t.Errorf("files got %v", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func manyFiles(n int) func(func(*corpus.Record, error) bool) {
	return func(yield func(*corpus.Record, error) bool) {
		for i := range n {
			if !yield(textFile(fmt.Sprint("file", i), words(uint64(i%20), 60)), nil) {
				return
			}
		}
	}
}

// A page whose context has ended is not stored.
func TestHandleCancelled(t *testing.T) {
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Handle(ctx, article("http://a.test/x", "words"), new(crawler.Leads)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := p.Close(); err != nil || len(records(t, s)) > 0 {
		t.Errorf("%d records, %v", len(records(t, s)), err)
	}
}

// If the code that reads a page panics, the page's record has the problem, and the crawl continues.
func TestPanicIsRecorded(t *testing.T) {
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Rule.Shingling.K = -1 // shingles of minus one word make the code panic
	p := start(t, s, opt)
	handle(t, p, article("http://a.test/1", words(1, 100)), page("http://a.test/2", ""))
	if _, err := p.Files(t.Context(), manyFiles(1), noneBad(t)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for i, r := range records(t, s) {
		want := []string{"error internal", "page ", "error internal"}[i]
		same(t, r.URL, fmt.Sprintf("%s %s", r.Kind, r.Problem), want)
		if r.Kind == store.Error && (!strings.HasPrefix(r.Detail, "panic: ") || r.Words != 0 || !r.Hash.IsZero()) {
			t.Errorf("recorded as %+v", r)
		}
	}
}

// The same files get the same verdicts with any number of processors. A file whose name occurs
// again gets another name, and files that are in the store are known.
func TestFiles(t *testing.T) {
	var want string
	for _, procs := range []int{1, 8} {
		s := storetest.NewMemory()
		p := start(t, &shaky{Store: s, rng: rand.New(rand.NewPCG(uint64(procs), 1))}, testOptions(t))
		files := func(yield func(*corpus.Record, error) bool) {
			for f := range manyFiles(60) {
				if !yield(f, nil) {
					return
				}
			}
			yield(textLine("more", 1, "file3", "again"), nil)
			yield(textLine("more", 2, "file3", words(3, 60)), nil)
			yield(&corpus.Record{Input: "picture.png", Raw: []byte("\x89PNG\r\n\x1a\n"), Type: "image/png"}, nil)
		}
		for round, want := range []Names{{Repeated: 2}, {Known: 63}} {
			names, err := p.Files(t.Context(), files, noneBad(t))
			if err != nil {
				t.Fatal(err)
			}
			if names != want {
				t.Errorf("round %d: got %+v, want %+v", round, names, want)
			}
			if p.Pages() != 62 || p.Tally().Skipped != 1 {
				t.Errorf("round %d: %d pages, %d skipped", round, p.Pages(), p.Tally().Skipped)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		got := verdicts(t, s)
		if want == "" {
			want = got
		}
		same(t, "verdicts", got, want)
	}
}

// Files that are in the store are recognized when they are read again, in any order. A file with
// another text counts as changed.
func TestFilesKnown(t *testing.T) {
	s := storetest.NewMemory()
	line := func(name, file string, seed uint64) *corpus.Record { return textLine(file, 1, name, words(seed, 60)) }
	text := func(name string, seed uint64) *corpus.Record { return textFile(name, words(seed, 60)) }
	run := func(files ...*corpus.Record) Names {
		t.Helper()
		p := start(t, s, testOptions(t))
		names, err := p.Files(t.Context(), func(yield func(*corpus.Record, error) bool) {
			for _, f := range files {
				if !yield(new(*f), nil) { // a copy, because reading a record frees its bytes
					return
				}
			}
		}, noneBad(t))
		if err := errors.Join(err, p.Close()); err != nil {
			t.Fatal(err)
		}
		return names
	}
	a, copied, other := line("0", "a", 1), line("0", "b", 1), line("0", "c", 2)
	for _, c := range []struct {
		why   string
		files []*corpus.Record
		want  Names
		holds int
	}{
		{"one name in three files", []*corpus.Record{a, copied, other}, Names{Repeated: 2}, 3},
		{"the same again", []*corpus.Record{a, copied, other}, Names{Known: 3}, 3},
		{"the other way round", []*corpus.Record{other, copied, a}, Names{Known: 3}, 3},
		{"one of them alone", []*corpus.Record{other}, Names{Known: 1}, 3},
		{"a line that changed", []*corpus.Record{line("0", "c", 3)}, Names{Changed: 1}, 3},
		{"again", []*corpus.Record{line("0", "c", 3)}, Names{Known: 1}, 3},
		{"a file", []*corpus.Record{text("a.txt", 4)}, Names{}, 4},
		{"that changed", []*corpus.Record{text("a.txt", 5)}, Names{Changed: 1}, 4},
		{"again, and back", []*corpus.Record{text("a.txt", 4)}, Names{Changed: 1}, 4},
	} {
		if got := run(c.files...); got != c.want || len(records(t, s)) != c.holds {
			t.Errorf("%s: got %+v and %d records, want %+v and %d", c.why, got, len(records(t, s)), c.want, c.holds)
		}
	}
	var names []string
	for _, r := range records(t, s) {
		names = append(names, r.URL)
	}
	same(t, "names", strings.Join(names, ", "), "0, 0 (b:1), 0 (c:1), a.txt")
}

func TestFilesErrors(t *testing.T) {
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	broken := errors.New("unreadable")
	_, err := p.Files(t.Context(), func(yield func(*corpus.Record, error) bool) {
		for f := range manyFiles(10) {
			if !yield(f, nil) {
				return
			}
		}
		yield(nil, broken)
	}, noneBad(t))
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = p.Files(ctx, func(yield func(*corpus.Record, error) bool) {
		for i := 0; yield(textFile(fmt.Sprint(i), "text"), nil); i++ {
			if i == 20 {
				cancel()
			}
		}
	}, noneBad(t))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context ended", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file whose text has changed counts as a new visit. Its record refers to the earlier version,
// and files that were its duplicates are judged again.
func TestFilesChange(t *testing.T) {
	s := storetest.NewMemory()
	run := func(files ...*corpus.Record) {
		t.Helper()
		p := start(t, s, testOptions(t))
		_, err := p.Files(t.Context(), func(yield func(*corpus.Record, error) bool) {
			for _, f := range files {
				if !yield(f, nil) {
					return
				}
			}
		}, noneBad(t))
		if err := errors.Join(err, p.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run(textFile("a", words(1, 60)), textFile("b", words(1, 60)), textFile("c", words(2, 60)))
	run(textFile("a", words(3, 60)))
	for name, want := range map[string]dedup.VerdictKind{"a": dedup.Unique, "b": dedup.Unique, "c": dedup.Unique} {
		if r := content(t, s, name).Record; r.Verdict != want {
			t.Errorf("%s is %s of %s, want %s", name, r.Verdict, r.DuplicateOf, want)
		}
	}
	if r := content(t, s, "a").Record; len(r.Earlier) != 1 || r.Earlier[0].Words != 60 || r.Visit != store.Altered {
		t.Errorf("a remembers %+v, %s", r.Earlier, r.Visit)
	}
	run(textFile("a", words(2, 60)))
	if r := content(t, s, "a").Record; r.Verdict != dedup.Exact || r.DuplicateOf != "c" || len(r.Earlier) != 2 {
		t.Errorf("a is %s of %s, with %d visits before", r.Verdict, r.DuplicateOf, len(r.Earlier))
	}
}
