package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skink/crawler"
	"skink/crawler/wire"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/warc"
)

// page returns page n, with an answer of the server.
func page(n int) *crawler.Page {
	url := fmt.Sprintf("https://example.com/%d", n)
	at := time.Date(2026, 1, 2, 12, 0, n, 5, time.UTC)
	body := fmt.Sprintf("<p>Page %d.", n)
	return &crawler.Page{Item: frontier.Item{URL: url}, FetchedAt: at, Status: 200, Body: []byte(body), Raw: &wire.Raw{
		URL: url, At: at, Protocol: "http/1.1", Address: "192.0.2.1",
		Request: []byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
		Head:    []byte("HTTP/1.1 200 OK\r\nx-odd: 1\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"),
		Body:    []byte(body),
	}}
}

func recordOf(p *crawler.Page) store.Record {
	return store.Record{ID: dedup.HashOf([]byte(p.Item.URL)), URL: p.Item.URL, Kind: store.Page, Status: p.Status, Fetch: store.Fetch{FetchedAt: p.FetchedAt}, Judged: store.Judged{Verdict: dedup.Unique}}
}

func commit(t *testing.T, a *Archive, p *crawler.Page, e *store.Entry) store.Outcome {
	t.Helper()
	outcome, err := a.Answer(p)(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func open(t *testing.T, dir string, s store.Store, opt Options) *Archive {
	t.Helper()
	a, lost, err := Open(t.Context(), dir, s, opt)
	if err != nil || lost > 0 {
		t.Fatalf("%v; %d answers are lost", err, lost)
	}
	return a
}

// abandon leaves an archive as a killed process would.
func (a *Archive) abandon() {
	_ = a.drop()
}

// listing lists the records of all files of an archive: the type of each and the end of its URL. It
// fails the test unless the position in the record of each page of the store is that of the page's
// answer.
func listing(t *testing.T, dir string, s store.Reader) string {
	t.Helper()
	places := map[store.Archived]string{}
	for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []store.Archived{c.Record.Archive, c.Record.Answered} {
			if at.Digest = ""; at.File != "" {
				places[at] = c.Record.URL
			}
		}
	}
	var all []string
	names, err := filepath.Glob(filepath.Join(dir, "*.warc.gz*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(filepath.Base(name), opening)
		r := warc.NewReader(bytes.NewReader(content))
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				_, err = io.Copy(io.Discard, rec.Block)
			}
			if err != nil {
				t.Errorf("%s: %v", base, err)
				continue
			}
			kind := string(rec.Type())
			if rec.Header.Get(corpus.PageField) == corpus.NotPage {
				kind = "other"
			}
			all = append(all, strings.TrimPrefix(kind+" "+rec.URI(), "warcinfo ")+"")
			place := store.Archived{File: base, Offset: rec.Offset, Length: rec.Length}
			if url, ok := places[place]; ok {
				if url != rec.URI() {
					t.Errorf("%s stands where %s should", rec.URI(), url)
				}
				delete(places, place)
			} else if kind == "response" {
				t.Errorf("%s at offset %d of %s is no page of the store", rec.URI(), rec.Offset, base)
			}
		}
	}
	for place, url := range places {
		t.Errorf("%s is not at %+v", url, place)
	}
	return strings.ReplaceAll(strings.Join(all, ", "), "https://example.com/", "")
}

