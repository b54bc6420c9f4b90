// Package bucket writes objects to Amazon S3 and to the many servers that speak its protocol, and reads them.
//
//	o, err := bucket.New("s3://crawls/pages.jsonl", bucket.Environment())
//	n, err := o.Write(ctx, func(w io.Writer) error { ... })
//
// An object appears under its key only when it is complete. Until then, an older object with that
// key remains unchanged. An object of more than [partSize] bytes is sent in parts, and the server
// assembles the object from the parts at the end. If something fails before the end, the parts are
// removed. The parts of a killed process stay on the server, but never become visible as an object.
// A lifecycle rule of the bucket (AbortIncompleteMultipartUpload) can remove them.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// IsAddress reports whether name is the address of an object: s3://BUCKET/KEY.
func IsAddress(name string) bool { return strings.HasPrefix(name, "s3://") }

// Options configures access to a server.
type Options struct {
	Endpoint string // URL of the server; "" means Amazon S3
	Region   string // "" means us-east-1, or for Amazon the bucket's region
	Key      string // access key ID
	Secret   string // secret access key
	Token    string // session token; "" means that the credentials are not temporary

	retries int // number of attempts for a request; 0 means the library's default, ten within a few seconds
	part    int // size of a part in bytes; 0 means partSize
}

// Environment returns options from the environment variables that Amazon's tools read.
func Environment() Options {
	return Options{
		Endpoint: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")),
		Region:   cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Key:      os.Getenv("AWS_ACCESS_KEY_ID"),
		Secret:   os.Getenv("AWS_SECRET_ACCESS_KEY"),
		Token:    os.Getenv("AWS_SESSION_TOKEN"),
	}
}

const (
	partSize  = 16 << 20         // size of a part in bytes; some servers require all parts but the last to have the same size
	maxParts  = 10_000           // maximum number of parts of an object in S3
	cleanTime = 30 * time.Second // time limit for removing the parts of a failed upload
)

// An Object is an object in a bucket.
type Object struct {
	name        string
	bucket, key string
	client      *minio.Core
	size        int // size of a part in bytes
}

// New returns the object with the given address. It sends nothing. The error says what is wrong
// with the address or the options.
func New(name string, opt Options) (*Object, error) {
	_, key, _ := strings.Cut(strings.TrimPrefix(name, "s3://"), "/")
	if !IsAddress(name) || key == "" || strings.HasSuffix(key, "/") {
		return nil, fmt.Errorf("%s does not name an object: try s3://BUCKET/KEY", name)
	}
	return connect(name, opt)
}

func connect(name string, opt Options) (*Object, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(name, "s3://"), "/")
	switch {
	case bucket == "":
		return nil, fmt.Errorf("%s does not name a bucket: try s3://BUCKET/KEY", name)
	case opt.Key == "" || opt.Secret == "":
		return nil, fmt.Errorf("%s needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", name)
	}
	at := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}
	if opt.Endpoint != "" {
		var err error
		if at, err = url.Parse(opt.Endpoint); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || strings.Trim(at.Path, "/") != "" || at.User != nil {
			return nil, errors.New("AWS_ENDPOINT_URL is not the URL of a server: try https://HOST:PORT")
		}
		opt.Region = cmp.Or(opt.Region, "us-east-1")
	}
	client, err := minio.NewCore(at.Host, &minio.Options{
		Creds: credentials.NewStaticV4(opt.Key, opt.Secret, opt.Token), Secure: at.Scheme == "https", Region: opt.Region, MaxRetries: opt.retries,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Object{name, bucket, key, client, cmp.Or(opt.part, partSize)}, nil
}

// Write calls write, and stores the bytes that it writes as the content of the object. If write
// fails, or writes nothing, the object remains unchanged. The result n is the number of bytes
// written.
func (o *Object) Write(ctx context.Context, write func(io.Writer) error) (n int64, err error) {
	u := &upload{Object: o, ctx: ctx}
	if err = write(u); err == nil {
		err = u.complete()
	}
	if err != nil {
		return u.sent, errors.Join(err, u.abort())
	}
	return u.sent, nil
}

type upload struct {
	*Object
	ctx    context.Context
	part   bytes.Buffer // bytes not sent yet
	id     string       // ID of the multipart upload; "" means that none has been started
	parts  []minio.CompletePart
	sent   int64 // number of bytes passed to Write
	failed error
}

func (u *upload) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if u.failed != nil {
			return 0, u.failed
		}
		n := min(len(rest), u.size-u.part.Len())
		u.part.Write(rest[:n])
		rest = rest[n:]
		if u.part.Len() == u.size {
			u.failed = u.explain(u.ctx, "write", u.send())
		}
	}
	u.sent += int64(len(p))
	return len(p), u.failed
}

