package learn

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What cannot exist is beside what gave the reason, and always the same.
func TestProbeOf(t *testing.T) {
	a, b := ProbeOf("https://a.example/old/17?x=/y"), ProbeOf("https://a.example/old/")
	if a != b || !strings.HasPrefix(a, "https://a.example/old/") || a == ProbeOf("https://b.example/old/") {
		t.Errorf("%s, %s", a, b)
	}
	if got := ProbeOf("https://a.example/"); strings.Count(got, "/") != 3 {
		t.Errorf("beside the home page: %s", got)
	}
}

// A host is doubted for copies under other paths, for many thin pages, or for one that became
// either; not for what every site has.
func TestDoubt(t *testing.T) {
	tell := func(n int, form string, v Verdict) func(*Host) {
		return func(h *Host) {
			for i := range n {
				url := fmt.Sprintf(site+form, i)
				if v.Leader == "" {
					v.Group = group(url)
				}
				h.Judged(url, v)
			}
		}
	}
	sorry := Verdict{Group: group("sorry"), Leader: site + "/gone", Exact: true}
	for _, c := range []struct {
		name     string
		told     func(*Host)
		doubted  bool
		suspects int
	}{
		{"pages of their own", tell(50, "/p/%d", Verdict{}), false, 0},
		{"few copies", tell(leastAlike-1, "/p/%d", sorry), false, 0},
		{"copies of one page", tell(leastAlike, "/p/%d", sorry), true, 1},
		{"copies under other parameters", tell(50, "/gone?p=%d", sorry), false, 0},
		{"few thin pages", tell(leastThin-1, "/p/%d", Verdict{Thin: true}), false, leastThin - 1},
		{"thin pages", tell(leastThin, "/p/%d", Verdict{Thin: true}), true, leastThin},
		{"very many thin pages", tell(100, "/p/%d", Verdict{Thin: true}), true, mostSuspects},
		{"a page that became thin", tell(1, "/p/%d", Verdict{Thin: true, Changed: true}), true, 1},
		{"a page that became a copy", tell(1, "/p/%d", Verdict{Group: sorry.Group, Leader: sorry.Leader, Changed: true}), true, 1},
		{"a page that changed", tell(1, "/p/%d", Verdict{Changed: true}), false, 0},
	} {
		h := NewHost()
		c.told(h)
		if (h.Doubt != "") != c.doubted || len(h.Suspects) != c.suspects {
			t.Errorf("%s: doubt %q, %d suspects", c.name, h.Doubt, len(h.Suspects))
		}
	}
}

// A book asks a host once, gives the suspects back only if the host is soft, and asks again in
// another process where nobody answered.
func TestBookProbes(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		name            string
		said            Soft
		suspects, soft  bool
		asksNextProcess bool
	}{
		{"a page", Soft{Status: 200, Text: "We are sorry."}, true, true, false},
		{"an error", Soft{Status: 404}, false, false, false},
		{"a book", Soft{Status: 200, Text: strings.Repeat("sorry ", mostSorry)}, false, false, false},
		{"nothing", Soft{}, false, false, true},
	} {
		keeper := memory{}
		b := NewBook(keeper)
		for i := range leastAlike {
			if err := b.Judged(ctx, fmt.Sprintf("%s/old/%d", site, i), Verdict{Group: group("sorry"), Leader: site + "/gone", Exact: true}); err != nil {
				t.Fatal(err)
			}
		}
		probe, err := b.Probe(ctx, site+"/old/1")
		if err != nil || probe != ProbeOf(site+"/old/1") {
			t.Fatalf("%s: to be asked for: %q, %v", c.name, probe, err)
		}
		if twice, _ := b.Probe(ctx, site+"/"); twice != "" {
			t.Errorf("%s: asked for twice: %s", c.name, twice)
		}
		c.said.Probe = probe
		suspects, err := b.Probed(ctx, c.said)
		if err != nil || (len(suspects) > 0) != c.suspects {
			t.Errorf("%s: suspects %v, %v", c.name, suspects, err)
		}
		if err := b.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		next := NewBook(keeper)
		if _, ok, err := next.Soft(ctx, site+"/x"); err != nil || ok != c.soft {
			t.Errorf("%s: soft is %v, %v", c.name, ok, err)
		}
		if again, _ := next.Probe(ctx, site+"/x"); (again != "") != c.asksNextProcess {
			t.Errorf("%s: the next process asks for %q", c.name, again)
		}
	}
}

// Pages that are not there are copies for the budget, and say nothing of parameters.
func TestSoftTeaches(t *testing.T) {
	h := NewHost()
	h.Soft = &Soft{Probe: ProbeOf(site), Status: 200, Text: "sorry"}
	for i := range 40 {
		h.Judged(fmt.Sprintf("%s/old?id=%d", site, i), Verdict{Soft: true})
	}
	if len(h.Useless()) > 0 || h.Look(site+"/old?id=99", now).Rule == "" && h.Look(site+"/old?id=98", now).Rule == "" || h.Soft.Pages != 40 {
		text, _ := json.Marshal(h)
		t.Errorf("%s", text)
	}
}
