package session

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"skink/crawler"
)

// All messages of a run have one format: text, or log records as JSON.
func TestProgressFormat(t *testing.T) {
	m := moment{pages: 1200, added: 100, unique: 1000, near: 200, pending: 7, hosts: 3, took: 10 * time.Second}
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	var text, log bytes.Buffer
	for _, out := range []Output{{Err: &text}, {Err: &text, Log: slog.New(slog.NewJSONHandler(&log, nil))}, {Err: &text, Quiet: true}} {
		out.Say("Crawling %d seeds", 2)
		out.progress(m, at)
	}
	want := "Crawling 2 seeds\n2026-11-25T12:00:00Z  1,200 pages  10/s  unique 1,000  exact 0  near 200  failed 0  given-up 0  pending 7  hosts 3\n"
	if text.String() != want {
		t.Errorf("as text:\n%swant\n%s", &text, want)
	}
	for line := range strings.Lines(log.String()) {
		var record struct {
			Msg   string
			Pages int64
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Msg == "" || record.Msg == "crawling" && record.Pages != m.pages {
			t.Errorf("as a log record: %s: %v", line, err)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("%d log records, want 2:\n%s", n, &log)
	}
}

// A host is called slow only if it is, even if no other host is slower.
func TestSlowHosts(t *testing.T) {
	hosts := []crawler.HostState{{Name: "quick", Took: time.Second}, {Name: "new", Slow: true}, {Name: "slow", Took: 4 * time.Second, Slow: true}}
	text, _, _ := strings.Cut(hostsText(hosts, time.Now()), "suspended")
	if want := "slow hosts: 1 of 3\n  slow:  responses take 4.0 s,  one request every 0.0 ms,  0 requests\n"; text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
}
