package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"

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

// mended makes a bucket accept all requests again.
func mended(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "mended NAME")
	bucketOf(ts, args[0]).Fail(nil)
}
