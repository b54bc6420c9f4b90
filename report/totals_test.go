package report_test

import (
	"bytes"
	"fmt"
	"testing"

	"skink/base/segment"
	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/store"
)

// TestFolders checks the totals by folder against times that are worked out by hand: of 1 to 20 milliseconds, ten are at
// most 10, and nineteen, which are 95%, are at most 19.
func TestFolders(t *testing.T) {
	t.Parallel()
	var all []numbered
	add := func(url string, status int, took int64) {
		r := page(uint64(len(all)+1), url, "", dedup.Unique)
		r.Status, r.Took, r.Size = status, took, 10
		all = append(all, r)
	}
	for n := range 20 {
		add(fmt.Sprintf("https://a.test/docs/%d/x.html", n), 200, int64(20-n))
		all[n].Verdict = []dedup.VerdictKind{dedup.Unique, dedup.Near, dedup.Exact, dedup.Thin}[n%4]
	}
	add("https://a.test/", 200, 0)
	add("https://a.test/page?from=/docs/", 404, 7)
	add("http://a.test/docs/", 0, 0) // not fetched
	add("notes/file.txt", 0, 0)
	table, err := report.ReadTotals(t.Context(), fill(t, all), "folders", segment.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.WriteTotals(&got, table, report.CSV); err != nil {
		t.Fatal(err)
	}
	want := "\ufeffurls,bytes,milliseconds_median,milliseconds_95,pages,duplicates,folder\n20,200,10,19,20,10,https://a.test/docs/\n2,20,0,7,2,0,https://a.test/\n" +
		"1,10,,,1,0,(no folder)\n1,10,,,1,0,http://a.test/docs/\n"
	if got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// TestMatches searches titles and texts. The first group of an expression is what is shown, a match without characters
// does not count, and private pages are marked.
func TestMatches(t *testing.T) {
	t.Parallel()
	s := storetest.NewMemory()
	for i, p := range []struct{ title, text string }{
		{"Lamp A-17", "Price: 20 EUR, or price: 35 EUR.\nprice: 20 EUR"}, {"Nothing", "No number."}, {"Price: 7", ""},
	} {
		r := page(1, fmt.Sprintf("https://a.test/%d", i+1), p.title, dedup.Unique)
		r.ID, r.Private = dedup.HashOf([]byte(r.URL)), i == 2
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r.Record, Text: store.Pack([]byte(p.text))}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ pattern, want string }{
		{`(?i)price: ([0-9]+)`, "3,https://a.test/1,,20; 35\n1,https://a.test/3,private,7\n"},
		{`(?i)price: [0-9]+`, "3,https://a.test/1,,Price: 20; price: 35; price: 20\n1,https://a.test/3,private,Price: 7\n"},
		{`A-\d+`, "1,https://a.test/1,,A-17\n"},
		{`(?m)^No(thing)?\b`, "2,https://a.test/2,,thing; \n"},
		{`z*`, ""},
		{`absent`, ""},
	} {
		table, err := report.ReadTotals(t.Context(), s, "text:"+tt.pattern, segment.Choice{})
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := report.WriteTotals(&got, table, report.CSV); err != nil {
			t.Fatal(err)
		}
		if want := "\ufeffmatches,url,private,found\n" + tt.want; got.String() != want {
			t.Errorf("%s: got %q, want %q", tt.pattern, got.String(), want)
		}
	}
	if is, err := report.HasTotals("text:(a"); !is || err == nil {
		t.Errorf("a wrong expression: %v, %v", is, err)
	}
}
