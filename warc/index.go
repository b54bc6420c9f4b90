package warc

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
	"time"
)

// An Entry is a line of a CDXJ index: the location of the response for a URL in an archive, and a
// description of the response. The values of all fields are strings in the index.
type Entry struct {
	URL    string    `json:"url"`
	Date   time.Time `json:"-"`
	MIME   string    `json:"mime,omitempty"`          // media type of the payload, or "warc/revisit" for a revisit record
	Status int       `json:"status,omitempty,string"` // HTTP status, for a revisit that of the response it refers to; 0 if the record has none
	Digest string    `json:"digest,omitempty"`        // digest of the payload, such as "sha1:…"
	Length int64     `json:"length,omitempty,string"`
	Offset int64     `json:"offset,string"`
	File   string    `json:"filename"`              // name of the archive file that contains the record
	Method string    `json:"method,omitempty"`      // method of the request; "" means GET
	Posted string    `json:"requestBody,omitempty"` // body of a POST request as a query; see post.go
}

// EntryOf returns the index entry for a record of the archive called file. ok is false for a record
// that is not indexed: only responses, resources and revisits are. EntryOf reads the record's block
// to its end, because the record's length is not known before then. err is an error from reading
// the block, or the head of the HTTP message in it.
func EntryOf(r *Record, file string) (e Entry, ok bool, err error) {
	e = Entry{URL: r.URI(), Date: r.Date(), Digest: cmp.Or(r.Header.Get("WARC-Payload-Digest"), r.Header.Get("WARC-Block-Digest")), Offset: r.Offset, File: file}
	kind := r.Header.Get("Content-Type")
	switch r.Type() {
	case Resource:
	case Response, Revisit:
		if strings.HasPrefix(kind, "application/http") && r.Header.Get("Content-Length") != "0" {
			m, err := r.Message()
			if err != nil {
				return e, false, err
			}
			e.Status, kind = m.Status(), m.Header.Get("Content-Type")
		}
	default:
		return e, false, nil
	}
	e.MIME, _, _ = mime.ParseMediaType(kind)
	if r.Type() == Revisit {
		e = e.AsRevisit()
	}
	if _, err := io.Copy(io.Discard, r.Block); err != nil {
		return e, false, err
	}
	e.Length = r.Length
	return e, e.URL != "", nil
}

// AsRevisit returns the entry of a revisit record, given that of an ordinary response with its head. A
// server sends status 304 (Not Modified) only in place of 200 (RFC 9110, section 15.4.5). Players take
// the status from the index, and show nothing for 304, so the entry has 200.
func (e Entry) AsRevisit() Entry {
	e.MIME = typeRevisit
	const ok, notModified = 200, 304
	if e.Status == notModified {
		e.Status = ok
	}
	return e
}

const typeRevisit = "warc/revisit"

// line returns the entry as a line of CDXJ: the URL's [SURT] key, the time as 14 digits, and a JSON
// object whose values are strings.
func (e *Entry) line() ([]byte, error) {
	b := bytes.NewBufferString(strings.ReplaceAll(SURT(e.key()), " ", "%20"))
	b.WriteString(" " + e.Date.UTC().Format("20060102150405") + " ")
	out := json.NewEncoder(b)
	out.SetEscapeHTML(false)
	err := out.Encode(e)
	return b.Bytes(), err
}

// WriteIndex writes entries as a CDXJ index. The lines are in byte order, so tools can find a line
// by binary search.
func WriteIndex(w io.Writer, entries []Entry) error {
	lines := make([][]byte, len(entries))
	for i := range entries {
		line, err := entries[i].line()
		if err != nil {
			return fmt.Errorf("write an index: %w", err)
		}
		lines[i] = line
	}
	slices.SortFunc(lines, bytes.Compare)
	out := bufio.NewWriter(w)
	for _, line := range lines {
		_, _ = out.Write(line) // an error remains until Flush
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write an index: %w", err)
	}
	return nil
}

// IndexOf reads an archive from r, and returns the index entries of its records. Records that
// cannot be looked up, such as metadata, have none. A request must follow its response. name is the name of the archive's file. IndexOf
// calls damaged for each damaged record, and continues after it.
func IndexOf(r io.Reader, name string, damaged func(*Damage)) ([]Entry, error) {
	var entries []Entry
	archive := NewReader(r)
	for {
		rec, err := archive.Next()
		if err == io.EOF {
			return entries, nil
		}
		var e Entry
		ok := false
		if err == nil {
			e, ok, err = EntryOf(rec, name)
		}
		if n := len(entries); err == nil && rec.Type() == Request && n > 0 && entries[n-1].URL == rec.URI() {
			entries[n-1].SetRequest(rec)
		}
		if errors.Is(err, ErrLength) { // the record itself has been indexed
			continue
		}
		if err != nil {
			lost, isDamage := errors.AsType[*Damage](err)
			switch {
			case isDamage:
			case rec == nil:
				return nil, err
			default: // the record is complete, but the HTTP message in it is malformed
				lost = &Damage{rec.Offset, rec.URI(), err}
			}
			damaged(lost)
		}
		if ok {
			entries = append(entries, e)
		}
	}
}
