package view

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/report/audit"
	"skink/store"
)

// get returns the body of an answer, which must have the status 200.
func get(t testing.TB, server *httptest.Server, path string) string {
	t.Helper()
	resp, err := server.Client().Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s, %v\n%s", path, resp.Status, err, b)
	}
	if len(b) > 1<<20 {
		t.Errorf("%s: %d bytes", path, len(b))
	}
	return strings.ReplaceAll(string(b), "<wbr>", "") // a browser may break URLs there
}

// listed returns the IDs of the pages that a list shows, in the order of the list.
func listed(body string) (ids []string) {
	for _, found := range regexp.MustCompile(`<th scope="row" class="page"><a href="/page/([0-9a-f]{32})"`).FindAllStringSubmatch(body, -1) {
		ids = append(ids, found[1])
	}
	return ids
}

func idsOf(urls ...string) (ids []string) {
	for _, u := range urls {
		ids = append(ids, idOf(u).String())
	}
	return ids
}

// small returns a store with a page of almost every kind.
func small(t testing.TB) store.Store {
	s := storetest.NewMemory()
	keep(t, s,
		testPage{url: "https://a.example/fog", title: "Fog at sea", text: words(0, 300)},
		testPage{url: "https://a.example/fog?print=1", title: "Fog at sea, to print", text: words(0, 290), leader: "https://a.example/fog"},
		testPage{url: "https://b.example/Eel", title: "ÉELS and others", text: words(150, 400)},
		testPage{url: "https://b.example/fog", title: "Fog, copied", text: words(5, 300), leader: "https://a.example/fog"},
		testPage{url: "https://b.example/tiny", title: "שלום עולם", text: "a lighthouse"},
	)
	commit(t, s, &store.Entry{Record: store.Record{ID: idOf("https://a.example/gone"), URL: "https://a.example/gone", Kind: store.Error, Status: 404, Fetch: store.Fetch{Problem: "status 404"}}})
	return s
}

func TestLists(t *testing.T) {
	_, server := newView(t, small(t), nil)
	fog, printed, eel, copied, tiny, gone := "https://a.example/fog", "https://a.example/fog?print=1", "https://b.example/Eel", "https://b.example/fog", "https://b.example/tiny", "https://a.example/gone"
	for _, c := range []struct {
		path string
		want []string
	}{
		{"/pages", []string{fog, printed, eel, copied, tiny, gone}},
		{"/pages?q=fog", []string{fog, printed, copied}},
		{"/pages?q=FOG+print", []string{printed}},
		{"/pages?q=" + url.QueryEscape("éels"), []string{eel}},
		{"/pages?q=eel", []string{eel}},
		{"/pages?q=nowhere", nil},
		{"/pages?q=fog&host=b.example", []string{copied}},
		{"/pages?host=elsewhere.example", nil},
		{"/pages?verdict=near&sort=url", []string{printed, copied}},
		{"/pages?verdict=near&sort=url&down=1", []string{copied, printed}},
		{"/pages?kind=error", []string{gone}},
		{"/pages?status=404", []string{gone}},
		{"/pages?sort=words&down=1&kind=page", []string{fog, copied, printed, eel, tiny}},
		{"/pages?sort=depth&kind=page", []string{fog, printed, eel, copied, tiny}},
		{"/pages?q=lighthouse", nil},
		{"/pages?q=lighthouse&in=text", []string{tiny}},
		{"/pages?q=word299&in=text", []string{fog, eel, copied}},
		{"/pages?q=word299&in=text&host=a.example", []string{fog}},
		{"/pages?sort=nothing&from=-3&status=many", []string{fog, printed, eel, copied, tiny, gone}},
	} {
		if got, want := listed(get(t, server, c.path)), idsOf(c.want...); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", c.path, got, want)
		}
	}
}

