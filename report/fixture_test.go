package report_test

import (
	"cmp"
	"context"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/store"
)

// nasty returns a store of hostile pages, which try to attack the terminal, the spreadsheet or the
// browser that shows the report.
func nasty(t testing.TB) store.Store {
	return fill(t, []numbered{
		page(1, "https://example.com/a?x=1&y=2", `<script>alert("a")</script>`, dedup.Unique),
		copyOf(1, page(2, "https://example.com/b", "Terminal \x1b[31mred\x1b[0m, bell \a, CSI \u009b2J", dedup.Near), 0.9),
		copyOf(1, page(3, "https://mirror.example:8443/a", "line one\nline two\r\nline three", dedup.Exact), 1),
		copyOf(1, page(4, `javascript:alert(1)//"><img src=x onerror=alert(1)>`, "a link that must not be one", dedup.Near), 0.9999),
		copyOf(1, page(5, "https://example.com/c", "\u202egnisrever \u2066isolate \u200fmark", dedup.Near), 0.8123456),
		page(6, "=HYPERLINK(\"https://evil.example/\")", "@SUM(1+1)", dedup.Thin),
		copyOf(6, page(7, "\tnotes/tab.txt", "-2+3", dedup.Exact), 1),
		page(8, "https://mirror.example:8443/latin1", "caf\xe9 \u009b2J \"quoted\" 'single' `back`", dedup.Unique),
		copyOf(8, page(9, "https://xn--e1afmkfd.example/%D0%B0", "Кошка, שלום, 猫, می\u200cخواهم", dedup.Near), 1-1e-12),
		page(10, "https://alone.example/", "", dedup.Unique),
		page(11, "https://alone.example/tiny", "Tiny", dedup.Thin),
		other(12, "https://example.com/logo.png", store.Other, ""),
		other(13, "https://example.com/old", store.Redirect, ""),
		other(14, "https://example.com/404", store.Error, "status 404"),
		other(15, "https://example.com/405", store.Error, "status 404"),
		other(16, "https://example.com/slow", store.Error, "timeout\x1b]0;title\a"),
		other(17, "https://example.com/private", store.Blocked, ""),
		other(18, "photo.jpg", store.Skipped, ""),
		noindex(page(19, "https://example.com/hidden", "Not for an index", dedup.Unique)),
		copyOf(19, noindex(page(20, "data:text/html,<script>alert(2)</script>", "</title></style>", dedup.Near)), 0.85),
		capped(page(21, "http://docs.example/?q=%22%3E", "<!-- {{.}} ]]>", dedup.Unique)),
	})
}

// untranslated returns a source with pages that are not translated yet.
func untranslated(t testing.TB) report.Source {
	s := fill(t, []numbered{
		page(1, "https://example.com/en", "A lamp", dedup.Unique),
		inLanguages(copyOf(1, page(2, "https://example.com/de", "A lamp", dedup.Exact), 1), "de", "en"),
		inLanguages(copyOf(1, page(3, "https://example.com/fr", "A lamp", dedup.Near), 0.9), "=fr\x1b[31m<b>", "en"),
		copyOf(1, page(4, "https://example.com/copy", "A lamp", dedup.Exact), 1),
	})
	return report.FromStore(s)
}

// inLanguages returns a copy of a page that declares its own language and, for its leader, another
// language.
func inLanguages(r numbered, own, leaders string) numbered {
	r.DuplicateOf = "https://example.com/en"
	r.Alternates = []store.Alternate{{Lang: own, URL: r.URL}, {Lang: leaders, URL: r.DuplicateOf}}
	return r
}

// A numbered is a record that refers to its leader by number.
type numbered struct {
	store.Record
	num, leader uint64
}

func page(num uint64, url, title string, verdict dedup.VerdictKind) numbered {
	return numbered{store.Record{URL: url, Title: title, Kind: store.Page, Judged: store.Judged{Verdict: verdict}, History: store.History{Since: time.Unix(int64(num), 0)}}, num, 0}
}

func other(num uint64, url string, kind store.RecordKind, problem string) numbered {
	return numbered{store.Record{URL: url, Kind: kind, Fetch: store.Fetch{Problem: problem}}, num, 0}
}

func copyOf(leader uint64, r numbered, resemblance float64) numbered {
	r.leader, r.Resemblance = leader, resemblance
	return r
}

func noindex(r numbered) numbered {
	r.NoIndex = true
	return r
}

func capped(r numbered) numbered {
	r.Capped = true
	return r
}

func fill(t testing.TB, records []numbered) store.Store {
	t.Helper()
	s := storetest.NewMemory()
	ids := map[uint64]dedup.Hash{}
	for _, r := range records {
		r.ID = dedup.HashOf([]byte(r.URL))
		ids[r.num] = r.ID
		if r.leader != 0 {
			r.Leader = cmp.Or(ids[r.leader], dedup.Hash{1}) // an id that no page has, if the leader is missing
		}
		if _, err := s.Commit(context.Background(), []*store.Entry{{Record: r.Record}}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
