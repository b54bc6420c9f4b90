package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"skink/internal/session"
	"skink/internal/tools/storetest"
)

// serverStore is a store whose server has a clock of its own.
type serverStore struct {
	*storetest.Memory
	now time.Time
}

func (s serverStore) Now(context.Context) (time.Time, error) { return s.now, nil }

// The age of a heartbeat is computed by the clock of the store's server, which wrote the
// heartbeat's time.
func TestStatusByTheServersClock(t *testing.T) {
	s := serverStore{storetest.NewMemory(), time.Date(2020, 1, 2, 12, 0, 0, 0, time.UTC)}
	workers := `{"one": {"started": "2020-01-02T11:00:00Z", "seen": "2020-01-02T11:59:00Z", "hosts": 3, "in_flight": 2}}`
	if err := s.SwapMeta(t.Context(), "workers", nil, []byte(workers)); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printStatus(t.Context(), &out, &readStore{Reader: s}, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no heartbeat for 1m0s; its hosts are released " + session.ClaimsLast.String(), "0 hosts claimed  0 URLs in flight"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("status is\n%swant a line with %q", &out, want)
		}
	}
}