// A user who follows the links to the end of a list and back sees each page once, in every sort
// order, and also if the list is the result of a search in the text of pages.
func TestPaging(t *testing.T) {
	s := storetest.NewMemory()
	var want []string
	for i := range 230 {
		u := fmt.Sprintf("https://example.com/%03d", (i*37)%230)
		keep(t, s, testPage{url: u, title: fmt.Sprint("Title ", i%3), text: words(i, i+60)})
		want = append(want, u)
	}
	v, server := newView(t, s, nil)
	link := func(body, rel string) string {
		found := regexp.MustCompile(`<a href="([^"]*)" rel="` + rel + `"`).FindStringSubmatch(body)
		if found == nil {
			return ""
		}
		return strings.ReplaceAll(found[1], "&amp;", "&")
	}
	starts := []string{"/pages?q=title&in=text"}
	for _, c := range columns {
		starts = append(starts, "/pages?sort="+c.name, "/pages?sort="+c.name+"&down=1")
	}
	for _, start := range starts {
		body, forth, path := get(t, server, start), []string{}, start
		for {
			forth = append(forth, listed(body)...)
			next := link(body, "next")
			if next == "" {
				break
			}
			path, body = next, get(t, server, next)
		}
		got := slices.Sorted(slices.Values(forth))
		if all := slices.Sorted(slices.Values(idsOf(want...))); !slices.Equal(got, all) {
			t.Fatalf("%s: %d pages, want %d", start, len(got), len(all))
		}
		back := listed(body)
		for {
			path = link(body, "prev")
			if path == "" {
				break
			}
			body = get(t, server, path)
			back = append(listed(body), back...)
		}
		if !slices.Equal(back, forth) {
			t.Errorf("%s: the way back shows other pages than the way forth", start)
		}
	}
	keep(t, s, testPage{url: "https://example.com/!", title: "It comes first", text: words(0, 60)})
	v.index.looked = v.index.looked.Add(-lookEvery)
	if got := listed(get(t, server, "/pages?sort=url")); got[0] != idOf("https://example.com/!").String() {
		t.Errorf("the list does not begin with the page that came")
	}
}

// slowTexts is a store that needs longer for each call for texts than a search may take.
type slowTexts struct{ store.Reader }

func (s slowTexts) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	if want&store.WantText != 0 {
		time.Sleep(searchTime + time.Millisecond)
	}
	return s.Reader.Pages(ctx, ids, want)
}

// A search in texts that ran out of time before it found a page can be continued.
func TestSearchGoesOn(t *testing.T) {
	s := storetest.NewMemory()
	for i := range rowsShown {
		keep(t, s, testPage{url: fmt.Sprintf("https://example.com/%03d", i), title: "Fog", text: words(i, i+60)})
	}
	keep(t, s, testPage{url: "https://example.com/last", title: "Fog", text: "a lighthouse"})
	_, server := newView(t, slowTexts{s}, nil)
	body := get(t, server, "/pages?q=lighthouse&in=text")
	rest := regexp.MustCompile(`<a href="([^"]*)">Search the remaining texts`).FindStringSubmatch(body)
	if rest == nil {
		t.Fatalf("the search cannot be continued:\n%s", body)
	}
	if got := listed(get(t, server, strings.ReplaceAll(rest[1], "&amp;", "&"))); !slices.Equal(got, idsOf("https://example.com/last")) {
		t.Errorf("the rest of the texts has %v", got)
	}
}

// A page that is visited again has one row, and its old version no longer counts as a member of a
// cluster.
func TestVisitedAgain(t *testing.T) {
	s := small(t)
	v, server := newView(t, s, nil)
	if got := len(listed(get(t, server, "/pages"))); got != 6 {
		t.Fatalf("%d records, want 6", got)
	}
	again := entryOf(t, testPage{url: "https://b.example/fog", title: "Another page now", text: words(900, 1000)}, 0)
	again.Revisit = true
	commit(t, s, again)
	v.index.looked = v.index.looked.Add(-lookEvery)
	body := get(t, server, "/pages?sort=words")
	if got := listed(body); len(got) != 6 || !strings.Contains(body, "Another page now") || strings.Contains(body, "Fog, copied") {
		t.Errorf("%d records, want 6, one of them new:\n%s", len(got), body)
	}
	if body := get(t, server, "/clusters"); !strings.Contains(body, `<td class="number few">1</td>`) {
		t.Errorf("the cluster has not one member:\n%s", body)
	}
}

