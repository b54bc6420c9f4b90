package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/session"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/store"
)

// TestCountsAddUp makes random histories of URLs: they are found, left out, fetched, blocked,
// postponed, put back and visited again. After each step, the counts in the status, the summary and
// the report match the URLs. No count is negative, and their sum is the number of URLs.
func TestCountsAddUp(t *testing.T) {
	ctx := context.Background()
	kinds := []store.Record{
		{Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}}, {Kind: store.Page, Judged: store.Judged{Verdict: dedup.Exact}}, {Kind: store.Page, Judged: store.Judged{Verdict: dedup.Near}}, {Kind: store.Page, Judged: store.Judged{Verdict: dedup.Thin}},
		{Kind: store.Other}, {Kind: store.Sitemap}, {Kind: store.Redirect}, {Kind: store.Blocked}, {Kind: store.Later}, {Kind: store.Later},
		{Kind: store.Error, Fetch: store.Fetch{Problem: "status 404"}}, {Kind: store.Error, Fetch: store.Fetch{Problem: "timeout", Tries: 3}}, {Kind: store.Error, Fetch: store.Fetch{Problem: "soft 404"}},
	}
	rapid.Check(t, func(r *rapid.T) {
		s := storetest.NewMemory()
		check := func(err error) {
			r.Helper()
			if err != nil {
				r.Fatal(err)
			}
		}
		urls := make([]string, rapid.IntRange(1, 12).Draw(r, "urls"))
		for i := range urls {
			urls[i] = fmt.Sprintf("https://example.com/%d", i)
		}
		clock := time.Unix(1e9, 0)
		for step := range rapid.IntRange(1, 40).Draw(r, "steps") {
			clock = clock.Add(time.Second)
			switch url := rapid.SampledFrom(urls).Draw(r, "url"); rapid.IntRange(0, 4).Draw(r, "step") {
			case 0:
				_, err := s.Discover(ctx, []frontier.Item{{URL: url}})
				check(err)
			case 1:
				_, err := s.Requeue(ctx, []frontier.Item{{URL: url, Due: clock.Add(-time.Millisecond)}})
				check(err)
			default:
				grant, err := s.Claim(ctx, "me", 1, time.Hour)
				check(err)
				if len(grant.Hosts) == 0 {
					continue
				}
				claim := grant.Hosts[0].Claim
				items, err := s.Take(ctx, claim, 1)
				check(err)
				record := rapid.SampledFrom(kinds).Draw(r, "record")
				record.ID, record.URL, record.FetchedAt = dedup.HashOf([]byte(items[0].URL)), items[0].URL, clock
				known, err := s.Pages(ctx, []dedup.Hash{record.ID}, store.WantRecord)
				check(err)
				e := &store.Entry{Record: record, Claim: claim, State: record.End(), Beyond: []string{fmt.Sprintf("https://beyond.example/%d", step)}}
				if known[0] != nil {
					e.Revisit, e.Replaces = true, known[0].Record.Updated()
				}
				outcome, err := s.Commit(ctx, []*store.Entry{e})
				check(err)
				if outcome[0] != store.Written {
					r.Fatalf("commit: %v", outcome[0])
				}
				check(s.Return(ctx, claim, frontier.Rest{}))
			}
			checkCounts(ctx, r, s)
		}
	})
}

// checkCounts compares the counts in the status, the summary and the report with the URLs of a
// store.
func checkCounts(ctx context.Context, r *rapid.T, s store.Reader) {
	n, err := s.Counts(ctx)
	if err != nil {
		r.Fatal(err)
	}
	tally, err := s.Tally(ctx)
	if err != nil {
		r.Fatal(err)
	}
	// The expected counts: each URL is in one state. Those that are blocked or postponed have a record.
	want, all := map[string]int64{}, int64(0)
	for _, st := range session.States {
		if st.State == frontier.Blocked || st.State == frontier.Postponed {
			continue
		}
		want[st.Name] = stateCount(n, st.State)
		all += want[st.Name]
	}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			r.Fatal(err)
		}
		state, err := s.State(ctx, page.Record.URL)
		if err != nil {
			r.Fatal(err)
		}
		switch {
		case state == frontier.Postponed:
			want["postponed"]++
			all++
		case state == frontier.Blocked:
			want["blocked"]++
			all++
		}
	}
	counts, err := session.ReadCounts(ctx, s)
	if err != nil {
		r.Fatal(err)
	}
	rows, sum := counts.Rows()
	byName := counts.ByName()
	if sum != all {
		r.Errorf("the rows add up to %d, and there are %d URLs", sum, all)
	}
	for _, row := range rows {
		if row.URLs != byName[row.Name] || row.URLs < 0 {
			r.Errorf("%s: %d in the table, %d by name", row.Name, row.URLs, byName[row.Name])
		}
		if row.URLs != want[row.Name] {
			r.Errorf("%s: %d, want %d (%+v, %+v)", row.Name, row.URLs, want[row.Name], n, tally)
		}
	}
	// The status and the summary have a row for each of these counts, and the report has the same
	// number of records as the store.
	st, err := readStatus(ctx, s, time.Now())
	if err != nil || st.all != all || fmt.Sprint(st.URLs) != fmt.Sprint(byName) {
		r.Errorf("the status has %v of %d URLs, %v", st.URLs, st.all, err)
	}
	text := session.Summary{Counts: counts}.String()
	if !strings.Contains(text, report.Counted(all, "URL")+"\n") || regexp.MustCompile(` -\d`).MatchString(text) {
		r.Errorf("the summary does not say %d URLs:\n%s", all, text)
	}
	var out bytes.Buffer
	if err := report.Write(ctx, &out, report.FromStore(s), report.Options{Format: report.JSON}); err != nil {
		r.Fatal(err)
	}
	var totals report.Totals
	if err := json.Unmarshal(out.Bytes(), &totals); err != nil {
		r.Fatal(err)
	}
	records := int64(0)
	for range s.Changes(ctx, "", store.WantRecord) {
		records++
	}
	if got := totals.Pages + totals.Other + totals.Redirects + totals.Errors + totals.Blocked + totals.Sitemaps + totals.Later; got != records || totals.Errors != report.Total(totals.Problems) {
		r.Errorf("the report adds up to %d records, and there are %d: %+v", got, records, totals)
	}
}

// stateCount is the number of URLs in a state.
func stateCount(n frontier.Counts, state frontier.State) int64 {
	return map[frontier.State]int64{
		frontier.Pending: n.Pending, frontier.Fetched: n.Fetched, frontier.Redirected: n.Redirected, frontier.Blocked: n.Blocked,
		frontier.Failed: n.Failed, frontier.GivenUp: n.GivenUp, frontier.Outside: n.Outside,
	}[state]
}