func (u *upload) send() (err error) {
	if u.id == "" {
		if u.id, err = u.client.NewMultipartUpload(u.ctx, u.bucket, u.key, minio.PutObjectOptions{}); err != nil {
			return err
		}
	}
	if len(u.parts) == maxParts {
		return fmt.Errorf("the file is larger than %d GB, the size limit of an object: choose a name that ends in .zst, so that the file is compressed", partSize*maxParts>>30)
	}
	number := len(u.parts) + 1
	part, err := u.client.PutObjectPart(u.ctx, u.bucket, u.key, u.id, number, bytes.NewReader(u.part.Bytes()), int64(u.part.Len()), minio.PutObjectPartOptions{Sha256Hex: u.sum(), DisableContentSha256: true})
	if err != nil {
		return err
	}
	u.parts = append(u.parts, minio.CompletePart{PartNumber: number, ETag: part.ETag})
	u.part.Reset()
	return nil
}

// sum returns the SHA-256 of the buffered bytes, which is signed and then checked by the server.
// With the option DisableContentSha256, the library uses this sum. Otherwise it sends the bytes
// over HTTP in signed chunks, which some servers do not support.
func (u *upload) sum() string {
	sum := sha256.Sum256(u.part.Bytes())
	return hex.EncodeToString(sum[:])
}

func (u *upload) complete() error {
	if u.failed != nil || u.sent == 0 {
		return u.failed
	}
	if u.id == "" {
		_, err := u.client.PutObject(u.ctx, u.bucket, u.key, bytes.NewReader(u.part.Bytes()), int64(u.part.Len()), "", u.sum(), minio.PutObjectOptions{DisableContentSha256: true})
		return u.explain(u.ctx, "write", err)
	}
	if u.part.Len() > 0 {
		if err := u.send(); err != nil {
			return u.explain(u.ctx, "write", err)
		}
	}
	_, err := u.client.CompleteMultipartUpload(u.ctx, u.bucket, u.key, u.id, u.parts, minio.PutObjectOptions{})
	return u.explain(u.ctx, "write", err)
}

// abort removes the parts from the server, even if the context has ended, because that may be why
// the upload failed.
func (u *upload) abort() error {
	if u.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), cleanTime)
	defer cancel()
	err := u.client.AbortMultipartUpload(ctx, u.bucket, u.key, u.id)
	if err == nil || minio.ToErrorResponse(err).Code == minio.NoSuchUpload {
		return nil
	}
	return fmt.Errorf("the uploaded parts could not be removed from the server: %w", err)
}

func (o *Object) explain(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err = fmt.Errorf("%s %s: %w", what, o.name, err)
	switch minio.ToErrorResponse(errors.Unwrap(err)).Code {
	case minio.NoSuchBucket:
		return fmt.Errorf("%w: create the bucket %s first", err, o.bucket)
	case minio.AccessDenied, "InvalidAccessKeyId", "SignatureDoesNotMatch":
		return fmt.Errorf("%w: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL, and the rights of the user", err)
	}
	return err
}