// The archive gets the right records for a page, a repeated page, a URL without an answer, and an
// answer that is not a page.
func TestRecords(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	a := open(t, dir, s, Options{Info: warc.Header{{Name: "software", Value: "a test"}}})
	first := recordOf(page(1))
	commit(t, a, page(1), &store.Entry{Record: first})
	second := recordOf(page(2))
	second.Verdict, second.Leader, second.DuplicateOf, second.Resemblance = dedup.Near, first.ID, first.URL, .875
	commit(t, a, page(2), &store.Entry{Record: second})
	third := page(3)
	third.Raw, third.Status, third.Problem, third.Detail = nil, 0, crawler.ProblemDNS, "no such host"
	commit(t, a, third, &store.Entry{Record: recordOf(third)})
	a.Keep(page(4).Raw)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, dir, s), ", response 1, request 1, response 2, request 2, metadata 2, metadata 3, other 4, request 4"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for _, want := range []string{
		"WARC-Type: response\r\nWARC-Target-URI: https://example.com/1\r\nWARC-Date: 2026-01-02T12:00:01.000000005Z\r\nContent-Type: application/http; msgtype=response\r\nWARC-IP-Address: 192.0.2.1\r\nWARC-Protocol: http/1.1\r\n",
		"\r\n\r\nHTTP/1.1 200 OK\r\nx-odd: 1\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\n<p>Page 1.\r\n\r\n",
		`{"verdict":"near","resemblance":0.875}`,
		`{"problem":"dns","detail":"no such host"}`,
		"software: a test\r\n",
	} {
		if !strings.Contains(unpacked(t, dir), want) {
			t.Errorf("the archive lacks\n%s", want)
		}
	}
}

