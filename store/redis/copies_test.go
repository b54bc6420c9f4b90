package redis

import (
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A failover loses where a page is, after that was written, and before what waits in the page's
// outbox is brought. The page is found all the same.
func TestWhereAPageIsSurvives(t *testing.T) {
	name, servers := newName(), engines[2].at(t)
	s := openNamed(t, servers, name)
	if _, err := s.copied(t.Context()); err != nil {
		t.Fatal(err)
	}
	const url = "https://example.com/0"
	id := frontier.ID(url)
	s.courier.bringing.Lock()
	commitJudged(t, s, pageOf(url, 0))
	p := partOfID(dedup.Hash(id))
	where, _ := s.bucketsOf(located, p, s.levels.get(located, p), fieldOf(id))
	n, err := s.do(t.Context(), s.B().Hdel().Key(where).Field(string(fieldOf(id))).Build())[0].AsInt64()
	if err != nil || n != 1 {
		t.Fatalf("%d entries say where the page is: %v", n, err)
	}
	s.copying.Lock()
	s.histories = nil // another primary has another
	s.copying.Unlock()
	if _, err := s.copied(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.courier.bringing.Unlock()
	for deadline := time.Now().Add(30 * time.Second); s.unconfirmed(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what was brought is never confirmed")
		}
	}
	pages, err := openNamed(t, servers, name).Pages(t.Context(), []dedup.Hash{dedup.Hash(id)}, store.WantText)
	if err != nil || pages[0] == nil || !pages[0].Kept {
		t.Errorf("Pages = %+v, %v; want the page with its text", pages[0], err)
	}
}
