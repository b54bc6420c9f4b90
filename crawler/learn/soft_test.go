package learn

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func title(words uint64) func() uint64 { return func() uint64 { return words } }

// A probe replaces the part in which the URLs differ and keeps the rest. There is no probe if the
// rest may identify the text.
func TestProbeOf(t *testing.T) {
	for _, c := range []struct {
		name         string
		urls, others []string
		want         string // {n} stands for the digits, {w} for the letters of the new name; "" if there is no probe
	}{
		{"numbers", []string{"/old/17", "/old/18"}, nil, "/old/{n}"},
		{"words", []string{"/old/a", "/old/b"}, nil, "/old/{w}"},
		{"an extension", []string{"/old/17.html", "/old/18.html"}, nil, "/old/{n}.html"},
		{"a trailing slash", []string{"/old/a/", "/old/b/"}, nil, "/old/{w}/"},
		{"one page", []string{"/old/a"}, nil, "/old/{w}"},
		{"at the root", []string{"/a", "/b"}, nil, "/{w}"},
		{"a query", []string{"/doku.php?id=a", "/doku.php?id=b"}, []string{"/doku.php?id=c"}, "/doku.php?id={w}"},
		{"a query at the root", []string{"/?p=1", "/?p=2"}, []string{"/?p=3"}, "/?p={n}"},
		{"a query that changes nothing", []string{"/?from=a", "/?from=b"}, nil, ""},
		{"a query beside other paths", []string{"/a?from=a", "/a?from=b"}, []string{"/b?from=c"}, ""},
		{"the path varies, and a query", []string{"/a?from=a", "/b?from=b"}, nil, "/{w}?from=a"},
		{"one page by query", []string{"/doku.php?id=a"}, []string{"/doku.php?id=c"}, "/doku.php?id={w}"},
		{"one page by query alone", []string{"/doku.php?id=a"}, nil, ""},
		{"a session beside an id", []string{"/item?id=1&s=a", "/item?id=1&s=b"}, []string{"/item?id=2&s=c"}, ""},
		{"a language beside an id", []string{"/item?id=a&lang=de", "/item?id=b&lang=de"}, []string{"/item?id=c&lang=de", "/item?id=c&lang=en"}, "/item?id={w}&lang=de"},
		{"a name that changes nothing", []string{"/item/1/a", "/item/1/b"}, []string{"/item/2/c"}, ""},
		{"a year of dead links", []string{"/2019/a", "/2019/b"}, []string{"/2020/c"}, ""},
		{"years of dead links", []string{"/2019/a", "/2020/b"}, nil, "/2019/{w}"},
		{"a year that has others", []string{"/2019/a", "/2019/b"}, []string{"/2019/c"}, "/2019/{w}"},
	} {
		on := func(paths []string) (urls []string) {
			for _, p := range paths {
				urls = append(urls, site+p)
			}
			return urls
		}
		got, again := ProbeOf(on(c.urls), on(c.others)), ProbeOf(on(c.urls), on(c.others))
		if c.want == "" || got == "" {
			if c.want != got {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
			continue
		}
		before, after, _ := strings.Cut(strings.ReplaceAll(site+c.want, "{n}", "{w}"), "{w}")
		name := strings.TrimSuffix(strings.TrimPrefix(got, before), after)
		isNumber := name != "" && strings.Trim(name, "0123456789") == ""
		isWord := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) || isNumber != strings.Contains(c.want, "{n}") || isNumber == isWord || got != again {
			t.Errorf("%s: got %q, then %q, want %q", c.name, got, again, c.want)
		}
	}
}

