package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"skink/internal/tools/buckettest"
)

func optionsOf(s *buckettest.Server) Options {
	return Options{Endpoint: s.URL, Key: "key", Secret: "hidden", retries: 2}
}

func put(t *testing.T, s *buckettest.Server, key string, content []byte) {
	t.Helper()
	if err := s.Put(key, content); err != nil {
		t.Fatal(err)
	}
}

// A name stands for an object, for those of a folder, or for those that match a pattern.
func TestFind(t *testing.T) {
	s := buckettest.Start(t)
	for _, key := range []string{"a.jsonl", "in/1.jsonl", "in/2.jsonl.zst", "in/.hidden.jsonl", "in/deep/.git/3.jsonl", "in/deep/3.jsonl", "in/empty/", "in2/4.jsonl", "odd/a b+c%41.jsonl"} {
		put(t, s, key, []byte(key))
	}
	for name, want := range map[string]string{
		"s3://crawls/a.jsonl":            "a.jsonl=a.jsonl",
		"s3://crawls/in":                 "in/1.jsonl=1.jsonl* in/2.jsonl.zst=2.jsonl.zst* in/deep/3.jsonl=deep/3.jsonl*",
		"s3://crawls/in/":                "in/1.jsonl=1.jsonl* in/2.jsonl.zst=2.jsonl.zst* in/deep/3.jsonl=deep/3.jsonl*",
		"s3://crawls/in/*.jsonl":         "in/.hidden.jsonl=.hidden.jsonl in/1.jsonl=1.jsonl",
		"s3://crawls/in*/[1-9].jsonl*":   "in/1.jsonl=in/1.jsonl in/2.jsonl.zst=in/2.jsonl.zst in2/4.jsonl=in2/4.jsonl",
		"s3://crawls/odd/a b+c%41.jsonl": "odd/a b+c%41.jsonl=a b+c%41.jsonl",
		"s3://crawls":                    "a.jsonl=a.jsonl* in/1.jsonl=in/1.jsonl* in/2.jsonl.zst=in/2.jsonl.zst* in/deep/3.jsonl=in/deep/3.jsonl* in2/4.jsonl=in2/4.jsonl* odd/a b+c%41.jsonl=odd/a b+c%41.jsonl*",
		"s3://crawls/in/1":               "s3://crawls/in/1: there is no such object: check the bucket and the key",
		"s3://crawls/in/*.csv":           "s3://crawls/in/*.csv: there is no such object: check the bucket and the key",
		"s3://crawls/in/[":               "s3://crawls/in/[: syntax error in pattern",
		"s3://":                          "s3:// does not name a bucket: try s3://BUCKET/KEY",
		"s3://absent/in":                 "list s3://absent/in: The specified bucket does not exist: create the bucket absent first",
	} {
		found, err := Find(t.Context(), name, optionsOf(s))
		var got []string
		for _, o := range found {
			one := strings.TrimPrefix(o.Address(), "s3://crawls/") + "=" + o.Below
			if o.Listed {
				one += "*"
			}
			got = append(got, one)
			if b, err := io.ReadAll(o.Open(t.Context())); err != nil || string(b) != o.key {
				t.Errorf("%s: %s has %q, %v", name, o.key, b, err)
			}
		}
		if err != nil {
			got = append(got, err.Error())
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	if _, err := Find(t.Context(), "s3://crawls/in", Options{}); err == nil || !strings.Contains(err.Error(), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") {
		t.Error(err)
	}
	s.Fail(func(int, *http.Request) int { return http.StatusForbidden })
	if _, err := Find(t.Context(), "s3://crawls/in", optionsOf(s)); err == nil || !strings.Contains(err.Error(), "check AWS_ACCESS_KEY_ID") || strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
}

// A connection that breaks in the middle of an object is resumed where it broke, with a condition.
func TestResume(t *testing.T) {
	s := buckettest.Start(t)
	want := content(3 << 20)
	put(t, s, "a", want)
	found, err := Find(t.Context(), "s3://crawls/a", optionsOf(s))
	if err != nil {
		t.Fatal(err)
	}
	var ranges []string
	s.Fail(func(_ int, r *http.Request) int {
		if ranges = append(ranges, r.Header.Get("Range")); r.Header.Get("If-Match") == "" {
			t.Error("a request without a condition")
		}
		return 0
	})
	s.Break(1 << 20)
	got, err := io.ReadAll(found[0].Open(t.Context()))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	if want := []string{"", "bytes=1048576-", "bytes=2097152-"}; !slices.Equal(ranges, want) {
		t.Errorf("ranges %q, want %q", ranges, want)
	}
	again, err := io.ReadAll(found[0].Open(t.Context()))
	if err != nil || !bytes.Equal(again, want) {
		t.Errorf("the second time: %d bytes of %d, %v", len(again), len(want), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := io.ReadAll(found[0].Open(ctx)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Break(0)
	s.Fail(func(n int, _ *http.Request) int { return -1 })
	if _, err := io.ReadAll(found[0].Open(t.Context())); err == nil || !strings.HasPrefix(err.Error(), "read s3://crawls/a: ") {
		t.Error(err)
	}
}

// An object that is replaced while it is read, or between two readings, is an error.
func TestReplaced(t *testing.T) {
	s := buckettest.Start(t)
	put(t, s, "a", content(3<<20))
	found, err := Find(t.Context(), "s3://crawls/a", optionsOf(s))
	if err != nil {
		t.Fatal(err)
	}
	s.Break(1 << 20)
	r := found[0].Open(t.Context())
	if _, err := io.ReadFull(r, make([]byte, 1<<19)); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", bytes.Repeat([]byte("x"), 3<<20))
	n, err := io.Copy(io.Discard, r)
	if !errors.Is(err, errChanged) || n > 1<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := io.ReadAll(found[0].Open(t.Context())); !errors.Is(err, errChanged) {
		t.Error(err)
	}
}
