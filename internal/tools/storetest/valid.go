package storetest

import (
	"testing"

	"skink/frontier"
	"skink/store"
)

// validPromises are about entries that a store could not find again.
var validPromises = []promise{
	{"a_record_that_cannot_be_found_again_is_refused", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		discover(t, s, 1, items(0, url))
		for what, spoil := range map[string]func(*store.Entry){
			"no id":                  func(e *store.Entry) { e.Record.ID = [16]byte{} },
			"the id of another page": func(e *store.Entry) { e.Record.ID = hashOf("https://example.com/other") },
			"no URL":                 func(e *store.Entry) { e.Record.URL = "" },
			"neither":                func(e *store.Entry) { e.Record.URL, e.Record.ID = "", [16]byte{} },
			"a state that is no end": func(e *store.Entry) { e.State = frontier.Pending },
		} {
			e := page(url)
			spoil(e)
			if outcomes, err := s.Commit(ctx, []*store.Entry{page("https://example.com/good"), e}); err == nil {
				t.Errorf("%s: committed, outcomes %v", what, outcomes)
			}
		}
		wantState(t, s, url, frontier.Pending)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 1}) // the good entry of a refused call is not written
	}},
}
