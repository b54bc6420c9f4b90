// Package warc reads and writes web archives: files of WARC 1.1 (ISO 28500:2017), plain or with
// one gzip member a record; WET, which is WARC with texts in it; their index, CDXJ; and the
// package of both, WACZ 1.1.1.
//
//	r := warc.NewReader(f)
//	for {
//		rec, err := r.Next()
//		if err == io.EOF {
//			break
//		}
//		if lost, ok := errors.AsType[*warc.Damage](err); ok {
//			log.Print(lost) // names the offset; the reader goes on behind it
//			continue
//		}
//		if err != nil {
//			return err
//		}
//		fmt.Println(rec.Type(), rec.URI())
//	}
//
// A [Reader] needs little memory whatever a file holds, and goes on after damage. A [Writer] writes
// records from a reader unchanged, byte for byte, and completes new records.
//
// The package neither fetches nor decodes: a page in an archive has the content coding and the
// charset that its server gave it.
package warc

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Type is the type of a record.
type Type string

const (
	Info         Type = "warcinfo"     // about the file; its first record
	Response     Type = "response"     // what a server answered
	Request      Type = "request"      // what it was asked
	Resource     Type = "resource"     // a file without the protocol it came by
	Metadata     Type = "metadata"     // about another record
	Revisit      Type = "revisit"      // an answer that is known from another record
	Conversion   Type = "conversion"   // another form of a record's content, such as its text
	Continuation Type = "continuation" // the rest of a record that began in another file
)

// Content types of blocks.
const (
	TypeRequest  = "application/http; msgtype=request"
	TypeResponse = "application/http; msgtype=response"
	TypeFields   = "application/warc-fields"
)

// Profiles of revisit records. There cannot be one for pages that are nearly the same: replaying a
// revisit returns the bytes of the record that it refers to.
const (
	ProfileIdentical   = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	ProfileNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// A Record is one record of an archive.
type Record struct {
	Header Header    // its named fields, in their order
	Block  io.Reader // its content, Content-Length bytes

	// Offset and Length are the place of the record in its file, in bytes. A record of a packed
	// file begins and ends with its gzip member. Length is 0 until Block has returned io.EOF. It
	// stays 0 for a record that shares its member with others, which can only be read in sequence.
	Offset, Length int64
}

// New returns a record to be written, with a block of a content type. The writer adds id, length
// and digests if they are missing.
func New(t Type, uri string, date time.Time, contentType string, block []byte) *Record {
	r := &Record{Block: &memory{bytes.NewReader(block), block}}
	r.Header.Add("WARC-Type", string(t))
	if uri != "" {
		r.Header.Add("WARC-Target-URI", uri)
	}
	r.Header.Add("WARC-Date", date.UTC().Format(time.RFC3339Nano))
	if contentType != "" {
		r.Header.Add("Content-Type", contentType)
	}
	return r
}

// A memory is a block in memory, which can be written without a copy.
type memory struct {
	*bytes.Reader
	all []byte
}

// Type returns the type of the record. It may be one that this package has no constant for.
func (r *Record) Type() Type { return Type(strings.ToLower(r.Header.Get("WARC-Type"))) }

// ID returns the record's id, such as <urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6>.
func (r *Record) ID() string { return r.Header.Get("WARC-Record-ID") }

// URI returns the URI that the record is about, or "" if the record does not say. Old tools wrote
// it in angle brackets, which are left out.
func (r *Record) URI() string {
	uri := r.Header.Get("WARC-Target-URI")
	if bare, ok := strings.CutPrefix(uri, "<"); ok {
		return strings.TrimSuffix(bare, ">")
	}
	return uri
}

// Date returns when the content was captured, or the zero time if the record does not say.
func (r *Record) Date() time.Time {
	date, err := time.Parse(time.RFC3339Nano, r.Header.Get("WARC-Date"))
	if err != nil {
		return time.Time{}
	}
	return date
}

// length returns the length of the block by the record's own header, in bytes.
func (r *Record) length() (int64, error) {
	text := r.Header.Get("Content-Length")
	if text == "" {
		return 0, fmt.Errorf("the record has no Content-Length")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("Content-Length is %q", text)
	}
	return n, nil
}
