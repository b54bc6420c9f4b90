package warc_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skink/warc"
)

// foreign lists archives that other tools wrote, good and damaged ones. The field want has an item
// for each record: its offset, its type, and the number of bytes of its decoded payload. For
// damage, the item has the offset and the error. The numbers of bytes are those that warcio
// reports. The files are not part of the project. The test is skipped if they are missing.
var foreign = []struct{ file, want string }{
	{"example.warc", "0 warcinfo 249, 488 warcinfo 470, 1197 response 1270, 2566 request 0, 3370 revisit 0, 4316 request 0"},
	{"example.warc.gz", "0 warcinfo 249, 353 warcinfo 470, 784 response 1270, 2012 request 0, 2621 revisit 0, 3207 request 0"},
	{"example-digest.warc", "0 request 0, 922 request 0, 1840 request 0, 2758 request 0"},
	{"example-iana.org-chunked.warc", "0 warcinfo 137, 405 response 7223, 8379 request 0"},
	{"example-resource.warc.gz", "0 warcinfo 249, 361 warcinfo 399, 802 resource 1303"},
	{"example-space-in-target-uri.warc.gz", "0 warcinfo 73, 241 resource 70"},
	{"example-wget-bad-target-uri.warc.gz", "0 warcinfo 232, 410 request 0, 824 response 1270, 1978 metadata 48, 2295 resource 49, 2681 resource 471"},
	{"hello-world.warc", "0 warcinfo 300, 589 request 0, 1260 response 13, 2349 metadata 48, 2772 resource 117, 3340 resource 504"},
	{"hello-world.warc.gz", "0 warcinfo 300, 446 request 0, 907 response 13, 1630 metadata 48, 1945 resource 117, 2379 resource 504"},
	{"post-test.warc.gz", "0 response 545, 720 request 16, 1196 response 552, 1919 request 12, 2395 response 551, 3118 request 6"},
	{"20130729-heritrix-original.warc.gz", "0 response 68639"},
	{"20141129-heritrix-original.warc.gz", "0 response 75331"},
	{"20130729-heritrix-revisit-with-http-headers.warc.gz", "0 revisit 0"},
	{"20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz", "0 revisit 0"},
	{"20141124-heritrix-server-not-modified.warc.gz", "0 revisit 0"},
	{"example-trunc.warc", "0 warcinfo 249, 488 warcinfo 470, 1197 response 1270, 1197 lost: the Content-Length is too small: the record was read to its end, 2566 request 0"},
	{"example-bad-non-chunked.warc.gz", "0 warcinfo 249, 0 lost: the gzip member contains more than one record: the others are read, but have no offsets of their own, 0 warcinfo 470, 0 response 1270, 0 request 0, 0 revisit 0, 0 request 0"},
	{"example-bad.warc.gz.bad", "0 warcinfo 196, 0 lost: the gzip member contains more than one record: the others are read, but have no offsets of their own, 0 response 1270, 0 request 0, 0 revisit 0, 0 request 0, 0 response 201"},
	{"example-wrong-chunks.warc.gz", "0 response 1270, 1130 request 0"},
}

func TestForeign(t *testing.T) {
	const packed = "../../shared/data/warc.tar.xz"
	if _, err := os.Stat(packed); err != nil {
		t.Skip("no files of other tools to read")
	}
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xf", packed, "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("tar: %v\n%s", err, out)
	}
	for _, test := range foreign {
		t.Run(test.file, func(t *testing.T) {
			f, err := os.Open(filepath.Join(dir, "warc", test.file))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got := strings.Join(contents(f), ", "); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// contents lists the records and the damage of an archive.
func contents(f io.Reader) (all []string) {
	r := warc.NewReader(f)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			all = append(all, what(err))
			if _, ok := errors.AsType[*warc.Damage](err); !ok {
				return all
			}
			continue
		}
		n, err := payload(rec)
		all = append(all, fmt.Sprintf("%d %s %d", rec.Offset, rec.Type(), n))
		if err != nil {
			all = append(all, what(err))
		}
	}
}

func what(err error) string {
	if d, ok := errors.AsType[*warc.Damage](err); ok {
		return fmt.Sprintf("%d lost: %v", d.Offset, d.Err)
	}
	return err.Error()
}

// payload returns the number of bytes of a record's decoded payload.
func payload(rec *warc.Record) (n int64, err error) {
	body := rec.Block
	if strings.HasPrefix(rec.Header.Get("Content-Type"), "application/http") {
		m, err := rec.Message()
		if err != nil {
			return 0, err
		}
		if body = m.Body; m.Header.Get("Content-Encoding") == "gzip" && rec.Type() == warc.Response {
			if body, err = gzip.NewReader(m.Body); err != nil {
				return 0, err
			}
		}
	}
	if n, err = io.Copy(io.Discard, body); err != nil {
		return n, err
	}
	_, err = io.Copy(io.Discard, rec.Block)
	return n, err
}
