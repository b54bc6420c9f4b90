package view

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/base/segment"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

// twiceCrawled returns a store of two crawls. The first crawl kept its findings. Since then, one
// title became too short, and one is no longer too short.
func twiceCrawled(t *testing.T) store.Store {
	t.Helper()
	s := storetest.NewMemory()
	titles := func(revisit bool, at time.Time, of map[string]string) {
		i := 0
		for _, path := range []string{"a.example/blog/new", "a.example/blog/fixed", "a.example/shop/same", "b.example/"} {
			e := entryOf(t, testPage{url: "https://" + path, title: of[path], text: words(300*i, 300*i+300)}, 1)
			e.Record.FetchedAt, e.Revisit = at.Add(time.Duration(i)*time.Second), revisit
			e.Record.ContentType = "text/html"
			commit(t, s, e)
			i++
		}
	}
	first := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	long := "A title that is long enough"
	titles(false, first, map[string]string{"a.example/blog/new": long, "a.example/blog/fixed": "short", "a.example/shop/same": "brief", "b.example/": "home"})
	a, err := audit.Read(t.Context(), s, audit.Options{About: report.About{Settings: store.Settings{Similarity: 0.8}}})
	if err == nil {
		_, err = audit.Keep(t.Context(), s, a, first.Add(time.Hour))
	}
	if err == nil {
		err = store.BeginCrawl(t.Context(), s, first.AddDate(0, 0, 7))
	}
	if err != nil {
		t.Fatal(err)
	}
	titles(true, first.AddDate(0, 0, 7), map[string]string{"a.example/blog/new": "newer", "a.example/blog/fixed": long + " now", "a.example/shop/same": "brief", "b.example/": "home"})
	return s
}

// audited returns the page of the audit when an audit has ended that began after the given one.
func audited(t *testing.T, v *View, server *httptest.Server, after *compared, query string) string {
	t.Helper()
	get(t, server, "/audit")
	for known := v.auditing.now(); known.result == after; known = v.auditing.now() {
		if known.Failed != nil {
			t.Fatal(known.Failed)
		}
		time.Sleep(time.Millisecond)
	}
	return get(t, server, "/audit"+query)
}

// TestAuditSince checks that the view shows which findings are new, fixed and remaining, and that
// the other crawl can be chosen.
func TestAuditSince(t *testing.T) {
	s := twiceCrawled(t)
	v, server := newView(t, s, nil)
	body := audited(t, v, server, nil, "")
	row := `Titles under 10 characters</a><small class="soft name">titles.short</small></th><td class="since"><p><a href="/audit/titles.short?change=new"><b>1 new</b></a></p><p><a href="/audit/titles.short?change=fixed">1 fixed</a></p><p><a href="/audit/titles.short?change=remaining">2 as before</a></p></td><td class="fix">`
	for _, want := range []string{"Compared with crawl 1.", row, `<option value="1" selected>crawl 1, 2026-11-01 10:00:00</option><option value="none">no crawl</option>`, `<span class="badge badge-note"><span aria-hidden="true">●</span> note</span>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the audit does not have %q\n%s", want, body)
		}
	}
	if book := get(t, server, "/audit.xlsx"); !strings.HasPrefix(book, "PK\x03\x04") {
		t.Errorf("no workbook: %.100q", book)
	}
	if page := get(t, server, "/page/"+url.PathEscape("https://a.example/blog/new")); !strings.Contains(page, `<a href="/audit/titles.short">`) || strings.Contains(page, "titles.missing") {
		t.Errorf("the page does not have its finding\n%s", page)
	}
	page := get(t, server, "/audit/titles.short")
	for _, want := range []string{"1 new, 1 fixed, 2 remaining, 0 not checked.", `<bdi>fixed</bdi>`, `<bdi>new</bdi>`, "1 to 4 of 4"} {
		if !strings.Contains(page, want) {
			t.Errorf("the finding does not have %q\n%s", want, page)
		}
	}
	before := v.auditing.now().result
	if got := post(t, server, "/audit", url.Values{"token": {v.form}, "since": {"none"}}, ""); got != 303 {
		t.Fatalf("the form with a choice: %d", got)
	}
	body = audited(t, v, server, before, "")
	if strings.Contains(body, "Compared with crawl") || strings.Contains(body, "<th scope=\"col\" class=\"number\">New</th>") || !strings.Contains(body, `<option value="none" selected>`) {
		t.Errorf("the audit is compared although that was not asked for\n%s", body)
	}
	const changed = "The store has changed since"
	if strings.Contains(body, changed) {
		t.Error("the audit is said to be old")
	}
	commit(t, s, entryOf(t, testPage{url: "https://a.example/later", title: "Later", text: words(5000, 5300)}, 1))
	for _, path := range []string{"/audit", "/overview"} {
		if body := get(t, server, path); !strings.Contains(body, changed) {
			t.Errorf("%s does not say that the audit is old\n%s", path, body)
		}
	}
	if body = audited(t, v, server, nil, ""); !strings.Contains(body, changed) {
		t.Error("only a new audit knows the changes")
	}
}

// TestAuditFilter checks that findings can be filtered by host, section and change.
func TestAuditFilter(t *testing.T) {
	v, server := newView(t, twiceCrawled(t), nil)
	audited(t, v, server, nil, "")
	for query, want := range map[string]string{
		"?host=a.example":                  "1 to 3 of 3",
		"?host=b.example":                  "1 to 1 of 1",
		"?section=%2Fblog%2F":              "1 to 2 of 2",
		"?host=a.example&section=%2F":      "0",
		"?section=%2Fblog%2F&change=fixed": "1 to 1 of 1",
		"?change=remaining":                "1 to 2 of 2",
		"?change=unchecked":                "0",
	} {
		page := get(t, server, "/audit/titles.short"+query)
		overview := get(t, server, "/audit"+query)
		if want == "0" {
			if strings.Contains(page, "<tbody>\n<tr>") || strings.Contains(overview, `<small class="soft name">titles.short</small>`) {
				t.Errorf("%s: rows are shown\n%s", query, page)
			}
			continue
		}
		if !strings.Contains(page, want) {
			t.Errorf("%s: the finding does not have %q\n%s", query, want, page)
		}
		link := `href="/audit/titles.short` + strings.ReplaceAll(query, "&", "&amp;")
		if !strings.Contains(overview, `<small class="soft name">titles.short</small>`) || !strings.Contains(strings.ReplaceAll(overview, "change=fixed&amp;section=%2Fblog%2F", "section=%2Fblog%2F&amp;change=fixed"), link) {
			t.Errorf("%s: the audit does not have the finding with a link that keeps the filter\n%s", query, overview)
		}
	}
	body := get(t, server, "/audit?host=b.example")
	if !strings.Contains(body, `<option value="b.example" selected>`) || strings.Contains(body, `<option value="/blog/">`) {
		t.Errorf("the form does not offer the sections of the chosen host\n%s", body)
	}
}

