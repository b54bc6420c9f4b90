package corpus

import (
	"bytes"
	"testing"
	"time"

	"skink/warc"
)

// An archive with nothing but revisit records contains no texts. Passed must be called with the
// kind of the skipped records.
func TestRevisitsArePassedOver(t *testing.T) {
	var b bytes.Buffer
	w := warc.NewWriter(&b, warc.Options{})
	date := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	info, err := warc.NewInfo("revisits.warc.gz", date, nil)
	if err != nil {
		t.Fatal(err)
	}
	again := warc.New(warc.Revisit, "https://example.com/", date, warc.TypeResponse, []byte("HTTP/1.1 304 Not Modified\r\n\r\n"))
	again.Header.Add("WARC-Profile", warc.ProfileNotModified)
	again.Header.Add("WARC-Refers-To", "<urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6>")
	for _, rec := range []*warc.Record{info, again} {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	var passed []string
	in := &Inputs{Paths: []string{"-"}, Stdin: &b, Unreadable: func(err error) { t.Error(err) }, Passed: func(kind string) { passed = append(passed, kind) }}
	for r, err := range in.Records(t.Context()) {
		t.Errorf("read %+v, %v", r, err)
	}
	if len(passed) != 1 || passed[0] != "revisit" {
		t.Errorf("passed over %q, want one revisit", passed)
	}
}
