// Package warc reads and writes web archives: WARC 1.1 files (ISO 28500:2017), uncompressed or with
// one gzip member per record; their index, CDXJ; and the package format for both, WACZ 1.1.1.
//
//	r := warc.NewReader(f)
//	for {
//		rec, err := r.Next()
//		if err == io.EOF {
//			break
//		}
//		if lost, ok := errors.AsType[*warc.Damage](err); ok {
//			log.Print(lost) // names the offset; the reader continues after the damage
//			continue
//		}
//		if err != nil {
//			return err
//		}
//		fmt.Println(rec.Type(), rec.URI())
//	}
//
// A [Reader] needs little memory for any file, and continues after damage. A [Writer] writes
// records from a reader unchanged, byte for byte, and completes new records.
//
// The package neither fetches nor decodes: a page in an archive has the content coding and the
// charset that its server gave it.
package warc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Type is the type of a record, which determines the content of the record's block.
type Type string

const (
	Info         Type = "warcinfo"     // describes the file; should be its first record
	Response     Type = "response"     // a server's response, with the HTTP head
	Request      Type = "request"      // the request that led to a response
	Resource     Type = "resource"     // a file, without the head that the protocol sent with it
	Metadata     Type = "metadata"     // facts about another record
	Revisit      Type = "revisit"      // a response with the same content as another record; the content is not stored again
	Conversion   Type = "conversion"   // the content of another record in another format, such as its text
	Continuation Type = "continuation" // the rest of a record that began in another file
)

// Content types of blocks.
const (
	TypeRequest  = "application/http; msgtype=request"
	TypeResponse = "application/http; msgtype=response"
	TypeFields   = "application/warc-fields"
)

// Values of WARC-Profile, the reason why a revisit record has no content of its own. There is no
// profile for a response that is only similar to another: a player that replays a revisit shows the
// bytes of the other record.
const (
	ProfileIdentical   = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	ProfileNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// InfoFields lists the fields of a warcinfo record that say who crawled, and why. The names are those of
// WARC 1.1 (record type warcinfo) and of the Dublin Core terms.
var InfoFields = []string{"operator", "http-header-from", "description", "isPartOf", "audience", "hostname", "ip"}

// PrivateField is a field of a warcinfo record, or of a single record. Its presence means that others
// may not be allowed to see the record, or the records up to the next warcinfo record, because the
// responses are to requests with a user's secrets.
const PrivateField = "Skink-Private"

// These are the beginnings of the URIs of resource records with a picture of a page. The page's URL
// follows. The names are those of browsertrix-crawler.
const (
	ViewPrefix      = "urn:view:"      // the page as a browser shows it
	ThumbnailPrefix = "urn:thumbnail:" // a small picture
)

// Pictured returns the URL of the page that a record with this URI shows. ok is false if the URI is not
// that of a picture.
func Pictured(uri string) (url string, ok bool) {
	if url, ok = strings.CutPrefix(uri, ViewPrefix); !ok {
		url, ok = strings.CutPrefix(uri, ThumbnailPrefix)
	}
	return url, ok
}

// First returns the header of the first record of an archive, or nil if that cannot be read.
func First(archive io.Reader) Header {
	first, err := NewReader(archive).Next()
	if err != nil {
		return nil
	}
	return first.Header
}

// A Record is one record of an archive.
type Record struct {
	Header Header    // named fields of the record, in order
	Block  io.Reader // content of the record; its length is the Content-Length of the record

	// Offset and Length are the position and length of the record in its file, in bytes. In a
	// compressed file, they are those of the record's gzip member. Length is 0 until Block has
	// returned io.EOF. If several records share one gzip member, Length stays 0, because such a record
	// cannot be read by itself.
	Offset, Length int64
}

// New returns a record whose block has the given content type. The [Writer] later adds the record's
// id, length and digests. uri is the URI of the content, or "".
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

// A memory is a block whose bytes are all in memory, so it can be written without copying.
type memory struct {
	*bytes.Reader
	all []byte
}

// Type returns the type of the record, in lower case. It may be a type for which this package has
// no constant.
func (r *Record) Type() Type { return Type(strings.ToLower(r.Header.Get("WARC-Type"))) }

// ID returns the record's id, such as <urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6>.
func (r *Record) ID() string { return r.Header.Get("WARC-Record-ID") }

// URI returns the URI that the record is about, or "" if it has none. Old tools wrote the URI in
// angle brackets; URI removes them.
func (r *Record) URI() string {
	uri := r.Header.Get("WARC-Target-URI")
	if bare, ok := strings.CutPrefix(uri, "<"); ok {
		return strings.TrimSuffix(bare, ">")
	}
	return uri
}

// Date returns the time at which the record's content was captured, or the zero time if the record
// does not have a valid date.
func (r *Record) Date() time.Time {
	date, _ := time.Parse(time.RFC3339Nano, r.Header.Get("WARC-Date")) // with an error, the zero time
	return date
}

// length returns the record's Content-Length, the length of the block in bytes.
func (r *Record) length() (int64, error) {
	text := r.Header.Get("Content-Length")
	if text == "" {
		return 0, fmt.Errorf("the record has no Content-Length")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("the record has an invalid Content-Length: %q", text)
	}
	return n, nil
}

// Digest returns the digest of a block or payload in the format of record headers: "sha256:" and hex, as WACZ requires.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// payload returns the part of an HTTP message that the payload digest of its record covers:
// everything after the first empty line, which ends the head.
func payload(message []byte) []byte {
	for line := message; len(line) > 0 && len(message) > 0; line = bytes.TrimRight(line, "\r") {
		line, message, _ = bytes.Cut(message, []byte("\n"))
	}
	return message
}

// NewInfo returns a warcinfo record, which describes a file and is its first record. filename is
// the name of the file, or "". about contains fields such as software, format, operator, robots and
// isPartOf.
func NewInfo(filename string, date time.Time, about Header) (*Record, error) {
	block, err := about.append(nil)
	if err != nil {
		return nil, err
	}
	r := New(Info, "", date, TypeFields, bytes.TrimSuffix(block, []byte("\r\n"))) // Header.append ends with an empty line, as in HTTP heads; this format has none
	if filename != "" {
		r.Header.Add("WARC-Filename", filename)
	}
	return r, nil
}
