package session

import (
	"context"
	"testing"
	"time"

	"skink/internal/complete"
	"skink/internal/tools/storetest"
)

// serverStore is a store whose servers have a clock of their own.
type serverStore struct {
	*storetest.Memory
	now time.Time
}

func (s serverStore) Now(context.Context) (time.Time, error) { return s.now, nil }

// TimeAt returns the time of the servers, even if a command has wrapped the store in other stores.
func TestTimeAt(t *testing.T) {
	s := serverStore{storetest.NewMemory(), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}
	for name, wrapped := range map[string]any{
		"the store":         s,
		"of a crawl":        &NamedStore{Store: s},
		"judged as a whole": &complete.Whole{Reader: s},
	} {
		if got := TimeAt(t.Context(), wrapped); !got.Equal(s.now) {
			t.Errorf("%s: it is %v, want %v", name, got, s.now)
		}
	}
}
