package feed_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"skink/base/table"
	"skink/dedup"
	"skink/feed"
	"skink/internal/tools/storetest"
	"skink/store"
)

// linked returns a store with a page that 150 pages link to, a redirect and a private page.
func linked(t *testing.T) (s store.Store, want []feed.Link) {
	t.Helper()
	s = storetest.NewMemory()
	add := func(r store.Record, links ...store.Link) {
		r.ID, r.Words = dedup.HashOf([]byte(r.URL)), 1
		e := &store.Entry{Record: r, Text: store.Pack([]byte("x"))}
		if len(links) > 0 {
			e.Out = store.PackLinks(r.URL, links)
		}
		if _, err := s.Commit(t.Context(), []*store.Entry{e}); err != nil {
			t.Fatal(err)
		}
		for i, l := range links {
			if !r.Private {
				want = append(want, feed.Link{Source: r.URL, Target: l.URL, Text: l.Text, Kind: l.Kind, NoFollow: l.NoFollow, Position: i})
			}
		}
	}
	const target = "https://example.com/target"
	add(store.Record{URL: target, Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{Depth: 2}}, store.Link{URL: target, Kind: store.LinkAnchor, Text: "to itself"})
	for i := range 150 {
		add(store.Record{URL: fmt.Sprint("https://example.com/", i), Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}},
			store.Link{URL: target, Kind: store.LinkAnchor, Text: fmt.Sprintf("\"quoted\", %d", i), NoFollow: i%2 == 0},
			store.Link{URL: target, Kind: store.LinkAnchor},
			store.Link{URL: "https://example.com/a.png", Kind: store.LinkImage, Text: "a picture"})
	}
	add(store.Record{URL: "https://example.com/hidden", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Private: true}, store.Link{URL: target, Kind: store.LinkAnchor})
	add(store.Record{URL: "https://example.com/old", Kind: store.Redirect, Location: target})
	want = append(want, feed.Link{Source: "https://example.com/old", Target: target, Kind: "redirect"})
	return s, want
}

// Each form of the link graph has every link, however many lead to one page.
func TestWriteLinks(t *testing.T) {
	s, want := linked(t)
	write := func(format feed.LinkFormat) []byte {
		var b bytes.Buffer
		if n, err := feed.WriteLinks(t.Context(), &b, s, format, feed.Options{}); err != nil || n != len(want) {
			t.Fatalf("%s: %d links, %v, want %d", format, n, err, len(want))
		}
		return b.Bytes()
	}
	var got []feed.Link
	for line := range strings.Lines(string(write(feed.LinksJSONLines))) {
		var l feed.Link
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("JSON Lines: got %d links, want %d", len(got), len(want))
	}
	rows, err := csv.NewReader(bytes.NewReader(write(feed.LinksCSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows[1:] {
		l := want[i]
		if w := []string{l.Source, l.Target, l.Text, string(l.Kind), strconv.FormatBool(l.NoFollow), strconv.Itoa(l.Position)}; !reflect.DeepEqual(row, w) {
			t.Errorf("CSV: got %q, want %q", row, w)
		}
	}
	b := write(feed.LinksParquet)
	r, err := table.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		text, _ := row.Value("text")
		position, _ := row.Value("position")
		if text != want[n].Text || position != int64(want[n].Position) {
			t.Errorf("Parquet: row %d has text %v at %v, want %v", n, text, position, want[n])
		}
		n++
	}
	if len(rows)-1 != len(want) || n != len(want) {
		t.Errorf("%d rows of CSV and %d of Parquet, want %d", len(rows)-1, n, len(want))
	}
	var nothing bytes.Buffer
	count, err := feed.WriteLinks(t.Context(), &nothing, storetest.NewMemory(), feed.LinksParquet, feed.Options{})
	if err != nil || count != 0 {
		t.Errorf("of no page: %d links, %v", count, err)
	}
	if _, err := table.Open(bytes.NewReader(nothing.Bytes()), int64(nothing.Len())); err != nil {
		t.Errorf("without links: %v", err)
	}
	nothing.Reset()
	if _, err := feed.WriteLinks(t.Context(), &nothing, storetest.NewMemory(), feed.LinksCSV, feed.Options{}); err != nil || nothing.String() != "source,target,text,kind,nofollow,position\r\n" {
		t.Errorf("without links: %q, %v", nothing.String(), err)
	}
}

// Fields that the caller asks for are written even if they are 0. Other optional fields are never
// written.
func TestFields(t *testing.T) {
	s, _ := linked(t)
	lines, _ := write(t, s, feed.Options{Fields: feed.Fields})
	for i, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		var d feed.Document
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		depth, inlinks, outlinks := 0, 0, 1
		if i == 0 {
			depth, inlinks = 2, 150
		}
		if d.Depth == nil || *d.Depth != depth || d.Inlinks == nil || *d.Inlinks != inlinks || len(d.Outlinks) != outlinks {
			t.Errorf("%s", line)
		}
	}
	if lines, _ := write(t, s, feed.Options{}); strings.Contains(string(lines), "inlinks") || strings.Contains(string(lines), "depth") {
		t.Errorf("fields that nobody asked for: %s", lines)
	}
}
