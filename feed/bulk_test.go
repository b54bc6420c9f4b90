package feed_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/feed"
	"skink/feed/release"
	"skink/internal/tools/storetest"
	"skink/store"
)

// An indexServer answers like Elasticsearch and OpenSearch, with the failures that a test sets.
type indexServer struct {
	*httptest.Server
	mu       sync.Mutex
	docs     map[string]map[string]any // documents by id
	requests int
	tooLarge int                                 // number of requests refused because of their size
	most     int                                 // greatest size of a bulk in bytes; 0 means no limit
	refuse   func(n int) int                     // status for the nth request; 0 means that the request is accepted
	broken   func(n int) bool                    // whether the connection breaks after the nth request was carried out
	item     func(n int, id string) (status int) // status for an item of the nth request; 0 means that the item is accepted
	header   func(n int, h http.Header)          // called with the header of each request
	answer   func(items []any)                   // changes the server's answer for the items
}

func newIndexServer(t *testing.T) *indexServer {
	s := &indexServer{docs: map[string]map[string]any{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *indexServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	body, _ := io.ReadAll(r.Body)
	if s.header != nil {
		s.header(s.requests, r.Header)
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/pages/_bulk" || r.Header.Get("Content-Type") != "application/x-ndjson" || len(body) == 0 || body[len(body)-1] != '\n':
		http.Error(w, `{"error":"not a bulk"}`, http.StatusBadRequest)
		return
	case s.most > 0 && len(body) > s.most:
		s.tooLarge++
		http.Error(w, "", http.StatusRequestEntityTooLarge)
		return
	}
	if s.refuse != nil {
		if status := s.refuse(s.requests); status != 0 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, `{"error":{"type":"security_exception","reason":"missing credentials"}}`, status)
			return
		}
	}
	items := s.carryOut(string(body))
	if s.answer != nil {
		s.answer(items)
	}
	if s.broken != nil && s.broken(s.requests) {
		panic(http.ErrAbortHandler)
	}
	json.NewEncoder(w).Encode(map[string]any{"took": 1, "errors": true, "items": items})
}

// carryOut carries out the actions of a bulk, and returns the answer for each item.
func (s *indexServer) carryOut(body string) (items []any) {
	in := bufio.NewScanner(strings.NewReader(body))
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var action map[string]struct {
			ID string `json:"_id"`
		}
		json.Unmarshal(in.Bytes(), &action)
		for name, a := range action {
			var doc map[string]any
			if name == "index" {
				in.Scan()
				json.Unmarshal(in.Bytes(), &doc)
			}
			status := 0
			if s.item != nil {
				status = s.item(s.requests, a.ID)
			}
			answer := map[string]any{"_index": "pages", "_id": a.ID, "status": 200}
			switch {
			case status != 0:
				answer["status"], answer["error"] = status, map[string]any{"type": "es_rejected_execution_exception", "reason": "busy"}
			case name == "index":
				s.docs[a.ID] = doc
			case s.docs[a.ID] == nil:
				answer["status"], answer["result"] = 404, "not_found"
			default:
				delete(s.docs, a.ID)
			}
			items = append(items, map[string]any{name: answer})
		}
	}
	return items
}

// urls returns the URLs of the documents in the index.
func (s *indexServer) urls() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, doc := range s.docs {
		if doc["id"] != id {
			all = append(all, fmt.Sprintf("%v under another id", doc["url"]))
			continue
		}
		all = append(all, fmt.Sprint(doc["url"]))
	}
	slices.Sort(all)
	return all
}

// bulkPages commits n pages, every fourth of which is a duplicate, and returns the URLs of the
// others.
func bulkPages(t *testing.T, s store.Store, n int) (fed []string) {
	for i := range n {
		url := fmt.Sprintf("http://a.test/%03d", i)
		v := dedup.Unique
		if i%4 == 3 {
			v = dedup.Near
		} else {
			fed = append(fed, url)
		}
		commit(t, s, store.Record{URL: url, Kind: store.Page, Judged: store.Judged{Verdict: v}, Fetch: store.Fetch{Words: 100}}, strings.Repeat("text ", 20))
	}
	return fed
}

