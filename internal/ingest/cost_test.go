package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"skink/crawler"
	"skink/extract"
	"skink/internal/corpus"
	"skink/internal/memory"
	"skink/internal/tools/storetest"
)

// The memory that is reserved for a page is always released, whatever the result.
func TestSharesComeBack(t *testing.T) {
	heavy := strings.Repeat("<p>a", 1<<16) // the tree of this page is larger than a light tree
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	for i, body := range []string{"", "\x89PNG\r\n\x1a\n\x00", "<p>short", words(1, 200), words(1, 200), heavy, heavy} {
		if err := p.Handle(t.Context(), page(fmt.Sprintf("http://a.test/%d", i), body), new(crawler.Leads)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Handle(t.Context(), page("http://a.test/0", heavy), new(crawler.Leads)); err != nil { // this page is in the store already
		t.Fatal(err)
	}
	_, err := p.Files(t.Context(), func(yield func(*corpus.Record, error) bool) {
		for i := range 50 {
			if !yield(&corpus.Record{Input: fmt.Sprint("file", i), Raw: []byte(words(uint64(i), 200)), Type: "text/html"}, nil) {
				return
			}
		}
	}, noneBad(t))
	if err := errors.Join(err, p.Close()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // Take waits only if some memory was not released
	defer cancel()
	if _, err := p.reader.memory.Take(ctx, memory.Divide(0).Reading); err != nil {
		t.Errorf("some of the memory for reading did not come back: %v", err)
	}
	for i := range 2 {
		if r := content(t, s, fmt.Sprintf("http://a.test/%d", 5+i)).Record; r.Root == extract.RootStripped {
			t.Errorf("a page that outgrew a light tree was not read again: %+v", r)
		}
	}
}
