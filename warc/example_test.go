package warc_test

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"skink/warc"
)

func Example() {
	date := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	var file bytes.Buffer
	w := warc.NewWriter(&file, warc.Options{})
	info, err := warc.NewInfo("lizards.warc.gz", date, warc.Header{{Name: "software", Value: "an example"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nskinks"
	for _, rec := range []*warc.Record{info, warc.New(warc.Response, "https://example.com/", date, warc.TypeResponse, []byte(answer))} {
		if err := w.Write(rec); err != nil {
			fmt.Println(err)
			return
		}
	}

	r := warc.NewReader(&file)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err) // a *warc.Damage has the offset of the damage, and the reader continues
			continue
		}
		if rec.Type() != warc.Response {
			continue
		}
		m, err := rec.Message()
		if err != nil {
			fmt.Println(err)
			continue
		}
		body, err := io.ReadAll(m.Body)
		fmt.Println(rec.URI(), m.Status(), m.Header.Get("content-type"), string(body), err)
	}
	// Output: https://example.com/ 200 text/plain skinks <nil>
}