func TestOnePage(t *testing.T) {
	_, server := newView(t, small(t), nil)
	fog := get(t, server, "/page/"+idOf("https://a.example/fog").String())
	for _, want := range []string{
		"2 duplicates</a> of", "Fog at sea", `href="https://a.example/fog" rel="noopener noreferrer nofollow"`, "word299",
		idOf("https://b.example/Eel").String(), // this is the most similar page, far below the similarity of duplicates
	} {
		if !strings.Contains(strings.ReplaceAll(fog, "2 duplicates of", "2 duplicates</a> of"), want) {
			t.Errorf("the page of fog does not have %q\n%s", want, fog)
		}
	}
	if strings.Contains(fog, "Fog, copied") {
		t.Error("a member of its cluster stands among the nearest pages outside of it")
	}
	if gone := get(t, server, "/page/"+url.PathEscape("https://a.example/gone")); !strings.Contains(gone, "error: <bdi>status 404</bdi>") {
		t.Errorf("the page of what failed does not say why:\n%s", gone)
	}
	cluster := get(t, server, "/cluster/"+idOf("https://a.example/fog").String())
	if got, want := listed(cluster), idsOf("https://a.example/fog?print=1", "https://b.example/fog"); !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
}

// The page that compares two pages shows why they are duplicates or not. For a page that failed, it
// says that there is no such page.
func TestCompare(t *testing.T) {
	s := small(t)
	keep(t, s, testPage{url: "https://a.example/one", title: "One", text: "Call the plumber in Bergen before noon, and ask for the red valve\nThe same line in both"},
		testPage{url: "https://a.example/two", title: "Two", text: "Call the plumber in Narvik before noon, and ask for the red valve\nThe same line in both"})
	_, server := newView(t, s, nil)
	one, two := idOf("https://a.example/one").String(), idOf("https://a.example/two").String()
	body := get(t, server, "/compare?a="+one+"&b="+two)
	for _, want := range []string{"<del>Bergen </del>", "<ins>Narvik </ins>", `<p dir="auto">The same line in both</p>`, "only in A", "Resemblance"} {
		if !strings.Contains(body, want) {
			t.Errorf("it does not have %q\n%s", want, body)
		}
	}
	if body := get(t, server, "/compare?a="+url.QueryEscape("https://a.example/one")+"&b="+idOf("https://a.example/gone").String()); !strings.Contains(body, "B has no text, because its kind is error.") {
		t.Errorf("a page that failed is compared:\n%s", body)
	}
}

// The first request for the audit starts it. Its findings link to the view's pages about the
// crawled pages.
func TestAudit(t *testing.T) {
	s := small(t)
	linking := entryOf(t, testPage{url: "https://a.example/linking", title: "It links", text: words(500, 600)}, 9)
	links := []store.Link{{URL: "https://a.example/gone", Text: "to what is gone", Kind: store.LinkAnchor}, {URL: "https://a.example/fog", Text: "<b>fog</b>", Kind: store.LinkAnchor, NoFollow: true}}
	linking.Out = store.PackLinks("https://a.example/linking", links)
	commit(t, s, linking)
	v, server := newView(t, s, nil)
	get(t, server, "/audit")
	for v.auditing.now().result == nil {
		time.Sleep(time.Millisecond)
	}
	body := get(t, server, "/audit")
	name := regexp.MustCompile(`href="/audit/(broken[.a-z-]*)"`).FindStringSubmatch(body)
	if name == nil {
		t.Fatalf("nothing is broken:\n%s", body)
	}
	broken := get(t, server, "/audit/"+name[1])
	for _, want := range []string{`href="/page/https:%2F%2Fa.example%2Fgone"`, "to what is gone", "<b>Fix:"} {
		if !strings.Contains(broken, want) {
			t.Errorf("the finding does not have %q\n%s", want, broken)
		}
	}
	if csv := get(t, server, "/audit.csv/"+name[1]); !strings.Contains(csv, "https://a.example/gone") {
		t.Errorf("CSV:\n%s", csv)
	}
	if resp := ask(t, server.Client(), "GET", server.URL+"/audit/nothing", nil); resp.StatusCode != 404 {
		t.Errorf("a finding that is none: %s", resp.Status)
	}
	if got := post(t, server, "/audit", url.Values{"token": {"guessed"}}, ""); got != 403 {
		t.Errorf("a form without its token: %d", got)
	}
	if got := post(t, server, "/audit", url.Values{"token": {v.form}}, ""); got != 303 {
		t.Errorf("a form with its token: %d", got)
	}
	page := get(t, server, "/page/"+idOf("https://a.example/linking").String())
	for _, want := range []string{"2 links", "to what is gone", "&lt;b&gt;fog&lt;/b&gt;", "link, nofollow"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page that links does not show %q\n%s", want, page)
		}
	}
}

