package redis

import (
	"testing"
	"time"

	"skink/dedup"
	"skink/store"
)

// A failover loses where a page is, after that was written, and before what waits in the page's
// outbox is brought. The page is found all the same, also if it is visited again before that.
func TestWhereAPageIsSurvives(t *testing.T) {
	for _, again := range []bool{false, true} {
		name, servers := newName(), engines[2].at(t)
		s := openNamed(t, servers, name)
		if _, err := s.copied(t.Context()); err != nil {
			t.Fatal(err)
		}
		e := pageOf("https://example.com/0", 0)
		id := e.Record.ID
		s.courier.bringing.Lock()
		commitJudged(t, s, e)
		p := partOfID(id)
		where, _ := s.bucketsOf(located, p, s.levels.get(located, p), fieldOf(id))
		n, err := s.do(t.Context(), s.B().Hdel().Key(where).Field(string(fieldOf(id))).Build())[0].AsInt64()
		if err != nil || n != 1 {
			t.Fatalf("%d entries say where the page is: %v", n, err)
		}
		beginEra(t, s)
		if again {
			next := pageOf(e.Record.URL, 0)
			next.Record.FetchedAt = e.Record.FetchedAt.Add(time.Second)
			next.Revisit, next.Replaces = true, e.Record.Began()
			commitJudged(t, s, next)
		}
		s.courier.bringing.Unlock()
		awaitConfirmed(t, s)
		pages, err := openNamed(t, servers, name).Pages(t.Context(), []dedup.Hash{id}, store.WantText)
		if err != nil || pages[0] == nil || !pages[0].Kept {
			t.Errorf("visited again: %v: Pages = %+v, %v; want the page with its text", again, pages[0], err)
		}
	}
}

// beginEra lets a primary have another history, as one has that takes over.
func beginEra(t *testing.T, s *Store) {
	t.Helper()
	s.copying.Lock()
	s.histories = nil // another primary has another
	s.copying.Unlock()
	if _, err := s.copied(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// awaitConfirmed waits until all that was brought is known to stay.
func awaitConfirmed(t *testing.T, s *Store) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); s.unconfirmed(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what was brought is never confirmed")
		}
	}
}