// A pattern is probed if it has several copies of one leader, many thin pages, a title that only
// some of its pages have, or a page that became a copy or thin. Ordinary pages cause no probe.
func TestDoubt(t *testing.T) {
	tell := func(h *Host, n int, form string, v Verdict) {
		for i := range n {
			v := v
			if v.Title == nil {
				v.Title = title(uint64(1000 + i))
			}
			h.Judged(fmt.Sprintf(site+form, i), v)
		}
	}
	sorry := Verdict{Leader: site + "/gone", Exact: true}
	titled := Verdict{Title: title(7)}
	thin, turned := Verdict{Thin: true}, sorry
	turned.Changed = true
	for _, c := range []struct {
		name   string
		told   func(*Host)
		probes int
	}{
		{"pages of their own", func(h *Host) { tell(h, 50, "/p/%d", Verdict{}) }, 0},
		{"few copies", func(h *Host) { tell(h, several-1, "/p/%d", sorry) }, 0},
		{"copies of one page", func(h *Host) { tell(h, several, "/p/%d", sorry) }, 1},
		{"many copies of one page", func(h *Host) { tell(h, 50, "/p/%d", sorry) }, 1},
		{"copies in two patterns", func(h *Host) { tell(h, several, "/p/%d", sorry); tell(h, several, "/q/%d", sorry) }, 2},
		{"copies of many pages", func(h *Host) {
			for i := range 50 {
				h.Judged(fmt.Sprintf("%s/print/%d", site, i), Verdict{Leader: fmt.Sprintf("%s/p/%d", site, i)})
			}
		}, 0},
		{"copies by query", func(h *Host) { tell(h, 3, "/doku.php?id=a%d", Verdict{}); tell(h, several, "/doku.php?id=b%d", sorry) }, 1},
		{"a parameter that changes nothing", func(h *Host) { tell(h, 50, "/gone?from=%d", sorry) }, 0},
		{"a parameter that changes nothing on any page", func(h *Host) {
			for i := range 50 {
				h.Judged(fmt.Sprintf("%s/p/%d?from=%d", site, i%5, i), Verdict{Leader: fmt.Sprintf("%s/p/%d", site, i%5)})
			}
		}, 0},
		{"few thin pages", func(h *Host) { tell(h, manyThin-1, "/p/%d", thin) }, 0},
		{"thin pages", func(h *Host) { tell(h, manyThin, "/p/%d", thin) }, 1},
		{"one title for all pages", func(h *Host) { tell(h, 50, "/p/%d", titled) }, 0},
		{"one title for some pages", func(h *Host) { tell(h, several, "/p/%d", Verdict{}); tell(h, several, "/p/1%d", titled) }, 1},
		{"that in other patterns", func(h *Host) { tell(h, several, "/p/%d", Verdict{}); tell(h, several, "/q/%d", titled) }, 0},
		{"a page that became thin", func(h *Host) { h.Judged(site+"/p/1", Verdict{Thin: true, Changed: true}) }, 1},
		{"a page that became a copy", func(h *Host) { h.Judged(site+"/p/1", turned) }, 1},
		{"a page that changed", func(h *Host) { h.Judged(site+"/p/1", Verdict{Changed: true}) }, 0},
		{"very many patterns", func(h *Host) {
			for i := range 2 * maxSofts {
				tell(h, several, fmt.Sprintf("/%s/p%%d", strings.Repeat("a", i+1)), sorry)
			}
		}, maxProbes},
	} {
		h := new(Host)
		c.told(h)
		if h.Probes != c.probes || len(h.Pending) != c.probes || len(h.Softs) > maxSofts {
			t.Errorf("%s: %d probes, pending %q, want %d", c.name, h.Probes, h.Pending, c.probes)
		}
	}
}