// Whatever failures a server has, its index finally contains each document of the feed once.
func TestBulk(t *testing.T) {
	once := map[string]bool{}
	for name, set := range map[string]func(s *indexServer){
		"well":                        func(s *indexServer) {},
		"bulks are too large":         func(s *indexServer) { s.most = 2000 },
		"the server is busy at first": func(s *indexServer) { s.refuse = func(n int) int { return []int{429, 503, 502, 0}[min(n-1, 3)] } },
		"single items are too much": func(s *indexServer) {
			s.item = func(n int, id string) int { return map[bool]int{true: 429}[n < 4 && id[0]%2 == 0] }
		},
		"each item is, once": func(s *indexServer) {
			s.item = func(n int, id string) int { seen := once[id]; once[id] = true; return map[bool]int{false: 503}[seen] }
		},
		"another writer is at the documents": func(s *indexServer) {
			s.item = func(n int, id string) int { return map[bool]int{true: 409}[n < 3] }
		},
		"the server has trouble with items": func(s *indexServer) {
			s.item = func(n int, id string) int { return map[bool]int{true: 500}[n < 3 && id[0]%2 == 0] }
		},
		"the answer is lost": func(s *indexServer) { s.broken = func(n int) bool { return n == 1 } },
	} {
		t.Run(name, func(t *testing.T) {
			s, server := storetest.NewMemory(), newIndexServer(t)
			want := bulkPages(t, s, 40)
			set(server)
			b, err := feed.NewBulk(s, feed.BulkOptions{URL: server.URL + "/pages", Wait: time.Millisecond, Bytes: 4000})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := server.urls(); !slices.Equal(got, want) {
				t.Errorf("the index has %d documents %q, want %d", len(got), got, len(want))
			}
			if sent, deleted, refused := b.Counts(); sent != len(want) || deleted != 0 || refused != 0 {
				t.Errorf("%d sent, %d deleted, %d refused", sent, deleted, refused)
			}
			asked := server.requests
			if err := b.Close(t.Context()); err != nil || server.requests != asked {
				t.Errorf("nothing is new, and the server is asked: %v", err)
			}
		})
	}
}

// After a server has refused a bulk because of its size, it gets no more bulks of that size.
func TestBulkSmaller(t *testing.T) {
	s, server := storetest.NewMemory(), newIndexServer(t)
	const pages = 60
	for n := range pages {
		commit(t, s, store.Record{URL: fmt.Sprintf("http://a.test/%d", n), Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{Words: 9}}, strings.Repeat("large ", 3400))
	}
	server.most = 150_000 // a bulk of five documents is accepted, and one of ten is refused
	b, err := feed.NewBulk(s, feed.BulkOptions{URL: server.URL + "/pages", Bytes: 400_000})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(server.urls()); got != pages {
		t.Errorf("the index has %d documents, want %d", got, pages)
	}
	if server.tooLarge != 3 { // requests for the first bulk and for its two halves
		t.Errorf("%d of %d requests were too large, want 3", server.tooLarge, server.requests)
	}
}

// A document that the server refuses permanently is counted and reported, and the other documents
// are sent.
func TestBulkRefused(t *testing.T) {
	s, server := storetest.NewMemory(), newIndexServer(t)
	want := bulkPages(t, s, 12)
	bad, huge := dedup.HashOf([]byte("http://a.test/001")).String(), dedup.HashOf([]byte("http://a.test/huge")).String()
	commit(t, s, store.Record{URL: "http://a.test/huge", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{Words: 9}}, strings.Repeat("huge ", 2000))
	server.item = func(_ int, id string) int { return map[bool]int{true: 400}[id == bad] }
	server.most = 5000
	refused := map[string]string{}
	b, err := feed.NewBulk(s, feed.BulkOptions{URL: server.URL + "/pages/", Wait: time.Millisecond, Refused: func(r feed.Refusal) { refused[r.ID.String()] = r.URL + " " + r.Error }})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := server.urls(); !slices.Equal(got, slices.DeleteFunc(want, func(u string) bool { return u == "http://a.test/001" })) {
		t.Errorf("the index has %q", got)
	}
	if len(refused) != 2 || !strings.Contains(refused[bad], "status 400") || refused[huge] != "http://a.test/huge the document is too large for the server" {
		t.Errorf("refused: %v", refused)
	}
}

