package warc_test

import (
	"os"
	"testing"

	"skink/warc"
)

// BenchmarkAppend packs the records of a page of some 15 KB: the response, the request and a
// metadata record.
func BenchmarkAppend(b *testing.B) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		b.Fatal(err)
	}
	head := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15000\r\n\r\n")
	request := []byte("GET /some/page.html HTTP/1.1\r\nHost: example.com\r\nUser-Agent: skink/0.1\r\nAccept: text/html\r\n\r\n")
	var pack warc.Options
	for name, block := range map[string][]byte{"response": append(head, page...), "request": request} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			var file []byte
			for b.Loop() {
				if file, err = pack.Append(file[:0], warc.New(warc.Response, "https://example.com/some/page.html", noon, warc.TypeResponse, block)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(file)), "packed")
		})
	}
}
