package crawler

import (
	"context"
	"sync"
	"testing"

	"skink/crawler/access"
)

// sharedSites is what several workers know of sites.
type sharedSites struct{ values sync.Map }

func (s *sharedSites) Meta(_ context.Context, name string) ([]byte, error) {
	value, _ := s.values.Load(name)
	b, _ := value.([]byte)
	return b, nil
}

func (s *sharedSites) SetMeta(_ context.Context, name string, value []byte) error {
	s.values.Store(name, value)
	return nil
}

// Once a worker has requested a host with https, no worker sends secrets to it with http, even if
// it has done so before.
func TestSecureAmongWorkers(t *testing.T) {
	opt := Defaults()
	opt.Hosts = access.Table{{Pattern: "priv.test", Headers: map[string]access.Secret{"X-Token": "sesame"}}}
	opt.Sites = &sharedSites{}
	var workers []*fetcher
	for range 2 {
		f, err := newFetcher(opt)
		if err != nil {
			t.Fatal(err)
		}
		defer f.close()
		workers = append(workers, f)
	}
	for _, step := range []struct {
		worker int
		url    string
		want   bool
	}{
		{0, "http://priv.test/robots.txt", true},
		{1, "http://priv.test/a", true},
		{0, "https://priv.test/a", true},
		{1, "http://priv.test/robots.txt", false},
		{1, "http://priv.test:8080/b", false},
		{0, "http://priv.test/b", false},
		{1, "https://priv.test/b", true},
	} {
		r, err := workers[step.worker].build(t.Context(), &ask{url: step.url})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header.Get("X-Token") != ""; got != step.want {
			t.Errorf("worker %d sends the token to %s: %v", step.worker, step.url, got)
		}
	}
}