// A book returns a probe once, and again in the next process if there was no answer. The answer
// counts when several pages have its text, and their URLs share no part that may identify this
// text.
func TestBookProbes(t *testing.T) {
	ctx := t.Context()
	var copies []string
	for i := range several {
		copies = append(copies, fmt.Sprintf("%s/old/%d", site, i))
	}
	probe := ProbeOf(copies, nil)
	for _, c := range []struct {
		name            string
		said            Soft
		pages           []string // pages with the text of the answer
		suspects, holds bool
		asksNextProcess bool
	}{
		{"a page", Soft{Status: 200, Text: "We are sorry."}, copies, true, true, false},
		{"a page that few pages say", Soft{Status: 200, Text: "We are sorry."}, copies[1:], true, false, false},
		{"an error", Soft{Status: 404}, copies, false, false, false},
		{"a book", Soft{Status: 200, Text: strings.Repeat("sorry ", maxAnswer)}, copies, false, false, false},
		{"nothing", Soft{}, copies, false, false, true},
	} {
		keeper := memory{}
		b := NewBook(keeper)
		for _, url := range copies {
			if err := b.Judged(ctx, url, Verdict{Leader: site + "/gone", Exact: true}); err != nil {
				t.Fatal(err)
			}
		}
		got, from, err := b.Probe(ctx, copies[0])
		if err != nil || got != probe || from != copies[0] {
			t.Fatalf("%s: the probe is %q, want %q: %v", c.name, got, probe, err)
		}
		if twice, _, _ := b.Probe(ctx, site+"/"); twice != "" {
			t.Errorf("%s: it names twice: %s", c.name, twice)
		}
		c.said.Probe = probe
		known, suspects, err := b.Probed(ctx, c.said)
		if err != nil || known.Says() != c.suspects || (len(suspects) > 0) != c.suspects {
			t.Errorf("%s: known %+v, suspects %v, %v", c.name, known, suspects, err)
		}
		if c.suspects && !reflect.DeepEqual(suspects, slices.Concat([]string{site + "/gone"}, copies)) {
			t.Errorf("%s: suspects %q", c.name, suspects)
		}
		var counts []string
		for _, url := range c.pages {
			if counts, err = b.Said(ctx, copies[0], []string{url}); err != nil {
				t.Fatal(err)
			}
		}
		if len(counts) > 0 != c.holds || c.holds && !slices.Equal(counts, c.pages) {
			t.Errorf("%s: it counts for %q", c.name, counts)
		}
		if _, err := b.Sync(ctx, "", true); err != nil {
			t.Fatal(err)
		}
		if again, _, _ := NewBook(keeper).Probe(ctx, site+"/x"); (again != "") != (c.asksNextProcess || c.suspects) {
			t.Errorf("%s: before the pages are compared, the next process asks for %q", c.name, again)
		}
		if known.Says() {
			if err := b.Examined(ctx, known.Probe); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Sync(ctx, "", true); err != nil {
				t.Fatal(err)
			}
		}
		next := NewBook(keeper)
		s, ok, err := next.Soft(ctx, site+"/old/x")
		if err != nil || ok || s.Says() {
			t.Errorf("%s: another pattern has %+v, %v", c.name, s, err)
		}
		if s, ok, err = next.Soft(ctx, site+"/old/99"); err != nil || ok != c.suspects || s.HoldsFor(site+"/old/99") != c.holds {
			t.Errorf("%s: the next process knows %+v, %v", c.name, s, err)
		}
		if again, _, _ := next.Probe(ctx, site+"/x"); (again != "") != c.asksNextProcess {
			t.Errorf("%s: the next process asks for %q", c.name, again)
		}
	}
}

