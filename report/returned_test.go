package report_test

import (
	"bytes"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/store"
)

// A page that came back with another text after it had been missing is compared with the text
// before. Their resemblance is unknown, so such pages come after those with a known resemblance.
func TestReturnedPage(t *testing.T) {
	const url = "https://example.com/"
	days := func(n int) time.Time { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC) }
	at := func(n int, text string) store.Record {
		r := store.Record{ID: dedup.HashOf([]byte(url)), URL: url, Kind: store.Error, Fetch: store.Fetch{Problem: "status 404", FetchedAt: days(n)}}
		if text != "" {
			r.Kind, r.Problem, r.Verdict, r.Words, r.Hash = store.Page, "", dedup.Unique, 100, dedup.HashOf([]byte(text))
		}
		return r
	}
	s := storetest.NewMemory()
	last := at(0, "first text")
	for i, text := range []string{"", "", "second text", "second text"} {
		next := at(10*(i+1), text)
		next.Succeeds(&last, nil, 0)
		last = next
	}
	last.Private = true
	if _, err := s.Commit(t.Context(), []*store.Entry{{Record: last}}); err != nil {
		t.Fatal(err)
	}
	all, err := report.ReadChanges(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.WriteChanges(&out, all, report.Text); err != nil {
		t.Fatal(err)
	}
	want := "1 changed, 0 gone\n\nchanged  https://example.com/  (private)\n" +
		"  similarity unknown, because the page was missing in between: text of 2026-01-31T00:00:00Z, compared with the text of 2026-01-01T00:00:00Z\n"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Postponed URLs of hosts without a page are counted, too.
func TestPostponedWithoutPages(t *testing.T) {
	s := fill(t, []numbered{page(1, "https://www.example.com/", "home", dedup.Unique)})
	for _, url := range []string{"https://h257.example.com/", "https://h258.example.com/"} {
		r := store.Record{ID: dedup.HashOf([]byte(url)), URL: url, Kind: store.Later, Fetch: store.Fetch{Detail: "view of a page: *.example.com"}}
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r}}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := report.PostponedIn(t.Context(), s)
	if err != nil || len(all) != 2 || all[0].Host != "h257.example.com" || all[1].Host != "h258.example.com" {
		t.Errorf("got %+v, %v", all, err)
	}
}

// A page is gone if its URL returns anything else. The report always says what it returns.
func TestWhyGone(t *testing.T) {
	const url = "https://example.com/a"
	for _, c := range []struct {
		now  store.Record
		want string
	}{
		{store.Record{Kind: store.Error, Fetch: store.Fetch{Problem: "status 404"}, Status: 404}, "status 404"},
		{store.Record{Kind: store.Redirect, Status: 302, Location: "https://example.com/f.zip"}, "redirects to https://example.com/f.zip"},
		{store.Record{Kind: store.Other, Status: 200, ContentType: "application/zip"}, "the URL now returns a file without text: application/zip"},
		{store.Record{Kind: store.Other, Status: 200}, "the URL now returns a file without text: type unknown"},
		{store.Record{Kind: store.Sitemap, Status: 200}, "the URL now returns a sitemap"},
		{store.Record{Kind: store.Blocked, Fetch: store.Fetch{Problem: "robots.txt"}}, "robots.txt"},
		{store.Record{Kind: store.Outside}, "outside"},
	} {
		t.Run(c.want, func(t *testing.T) {
			s := storetest.NewMemory()
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			was := store.Record{ID: dedup.HashOf([]byte(url)), URL: url, Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{Words: 100, Hash: dedup.HashOf([]byte("text")), FetchedAt: at}}
			c.now.ID, c.now.URL, c.now.FetchedAt = was.ID, url, at.AddDate(0, 0, 1)
			c.now.Succeeds(&was, nil, 0)
			if _, err := s.Commit(t.Context(), []*store.Entry{{Record: c.now}}); err != nil {
				t.Fatal(err)
			}
			all, err := report.ReadChanges(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := report.WriteChanges(&out, all, report.Text); err != nil {
				t.Fatal(err)
			}
			want := "0 changed, 1 gone\n\ngone  " + url + "\n  reason: " + c.want + "; last visited at 2026-01-02T00:00:00Z\n"
			if got := out.String(); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
