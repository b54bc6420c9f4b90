package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

const site = "http://shop.example"

var now = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// What varies in a URL is general in its shape, and what tells programs apart is not.
func TestShape(t *testing.T) {
	for _, test := range []struct{ path, own, any string }{
		{"/", "/", ""},
		{"/about", "/{word}", ""},
		{"/product/17", "/product/{n}", ""},
		{"/product/17/reviews/", "/product/{n}/reviews/", ""},
		{"/news/2026/11/22/a-title.html", "/news/{n}/{n}/{n}/{word}.html", ""},
		{"/news/2026-11-22", "/news/{n}", ""},
		{"/s/8f3a9c0011aa22bb/cart", "/s/{hash}/{word}", ""},
		{"/v2/api/page12.html", "/v{n}/api/{word}.html", ""},
		{"/list?size=4&color=red", "/{word}?color&size", "/{word}?…"},
		{"/list?color=red&color=blue", "/{word}?color", "/{word}?…"},
		{"/list?f[12]=1", "/{word}?f[{n}]", "/{word}?…"},
	} {
		if own, any := Shape(site + test.path); own != test.own || any != test.any {
			t.Errorf("%s: %q, %q; want %q, %q", test.path, own, any, test.own, test.any)
		}
	}
}

// What is taken off changes no page anywhere; all else stays as it is written.
func TestClean(t *testing.T) {
	for url, want := range map[string]string{
		"/a?utm_source=x&b=1&fbclid=2":       "/a?b=1",
		"/a?gclid=1":                         "/a",
		"/a;jsessionid=0A1B?x=1":             "/a?x=1",
		"/a;v=1;JSESSIONID=0A1B/b":           "/a;v=1/b",
		"/(S(lit3py55t21z5v55vlm25s55))/b":   "/b",
		"/a?PHPSESSID=1&&c":                  "/a?&c",
		"/a?CFID=1&CFTOKEN=2":                "/a",
		"/a?id=1&sid=2&session=3&utm=4&ref=": "/a?id=1&sid=2&session=3&utm=4&ref=",
		"/a;b=c?d;e":                         "/a;b=c?d;e",
	} {
		if got := CleanAny(site + url); got != site+want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// Each rule knows its trap, and leaves its neighbours alone.
func TestTraps(t *testing.T) {
	for path, want := range map[string]Rule{
		"/a/a/a/": Repeats, "/x/a/b/a/b/a/b/c": Repeats, "/a/a/b": "", "/1/2/1/2/3": "", "/": "", "/a/b/c/a/b/c": "",
		"/calendar/2031/05": Calendar, "/calendar/2031-05-01": Calendar, "/cal?date=2031-05-01": Calendar, "/cal?year=1066": Calendar,
		"/calendar/2027/05": "", "/archive/1850/05/03": "", "/product/2031": "", "/2031": "", "/part?no=2031-05": "", "/p/9999-99": "",
		"/" + strings.Repeat("a", 3000):           Long,
		"/a?" + strings.Repeat("b=1&", 4) + "c=1": Many, "/a?a=1&a=2&a=3": "", "/a?" + params(13): Many, "/a?" + params(12): "",
	} {
		if got := trap(site+path, now); got != want {
			t.Errorf("%.60s: %q, want %q", path, got, want)
		}
		if said := NewHost().Look(site+path, now).String(); said != string(want) {
			t.Errorf("%.60s: its record would say %q, want %q", path, said, want)
		}
	}
}

func params(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("p%d=1", i))
	}
	return strings.Join(all, "&")
}

// judge tells of a URL with a text.
func (h *Host) judge(url string, groups map[string]string, text string) {
	v := Verdict{Group: group(text)}
	if leader := groups[text]; leader != "" {
		v.Leader, v.Exact = leader, true
	} else {
		groups[text] = url
	}
	h.Judged(url, v)
}

func group(text string) (g [16]byte) {
	copy(g[:], text)
	return g
}

// fetch asks for URLs, of which text says what they have, and returns how many were fetched.
func (h *Host) fetch(groups map[string]string, urls []string, text func(int) string) (fetched, last []string) {
	for i, url := range urls {
		if a := h.Look(url, now); a.Rule != "" {
			last = append(last, url)
			continue
		}
		fetched = append(fetched, url)
		h.judge(url, groups, text(i))
	}
	return fetched, last
}