// During a crawl, a request for the page of the audit does not start an audit.
func TestAuditOfCrawl(t *testing.T) {
	_, server := newCrawlView(t)
	if body := get(t, server, "/audit"); !strings.Contains(body, ">Run the audit<") || strings.Contains(body, "being gone through") {
		t.Errorf("it is made:\n%s", body)
	}
}

func TestMap(t *testing.T) {
	_, server := newView(t, small(t), nil)
	body := get(t, server, "/map")
	if !strings.Contains(body, `<small>33.3%</small></td><th scope="row" class="host"><a href="/pages?host=b.example"`) {
		t.Errorf("b.example repeats a page of a.example:\n%s", body)
	}
}

// fakeAlike has clusters at three similarities, and one pair of pages.
var fakeAlike = &Alike{
	Steps: []Step{{Similarity: 0.3, Clusters: 9, Pages: 40}, {Similarity: 0.6, Clusters: 7, Pages: 20}, {Similarity: 0.9, Clusters: 2, Pages: 4}},
	Near: func(_ context.Context, _ store.Reader, similarity float64, _ int) (above, below []Pair, err error) {
		return []Pair{{A: idOf("a"), B: idOf("b"), URLs: [2]string{"https://a.example/<b>", "https://b.example/"}, Resemblance: similarity}}, nil, nil
	},
	Nearly: &audit.Nearly{From: 0.3, Groups: []audit.NearlyGroup{{Leader: idOf("https://a.example/fog"), Members: []audit.NearlyPage{{ID: idOf("https://b.example/Eel"), Resemblance: 0.4}}}}},
}

// TestSimilarity checks that a form starts the comparison of all pages, and that the page shows the
// clusters at the similarity in its address.
func TestSimilarity(t *testing.T) {
	goOn := make(chan bool)
	v, server := newView(t, small(t), func(o *Options) {
		o.Alike = func(_ context.Context, _ store.Reader, tell func(float64)) (*Alike, error) {
			tell(0.425)
			<-goOn
			return fakeAlike, nil
		}
	})
	if body := get(t, server, "/similarity"); !strings.Contains(body, "being compared") {
		t.Errorf("the few pages are not compared at once:\n%s", body)
	}
	if got := post(t, server, "/similarity", url.Values{"token": {"guessed"}}, ""); got != 403 {
		t.Errorf("a form without its token: %d", got)
	}
	if got := post(t, server, "/similarity", url.Values{"token": {v.form}}, ""); got != 303 {
		t.Errorf("a form with its token: %d", got)
	}
	body := get(t, server, "/similarity")
	for !strings.Contains(body, "being compared: 42% is done") { // the percentage is 0 at first
		body = get(t, server, "/similarity")
	}
	close(goOn)
	for !strings.Contains(body, "clusters with") {
		body = get(t, server, "/similarity?at=0.65")
	}
	for _, want := range []string{"At a similarity of 0.60, there are 7 clusters with 20 pages.", `min="0.30"`, `value="0.65"`, "</svg>pages in clusters</li>", "<span>40</span><span>20</span><span>0</span>", "<span>0.30</span><span>0.65</span><span>1.00</span>", `class="axis unit" aria-hidden="true">similarity<`, "https://a.example/&lt;b&gt;", "0.650"} {
		if !strings.Contains(body, want) {
			t.Errorf("it does not have %q\n%s", want, body)
		}
	}
}