// unpacked returns the decompressed content of the first file of an archive.
func unpacked(t *testing.T, dir string) string {
	t.Helper()
	names, err := corpus.Archives(dir, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	f, err := names[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	w := warc.NewWriter(&b, warc.Options{Plain: true})
	r := warc.NewReader(f)
	for rec, err := r.Next(); err != io.EOF; rec, err = r.Next() {
		if err == nil {
			err = w.Write(rec)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// The stored head of an answer has the right Content-Length and no Transfer-Encoding.
func TestStoredHead(t *testing.T) {
	for _, test := range []struct{ why, head, body, want string }{
		{"a length that is right", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nA: b\r\n\r\n", "body", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nA: b\r\n\r\n"},
		{"none", "HTTP/1.0 200 OK\r\nA: b\r\n\r\n", "body", "HTTP/1.0 200 OK\r\nA: b\r\nContent-Length: 4\r\n\r\n"},
		{"chunks", "HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: gzip,\r\n chunked\r\nA: b\r\n\r\n", "body", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nA: b\r\n\r\n"},
		{"two that say the same", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nA: b\r\nContent-Length: 9\r\n\r\n", "body", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nA: b\r\n\r\n"},
		{"the length of what is not sent", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"},
		{"no length where none may be", "HTTP/1.1 204 No Content\r\n\r\n", "", "HTTP/1.1 204 No Content\r\n\r\n"},
		{"an empty body", "HTTP/1.1 200 OK\r\n\r\n", "", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{"no carriage returns", "HTTP/1.1 200 OK\nA: b\n\n", "body", "HTTP/1.1 200 OK\nA: b\nContent-Length: 4\r\n\n"},
	} {
		if got := string(storedHead(&wire.Raw{Head: []byte(test.head), Body: []byte(test.body)})); got != test.want {
			t.Errorf("%s\n got %q\nwant %q", test.why, got, test.want)
		}
	}
}

// The head of a response with status 304 gets the media type of the original, if it has none.
func TestWithType(t *testing.T) {
	for _, c := range [][3]string{
		{"HTTP/1.1 304 Not Modified\r\nETag: a\r\n\r\n", "text/html", "HTTP/1.1 304 Not Modified\r\nETag: a\r\nContent-Type: text/html\r\n\r\n"},
		{"HTTP/1.1 304 Not Modified\r\ncontent-type: text/css\r\n\r\n", "text/html", "HTTP/1.1 304 Not Modified\r\ncontent-type: text/css\r\n\r\n"},
		{"HTTP/1.1 304 Not Modified\n\n", "text/html", "HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\n\r\n"},
		{"HTTP/1.1 304 Not Modified\r\n\r\n", "", "HTTP/1.1 304 Not Modified\r\n\r\n"},
	} {
		if got := string(withType([]byte(c[0]), c[1])); got != c[2] {
			t.Errorf("%q with %q: got %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// Whatever files a process leaves when it dies, the next process makes the archive and the store
// consistent.
func TestResume(t *testing.T) {
	all := func(t *testing.T, dir, end string) string {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(dir, "*"+end))
		if err != nil || len(names) != 1 {
			t.Fatalf("files that end in %s: %q, %v", end, names, err)
		}
		return names[0]
	}
	for _, test := range []struct {
		why   string
		leave func(t *testing.T, a *Archive, dir string)
		want  string // listing after another page was written
		lost  int
	}{
		{"nothing unusual", func(*testing.T, *Archive, string) {}, ", response 1, request 1, response 2, request 2, metadata 2, , response 9, request 9", 0},
		{"an answer that was not committed", func(t *testing.T, a *Archive, _ string) {
			p, err := a.answer(page(3).Raw, fieldsOf(page(3), corpus.IsPage, ""))
			if err := errors.Join(err, a.public.write(p.records)); err != nil {
				t.Error(err)
			}
		}, ", response 1, request 1, response 2, request 2, metadata 2, , response 9, request 9", 0},
		{"a part of an answer", func(t *testing.T, a *Archive, _ string) {
			p, err := a.answer(page(3).Raw, fieldsOf(page(3), corpus.IsPage, ""))
			if err := errors.Join(err, a.public.write(p.records[:50])); err != nil {
				t.Error(err)
			}
		}, ", response 1, request 1, response 2, request 2, metadata 2, , response 9, request 9", 0},
		{"an answer that is no page", func(_ *testing.T, a *Archive, _ string) { a.Keep(page(3).Raw) }, ", response 1, request 1, response 2, request 2, metadata 2, , response 9, request 9", 0},
		{"an index, and a file that is not closed", func(t *testing.T, a *Archive, _ string) {
			if err := writeIndex(a.path(indexName(a.public.mark.name())), a.public.entries); err != nil {
				t.Error(err)
			}
		}, ", response 1, request 1, response 2, request 2, metadata 2, , response 9, request 9", 0},
		{"a closed file, and no next", func(t *testing.T, a *Archive, _ string) {
			f := a.public.file
			if err := a.public.finish(); err != nil {
				t.Error(err)
			}
			a.public.file = f
		}, ", response 1, request 1, response 2, request 2, metadata 2, , response 9, request 9", 0},
		{"a mark of a file that is not there", func(t *testing.T, a *Archive, _ string) {
			f := a.public.file
			if err := a.public.finish(); err != nil {
				t.Error(err)
			}
			a.public.file = f
			a.public.mark.Serial++
			a.public.mark.Cursor, _ = a.store.End(t.Context())
			if err := a.public.writeMark(t.Context()); err != nil {
				t.Error(err)
			}
		}, ", response 1, request 1, response 2, request 2, metadata 2, , response 9, request 9", 0},
		{"an empty file", func(t *testing.T, a *Archive, dir string) {
			if err := a.public.next(t.Context()); err != nil {
				t.Error(err)
			}
			if err := a.public.file.Truncate(0); err != nil {
				t.Error(err)
			}
		}, ", response 1, request 1, response 2, request 2, metadata 2, , response 9, request 9", 0},
	} {
		t.Run(test.why, func(t *testing.T) {
			dir, s := t.TempDir(), storetest.NewMemory()
			a := open(t, dir, s, Options{})
			commit(t, a, page(1), &store.Entry{Record: recordOf(page(1))})
			second := recordOf(page(2))
			second.Verdict, second.Leader = dedup.Near, recordOf(page(1)).ID
			commit(t, a, page(2), &store.Entry{Record: second})
			test.leave(t, a, dir)
			a.abandon()
			a = open(t, dir, s, Options{})
			commit(t, a, page(9), &store.Entry{Record: recordOf(page(9))})
			all(t, dir, opening)
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			if got := listing(t, dir, s); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			left, err := filepath.Glob(filepath.Join(dir, "*"+opening))
			if err != nil || len(left) > 0 {
				t.Errorf("left over: %q, %v", left, err)
			}
		})
	}
}

// A power failure can destroy answers of pages that the store has. The lost answers are counted, and no
// other answer is written at their positions.
func TestPowerCut(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	a := open(t, dir, s, Options{})
	for n := range 5 {
		commit(t, a, page(n), &store.Entry{Record: recordOf(page(n))})
	}
	if err := a.public.file.Truncate(a.public.entries[3].Offset + 10); err != nil {
		t.Fatal(err)
	}
	a.abandon()
	a, lost, err := Open(t.Context(), dir, s, Options{})
	if err != nil || lost != 2 {
		t.Fatalf("%d answers are lost, %v", lost, err)
	}
	commit(t, a, page(9), &store.Entry{Record: recordOf(page(9))})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	pages, err := s.Pages(t.Context(), []dedup.Hash{recordOf(page(3)).ID, recordOf(page(9)).ID}, store.WantRecord)
	if err != nil || pages[0].Record.Archive.File == pages[1].Record.Archive.File {
		t.Errorf("%v: a file in which answers are missing goes on", err)
	}
}

// A page whose answer was lost in a power failure is fetched again, and the new answer replaces the
// lost one. It is stored as a whole even if it has the same bytes, because a revisit record would
// refer to a missing record.
func TestPowerCutFetchedAgain(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	a := open(t, dir, s, Options{})
	for n := range 4 {
		commit(t, a, page(n), &store.Entry{Record: recordOf(page(n))})
	}
	if err := a.public.file.Truncate(a.public.entries[2].Offset + 10); err != nil {
		t.Fatal(err)
	}
	a.abandon()
	if unfinished, err := Unfinished(t.Context(), dir, s, ""); err != nil || !unfinished {
		t.Errorf("unfinished: %t, %v", unfinished, err)
	}
	a, lost, err := Open(t.Context(), dir, s, Options{})
	if err != nil || lost != 2 {
		t.Fatalf("%d answers are lost, %v", lost, err)
	}
	counts, err := s.Counts(t.Context())
	if err != nil || counts.Pending != 2 {
		t.Errorf("%d URLs are put back, %v; want 2", counts.Pending, err)
	}
	for n := range 4 { // all four pages are visited again; the answers of the two that are not lost become revisit records
		pages, err := s.Pages(t.Context(), []dedup.Hash{recordOf(page(n)).ID}, store.WantRecord)
		if err != nil {
			t.Fatal(err)
		}
		again := pages[0].Record
		again.Visit, again.VisitedAt = store.Same, page(n+10).FetchedAt
		commit(t, a, page(n), &store.Entry{Record: again, Touch: true})
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if unfinished, err := Unfinished(t.Context(), dir, s, ""); err != nil || unfinished {
		t.Errorf("unfinished: %t, %v", unfinished, err)
	}
	want := ", response 0, request 0, response 1, request 1, , revisit 0, request 0, revisit 1, request 1, response 2, request 2, response 3, request 3"
	if got := listing(t, dir, s); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// If the archive is in another folder, no second archive is begun. If its files were moved, the
// archive is resumed.
func TestMoved(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	a := open(t, filepath.Join(dir, "a"), s, Options{})
	commit(t, a, page(1), &store.Entry{Record: recordOf(page(1))})
	a.abandon()
	if _, _, err := Open(t.Context(), filepath.Join(dir, "b"), s, Options{}); !errors.Is(err, ErrElsewhere) {
		t.Errorf("begun elsewhere: %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "b")), os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b"))); err != nil {
		t.Fatal(err)
	}
	a = open(t, filepath.Join(dir, "b"), s, Options{})
	commit(t, a, page(2), &store.Entry{Record: recordOf(page(2))})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, filepath.Join(dir, "b"), s), ", response 1, request 1, , response 2, request 2"; got != want {
		t.Errorf("got %s", got)
	}
	if where, err := FolderOf(t.Context(), s, ""); err != nil || where != filepath.Join(dir, "b") {
		t.Errorf("it is in %s, %v", where, err)
	}
}

// Pages are committed at once, some of them with stale verdicts. The answer of each page is at the
// position in its record, and the files have about the right size.
func TestAtOnce(t *testing.T) {
	const pages = 200
	dir, s := t.TempDir(), storetest.NewMemory()
	a := open(t, dir, staleNow{s, new(sync.Mutex), map[string]bool{}}, Options{Size: 20_000})
	var all sync.WaitGroup
	for n := range pages {
		all.Go(func() {
			p := page(n)
			do := a.Answer(p)
			for {
				outcome, err := do(t.Context(), &store.Entry{Record: recordOf(p)})
				if err != nil {
					t.Error(err)
				}
				if outcome != store.Stale {
					return
				}
			}
		})
	}
	all.Wait()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(listing(t, dir, s), "response"); got != pages {
		t.Errorf("%d answers of %d pages", got, pages)
	}
	files, err := corpus.Archives(dir, func(string) {})
	if err != nil || len(files) < 3 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// staleNow is a store that refuses every third entry as stale, once.
type staleNow struct {
	*storetest.Memory
	mu   *sync.Mutex
	seen map[string]bool
}

func (s staleNow) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range entries {
		if first := !s.seen[e.Record.URL]; first && len(s.seen)%3 == 0 {
			s.seen[e.Record.URL] = true
			outcomes, err := s.Memory.Commit(ctx, entries[:i])
			return slices.Concat(outcomes, make([]store.Outcome, len(entries)-i)), err
		}
		s.seen[e.Record.URL] = true
	}
	return s.Memory.Commit(ctx, entries)
}

// After a visit that finds a page unchanged, the page's record still points to the first answer.
// The new answer becomes a revisit record if it has the same bytes or no body. It is in the archive
// even after a crash.
func TestRevisits(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	a := open(t, dir, s, Options{})
	commit(t, a, page(1), &store.Entry{Record: recordOf(page(1))})
	first := known(t, s, 1)

	same := page(1)
	same.Raw.At = same.Raw.At.Add(time.Hour)
	commit(t, a, same, &store.Entry{Record: *first, Touch: true, Replaces: first.Updated()})
	if r := known(t, s, 1); r.Archive != first.Archive || r.Answered == (store.Archived{}) {
		t.Errorf("after a visit with the same bytes the record says %+v and %+v", r.Archive, r.Answered)
	}
	unmodified := page(1)
	unmodified.NotModified, unmodified.Status, unmodified.Body = true, 304, nil
	unmodified.Raw.Head, unmodified.Raw.Body = []byte("HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"), nil
	unmodified.Raw.At = unmodified.Raw.At.Add(2 * time.Hour)
	now := known(t, s, 1)
	commit(t, a, unmodified, &store.Entry{Record: *now, Touch: true, Replaces: now.Updated()})
	a.abandon()
	a = open(t, dir, s, Options{})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, dir, s), ", response 1, request 1, revisit 1, request 1, revisit 1, request 1"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	all := unpacked(t, dir)
	id := all[strings.Index(all, "WARC-Type: response"):]
	id = id[strings.Index(id, "WARC-Record-ID: ")+16:]
	id = id[:strings.Index(id, "\r\n")]
	for _, want := range []string{
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\nWARC-Refers-To: " + id + "\r\nWARC-Refers-To-Target-URI: https://example.com/1\r\nWARC-Refers-To-Date: 2026-01-02T12:00:01Z\r\nWARC-Payload-Digest: " + first.Archive.Digest,
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\nWARC-Refers-To: " + id,
		"\r\n\r\nHTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n\r\n\r\n",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the archive lacks\n%s", want)
		}
	}
}

// known returns the stored record of page n.
func known(t *testing.T, s store.Reader, n int) *store.Record {
	t.Helper()
	pages, err := s.Pages(t.Context(), []dedup.Hash{recordOf(page(n)).ID}, store.WantRecord)
	if err != nil || pages[0] == nil {
		t.Fatalf("page %d: %v", n, err)
	}
	return &pages[0].Record
}

// Workers that share a store have separate archives, even in the same folder.
func TestWorkers(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	one, two := open(t, dir, s, Options{Worker: "a/1"}), open(t, dir, s, Options{Worker: "b"})
	commit(t, one, page(1), &store.Entry{Record: recordOf(page(1))})
	commit(t, two, page(2), &store.Entry{Record: recordOf(page(2))})
	commit(t, one, page(3), &store.Entry{Record: recordOf(page(3))})
	one.abandon()
	one = open(t, dir, s, Options{Worker: "a/1"})
	if err := errors.Join(one.Close(), two.Close()); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, dir, s), ", response 1, request 1, response 3, request 3, , response 2, request 2"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// When the store fails, nothing more is written, and all waiting calls return the error.
func TestStoreFails(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("no room")
	s := &failingStore{Memory: storetest.NewMemory()}
	a := open(t, dir, s, Options{})
	s.err = broken
	for n := range 2 {
		if _, err := a.Answer(page(n))(t.Context(), &store.Entry{Record: recordOf(page(n))}); !errors.Is(err, broken) {
			t.Errorf("page %d: %v", n, err)
		}
	}
	if err := a.Close(); !errors.Is(err, broken) {
		t.Errorf("closed with %v", err)
	}
	s.err = nil
	a = open(t, dir, s, Options{})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := listing(t, dir, s); got != "" {
		t.Errorf("the archive holds %s", got)
	}
}

type failingStore struct {
	*storetest.Memory
	err error
}

func (s *failingStore) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Memory.Commit(ctx, entries)
}

// The pages that were written to an archive can be read from it.
func TestPages(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	a := open(t, dir, s, Options{})
	gone := page(2)
	gone.Raw.Head, gone.Status = []byte("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"), 404
	moved := page(3)
	moved.Raw.Head, moved.Status = []byte("HTTP/1.1 301 Moved\r\nLocation: /1\r\n\r\n"), 301
	cut := page(4)
	cut.Raw.Cut = wire.CutLength
	silent := page(5)
	silent.Raw, silent.Problem, silent.Detail = nil, crawler.ProblemConnect, "nobody is there"
	for _, p := range []*crawler.Page{page(1), gone, moved, cut, silent} {
		commit(t, a, p, &store.Entry{Record: recordOf(p)})
	}
	a.Keep(page(6).Raw)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"https://example.com/1": "200 text/html <p>Page 1.",
		"https://example.com/2": "404 text/html <p>Page 2. status: 404 Not Found",
		"https://example.com/3": "301  <p>Page 3. to https://example.com/1",
		"https://example.com/4": "200 text/html <p>Page 4. too large: the body is larger than the limit",
		"https://example.com/5": "0   connect: nobody is there",
	}
	got := map[string]string{}
	names, err := corpus.Archives(dir, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	f, err := names[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = corpus.ReadArchive(t.Context(), f, "a", crawler.Defaults(), corpus.Notes{Damaged: func(err error) { t.Error(err) }, Odd: func(err error) { t.Error(err) }, Passed: func(string) {}}, func(p *crawler.Page, at store.Archived, _ corpus.Order) error {
		text := fmt.Sprintf("%d %s %s", p.Status, p.Header.Get("Content-Type"), p.Body)
		if p.Problem != "" {
			text += fmt.Sprintf(" %s: %s", p.Problem, p.Detail)
		}
		if p.Location != "" {
			text += " to " + p.Location
		}
		got[p.Item.URL] = text
		return nil
	})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v\n got %q\nwant %q", err, got, want)
	}
}

// Adopting a file that a dead process left open has the same result as if that process had closed
// it. If the worker is started again, it begins the next file.
func TestAdopt(t *testing.T) {
	for _, test := range []struct {
		why    string
		leave  func(t *testing.T, a *Archive)
		closed bool
		lost   int
		want   string // listing after another page of the worker was written
	}{
		{"nothing unusual", func(*testing.T, *Archive) {}, true, 0, ", response 1, request 1, response 2, request 2, , response 9, request 9"},
		{"an answer that was not committed", func(t *testing.T, a *Archive) {
			p, err := a.answer(page(3).Raw, fieldsOf(page(3), corpus.IsPage, ""))
			if err := errors.Join(err, a.public.write(p.records)); err != nil {
				t.Error(err)
			}
		}, true, 0, ", response 1, request 1, response 2, request 2, , response 9, request 9"},
		{"a part of an answer", func(t *testing.T, a *Archive) {
			p, err := a.answer(page(3).Raw, fieldsOf(page(3), corpus.IsPage, ""))
			if err := errors.Join(err, a.public.write(p.records[:50])); err != nil {
				t.Error(err)
			}
		}, true, 0, ", response 1, request 1, response 2, request 2, , response 9, request 9"},
		{"an empty file", func(t *testing.T, a *Archive) {
			if err := a.public.next(t.Context()); err != nil {
				t.Error(err)
			}
			if err := a.public.file.Truncate(0); err != nil {
				t.Error(err)
			}
		}, false, 0, ", response 1, request 1, response 2, request 2, , response 9, request 9"},
		{"a file without its last answer", func(t *testing.T, a *Archive) {
			if err := a.public.file.Truncate(a.public.entries[1].Offset + 10); err != nil {
				t.Error(err)
			}
		}, true, 1, ""},
	} {
		t.Run(test.why, func(t *testing.T) {
			dir, s := t.TempDir(), storetest.NewMemory()
			other := open(t, dir, s, Options{Worker: "other"})
			a := open(t, dir, s, Options{Worker: "a-1"})
			commit(t, a, page(1), &store.Entry{Record: recordOf(page(1))})
			commit(t, a, page(2), &store.Entry{Record: recordOf(page(2))})
			test.leave(t, a)
			a.abandon()
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			found := opened(t, dir, s)
			if len(found) != 1 || found[0].Worker != "a-1" {
				t.Fatalf("open are %+v, want one file of a-1", found)
			}
			if test.lost > 0 {
				if _, lost, err := Adopt(t.Context(), dir, s, found[0], nil); lost != test.lost || !errors.Is(err, ErrLacking) {
					t.Errorf("without a way to put URLs back: %d are lost, %v; want %d, %v", lost, err, test.lost, ErrLacking)
				}
			}
			closed, lost, err := Adopt(t.Context(), dir, s, found[0], s.Requeue)
			if closed != test.closed || lost != test.lost || err != nil {
				t.Errorf("closed: %t, %d are lost, %v; want %t, %d", closed, lost, err, test.closed, test.lost)
			}
			if counts, err := s.Counts(t.Context()); err != nil || int(counts.Pending) != test.lost {
				t.Errorf("%d URLs are put back, %v; want %d", counts.Pending, err, test.lost)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "*"+opening)); err != nil || len(left) > 0 {
				t.Errorf("left over: %q, %v", left, err)
			}
			if test.lost > 0 {
				return
			}
			a = open(t, dir, s, Options{Worker: "a-1"})
			commit(t, a, page(9), &store.Entry{Record: recordOf(page(9))})
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Trim(listing(t, dir, s), ", "); ", "+got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func opened(t *testing.T, dir string, s store.Reader) []LeftOpen {
	t.Helper()
	all, err := Opened(t.Context(), dir, s)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The file of a live process is not adopted. If many processes adopt a file at once, one succeeds.
func TestAdoptOnce(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	a := open(t, dir, s, Options{Worker: "a"})
	commit(t, a, page(1), &store.Entry{Record: recordOf(page(1))})
	a.Keep(page(2).Raw)
	found := opened(t, dir, s)
	if len(found) != 1 {
		t.Fatalf("open are %+v, want one file", found)
	}
	if closed, _, err := Adopt(t.Context(), dir, s, found[0], nil); closed || !errors.Is(err, ErrLocked) {
		t.Errorf("while its process lives: closed %t, %v; want %v", closed, err, ErrLocked)
	}
	if _, _, err := Open(t.Context(), dir, s, Options{Worker: "a"}); !errors.Is(err, ErrLocked) {
		t.Errorf("opened a second time under its name: %v; want %v", err, ErrLocked)
	}
	commit(t, a, page(3), &store.Entry{Record: recordOf(page(3))})
	a.abandon()
	var done atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch closed, _, err := Adopt(t.Context(), dir, s, found[0], nil); {
			case closed:
				done.Add(1)
			case err != nil && !errors.Is(err, ErrLocked):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if done.Load() != 1 {
		t.Errorf("%d adopted the file, want one", done.Load())
	}
	if got, want := listing(t, dir, s), ", response 1, request 1, other 2, request 2, response 3, request 3"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
