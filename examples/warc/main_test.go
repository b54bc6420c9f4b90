package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"skink/warc"
)

func TestRun(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, "<title>The lamp</title><p>It was lit in 1884.")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w := warc.NewWriter(&file, warc.Options{})
	info, err := warc.NewInfo("lamps.warc.gz", time.Now(), nil)
	if err := errors.Join(err, w.Write(info)); err != nil {
		t.Fatal(err)
	}
	for url, answer := range map[string]string{
		"https://example.com/lamp":     "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" + packed.String(),
		"https://example.com/lamp.png": "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n",
		"https://example.com/none":     "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<title>Not found</title>",
	} {
		if err := w.Write(warc.New(warc.Response, url, time.Now(), warc.TypeResponse, []byte(answer))); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(&out, &file); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "https://example.com/lamp \"The lamp\", 5 words\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
