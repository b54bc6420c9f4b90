package e2e

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"skink/internal/tools/buckettest"
)

// buckets maps each server of the scripts that is an S3 server to its bucket.
var buckets sync.Map

// serveBucket starts an S3 server with the bucket "crawls". If refused is a number, the server
// refuses the part of an object with this number and all later parts, until the script runs
// "mended".
func serveBucket(s *server, refused string) string {
	b, err := buckettest.New()
	if err != nil {
		panic(err)
	}
	if most, err := strconv.Atoi(refused); err == nil {
		b.Fail(func(_ int, r *http.Request) int {
			if n, _ := strconv.Atoi(r.URL.Query().Get("partNumber")); r.Method == http.MethodPut && n >= most {
				return http.StatusForbidden
			}
			return 0
		})
	}
	buckets.Store(s, b)
	return s.listen(b.ServeHTTP)
}

func bucketOf(ts *testscript.TestScript, name string) *buckettest.Server {
	b, ok := buckets.Load(sessionOf(ts).servers[name])
	if !ok {
		ts.Fatalf("%s is no bucket", name)
	}
	return b.(*buckettest.Server)
}

// object prints the content of an object. With neg, the object must not exist. The command fails if
// an upload has begun but has not been completed.
func object(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2, "object NAME KEY")
	b := bucketOf(ts, args[0])
	content, err := b.Object(args[1])
	ts.Check(err)
	if n, err := b.Unfinished(); n > 0 || err != nil {
		ts.Fatalf("%d uploads are not finished, %v", n, err)
	}
	switch {
	case neg && content != nil:
		ts.Fatalf("the object %s exists, with %d bytes", args[1], len(content))
	case !neg && content == nil:
		ts.Fatalf("there is no object %s", args[1])
	case !neg:
		_, err := fmt.Fprint(ts.Stdout(), string(content))
		ts.Check(err)
	}
}

// putObject stores a file as an object.
func putObject(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 3, "put-object NAME KEY FILE")
	ts.Check(bucketOf(ts, args[0]).Put(args[1], []byte(ts.ReadFile(args[2]))))
}

// TestBucketKilled kills skink dedup while it reads a bucket over connections that break, and while it writes to the
// bucket. Nothing has the name of the output until the same command was run to its end. Then the output has the bytes
// that are written from the same files on disk.
func TestBucketKilled(t *testing.T) {
	t.Parallel()
	s := buckettest.Start(t)
	dir := t.TempDir()
	var paths []string
	for shard := range 8 {
		var lines bytes.Buffer
		for i := range 6000 {
			fmt.Fprintf(&lines, `{"id":"%d-%d","text":"`, shard, i)
			for w := range 60 {
				fmt.Fprintf(&lines, "%x ", sha256.Sum256(fmt.Appendf(nil, "%d %d %d", shard, i/2, w)))
			}
			lines.WriteString("\"}\n")
		}
		name := fmt.Sprintf("%d.jsonl", shard)
		paths = append(paths, filepath.Join(dir, name))
		if err := errors.Join(s.Put("in/"+name, lines.Bytes()), os.WriteFile(paths[shard], lines.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.Command(buildSkink(t), append([]string{"dedup", "--quiet", "--out", os.DevNull, "--unique"}, args...)...)
		c.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+s.URL, "AWS_ACCESS_KEY_ID=skink", "AWS_SECRET_ACCESS_KEY=hidden")
		return c
	}
	if out, err := command(append([]string{filepath.Join(dir, "kept.jsonl")}, paths...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "kept.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s.Break(5 << 20)
	for _, part := range []string{"", "1", "4"} { // killed at the first object, and at a part of the output
		c := command("s3://crawls/out.jsonl", "s3://crawls/in/*.jsonl")
		var once sync.Once
		s.Fail(func(_ int, r *http.Request) int {
			if part == "" && strings.HasSuffix(r.URL.Path, "/3.jsonl") || part != "" && r.URL.Query().Get("partNumber") == part {
				once.Do(func() { _ = c.Process.Kill() })
			}
			return 0
		})
		if err := c.Run(); err == nil {
			t.Fatalf("at part %q: it was not killed", part)
		}
		if b, err := s.Object("out.jsonl"); b != nil || err != nil {
			t.Fatalf("at part %q: %d bytes have the name of the output, %v", part, len(b), err)
		}
	}
	s.Fail(nil)
	if out, err := command("s3://crawls/out.jsonl", "s3://crawls/in/*.jsonl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := s.Object("out.jsonl"); !bytes.Equal(got, want) || err != nil {
		t.Errorf("%d bytes, want %d, %v", len(got), len(want), err)
	}
}

// mended makes a bucket accept all requests again.
func mended(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "mended NAME")
	bucketOf(ts, args[0]).Fail(nil)
}