// The resemblance that fingerprints estimate differs little from the estimate of sketches.
func TestFingerprint(t *testing.T) {
	sketch := func(from, to int) *dedup.Sketch {
		return entryOf(t, testPage{url: "x", text: words(from, to)}, 0).Sketch
	}
	for _, c := range []struct{ from, to int }{{0, 1000}, {50, 1050}, {200, 1200}, {500, 1500}, {5000, 6000}} {
		a, b := sketch(0, 1000), sketch(c.from, c.to)
		f, g := newFingerprint(a), newFingerprint(b)
		if got, want := f.alike(&g), dedup.Estimate(a, b); got < want-.15 || got > want+.15 {
			t.Errorf("from word %d on: %.3f, and sketches say %.3f", c.from, got, want)
		}
	}
}

// lentLater is a [Source] that lends a store after its channel told was closed.
type lentLater struct {
	lent
	told chan struct{}
}

func (l lentLater) Read(ctx context.Context, do func(store.Reader) error) error {
	<-l.told
	return l.lent.Read(ctx, do)
}

// A list that was made while the store was being read says so, even if the read has ended before
// the list is sent.
func TestListSaysThatTheStoreWasBeingRead(t *testing.T) {
	told := make(chan struct{})
	v, _ := newView(t, small(t), func(o *Options) { o.Store = lentLater{o.Store.(lent), told} })
	page := v.shown(func(ctx context.Context, r *http.Request) (*screen, error) {
		rows := v.index.list(query{}).total
		close(told)
		<-v.index.idle
		return &screen{name: "trouble", title: "A list", Content: fmt.Sprint(rows)}, nil
	})
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	if body := answer.Body.String(); !strings.Contains(body, "The store is being read") {
		t.Errorf("it does not say so: %s", body)
	}
}

// TestEmpty opens every page of a store without records.
func TestEmpty(t *testing.T) {
	_, server := newView(t, storetest.NewMemory(), func(o *Options) { o.Moment = momentOfTally })
	for path, want := range map[string]string{
		"/now": "In the store: 0 pages", "/pages": "No page matches.", "/clusters": "There are no duplicates here.", "/map": "There are no duplicates of pages here.", "/similarity": "Compare all pages", "/audit": "The audit is running",
	} {
		if body := get(t, server, path); !strings.Contains(body, want) || strings.Contains(body, "NaN") {
			t.Errorf("%s does not have %q:\n%s", path, want, body)
		}
	}
}

// TestNearly checks that the page of pages that are almost duplicates starts the comparison of all
// pages, shows its progress, and then lists the pages.
func TestNearly(t *testing.T) {
	goOn := make(chan bool)
	alike := func(_ context.Context, _ store.Reader, tell func(float64)) (*Alike, error) {
		tell(0.425)
		<-goOn
		return fakeAlike, nil
	}
	const path = "/audit/nearly"
	_, server := newView(t, small(t), func(o *Options) { o.Alike = alike })
	body := get(t, server, path)
	for !strings.Contains(body, "being compared: 42% is done") { // at first it is 0
		body = get(t, server, path)
	}
	if resp := ask(t, server.Client(), "GET", server.URL+path, nil); resp.Header.Get("Refresh") != "1" {
		t.Errorf("the page with the progress is refreshed after %q seconds", resp.Header.Get("Refresh"))
	}
	close(goOn)
	for strings.Contains(body, "being compared") || strings.Contains(body, "The audit is running") {
		body = get(t, server, path)
	}
	for _, want := range []string{"30% to 80%", "https://b.example/Eel", "0.400"} {
		if !strings.Contains(body, want) {
			t.Errorf("the list does not have %q\n%s", want, body)
		}
	}
	if body := get(t, server, "/audit"); !strings.Contains(body, `href="/audit/nearly"`) {
		t.Errorf("the audit does not have the list:\n%s", body)
	}

	// While a crawl runs in this process, only the form starts the comparison.
	f := &fakeCrawl{}
	v, crawled := newView(t, small(t), func(o *Options) { o.Alike, o.Crawl = alike, f })
	if body := get(t, crawled, path); !strings.Contains(body, ">Compare all pages<") || v.comparison.now().Making {
		t.Errorf("a crawl is slowed down:\n%s", body)
	}
	if got := post(t, crawled, path, url.Values{"token": {"guessed"}}, ""); got != 403 {
		t.Errorf("a form without its token: %d", got)
	}
	if got := post(t, crawled, path, url.Values{"token": {v.form}}, ""); got != 303 {
		t.Errorf("a form with its token: %d", got)
	}
	for body = ""; !strings.Contains(body, "https://b.example/Eel"); time.Sleep(time.Millisecond) {
		body = get(t, crawled, path)
	}
}