// The documents of pages that leave the feed are deleted. A new Bulk continues at the stored
// cursor, even after a failure.
func TestBulkChanges(t *testing.T) {
	s, server := storetest.NewMemory(), newIndexServer(t)
	var kept store.Cursor
	run := func() error {
		b, err := feed.NewBulk(s, feed.BulkOptions{
			URL: server.URL + "/pages", Wait: time.Millisecond, Options: feed.Options{After: kept},
			Keep: func(_ context.Context, now feed.Place) error { kept = now.After; return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.Close(t.Context())
	}
	bulkPages(t, s, 7)
	if err := run(); err != nil {
		t.Fatal(err)
	}
	before := server.urls()
	again := func(n int, kind store.RecordKind, was, v dedup.VerdictKind) {
		url := fmt.Sprintf("http://a.test/%03d", n)
		r := store.Record{ID: dedup.HashOf([]byte(url)), URL: url, Kind: kind, Judged: store.Judged{Verdict: v}, Fetch: store.Fetch{Words: 50}, History: store.History{Earlier: []store.Visit{{Words: 100, Verdict: was}}}}
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r, Revisit: true, Text: store.Pack([]byte("another text"))}}); err != nil {
			t.Fatal(err)
		}
	}
	again(0, store.Error, dedup.Unique, "")          // page 0 is gone
	again(1, store.Page, dedup.Unique, dedup.Near)   // page 1 became a duplicate
	again(2, store.Page, dedup.Unique, dedup.Unique) // page 2 changed
	again(3, store.Page, dedup.Near, dedup.Unique)   // page 3 was a duplicate, and is unique now
	server.refuse = func(int) int { return 401 }
	at := kept
	if err := run(); err == nil || !strings.Contains(err.Error(), "status 401") || kept != at {
		t.Errorf("without credentials: %v, and the cursor is %q, was %q", err, kept, at)
	}
	server.refuse = nil
	if err := run(); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(append(slices.DeleteFunc(before, func(u string) bool { return strings.HasSuffix(u, "/000") || strings.HasSuffix(u, "/001") }), "http://a.test/003")))
	if got := server.urls(); !slices.Equal(got, want) {
		t.Errorf("the index has %q, want %q", got, want)
	}
	if doc := server.docs[dedup.HashOf([]byte("http://a.test/002")).String()]; doc["text"] != "another text" {
		t.Errorf("a page that changed is %v", doc)
	}
}

