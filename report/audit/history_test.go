package audit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/extract/markup"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

// A visit is a page of a small site as one crawl finds it. Zero fields are those of a page without a fault.
type visit struct {
	path     string
	kind     store.RecordKind // "": a page
	status   int
	title    string // "-": the page has no title
	faults   uint64
	faulty   []string
	noIndex  bool
	missed   int      // number of failed visits in a row
	links    []string // paths, some with a fragment
	anchors  []byte
	old      bool // the page was not visited in this crawl
	location string
}

var firstCrawl = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// crawled writes the visits of a crawl into a store. The crawl with number n begins n weeks after the
// first.
func crawled(t *testing.T, s *storetest.Memory, n int, visits ...visit) {
	t.Helper()
	at := firstCrawl.AddDate(0, 0, 7*n)
	if n > 0 {
		check(t, store.BeginCrawl(t.Context(), s, at))
	}
	for i, v := range visits {
		if v.old {
			continue
		}
		url := "https://a.test" + v.path
		r := store.Record{
			ID: dedup.HashOf([]byte(url)), URL: url, Kind: store.Page, Status: 200, Fetch: store.Fetch{Size: 1000, Words: 100, Depth: 1,
				FetchedAt: at.Add(time.Duration(i) * time.Second), Faults: v.faults, Faulty: v.faulty, Anchors: v.anchors}, ContentType: "text/html",
			Judged: store.Judged{Verdict: dedup.Unique}, Title: "The page " + v.path, H1: []string{"Heading of " + v.path}, CanonicalURL: url,
			Description: strings.Repeat("description of "+v.path+" ", 6), NoIndex: v.noIndex, History: store.History{Missed: v.missed},
		}
		if v.kind != "" {
			r.Kind, r.Status, r.Verdict, r.Words, r.Location = v.kind, v.status, "", 0, v.location
		}
		switch v.title {
		case "":
		case "-":
			r.Title = ""
		default:
			r.Title = v.title
		}
		var links []store.Link
		for _, path := range v.links {
			path, fragment, _ := strings.Cut(path, "#")
			links = append(links, store.Link{URL: "https://a.test" + path, Kind: store.LinkAnchor, Fragments: fragment})
		}
		e := &store.Entry{Record: r, Out: store.PackLinks(url, links), Revisit: n > 0}
		if _, err := s.Commit(t.Context(), []*store.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func auditOf(t *testing.T, s store.Reader, opt audit.Options) *audit.Audit {
	t.Helper()
	opt.About = report.About{Settings: store.Settings{Similarity: 0.8, MinWords: 50, Shingle: 10, Scheme: "bands"}}
	a, err := audit.Read(t.Context(), s, opt)
	check(t, err)
	return a
}

func keep(t *testing.T, s *storetest.Memory, at time.Time) *audit.Crawl {
	t.Helper()
	c, err := audit.Keep(t.Context(), s, auditOf(t, s, audit.Options{}), at)
	check(t, err)
	return c
}

// since audits a store in comparison with the crawl before the last one.
func since(t *testing.T, s *storetest.Memory) *audit.Audit {
	t.Helper()
	h, err := audit.ReadHistory(t.Context(), s)
	check(t, err)
	past, err := audit.ReadPast(t.Context(), s, h.Before())
	check(t, err)
	return auditOf(t, s, audit.Options{Since: past})
}

// changesOf returns the rows of a finding that have a change, each as "change path".
func changesOf(t *testing.T, f *audit.Finding) (all []string) {
	t.Helper()
	for row, err := range f.Rows(t.Context(), 0) {
		check(t, err)
		if row.Change != "" {
			all = append(all, string(row.Change)+" "+strings.TrimPrefix(string(cell(t, row, "url").(audit.URL)), "https://a.test"))
		}
	}
	slices.Sort(all)
	return all
}

// TestCompare compares two crawls. Each case is a page in the first and the second crawl, with the expected
// change of a finding.
func TestCompare(t *testing.T) {
	for name, c := range map[string]struct {
		before, after []visit
		finding       string
		want          string // the changes, separated by commas
	}{
		"new":          {[]visit{{path: "/p"}}, []visit{{path: "/p", title: "-"}}, "titles.missing", "new /p"},
		"fixed":        {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p"}}, "titles.missing", "fixed /p"},
		"remaining":    {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", title: "-"}}, "titles.missing", "remaining /p"},
		"new page":     {[]visit{{path: "/p"}}, []visit{{path: "/p"}, {path: "/q", title: "-"}}, "titles.missing", "new /q"},
		"page is gone": {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", kind: store.Error, status: 404}}, "titles.missing", "fixed /p"},

		"not visited again":    {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", old: true}}, "titles.missing", "unchecked /p"},
		"visit failed":         {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", title: "-", missed: 1}}, "titles.missing", "unchecked /p"},
		"server error":         {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", kind: store.Error, status: 503}}, "titles.missing", "unchecked /p"},
		"robots.txt forbids":   {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", kind: store.Blocked}}, "titles.missing", "unchecked /p"},
		"postponed":            {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", kind: store.Later}}, "titles.missing", "unchecked /p"},
		"now a redirect":       {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", kind: store.Redirect, status: 301, location: "https://a.test/q"}}, "titles.missing", "fixed /p"},
		"noindex, not counted": {[]visit{{path: "/p", title: "-"}}, []visit{{path: "/p", title: "-", noIndex: true}}, "titles.missing", "fixed /p"},

		"broken, page is back": {
			[]visit{{path: "/p", links: []string{"/q"}}, {path: "/q", kind: store.Error, status: 404}},
			[]visit{{path: "/p", links: []string{"/q"}}, {path: "/q"}}, "broken.gone", "fixed /q",
		},
		"broken, link corrected": {
			[]visit{{path: "/p", links: []string{"/q"}}, {path: "/q", kind: store.Error, status: 404}},
			[]visit{{path: "/p"}, {path: "/q", kind: store.Error, status: 404}}, "broken.gone", "fixed /q",
		},
		"broken, link corrected, not requested": {
			[]visit{{path: "/p", links: []string{"/q"}}, {path: "/q", kind: store.Error, status: 404}},
			[]visit{{path: "/p"}, {path: "/q", old: true}}, "broken.gone", "fixed /q",
		},
		"broken, not requested": {
			[]visit{{path: "/p", links: []string{"/q"}}, {path: "/q", kind: store.Error, status: 404}},
			[]visit{{path: "/p", links: []string{"/q"}}, {path: "/q", old: true}}, "broken.gone", "unchecked /q",
		},
		"other error": {
			[]visit{{path: "/p", links: []string{"/q"}}, {path: "/q", kind: store.Error, status: 500}},
			[]visit{{path: "/p", links: []string{"/q"}}, {path: "/q", kind: store.Error, status: 404}}, "broken.server", "fixed /q",
		},
		"repeated title, other page of the group is first": {
			[]visit{{path: "/p", title: "A repeated title"}, {path: "/q", title: "A repeated title"}},
			[]visit{{path: "/q", title: "A repeated title"}, {path: "/p", title: "A repeated title"}}, "titles.repeated", "remaining /p,remaining /q",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.NewMemory()
			crawled(t, s, 0, c.before...)
			keep(t, s, firstCrawl.Add(time.Hour))
			crawled(t, s, 1, c.after...)
			a := since(t, s)
			f := a.Find(c.finding)
			if got := strings.Join(changesOf(t, f), ","); got != c.want {
				t.Errorf("%s: %s, want %s", c.finding, got, c.want)
			}
			d := f.Since()
			listed := 0
			for row, err := range f.Rows(t.Context(), 0) {
				check(t, err)
				if row.Change != audit.Fixed && row.Apart == "" {
					listed++
				}
			}
			if d.New+d.Remaining > f.Count() || listed < f.Count() {
				t.Errorf("%v, but %d are counted and %d are listed", d, f.Count(), listed)
			}
		})
	}
}

// TestCompareHosts checks a finding of whole hosts. It is the same finding even if another page of the host
// is its example.
func TestCompareHosts(t *testing.T) {
	s := storetest.NewMemory()
	fault := uint64(1) << markup.NoCSP
	crawled(t, s, 0, visit{path: "/p", faults: fault}, visit{path: "/q", faults: fault})
	keep(t, s, firstCrawl.Add(time.Hour))
	crawled(t, s, 1, visit{path: "/q", faults: fault}, visit{path: "/p"})
	if got := changesOf(t, since(t, s).Find("security.csp")); !slices.Equal(got, []string{"remaining /q"}) {
		t.Errorf("got %q, want the host with its page /q as remaining", got)
	}
	keep(t, s, firstCrawl.AddDate(0, 0, 7).Add(time.Hour))
	crawled(t, s, 2, visit{path: "/q"}, visit{path: "/p"})
	if got := changesOf(t, since(t, s).Find("security.csp")); !slices.Equal(got, []string{"fixed /q"}) {
		t.Errorf("got %q, want the host with its page /q as fixed", got)
	}
}

// TestOtherChecks checks that a finding which only one of the two crawls checked is neither new nor fixed.
func TestOtherChecks(t *testing.T) {
	s := storetest.NewMemory()
	crawled(t, s, 0, visit{path: "/p", title: "-"})
	past := keptWithout(t, s, "titles.missing")
	crawled(t, s, 1, visit{path: "/p", title: "-"})
	a := auditOf(t, s, audit.Options{Since: past})
	f := a.Find("titles.missing")
	if f.Since() != nil || f.Note() != "Not compared: crawl 1 did not check this." {
		t.Errorf("got %v, %q; want no difference, with a reason", f.Since(), f.Note())
	}
	if got := changesOf(t, f); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	if all, err := audit.ParseConditions("new:titles.missing>0,new:titles>0"); err != nil || len(a.Fails(all)) > 0 {
		t.Errorf("a finding that was not compared counts as new: %v, %v", a.Fails(all), err)
	}
	// The list nearly was compared by neither crawl.
	if f := a.Find("nearly"); f.Since() != nil {
		t.Errorf("nearly: %v", f.Since())
	}
}

// keptWithout keeps the findings of a store as a version of skink would do that does not know a finding.
func keptWithout(t *testing.T, s *storetest.Memory, finding string) *audit.Past {
	t.Helper()
	keep(t, s, firstCrawl.Add(time.Hour))
	h, err := audit.ReadHistory(t.Context(), s)
	check(t, err)
	c := h.Kept[0]
	delete(c.Counts, finding)
	past, err := audit.ReadPast(t.Context(), s, &c)
	check(t, err)
	return past
}

// TestFailOnChange checks conditions about the difference from an earlier crawl.
func TestFailOnChange(t *testing.T) {
	s := storetest.NewMemory()
	crawled(t, s, 0, visit{path: "/p", title: "-"}, visit{path: "/q", title: "short"}, visit{path: "/r", title: "-"})
	keep(t, s, firstCrawl.Add(time.Hour))
	crawled(t, s, 1, visit{path: "/p"}, visit{path: "/q", title: "-"}, visit{path: "/r", old: true}, visit{path: "/s", title: "brief"})
	a := since(t, s)
	for on, want := range map[string]string{
		"new:titles>0":              "new:titles: 2, limit 0",
		"new:titles.missing>0":      "new:titles.missing: 1, limit 0",
		"new:titles.missing>1":      "",
		"new : titles.missing >= 1": "new:titles.missing: 1, must be below 1",
		"fixed:titles<5":            "fixed:titles: 2, must be at least 5",
		"remaining:titles>0":        "",
		"unchecked:titles>0":        "unchecked:titles: 1, limit 0",
		"new:titles>10%":            "new:titles: 50.0% (2 of 4), limit 10%",
		"new:error>0":               "new:error: 1, limit 0",
		"new:warning>0":             "new:warning: 1, limit 0",
		"new:broken>0":              "",
		"error>0":                   "error: 2, limit 0",
	} {
		all, err := audit.ParseConditions(on)
		check(t, err)
		if got := strings.Join(a.Fails(all), "; "); got != want {
			t.Errorf("%s\n got %s\nwant %s", on, got, want)
		}
	}
	for on, want := range map[string]string{
		"nwe:broken>0": `unknown change "nwe": must be one of new, fixed, remaining, unchecked`,
		"new:brken>0":  `unknown list or finding "brken": must be one of broken, redirects`,
		"new:>0":       `unknown list or finding ""`,
		":broken>0":    `unknown change ""`,
	} {
		if _, err := audit.ParseConditions(on); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, which does not contain %q", on, err, want)
		}
	}
}

// TestUnseen checks that a finding which depends on pages that the earlier crawl did not fetch is reported as
// uncertain.
func TestUnseen(t *testing.T) {
	for missing, want := range map[string]string{
		"/pending": "Not certain: crawl 1 did not fetch 1 URL of the site, so entries marked as new may be older than that crawl.",
		"":         "",
	} {
		s := storetest.NewMemory()
		first := []visit{{path: "/"}}
		if missing != "" {
			first = append(first, visit{path: missing, kind: store.Later})
		}
		crawled(t, s, 0, first...)
		keep(t, s, firstCrawl.Add(time.Hour))
		crawled(t, s, 1, visit{path: "/"}, visit{path: "/orphan"})
		if got := since(t, s).Find("orphans").Note(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestKeptAtOnce checks that the findings are whole after several workers kept them at once.
func TestKeptAtOnce(t *testing.T) {
	s := storetest.NewMemory()
	crawled(t, s, 0, visit{path: "/p", title: "-"})
	a := auditOf(t, s, audit.Options{})
	crawled(t, s, 0, visit{path: "/q", title: "-"})
	b := auditOf(t, s, audit.Options{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			of := a
			if i%2 > 0 {
				of = b
			}
			if _, err := audit.Keep(t.Context(), s, of, firstCrawl); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h, err := audit.ReadHistory(t.Context(), s)
	check(t, err)
	if len(h.Kept) != 1 {
		t.Fatalf("%d crawls are kept, want 1", len(h.Kept))
	}
	_, err = audit.ReadPast(t.Context(), s, &h.Kept[0])
	check(t, err)
}

// TestKeptBytes checks how much space the findings of many pages take: about ten bytes for each page.
func TestKeptBytes(t *testing.T) {
	const pages = 5000
	s := storetest.NewMemory()
	random := rand.New(rand.NewPCG(1, 2))
	var visits []visit
	for i := range pages {
		v := visit{path: fmt.Sprint("/", i), faults: random.Uint64() & (1<<markup.NoHSTS - 1)}
		if random.IntN(2) > 0 {
			v.title = "-"
		}
		visits = append(visits, v)
	}
	crawled(t, s, 0, visits...)
	c := keep(t, s, firstCrawl.Add(time.Hour))
	v, err := s.Meta(t.Context(), fmt.Sprintf("findings %d.0", c.Slot))
	check(t, err)
	size, entries := len(v), 0
	for _, n := range c.Counts {
		entries += n
	}
	t.Logf("%d bytes for %d pages with %d entries", size, pages, entries)
	if size > 16*pages {
		t.Errorf("%d bytes are kept for %d pages", size, pages)
	}
}

// TestKeptCrawls checks which crawls are kept, and that their values stay few.
func TestKeptCrawls(t *testing.T) {
	s := storetest.NewMemory()
	for n := range audit.MaxKept + 3 {
		crawled(t, s, n, visit{path: "/p", title: "-"})
		at := firstCrawl.AddDate(0, 0, 7*n).Add(time.Hour)
		keep(t, s, at)
		keep(t, s, at.Add(time.Minute)) // a resumed run of the same crawl replaces the findings
	}
	h, err := audit.ReadHistory(t.Context(), s)
	check(t, err)
	if len(h.Kept) != audit.MaxKept || h.Kept[0].Number != 4 || h.Kept[len(h.Kept)-1].Number != audit.MaxKept+3 {
		t.Fatalf("%d crawls are kept, from %d", len(h.Kept), h.Kept[0].Number)
	}
	filled := 0
	for slot := range 2 * audit.MaxKept {
		if v, err := s.Meta(t.Context(), fmt.Sprintf("findings %d.0", slot)); err != nil || len(v) > 0 {
			filled++
		}
	}
	if filled > audit.MaxKept+1 {
		t.Errorf("%d values are filled, want at most %d", filled, audit.MaxKept+1)
	}
	for i := range h.Kept {
		if _, err := audit.ReadPast(t.Context(), s, &h.Kept[i]); err != nil {
			t.Error(err)
		}
	}
	third := h.Kept[2]
	if got := h.At(third.Ended); got.Number != third.Number {
		t.Errorf("the last crawl that had ended when crawl %d ended is crawl %d", third.Number, got.Number)
	}
	if got := h.At(third.Ended.Add(-time.Second)); got.Number != third.Number-1 {
		t.Errorf("a second before crawl %d ended, the last is crawl %d", third.Number, got.Number)
	}
	if h.At(h.Kept[0].Ended.Add(-time.Second)) != nil {
		t.Error("a crawl is found before the first")
	}
}

// TestKeptSize checks that the findings with the most entries are left out if all would need too much
// space, and that an audit gives the reason.
func TestKeptSize(t *testing.T) {
	s := storetest.NewMemory()
	visits := []visit{{path: "/untitled", title: "-"}}
	for i := range 200 {
		visits = append(visits, visit{path: fmt.Sprint("/", i), title: "brief"})
	}
	crawled(t, s, 0, visits...)
	defer audit.SetKeptSize(1000)()
	c := keep(t, s, firstCrawl.Add(time.Hour))
	if !slices.Contains(c.Cut, "titles.short") || slices.Contains(c.Cut, "titles.missing") || c.Counts["titles.short"] != 200 {
		t.Errorf("left out: %q; %d short titles", c.Cut, c.Counts["titles.short"])
	}
	crawled(t, s, 1, visits...)
	a := since(t, s)
	if got := changesOf(t, a.Find("titles.missing")); !slices.Equal(got, []string{"remaining /untitled"}) {
		t.Errorf("got %q", got)
	}
	f := a.Find("titles.short")
	if f.Since() != nil || f.Note() != "Not compared: crawl 1 had too many pages with this finding to keep all of them." {
		t.Errorf("got %v, %q", f.Since(), f.Note())
	}
}

// A killedStore fails when the index of the findings is written, as if the process was killed after the
// entries were written.
type killedStore struct{ *storetest.Memory }

var errKilled = errors.New("killed")

func (k killedStore) SwapMeta(context.Context, string, []byte, []byte) error { return errKilled }

// TestKilled checks that a process that is killed while it keeps findings leaves those of the earlier
// crawls whole.
func TestKilled(t *testing.T) {
	s := storetest.NewMemory()
	crawled(t, s, 0, visit{path: "/p", title: "-"})
	keep(t, s, firstCrawl.Add(time.Hour))
	crawled(t, s, 1, visit{path: "/p"})
	if _, err := audit.Keep(t.Context(), killedStore{s}, auditOf(t, s, audit.Options{}), firstCrawl.AddDate(0, 0, 7)); !errors.Is(err, errKilled) {
		t.Fatalf("got %v, want %v", err, errKilled)
	}
	h, err := audit.ReadHistory(t.Context(), s)
	check(t, err)
	if len(h.Kept) != 1 || h.Kept[0].Number != 1 {
		t.Fatalf("%d crawls are kept", len(h.Kept))
	}
	if got := changesOf(t, since(t, s).Find("titles.missing")); !slices.Equal(got, []string{"fixed /p"}) {
		t.Errorf("got %q", got)
	}
	keep(t, s, firstCrawl.AddDate(0, 0, 8))
	if h, err = audit.ReadHistory(t.Context(), s); err != nil || len(h.Kept) != 2 {
		t.Errorf("after the next run, %d crawls are kept: %v", len(h.Kept), err)
	}
}

// TestDamaged checks that damaged findings are an error, and not a panic or wrong results.
func TestDamaged(t *testing.T) {
	s := storetest.NewMemory()
	crawled(t, s, 0, visit{path: "/p", title: "-"})
	c := keep(t, s, firstCrawl)
	name := fmt.Sprintf("findings %d.0", c.Slot)
	value, err := s.Meta(t.Context(), name)
	check(t, err)
	for _, damaged := range [][]byte{nil, {}, value[:len(value)/2], append(slices.Clone(value), 0)} {
		check(t, s.SetMeta(t.Context(), name, damaged))
		if _, err := audit.ReadPast(t.Context(), s, c); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v, want %v", len(damaged), len(value), err, store.ErrCorrupt)
		}
	}
	check(t, s.SetMeta(t.Context(), "findings", []byte("no index")))
	if _, err := audit.ReadHistory(t.Context(), s); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a damaged index: %v", err)
	}
}
