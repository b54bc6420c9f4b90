package feed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"skink/dedup"
	"skink/feed"
	"skink/feed/release"
	"skink/internal/tools/storetest"
	"skink/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGolden(t *testing.T) {
	for _, test := range []struct {
		file  string
		s     store.Store
		opt   feed.Options
		lines int
	}{
		{"unique.jsonl", nasty(t), feed.Options{}, 4},
		{"all.jsonl", nasty(t), feed.Options{Filter: release.Filter{Include: release.All}}, 7},
		{"from5.jsonl", nasty(t), feed.Options{Filter: release.Filter{Include: release.Unique}, After: "4"}, 2},
		{"empty.jsonl", storetest.NewMemory(), feed.Options{Filter: release.Filter{Include: release.All}}, 0},
	} {
		t.Run(test.file, func(t *testing.T) {
			got, lines := write(t, test.s, test.opt)
			if lines != test.lines || bytes.Count(got, []byte("\n")) != test.lines {
				t.Errorf("%d lines returned, %d written, want %d", lines, bytes.Count(got, []byte("\n")), test.lines)
			}
			golden(t, filepath.Join("testdata", test.file), got)
		})
	}
}

func write(t testing.TB, s store.Store, opt feed.Options) ([]byte, int) {
	t.Helper()
	var b bytes.Buffer
	lines, err := feed.Write(context.Background(), &b, s, opt)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), lines
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update accepts it); got:\n%s", file, got)
	}
}

// The names of the fields and their order do not change, because programs rely on them.
func TestNames(t *testing.T) {
	r := &store.Record{
		URL: "u", Via: "v", CanonicalURL: "c", Fetch: store.Fetch{FetchedAt: fetched,
			Words: 1, Hash: dedup.Hash{1}}, Status: 200, ContentType: "t", Lang: "l", Title: "t",
		Description: "d", Judged: store.Judged{Verdict: dedup.Near, DuplicateOf: "d", Leader: dedup.Hash{2}, Resemblance: 0.9},
		Author: "a", PublishedAt: "2025-03-01", ModifiedAt: "2025-03-02", SiteName: "s", NoIndex: true,
	}
	want := strings.Fields(`id url redirected_from canonical_url fetched_at status content_type lang title description
		author published_at modified_at site_name text words hash verdict duplicate_of duplicate_of_id resemblance noindex`)
	if got := names(t, r, "text"); !slices.Equal(got, want) {
		t.Errorf("full\n got %q\nwant %q", got, want)
	}
	// A unique page has no leader, whatever else its record contains.
	r = &store.Record{URL: "u", Judged: store.Judged{Verdict: dedup.Unique, DuplicateOf: "d", Resemblance: 0.7}}
	if got, want := names(t, r, ""), []string{"id", "url", "verdict"}; !slices.Equal(got, want) {
		t.Errorf("bare\n got %q\nwant %q", got, want)
	}
}

func names(t *testing.T, r *store.Record, text string) []string {
	t.Helper()
	line, err := feed.Append(nil, r, text)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	var list []string
	dec.Token() // skip the opening brace
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, name.(string))
		dec.Token() // skip the value of a field
	}
	return list
}

// Append must keep dst and add one line with one line end, whatever the text.
func FuzzAppend(f *testing.F) {
	for _, text := range []string{"", "plain", "a\nb\r\n\u2028", "\u009b\x1b", "caf\xe9\xc2", "\xc2", "é\u00a0", "\ufeff<&>"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, title, text string) {
		const before = "before \u009b"
		got, err := feed.Append([]byte(before), &store.Record{URL: "u", Title: title}, text)
		if err != nil {
			t.Fatal(err)
		}
		line, ok := bytes.CutPrefix(got, []byte(before))
		if !ok || !utf8.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("bad line %q", got)
		}
		if i := bytes.IndexFunc(line[:len(line)-1], func(r rune) bool { return r < ' ' || 0x80 <= r && r <= 0x9f }); i >= 0 {
			t.Errorf("control character at %d in %q", i, line)
		}
		var back struct{ Title, Text string }
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(text)); back.Text != want { // []rune replaces each invalid byte by U+FFFD, as the feed does
			t.Errorf("text\n got %q\nwant %q", back.Text, want)
		}
	})
}

