package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"skink/extract"
)

// BenchmarkText measures reading the text of a JSON line. The lines have the texts of the pages in
// testdata/site, and other members as in common corpora.
func BenchmarkText(b *testing.B) {
	pages, err := filepath.Glob("../../testdata/site/*/*.html")
	if err != nil || len(pages) == 0 {
		b.Fatal("no pages", err)
	}
	var lines bytes.Buffer
	to := json.NewEncoder(&lines)
	for i, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			b.Fatal(err)
		}
		doc, err := extract.Parse(body, "text/html")
		if err != nil {
			b.Fatal(err)
		}
		err = to.Encode(map[string]any{
			"id": i, "url": "https://example.com/" + page, "text": doc.Text, "timestamp": "2026-11-25T00:00:00Z", "language_score": 0.93,
			"meta": map[string]any{"tags": []string{"a", "b"}, "quality": nil, "warc": "crawl/00001.warc.gz"},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	var records []*Record
	in := &Inputs{Paths: []string{"-"}, Stdin: bytes.NewReader(lines.Bytes()), Unreadable: func(err error) { b.Error(err) }}
	for r, err := range in.Records(context.Background()) {
		if err != nil {
			b.Fatal(err)
		}
		records = append(records, r)
	}
	b.SetBytes(int64(lines.Len()))
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range records {
			if _, err := r.Text(context.Background(), extract.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