// Segments and languages are columns and filters of all lists of pages, findings and clusters.
func TestSegments(t *testing.T) {
	s := storetest.NewMemory()
	for i, p := range []testPage{
		{url: "https://a.example/docs/one", title: "First of the docs", text: words(0, 300)},
		{url: "https://a.example/docs/two", title: "Second of the docs", text: words(300, 600)},
		{url: "https://a.example/shop/one", title: "First of the shop", text: words(0, 300), leader: "https://a.example/docs/one"},
		{url: "https://a.example/", title: "Home", text: words(600, 900)},
	} {
		e := entryOf(t, p, i)
		e.Record.Lang, e.Record.ContentType = []string{"en", "de", "de", ""}[i], "text/html"
		commit(t, s, e)
	}
	v, server := newView(t, s, func(o *Options) {
		o.Segments = segment.List{{Name: "shop & more", Path: regexp.MustCompile("^/shop/")}, {Name: "docs", Path: regexp.MustCompile("^/docs/")}}
	})
	for query, want := range map[string][]string{
		"?segment=docs":                  {"docs/one", "docs/two"},
		"?segment=docs&language=de":      {"docs/two"},
		"?language=de":                   {"docs/two", "shop/one"},
		"?segment=shop+%26+more":         {"shop/one"},
		"?segment=none":                  nil,
		"?language=fr":                   nil,
		"?sort=segment&down=1":           {"shop/one", "docs/two", "docs/one", ""},
		"?sort=language&verdict=unique":  {"", "docs/two", "docs/one"},
		"?segment=docs&q=second&in=text": {"docs/two"},
	} {
		var urls []string
		for _, path := range want {
			urls = append(urls, "https://a.example/"+path)
		}
		if got := listed(get(t, server, "/pages"+query)); !slices.Equal(got, idsOf(urls...)) {
			t.Errorf("/pages%s: got %v, want %v", query, got, want)
		}
	}
	body := get(t, server, "/pages?segment=docs&language=de")
	for _, want := range []string{`<option value="shop &amp; more">shop &amp; more</option>`, `<option value="docs" selected>docs</option>`, `<option value="de" selected>de</option>`, `<td><bdi>de</bdi></td><td><bdi>docs</bdi></td>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the list of pages lacks %s", want)
		}
	}
	if body := get(t, server, "/page/"+idOf("https://a.example/docs/two").String()); !strings.Contains(body, "<dt>Segment</dt><dd><bdi>docs</bdi></dd>") {
		t.Error("the page lacks its segment")
	}
	for query, want := range map[string]bool{"?segment=docs": false, "?segment=shop+%26+more": true, "": true} {
		if body := get(t, server, "/clusters"+query); strings.Contains(body, "First of the docs") != want {
			t.Errorf("/clusters%s: the cluster is listed: %v, want %v", query, !want, want)
		}
	}
	body = audited(t, v, server, nil, "?segment=docs")
	if !strings.Contains(body, `href="/audit/titles.short?segment=docs"`) && strings.Contains(body, "titles.short") {
		t.Error("the links of the audit lack the filter")
	}
	if body := get(t, server, "/audit/pages?segment=docs"); strings.Count(body, "/page/https") != 2 {
		t.Errorf("the list of all URLs has other rows:\n%s", body)
	}
	if body := get(t, server, "/audit/pages?segment=docs&language=de"); strings.Count(body, "/page/https") != 1 || !strings.Contains(body, `<option value="de" selected>de</option>`) {
		t.Errorf("the list of all URLs is not filtered by language:\n%s", body)
	}
	// The CSV file has all that skink report --about pages has.
	for _, want := range []string{",shop & more,", ",segment,", ",link_score,anchors,", ",100.00,"} {
		if csv := get(t, server, "/audit.csv/pages"); !strings.Contains(csv, want) {
			t.Errorf("CSV without %s:\n%s", want, csv)
		}
	}
	_, plain := newView(t, s, nil)
	if body := get(t, plain, "/pages"); strings.Contains(body, "Segment") || !strings.Contains(body, "Language") {
		t.Error("segments of a view without segments, or no languages")
	}
}