func urls(n int, form string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(site+form, i))
	}
	return all
}

// A pattern of copies is sampled and then put last; one of pages is never.
func TestBudget(t *testing.T) {
	h, groups := NewHost(), map[string]string{}
	copies, last := h.fetch(groups, urls(1000, "/print/%d"), func(int) string { return "same" })
	if n := len(copies); n < row || n > row+1000/mostStride+5 || len(last) != 1000-n {
		t.Errorf("of 1000 copies %d were fetched, %d put last", n, len(last))
	}
	pages, last := h.fetch(groups, urls(1000, "/product/%d"), func(i int) string { return fmt.Sprint("p", i) })
	if len(pages) != 1000 || len(last) > 0 {
		t.Errorf("of 1000 pages %d were fetched", len(pages))
	}
	// Every second a copy: nothing to be gained, nothing to be lost.
	mixed, _ := h.fetch(groups, urls(1000, "/mixed/%d"), func(i int) string { return fmt.Sprint("m", i/2) })
	if len(mixed) != 1000 {
		t.Errorf("of 1000, half of them copies, %d were fetched", len(mixed))
	}
}

// Combinations of parameters share a budget, but one that has pages of its own keeps it.
func TestCombinations(t *testing.T) {
	h, groups := NewHost(), map[string]string{}
	var all []string
	for i := range 500 {
		all = append(all, fmt.Sprintf("%s/list?a%c=1&b%c=1", site, 'a'+rune(i%26), 'a'+rune(i/26)))
	}
	fetched, _ := h.fetch(groups, all, func(int) string { return "same" })
	if len(fetched) > row+500/mostStride+30 {
		t.Errorf("of 500 combinations %d were fetched", len(fetched))
	}
	pages, _ := h.fetch(groups, urls(100, "/list?page=%d"), func(i int) string { return fmt.Sprint(i) })
	if len(pages) < 90 {
		t.Errorf("of 100 pages behind one parameter %d were fetched", len(pages))
	}
}

// A sample that has a page of its own wins the budget back.
func TestWinsBack(t *testing.T) {
	h, groups := NewHost(), map[string]string{}
	_, last := h.fetch(groups, urls(100, "/x/%d"), func(int) string { return "same" })
	if len(last) == 0 || h.WonBack(last[0]) {
		t.Fatal("the budget was not lost")
	}
	h.judge(site+"/x/2000", groups, "another")
	if !h.WonBack(last[0]) || h.Look(last[0], now).Rule != "" {
		t.Error("a page of its own did not win the budget back")
	}
	fetched, _ := h.fetch(groups, urls(60, "/x/1%d"), func(int) string { return "same" })
	if len(fetched) < 2*row {
		t.Errorf("the second row has %d copies, want %d", len(fetched), 2*row)
	}
}

// A parameter is taken off when it changed nothing on enough pages, and never one that did.
func TestParams(t *testing.T) {
	h, groups := NewHost(), map[string]string{}
	for i := range 20 {
		for _, sid := range []string{"", "?sid=1", "?sid=2"} {
			h.judge(fmt.Sprintf("%s/p/%d%s", site, i, sid), groups, fmt.Sprint("p", i))
		}
		h.judge(fmt.Sprintf("%s/list?page=%d", site, i), groups, fmt.Sprint("l", i))
		h.judge(fmt.Sprintf("%s/list?page=%d&sid=7", site, i), groups, fmt.Sprint("l", i))
	}
	if got := slices.Sorted(maps.Keys(h.Useless())); !slices.Equal(got, []string{"sid"}) {
		t.Fatalf("useless are %v; %+v", got, h.Params)
	}
	if got, want := h.Clean(site+"/list?sid=9&page=3"), site+"/list?page=3"; got != want {
		t.Errorf("clean is %s, want %s", got, want)
	}
	if a := h.Look(site+"/list?sid=9&page=3", now); a.Rule != Parameter || a.Instead != site+"/list?page=3" || a.Pattern != "sid" {
		t.Errorf("advice %+v", a)
	}
	h.judge(site+"/p/1?sid=3", groups, "something else")
	if len(h.Useless()) > 0 {
		t.Error("a parameter that changed a page is still taken off")
	}
}

