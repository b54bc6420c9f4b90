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

	"skink/dedup"
	"skink/feed"
	"skink/internal/tools/storetest"
	"skink/store"
)

// linked returns a store with a page that 150 pages link to, a redirect and a private page. want has
// the rows of its links.
func linked(t *testing.T) (s store.Store, want [][]string) {
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
				want = append(want, []string{r.URL, l.URL, l.Text, string(l.Kind), strconv.FormatBool(l.NoFollow), strconv.Itoa(i)})
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
	want = append(want, []string{"https://example.com/old", target, "", "redirect", "false", "0"})
	return s, want
}

// Each form of the link graph has every link, however many lead to one page.
func TestWriteLinks(t *testing.T) {
	s, want := linked(t)
	var b bytes.Buffer
	if n, err := feed.WriteLinks(t.Context(), &b, s, feed.Options{}); err != nil || n != len(want) {
		t.Fatalf("%d links, %v, want %d", n, err, len(want))
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(rows[1:], want) {
		t.Errorf("got %q, want %q", rows[1:], want)
	}
	var nothing bytes.Buffer
	if n, err := feed.WriteLinks(t.Context(), &nothing, storetest.NewMemory(), feed.Options{}); err != nil || n != 0 || nothing.String() != "source,target,text,kind,nofollow,position\r\n" {
		t.Errorf("without links: %d links, %q, %v", n, nothing.String(), err)
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