// The evidence about soft 404s depends only on the pages and their order. It is the same if each
// page is judged in a new process.
func TestSoftRestart(t *testing.T) {
	ctx := t.Context()
	tell := func(b *Book, i int) {
		v := Verdict{Title: title(uint64(i))}
		switch {
		case i%3 == 0:
			v = Verdict{Leader: site + "/doku.php?id=none", Title: title(1)}
		case i%7 == 0:
			v.Thin = true
		}
		if err := b.Judged(ctx, fmt.Sprintf("%s/doku.php?id=%d", site, i), v); err != nil {
			t.Fatal(err)
		}
	}
	calm, keeper := NewBook(memory{}), memory{}
	var probes []string
	ask := func(b *Book) {
		if probe, _, err := b.Probe(ctx, site+"/"); err != nil {
			t.Fatal(err)
		} else if probe != "" {
			probes = append(probes, probe)
			if _, _, err := b.Probed(ctx, Soft{Probe: probe, Status: 200, Text: "none", Words: 1}); err != nil {
				t.Fatal(err)
			}
			if err := b.Examined(ctx, probe); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 60 {
		tell(calm, i)
		ask(calm)
		b := NewBook(keeper)
		tell(b, i)
		ask(b)
		if _, err := b.Sync(ctx, "", true); err != nil {
			t.Fatal(err)
		}
	}
	if len(probes) != 2 || probes[0] != probes[1] {
		t.Errorf("they ask for %q", probes)
	}
	want, _, err := calm.Soft(ctx, site+"/doku.php?id=0")
	got, _, failed := NewBook(keeper).Soft(ctx, site+"/doku.php?id=0")
	if err != nil || failed != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("after restarts %+v, want %+v; %v, %v", got, want, failed, err)
	}
	again := NewBook(keeper)
	if _, err := again.host(ctx, hostOf(site)); err != nil {
		t.Fatal(err)
	}
	if a, b := calm.hosts[hostOf(site)].site.Softs, again.hosts[hostOf(site)].site.Softs; len(a) != 1 || !reflect.DeepEqual(a, b) {
		t.Errorf("after restarts the evidence is %+v, want %+v", b, a)
	}
}

// Soft 404s count as copies, so the other URLs of their pattern are postponed.
func TestSoftTeaches(t *testing.T) {
	h := new(Host)
	h.Softs = map[string]*Soft{Shape(site + "/old?id=1"): {Probe: site + "/old?id=nonsense", Status: 200, Text: "sorry", Holds: true}}
	for i := range 40 {
		h.Judged(fmt.Sprintf("%s/old?id=%d", site, i), Verdict{Soft: true})
	}
	later := 0
	for i := range 40 {
		if h.Look(fmt.Sprintf("%s/old?id=9%d", site, i), now).Rule != "" {
			later++
		}
	}
	if later < 20 {
		t.Errorf("%d of 40 are postponed", later)
	}
	pages := int64(0)
	for _, s := range h.Softs {
		pages += s.Pages
	}
	if pages != 40 {
		t.Errorf("%d pages have the text of a probe, want 40", pages)
	}
}

// TestSoftOfAudit checks that an audit probes a folder of names with four pages, and that one page is enough there. Without
// an audit, for numbers, and for a copy of a page elsewhere, one page is not enough.
func TestSoftOfAudit(t *testing.T) {
	for _, c := range []struct {
		name         string
		audit        bool
		form, leader string
		probed, held bool
	}{
		{"a folder", true, "/docs/%c", "", true, true},
		{"no audit", false, "/docs/%c", "", false, false},
		{"parameters", true, "/docs?id=%c", "", false, false},
		{"numbers", true, "/docs/%d", "", false, false},
		{"the home page", true, "/docs/%c", site + "/", true, false},
		{"a copy in the folder", true, "/docs/%c", site + "/docs/z", true, true},
	} {
		h := new(Host)
		url := func(i int) string { return site + fmt.Sprintf(c.form, 'a'+i) }
		for i := range 4 {
			h.Judged(url(i), Verdict{Title: title(uint64(i)), Audit: c.audit})
		}
		h.Judged(url(4), Verdict{Leader: c.leader, Title: title(9), Audit: c.audit})
		s := h.Softs[Shape(url(0))]
		if (s.Probe != "") != c.probed {
			t.Errorf("%s: the probe is %q", c.name, s.Probe)
		}
		if !c.probed {
			continue
		}
		h.answered(Soft{Probe: s.Probe, Status: 200, Words: 9, Text: "We are sorry."})
		if got := s.hold([]string{url(4)}); (len(got) == 1) != c.held || s.Holds != c.held {
			t.Errorf("%s: %q are soft 404s", c.name, got)
		}
	}
}