func TestWriteErrors(t *testing.T) {
	if _, err := feed.Write(context.Background(), fullDisk{}, nasty(t), feed.Options{}); !errors.Is(err, errFull) {
		t.Errorf("full disk: error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := feed.Write(ctx, new(bytes.Buffer), nasty(t), feed.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// A stream writes the lines of an export from its beginning on, each with one call of Write.
func TestStream(t *testing.T) {
	ctx, s := context.Background(), nasty(t)
	var got writes
	end, err := s.End(ctx)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := feed.NewStream(ctx, &got, s)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, store.Record{URL: "https://example.com/later", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}}, "a text")
	if err := stream.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	commit(t, s, store.Record{URL: "https://example.com/last", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Thin}}, "a text")
	if err := stream.Close(ctx); err != nil {
		t.Fatal(err)
	}
	want, lines := write(t, s, feed.Options{After: end})
	if joined := strings.Join(got, ""); joined != string(want) || len(got) != lines {
		t.Errorf("%d writes, want %d\n got %s\nwant %s", len(got), lines, joined, want)
	}
}

type writes []string

func (w *writes) Write(b []byte) (int, error) {
	*w = append(*w, string(b))
	return len(b), nil
}

// The line of a page that left the feed must not disclose what the feed excludes. It must be there
// even if the record no longer keeps the state in which the feed contained the page.
func TestGone(t *testing.T) {
	earlier := func(n int, kind dedup.VerdictKind) (all []store.Visit) {
		for i := range n {
			all = append(all, store.Visit{At: fetched.Add(-time.Duration(i) * time.Hour), Words: 90, Verdict: kind})
		}
		return all
	}
	id := func(url string) string { return dedup.HashOf([]byte(url)).String() }
	const secret, page = "https://example.com/salaries?token=1", "https://example.com/page"
	for _, c := range []struct {
		name   string
		record store.Record
		opt    feed.Options
		want   string
	}{
		{"private", store.Record{URL: secret, Title: "Salaries", Judged: store.Judged{Verdict: dedup.Unique}, Private: true, History: store.History{Earlier: earlier(1, dedup.Unique)}}, feed.Options{},
			`{"id":"` + id(secret) + `","url":"","change":"gone"}`},
		{"content signals", store.Record{URL: page, Title: "Title", Judged: store.Judged{Verdict: dedup.Unique}, Signals: "ai-train=no", History: store.History{Earlier: earlier(1, dedup.Unique)}}, feed.Options{Filter: release.Filter{NoSignals: []string{"ai-train=no"}}},
			`{"id":"` + id(page) + `","url":"` + page + `","change":"gone"}`},
		{"a duplicate for a long time", store.Record{URL: page, Judged: store.Judged{Verdict: dedup.Near}, History: store.History{Earlier: earlier(store.MaxVisits, dedup.Near)}}, feed.Options{},
			`{"id":"` + id(page) + `","url":"` + page + `","fetched_at":"2025-03-01T07:30:00Z","words":90,"verdict":"near","change":"gone"}`},
		{"a duplicate since the beginning", store.Record{URL: page, Judged: store.Judged{Verdict: dedup.Near}, History: store.History{Earlier: earlier(2, dedup.Near)}}, feed.Options{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storetest.NewMemory()
			c.record.Kind, c.record.Words, c.record.FetchedAt = store.Page, 90, fetched
			commit(t, s, c.record, "text")
			c.opt.Changes = true
			if got, _ := write(t, s, c.opt); strings.TrimSpace(string(got)) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