// TestBulkAgain sends random changes of pages and of their passages to servers that refuse random documents, fail at
// random, and accept everything in the end. Pages may change during an export. It also writes the changes of the passages for a reader who applies them by id. Any
// run may be killed. In the end, the indexes and the reader have the documents of a full export.
func TestBulkAgain(t *testing.T) {
	var paragraphs []string
	for n := range 12 {
		paragraphs = append(paragraphs, strings.TrimSpace(strings.Repeat(fmt.Sprintf("paragraph %d ", n), 9+n%4)))
	}
	rapid.Check(t, func(rt *rapid.T) {
		s, pages, passages := storetest.NewMemory(), newIndexServer(t), newIndexServer(t)
		defer pages.Close()
		defer passages.Close()
		text := ""
		drawn := func() feed.Options {
			return feed.Options{Filter: release.Filter{Private: rapid.Bool().Draw(rt, "with private"), NoThin: rapid.Bool().Draw(rt, "without thin")}}
		}
		sendPages := func() (refused int, err error) {
			place, err := feed.ParsePlace(text)
			if err != nil {
				rt.Fatal(err)
			}
			b, err := feed.NewBulk(s, feed.BulkOptions{
				URL: pages.URL + "/pages", Wait: time.Microsecond, Bytes: 2000, Options: feed.Options{After: place.After}, Again: place.Refused,
				Keep: func(_ context.Context, now feed.Place) error { text = now.String(); return nil },
			})
			if err != nil {
				rt.Fatal(err)
			}
			err = b.Close(t.Context())
			_, _, refused = b.Counts()
			return refused, err
		}
		rounds := rapid.IntRange(1, 6).Draw(rt, "rounds")
		was := map[string][]store.Visit{} // earlier states of each page, the latest first
		change := func() {
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 20), 0, 20).Draw(rt, "pages") {
				url := fmt.Sprintf("http://a.test/%03d", n)
				verdict := rapid.SampledFrom([]dedup.VerdictKind{dedup.Unique, dedup.Unique, dedup.Thin, dedup.Near, ""}).Draw(rt, "verdict")
				r := store.Record{ID: dedup.HashOf([]byte(url)), URL: url, Kind: store.Page, Judged: store.Judged{Verdict: verdict}, Fetch: store.Fetch{Words: 9, FetchedAt: fetched.Add(time.Duration(-rounds) * time.Hour)}}
				r.Private, r.Title = rapid.IntRange(0, 5).Draw(rt, "private") == 0, rapid.SampledFrom([]string{"", "A title"}).Draw(rt, "title")
				if verdict == "" {
					r.Kind = store.Error
				}
				r.Earlier = was[url]
				was[url] = append([]store.Visit{{Words: 9, Verdict: verdict}}, r.Earlier[:min(len(r.Earlier), store.MaxVisits-1)]...)
				text := strings.Join(append(rapid.SliceOfN(rapid.SampledFrom(paragraphs), 0, 4).Draw(rt, "text"), fmt.Sprintf("text %d of round %d", n, rounds)), "\n")
				if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r, Revisit: r.Earlier != nil, Text: store.Pack([]byte(text))}}); err != nil {
					rt.Fatal(err)
				}
			}
		}
		var lists [2][]byte // stored by the exports of passages to the index and to the reader
		export := func(n int, opt feed.Options, saves int) *feed.Passages {
			return &feed.Passages{Store: s, Options: opt, Words: feed.MinPassageWords, List: &feed.PassageList{Last: lists[n], Save: func(write func(io.Writer) error) error {
				if saves--; saves < 0 {
					return errors.New("killed")
				}
				if rounds > 0 && rapid.IntRange(0, 3).Draw(rt, "meanwhile") == 0 {
					change()
				}
				var b bytes.Buffer
				err := write(&b)
				lists[n] = b.Bytes()
				return err
			}}}
		}
		sendPassages := func(opt feed.Options, saves int) (sent, refused int, err error) {
			b, err := feed.NewBulk(s, feed.BulkOptions{URL: passages.URL + "/pages", Wait: time.Microsecond, Bytes: 2000})
			if err != nil {
				rt.Fatal(err)
			}
			err = b.SendPassages(t.Context(), export(0, opt, saves))
			sent, deleted, refused := b.Counts()
			return sent + deleted, refused, err
		}
		read := map[string]map[string]any{} // documents of the reader, by id
		writePassages := func(opt feed.Options, saves, lines int) error {
			e, out := export(1, opt, saves), bytes.Buffer{}
			_, err := e.Write(t.Context(), &out)
			for line := range strings.Lines(out.String()) {
				if lines--; lines < 0 {
					return errors.New("killed")
				}
				doc := decoded(rt, line)
				if read[doc["id"].(string)] = doc; doc["change"] == "gone" {
					delete(read, doc["id"].(string))
				}
				delete(doc, "change")
			}
			if err == nil {
				err = e.Keep()
			}
			return err
		}
		for ; rounds > 0; rounds-- {
			change()
			bad := rapid.StringMatching("[0-9a-f]{0,6}").Draw(rt, "refused")
			fails := rapid.IntRange(0, 3).Draw(rt, "fails")
			for _, server := range []*indexServer{pages, passages} {
				server.item = func(_ int, id string) int { return map[bool]int{true: 400}[strings.Contains(bad, id[:1])] }
				server.refuse = func(n int) int { return map[bool]int{true: 401}[fails > 0 && n%(fails+1) == 0] }
			}
			_, _ = sendPages() // these may fail
			_, _, _ = sendPassages(drawn(), rapid.IntRange(0, 3).Draw(rt, "saves"))
			_ = writePassages(drawn(), rapid.IntRange(0, 3).Draw(rt, "saves"), rapid.IntRange(0, 50).Draw(rt, "lines"))
		}
		pages.item, pages.refuse, passages.item, passages.refuse = nil, nil, nil, nil
		if refused, err := sendPages(); err != nil || refused != 0 {
			rt.Fatalf("%d pages refused in the end: %v", refused, err)
		}
		if _, refused, err := sendPassages(feed.Options{}, 2); err != nil || refused != 0 {
			rt.Fatalf("%d passages refused in the end: %v", refused, err)
		}
		if err := writePassages(feed.Options{}, 2, math.MaxInt); err != nil {
			rt.Fatal(err)
		}
		if sent, _, err := sendPassages(feed.Options{}, 1); err != nil || sent != 0 {
			rt.Fatalf("nothing has changed, and %d passages are sent: %v", sent, err)
		}
		var want bytes.Buffer
		if _, err := feed.Write(t.Context(), &want, s, feed.Options{}); err != nil {
			rt.Fatal(err)
		}
		sameDocuments(rt, "the index of pages", pages.docs, want.String())
		want.Reset()
		if _, err := (&feed.Passages{Store: s, Words: feed.MinPassageWords}).Write(t.Context(), &want); err != nil {
			rt.Fatal(err)
		}
		sameDocuments(rt, "the index of passages", passages.docs, want.String())
		sameDocuments(rt, "the reader of passages", read, want.String())
	})
}