// Two pages of a list say the same, and lead elsewhere: what tells them apart stays.
func TestParamsThatLead(t *testing.T) {
	h := NewHost()
	for i := range 50 {
		url := fmt.Sprintf("%s/list?page=%d", site, i)
		links := Links(url, slices.Values([]string{fmt.Sprintf("%s/p/%d", site, i), site + "/", "http://elsewhere.example/" + fmt.Sprint(i)}))
		h.Judged(url, Verdict{Group: group("list"), Leader: site + "/list", Exact: true, Links: links})
	}
	if len(h.Useless()) > 0 {
		t.Errorf("useless are %+v", h.Params)
	}
	a := Links(site+"/a?sid=1", slices.Values([]string{site + "/b?sid=1", site + "/c?sid=1&d=2", site + "/a"}))
	b := Links(site+"/a?sid=2", slices.Values([]string{site + "/c?d=2&sid=2", site + "/b?sid=2"}))
	if a != b {
		t.Error("a session that is handed on tells two pages apart")
	}
}

// A host is a mirror when nearly all its pages are those of another, path by path, and its
// patterns do not pay for that.
func TestMirror(t *testing.T) {
	h := NewHost()
	for i := range 100 {
		path := fmt.Sprintf("/p/%d", i)
		h.Judged(site+path, Verdict{Group: group(path), Leader: "http://www.shop.example" + path, Exact: true})
	}
	if other, share := h.MirrorOf(nil); other != "http://www.shop.example" || share != 1 {
		t.Errorf("mirror of %q, %v", other, share)
	}
	if a := h.Look(site+"/p/100", now); a.Rule != "" {
		t.Errorf("the pages of a mirror are put last: %+v", a)
	}
	for i := range 20 {
		h.Judged(fmt.Sprintf("%s/own/%d", site, i), Verdict{Group: group(fmt.Sprint(i))})
	}
	if other, _ := h.MirrorOf(nil); other != "" {
		t.Error("a host with pages of its own is a mirror")
	}
}

// Of two hosts that share pages the one that has no others is the mirror, also if it leads them.
func TestMirrorThatLeads(t *testing.T) {
	ctx, b := t.Context(), NewBook(memory{})
	const part, whole = "https://a.example", "https://b.example"
	judged := func(url string, v Verdict) {
		if err := b.Judged(ctx, url, v); err != nil {
			t.Fatal(err)
		}
	}
	judged(whole+"/", Verdict{Group: group("/")})
	for i := range 100 {
		path := fmt.Sprintf("/p/%d", i)
		judged(part+path, Verdict{Group: group(path)})
		judged(whole+path, Verdict{Group: group(path), Leader: part + path, Exact: true})
		judged(fmt.Sprintf("%s/own/%d", whole, i), Verdict{Group: group(fmt.Sprint(i))})
	}
	known := func(host string) *Host { return b.hosts[host].site }
	for host, want := range map[string]string{"a.example": whole, "b.example": ""} {
		if other, _ := known(host).MirrorOf(known); other != want {
			t.Errorf("%s is a mirror of %q, want %q", host, other, want)
		}
	}
}

