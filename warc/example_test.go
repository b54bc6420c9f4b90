package warc_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
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

// A WET file contains the texts of pages.
func ExampleNewText() {
	date := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	rec := warc.NewText("https://example.com/", date, "Skinks have smooth scales.", "en")
	wet := warc.Options{Plain: true, Digest: warc.SHA1, NewID: func() string { return "<urn:uuid:00000000-0000-4000-8000-000000000000>" }}
	file, err := wet.Append(nil, rec)
	if err != nil {
		fmt.Println(err)
		return
	}
	os.Stdout.Write(bytes.ReplaceAll(file, []byte("\r"), nil))
	// Output:
	// WARC/1.1
	// WARC-Type: conversion
	// WARC-Target-URI: https://example.com/
	// WARC-Date: 2026-01-02T12:00:00Z
	// Content-Type: text/plain
	// WARC-Identified-Content-Language: en
	// WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>
	// WARC-Payload-Digest: sha1:RRJRP4YCV4LUSYTSYQEGVLQKVGQD2PJM
	// WARC-Block-Digest: sha1:RRJRP4YCV4LUSYTSYQEGVLQKVGQD2PJM
	// Content-Length: 26
	//
	// Skinks have smooth scales.
}