func decoded(t *rapid.T, line string) (doc map[string]any) {
	if err := json.Unmarshal([]byte(line), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// sameDocuments compares documents with an export, but for the time at which passages were fetched.
func sameDocuments(t *rapid.T, whose string, got map[string]map[string]any, export string) {
	exported := 0
	for line := range strings.Lines(export) {
		want := decoded(t, line)
		have := got[want["id"].(string)]
		if want["page_id"] != nil {
			delete(want, "fetched_at")
			delete(have, "fetched_at")
		}
		if exported++; !reflect.DeepEqual(have, want) {
			t.Fatalf("%s has %v, want %v", whose, have, want)
		}
	}
	if len(got) != exported {
		t.Fatalf("%s has %d documents, want %d", whose, len(got), exported)
	}
}

// An index that refuses more than MaxRefused documents ends the export, and all of them are sent again.
func TestBulkRefusesAll(t *testing.T) {
	s, server := storetest.NewMemory(), newIndexServer(t)
	bulkPages(t, s, 4*feed.MaxRefused/3+2)
	server.item = func(int, string) int { return 400 }
	var kept feed.Place
	b, err := feed.NewBulk(s, feed.BulkOptions{URL: server.URL + "/pages", Keep: func(_ context.Context, now feed.Place) error { kept = now; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "create it with another mapping") || len(kept.Refused) > feed.MaxRefused {
		t.Errorf("%v, and %d documents are kept as refused", err, len(kept.Refused))
	}
}

// CatchUp returns an error if a server is never ready, if it is not an index server, and if the URL
// does not name an index.
func TestBulkErrors(t *testing.T) {
	s, server := storetest.NewMemory(), newIndexServer(t)
	bulkPages(t, s, 3)
	server.item = func(int, string) int { return 429 }
	b, err := feed.NewBulk(s, feed.BulkOptions{URL: server.URL + "/pages", Wait: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CatchUp(t.Context()); err == nil || !strings.Contains(err.Error(), "rejected 3 documents 9 times") {
		t.Errorf("always busy: %v", err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<h1>It works!</h1>") }))
	defer other.Close()
	if b, err = feed.NewBulk(s, feed.BulkOptions{URL: other.URL + "/pages"}); err != nil {
		t.Fatal(err)
	}
	if err := b.CatchUp(t.Context()); err == nil || !strings.Contains(err.Error(), "the response is not from Elasticsearch or OpenSearch: <h1>It works!</h1>") {
		t.Errorf("another server: %v", err)
	}
	for _, url := range []string{"http://localhost:9200", "http://localhost:9200/", "localhost/pages", "http://u:p@localhost/pages", "ftp://localhost/pages", "http://localhost/pages/_bulk"} {
		if _, err := feed.NewBulk(s, feed.BulkOptions{URL: url}); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A server that cannot be reached is reported once, before the second attempt.
func TestBulkDelayed(t *testing.T) {
	s, server := storetest.NewMemory(), newIndexServer(t)
	bulkPages(t, s, 3)
	server.Close()
	var calls []string
	b, err := feed.NewBulk(s, feed.BulkOptions{URL: server.URL + "/pages", Wait: time.Microsecond, Delayed: func(why error) { calls = append(calls, why.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CatchUp(t.Context()); err == nil {
		t.Error("a closed server took pages")
	}
	if len(calls) != 1 || !strings.Contains(calls[0], "refused") {
		t.Errorf("Delayed was called with %q, want once: refused", calls)
	}
}

// If an answer lacks the result of a document, the cursor does not move.
func TestBulkAnswers(t *testing.T) {
	const pages = 3
	for name, spoil := range map[string]func(action, item map[string]any){
		"no status":             func(_, item map[string]any) { delete(item, "status") },
		"status null":           func(_, item map[string]any) { item["status"] = nil },
		"no id":                 func(_, item map[string]any) { delete(item, "_id") },
		"the id of another":     func(_, item map[string]any) { item["_id"] = strings.Repeat("0", 32) },
		"another action":        func(action, item map[string]any) { action["create"] = item; delete(action, "index") },
		"no action in the item": func(action, _ map[string]any) { delete(action, "index") },
	} {
		t.Run(name, func(t *testing.T) {
			s, server := storetest.NewMemory(), newIndexServer(t)
			bulkPages(t, s, pages)
			server.answer = func(items []any) {
				action := items[len(items)-1].(map[string]any)
				spoil(action, action["index"].(map[string]any))
			}
			b, err := feed.NewBulk(s, feed.BulkOptions{
				URL: server.URL + "/pages", Wait: time.Microsecond,
				Keep: func(context.Context, feed.Place) error { t.Error("the cursor was kept"); return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "item 3 is not for document ") {
				t.Errorf("err = %v", err)
			}
			if sent, deleted, refused := b.Counts(); sent+deleted+refused != 0 {
				t.Errorf("%d sent, %d deleted, %d refused, of a bulk that proves nothing", sent, deleted, refused)
			}
		})
	}
}

// Redirects are not followed: a redirect would send the documents to a server that the user did not
// name, and, to another port of the same host, the credentials too.
func TestBulkRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := storetest.NewMemory()
		bulkPages(t, s, 3)
		other := newIndexServer(t)
		other.header = func(_ int, h http.Header) {
			t.Errorf("%d: another server is asked, with Authorization %q", status, h.Get("Authorization"))
		}
		named := httptest.NewServer(http.RedirectHandler(other.URL+"/pages/_bulk", status))
		defer named.Close()
		b, err := feed.NewBulk(s, feed.BulkOptions{URL: named.URL + "/pages", Header: http.Header{"Authorization": {"ApiKey secret"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "redirects to "+other.URL) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// There are no further attempts after an untrusted certificate, because waiting does not help.
func TestBulkCertificate(t *testing.T) {
	s := storetest.NewMemory()
	bulkPages(t, s, 3)
	asked := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	for name, url := range map[string]string{
		"certificate": server.URL,
		"HTTP":        strings.Replace(newIndexServer(t).URL, "http:", "https:", 1),
	} {
		bounded, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		b, err := feed.NewBulk(s, feed.BulkOptions{URL: url + "/pages", Wait: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Close(bounded); err == nil || !strings.Contains(err.Error(), name) || bounded.Err() != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests went to a server that is not trusted", asked)
	}
}

// The mappings have every field of pages and of passages.
func TestMapping(t *testing.T) {
	for _, v := range []any{feed.Document{}, feed.Passage{}} {
		var b strings.Builder
		if err := feed.WriteMapping(&b, v); err != nil {
			t.Fatal(err)
		}
		var m struct {
			Mappings struct {
				Properties map[string]struct{ Type string }
			}
		}
		if err := json.Unmarshal([]byte(b.String()), &m); err != nil {
			t.Fatal(err)
		}
		if got, want := slices.Sorted(maps.Keys(m.Mappings.Properties)), slices.Sorted(slices.Values(feed.FieldNames(v))); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		for name, field := range m.Mappings.Properties {
			if field.Type == "" {
				t.Errorf("the field %s of %T has no type", name, v)
			}
		}
	}
}