// If all pages are on one host, the map and the clusters name folders, and lists leave the host out.
func TestFolders(t *testing.T) {
	s := storetest.NewMemory()
	text := func(i int) string { return words(1000*i, 1000*i+90) }
	at := func(path string) string { return "https://a.example/Docs/" + path }
	keep(t, s, testPage{url: at("v1/one"), title: "One", text: text(1)}, testPage{url: at("v2/one"), title: "One again", text: text(1), leader: at("v1/one")},
		testPage{url: at("v2/two"), title: "Two", text: text(2), leader: at("v1/one")}, testPage{url: at("v1/three?a=b/c"), title: "Three", text: text(3)}, testPage{url: at("v1/four"), title: "Four", text: text(3), leader: at("v1/three?a=b/c")},
		testPage{url: at("five"), title: "Five", text: text(5)})
	near := entryOf(t, testPage{url: at("v1/near"), title: "Near", text: text(3), leader: at("v1/three?a=b/c")}, 9)
	near.Record.Resemblance = 0.81
	commit(t, s, near)
	_, server := newView(t, s, nil)
	for path, want := range map[string]string{
		"/map": `<a href="/pages?q=%2fDocs%2fv2%2f"><bdi>/Docs/v2/</bdi></a></th><td class="host"><a href="/pages?q=%2fDocs%2fv1%2f">`, "/pages": "<small><bdi>/Docs/v2/one</bdi></small>",
		"/clusters":                          `<div><bdi>/Docs/v2/</bdi></div></td>`,
		"/page/" + idOf(at("five")).String(): "<bdi>https://a.example/Docs/five</bdi>",
	} {
		if body := get(t, server, path); !strings.Contains(body, want) {
			t.Errorf("%s does not have %q:\n%s", path, want, body)
		}
	}
	if body := get(t, server, "/map"); !strings.Contains(body, "the same</span>") {
		t.Errorf("duplicates in the same folder are missing:\n%s", body)
	}
	for sort, first := range map[string]string{"": "One", "lowest": "Three"} {
		body := get(t, server, "/clusters?sort="+sort)
		if name := regexp.MustCompile(`<a href="/cluster/[0-9a-f]+"><span dir="auto">(\w+)<`).FindStringSubmatch(body); name == nil || name[1] != first {
			t.Errorf("sorted by %q, %q is first, want %s", sort, name, first)
		}
	}
}

// Only the host of the pages is left out, not one that looks like it or stands in a query. Pairs are counted anew when
// rows come.
func TestShort(t *testing.T) {
	x := newIndex(nil, nil, nil, t.Context())
	take := func(urls ...string) {
		var all []*store.Change
		for i, url := range urls {
			c := &store.Change{}
			c.Record = store.Record{ID: idOf(url), URL: url, Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}}
			if i > 0 {
				c.Record.Verdict, c.Record.Leader = dedup.Exact, idOf(urls[0])
			}
			all = append(all, c)
		}
		x.take(all)
	}
	take("https://a.example/docs/one", "https://a.example/docs/two")
	for url, want := range map[string]string{
		"https://a.example/docs/one":               "/docs/one",
		"https://a.example.org/docs/one":           "https://a.example.org/docs/one",
		"https://b.example/?to=https://a.example/": "https://b.example/?to=https://a.example/",
	} {
		if got := x.rows.short(url); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
	if got := x.rows.pairs(); len(got) != 1 || got[0].Pages != 1 {
		t.Errorf("pairs %v, want one with a page", got)
	}
	take("https://a.example/docs/three", "https://a.example/docs/four")
	if got := x.rows.pairs(); len(got) != 1 || got[0].Pages != 2 {
		t.Errorf("pairs %v, want one with two pages", got)
	}
}