// Mirrors have another name, with www or without, or another scheme, and are found also when both
// are crawled at once and lead each other's pages by turns. The one that follows more is sampled.
func TestMirrorsByName(t *testing.T) {
	for _, c := range []struct {
		name, one, other string
		turns            int // of so many pages the other leads one
		mirror           string
	}{
		{"www", "https://shop.example", "https://www.shop.example", 0, "https://www.shop.example"},
		{"bare", "https://www.shop.example", "https://shop.example", 0, "https://shop.example"},
		{"http", "https://shop.example", "http://shop.example", 0, "http://shop.example"},
		{"https", "http://shop.example", "https://shop.example", 0, "https://shop.example"},
		{"another name", "https://shop.example", "https://b.example:8080", 0, "https://b.example:8080"},
		{"by turns", "https://shop.example", "https://b.example", 4, "https://b.example"},
		{"by turns, http", "https://shop.example", "http://shop.example", 4, "http://shop.example"},
	} {
		ctx, b := t.Context(), NewBook(memory{})
		b.Mirror = true
		for i := range 100 {
			first, second, path := c.one, c.other, fmt.Sprintf("/p/%d", i)
			if c.turns > 0 && i%c.turns == 0 {
				first, second = second, first
			}
			for url, v := range map[string]Verdict{first + path: {Group: group(path)}, second + path: {Group: group(path), Leader: first + path, Exact: true}} {
				if err := b.Judged(ctx, url, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		last := map[string]int{}
		for i := range 100 {
			for _, origin := range []string{c.one, c.other} {
				a, err := b.Look(ctx, fmt.Sprintf("%s/q/%d", origin, i), now)
				if err != nil {
					t.Fatal(err)
				}
				if a.Rule != "" {
					last[origin]++
					if a.Rule != Mirror || a.Pattern == origin {
						t.Errorf("%s: %+v", c.name, a)
					}
				}
			}
		}
		if last[c.mirror] < 90 || len(last) != 1 {
			t.Errorf("%s: put last %v, want those of %s", c.name, last, c.mirror)
		}
	}
}

// A domain whose hosts have no end has the first of them crawled.
func TestFarm(t *testing.T) {
	ctx, b := t.Context(), NewBook(memory{})
	b.Domain = func(host string) string { return host[strings.IndexByte(host, '.')+1:] }
	last := map[string]int{}
	for i := range 2 * mostOfDomain {
		for _, domain := range []string{"farm.example", fmt.Sprintf("d%d.example", i)} {
			for range 2 { // what is said of a host stays
				a, err := b.Look(ctx, fmt.Sprintf("http://h%d.%s/", i, domain), now)
				if err != nil {
					t.Fatal(err)
				}
				if a.Rule != "" {
					last[a.String()]++
				}
			}
		}
	}
	if last["link farm: *.farm.example"] != 2*mostOfDomain || len(last) != 1 {
		t.Errorf("put last: %v", last)
	}
}

// A row of copies is not enough where many pages had been found before.
func TestBudgetOfMixed(t *testing.T) {
	h, groups := NewHost(), map[string]string{}
	text := func(i int) string { return fmt.Sprint("p", min(i, 48)) }
	fetched, last := h.fetch(groups, urls(48+31, "/lib/%d"), text)
	if len(fetched) != 48+31 {
		t.Errorf("of 48 pages and 31 copies %d were put last", len(last))
	}
	fetched, _ = h.fetch(groups, urls(400, "/lib/x%d"), func(int) string { return "p48" })
	if len(fetched) > 200 {
		t.Errorf("of 400 copies more %d were fetched", len(fetched))
	}
}

// A memory keeps named values.
type memory map[string][]byte

func (m memory) Meta(_ context.Context, name string) ([]byte, error) { return m[name], nil }
func (m memory) Swap(_ context.Context, name string, old, value []byte) (bool, error) {
	if now, ok := m[name]; ok != (old != nil) || string(now) != string(old) {
		return false, nil
	}
	m[name] = value
	return true, nil
}

// What a book learned the next one knows, and what was put last comes back by itself.
func TestBook(t *testing.T) {
	ctx, keeper := t.Context(), memory{}
	var again []string
	open := func() *Book {
		b := NewBook(keeper)
		b.Again = func(_ context.Context, urls []string) error { again = append(again, urls...); return nil }
		return b
	}
	fill := func(b *Book, from int) (last int) {
		for i := range 100 {
			url := fmt.Sprintf("%s/x/%d", site, from+i)
			a, err := b.Look(ctx, url, now)
			if err != nil {
				t.Fatal(err)
			}
			if a.Rule != "" {
				last++
			} else if err := b.Judged(ctx, url, Verdict{Group: group("same"), Leader: site + "/", Exact: true}); err != nil {
				t.Fatal(err)
			}
		}
		return last
	}
	first := open()
	if last := fill(first, 0); last < 50 {
		t.Fatalf("%d of 100 were put last", last)
	}
	if err := first.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	second := open()
	put := fill(second, 100)
	if put < 70 {
		t.Errorf("the second book put %d last: it did not know what the first had learned", put)
	}
	if err := second.Judged(ctx, site+"/x/999", Verdict{Group: group("own")}); err != nil {
		t.Fatal(err)
	}
	if len(again) != put {
		t.Errorf("%d come back, want %d", len(again), put)
	}
	second.Exempt = map[string]bool{"shop.example": true}
	if got := second.Clean(site + "/?utm_source=a"); !strings.Contains(got, "utm") {
		t.Error("something was taken off a host that is exempt")
	}
}

// Whatever URLs come, cleaning is done in one step, and all that is known survives.
func FuzzHost(f *testing.F) {
	f.Add("/a/b?c=d&utm_source=e;f=g", "/a/(S(x))/b;jsessionid=1", true)
	f.Add("00/(S(0));jsessionid=0", "", false)
	f.Add("/2031-05-01/x?date=&&=", "?", false)
	f.Fuzz(func(t *testing.T, a, b string, same bool) {
		h := NewHost()
		for i, path := range []string{a, b, a + b, b + a} {
			url := site + "/" + path
			clean := h.Clean(url)
			if again := h.Clean(clean); again != clean {
				t.Fatalf("%q: %q, and then %q", url, clean, again)
			}
			h.Look(url, now)
			v := Verdict{Group: group("a"), Exact: true}
			if same && i > 0 {
				v.Leader = site + "/"
			}
			h.Judged(url, v)
		}
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, NewHost()); err != nil {
			t.Fatal(err)
		}
	})
}

// What proved right and wrong is kept with its host, and counts less as it gets old.
func TestDated(t *testing.T) {
	ctx, keeper := t.Context(), memory{}
	b := NewBook(keeper)
	for n, want := range []Proofs{{8, 2}, {12, 3}, {14, 3}} {
		got, err := b.Dated(ctx, "shop.example", Proofs{8, 2})
		if err != nil || got != want {
			t.Errorf("after %d: %v, %v", n, got, err)
		}
	}
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	site, err := Read(ctx, keeper, "shop.example")
	if err != nil || site.LastMod == nil || *site.LastMod != (Proofs{14, 3}) {
		t.Errorf("%+v, %v", site, err)
	}
}

// Two workers that hold a host in turns know what the other learned: each writes it before he gives
// the host back, and reads it anew when he holds it again.
func TestTwoBooks(t *testing.T) {
	ctx, keeper := t.Context(), memory{}
	books := []*Book{NewBook(keeper), NewBook(keeper)}
	for _, b := range books {
		b.Shared = true
	}
	const turns = 6
	for turn := range turns {
		b := books[turn%2]
		for i := range 10 {
			url := fmt.Sprintf("%s/p/%d-%d", site, turn, i)
			if err := b.Judged(ctx, url, Verdict{Group: group(url)}); err != nil {
				t.Fatal(err)
			}
			if i == 5 { // what is written every now and then is not all
				if err := b.Sync(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := b.Leave(ctx, "shop.example"); err != nil {
			t.Fatal(err)
		}
	}
	h, err := Read(ctx, keeper, "shop.example")
	if err != nil || h.Pages != 10*turns {
		t.Errorf("of %d pages the last book knows %d, %v", 10*turns, h.Pages, err)
	}
}

// A book overwrites nothing that came after it had read: what another worker wrote, who holds the
// host by now, stays, and what is to be forgotten is.
func TestBookOverwritesNothing(t *testing.T) {
	ctx := t.Context()
	judged := func(b *Book, n int) {
		t.Helper()
		for i := range n {
			if err := b.Judged(ctx, fmt.Sprintf("%s/p/%d", site, i), Verdict{Group: group(fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name  string
		write func(b *Book) error
	}{
		{"every now and then", func(b *Book) error { return b.Sync(ctx) }},
		{"when it leaves", func(b *Book) error { return b.Leave(ctx, "shop.example") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			keeper := memory{}
			slow, quick := NewBook(keeper), NewBook(keeper)
			slow.Shared, quick.Shared = true, true
			judged(slow, 1)
			judged(quick, 30)
			if err := quick.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			if err := c.write(slow); err != nil {
				t.Fatal(err)
			}
			judged(slow, 2) // on what the other wrote
			if err := c.write(slow); err != nil {
				t.Fatal(err)
			}
			if h, err := Read(ctx, keeper, "shop.example"); err != nil || h.Pages != 32 {
				t.Errorf("%+v, %v", h, err)
			}
			keeper[NameOf("shop.example")] = []byte{} // skink status --forget
			judged(quick, 1)
			if err := c.write(quick); err != nil {
				t.Fatal(err)
			}
			if h, err := Read(ctx, keeper, "shop.example"); err != nil || h != nil {
				t.Errorf("after it was forgotten: %+v, %v", h, err)
			}
			judged(quick, 3)
			if err := c.write(quick); err != nil {
				t.Fatal(err)
			}
			if h, err := Read(ctx, keeper, "shop.example"); err != nil || h.Pages != 3 {
				t.Errorf("learned anew: %+v, %v", h, err)
			}
		})
	}
}
