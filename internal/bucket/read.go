package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
)

// # Reading objects
//
// An object is read as a stream. If the connection breaks, the rest is requested, on the condition
// that the object is still the same: its ETag must be that of the list in which the object was found.
// So an object can also be read a second time, and a change is an error and never a mixture.

// errChanged means that an object is not the one that was listed.
var errChanged = errors.New("the object was changed or removed since it was listed: run the command again")

// A Source is an object that can be read.
type Source struct {
	Object
	Size   int64  // in bytes
	Below  string // key below the prefix of its name that has no wildcards
	Listed bool   // whether the name is that of a folder

	etag string
}

// Address returns s3://BUCKET/KEY.
func (s *Source) Address() string { return s.name }

// Find returns the objects that a name stands for, sorted by key: s3://BUCKET/KEY is one object,
// and all objects whose keys continue with a slash, as in a folder. A key with a wildcard stands for all
// keys that match it by the rules of [path.Match]. Objects of a folder are left out if a part of their
// names begins with a period. Find returns an error if there is no object.
func Find(ctx context.Context, name string, opt Options) (all []*Source, err error) {
	to, err := connect(name, opt)
	if err != nil {
		return nil, err
	}
	prefix, folder := to.key, strings.TrimSuffix(to.key, "/")+"/"
	wild := strings.IndexAny(prefix, `*?[\`)
	if wild >= 0 {
		prefix = prefix[:wild]
	}
	if to.key == "" {
		folder = ""
	}
	for o := range to.client.ListObjectsIter(ctx, to.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, to.explain(ctx, "list", o.Err)
		}
		below, inside := strings.CutPrefix(o.Key, folder)
		matches, err := path.Match(to.key, o.Key)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case wild >= 0:
			below, inside = o.Key[strings.LastIndexByte(prefix, '/')+1:], false
		case matches:
			below, inside = path.Base(o.Key), false
		default:
			matches = inside && !strings.HasPrefix(below, ".") && !strings.Contains(below, "/.")
		}
		if matches && !strings.HasSuffix(o.Key, "/") { // such a key marks an empty folder
			one := *to
			one.name, one.key = "s3://"+to.bucket+"/"+o.Key, o.Key
			all = append(all, &Source{one, o.Size, below, inside, o.ETag})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is no such object: check the bucket and the key", name)
	}
	return all, nil
}

// Open returns the content of the object. It sends nothing before the first Read.
func (s *Source) Open(ctx context.Context) io.ReadCloser { return &download{Source: s, ctx: ctx} }

const attempts = 5 // requests in a row that may break before they return a byte

type download struct {
	*Source
	ctx    context.Context
	body   io.ReadCloser // nil if there is no connection
	at     int64         // number of bytes read
	broken int           // requests in a row that returned no byte
}

func (d *download) Read(p []byte) (n int, err error) {
	for d.at < d.Size {
		if d.body == nil {
			if err := d.request(); err != nil {
				return 0, d.explain(d.ctx, "read", err)
			}
		}
		n, err = d.body.Read(p)
		d.at += int64(n)
		if err != nil {
			d.Close()
			d.body = nil
		}
		if n > 0 {
			d.broken = 0
			return n, nil
		}
		if d.broken++; d.broken == attempts {
			return 0, d.explain(d.ctx, "read", err)
		}
	}
	return 0, io.EOF
}

func (d *download) request() error {
	opt := minio.GetObjectOptions{}
	err := opt.SetMatchETag(d.etag)
	if err == nil && d.at > 0 {
		err = opt.SetRange(d.at, 0)
	}
	if err != nil {
		return err
	}
	body, info, header, err := d.client.GetObject(d.ctx, d.bucket, d.key, opt)
	if status := minio.ToErrorResponse(err).StatusCode; status == http.StatusPreconditionFailed || status == http.StatusNotFound {
		return errChanged
	}
	if err != nil {
		return err
	}
	d.body = body
	switch {
	case info.ETag != d.etag: // the server ignores the condition
		return errChanged
	case d.at > 0 && !strings.HasPrefix(header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.at)):
		return errors.New("the connection broke, and the server cannot send the rest")
	}
	return nil
}

func (d *download) Close() error {
	if d.body == nil {
		return nil
	}
	return d.body.Close()
}
