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
// A [Reader] holds little memory whatever a file holds, and goes on after what is damaged. A
// [Writer] writes what a reader gives byte for byte as it was, and completes records that are new.
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

// A Type is what a record holds.
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

// Types of content that blocks have.
const (
	TypeRequest  = "application/http; msgtype=request"
	TypeResponse = "application/http; msgtype=response"
	TypeFields   = "application/warc-fields"
)

// Profiles of revisit records. There is none for pages that are nearly the same, and there cannot
// be: who replays a revisit gives the bytes of the record that it refers to.
const (
	ProfileIdentical   = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	ProfileNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// A Record is one record of an archive.
type Record struct {
	Header Header    // its named fields, in their order
	Block  io.Reader // its content, Content-Length bytes

	// Where the record is in its file. A record of a packed file begins and ends with its gzip
	// member. Length is 0 until Block has given io.EOF, and of a record that shares its member with
	// others, which can be read in a row only.
	Offset, Length int64
}

// New begins a record that is to be written, with a block of some type of content. The writer
// adds what is missing: id, length and digests.
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

// A memory is a block that is in memory, so that it need not be copied to be written.
type memory struct {
	*bytes.Reader
	all []byte
}

// Type is what the record holds. There may be types that this package has no name for.
func (r *Record) Type() Type { return Type(strings.ToLower(r.Header.Get("WARC-Type"))) }

// ID is the record's name, as in <urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6>.
func (r *Record) ID() string { return r.Header.Get("WARC-Record-ID") }

// URI is what the record is about, "" if the record does not say. Old tools wrote it in angle
// brackets, which are left out.
func (r *Record) URI() string {
	uri := r.Header.Get("WARC-Target-URI")
	if bare, ok := strings.CutPrefix(uri, "<"); ok {
		return strings.TrimSuffix(bare, ">")
	}
	return uri
}

// Date is when the content was had; zero if the record does not say.
func (r *Record) Date() time.Time {
	date, err := time.Parse(time.RFC3339Nano, r.Header.Get("WARC-Date"))
	if err != nil {
		return time.Time{}
	}
	return date
}

// length is how long the record says its block is.
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
