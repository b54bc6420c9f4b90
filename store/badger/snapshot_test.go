package badger

import (
	"testing"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A snapshot shows the records, clusters, counts and hosts as they were when it was taken.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	s := openTest(t, t.TempDir())
	discover := func(url string) {
		t.Helper()
		if _, err := s.Discover(t.Context(), []frontier.Item{{URL: url}}); err != nil {
			t.Fatal(err)
		}
	}
	discover("https://one.example/")
	commit(t, s, &store.Entry{Record: store.Record{ID: dedup.HashOf([]byte("https://one.example/")), URL: "https://one.example/", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}}, State: frontier.Fetched})
	discover("https://two.example/")
	before, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()

	second := store.Record{ID: dedup.HashOf([]byte("https://two.example/")), URL: "https://two.example/", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Near, Resemblance: 0.9}}
	second.Leader, second.DuplicateOf = dedup.HashOf([]byte("https://one.example/")), "https://one.example/"
	commit(t, s, &store.Entry{Record: second, State: frontier.Fetched})
	after, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()

	for _, tt := range []struct {
		name                           string
		s                              *Snapshot
		records, near, pending, member int64
		hosts                          int
	}{
		{"before", before, 1, 0, 1, 0, 1},
		{"after", after, 2, 1, 0, 1, 0},
	} {
		tally, err := tt.s.Tally(t.Context())
		if err != nil || tally.Records() != tt.records || tally.Near != tt.near {
			t.Errorf("%s: tally %+v, %v", tt.name, tally, err)
		}
		counts, err := tt.s.Counts(t.Context())
		if err != nil || counts.Pending != tt.pending {
			t.Errorf("%s: counts %+v, %v", tt.name, counts, err)
		}
		if got := length(t, tt.s.Hosts(t.Context())); got != tt.hosts {
			t.Errorf("%s: %d hosts, want %d", tt.name, got, tt.hosts)
		}
		if got := length(t, tt.s.Clusters(t.Context())); got != int(tt.member) {
			t.Errorf("%s: %d clusters, want %d", tt.name, got, tt.member)
		}
		if got := length(t, tt.s.Changes(t.Context(), "", store.WantRecord)); got != int(tt.records) {
			t.Errorf("%s: %d changes, want %d", tt.name, got, tt.records)
		}
	}
}

// length reads a list to its end and counts it.
func length[T any](t *testing.T, list func(func(T, error) bool)) (n int) {
	t.Helper()
	for _, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// Snapshot returns an error if the store is closed.
func TestSnapshotOfClosed(t *testing.T) {
	t.Parallel()
	s := openTest(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(); err == nil {
		t.Error("no error")
	}
}
