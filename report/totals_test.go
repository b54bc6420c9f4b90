package report_test

import (
	"bytes"
	"fmt"
	"testing"

	"skink/dedup"
	"skink/report"
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
	}
	add("https://a.test/", 200, 0)
	add("https://a.test/page?from=/docs/", 404, 7)
	add("http://a.test/docs/", 0, 0) // not fetched
	add("notes/file.txt", 0, 0)
	table, err := report.ReadTotals(t.Context(), fill(t, all), "folders")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.WriteTotals(&got, table, report.CSV); err != nil {
		t.Fatal(err)
	}
	want := "\ufeffurls,bytes,milliseconds_median,milliseconds_95,folder\n20,200,10,19,https://a.test/docs/\n2,20,0,7,https://a.test/\n" +
		"1,10,,,http://a.test/docs/\n1,10,,,none\n"
	if got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}
