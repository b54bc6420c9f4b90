package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skink/crawler"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/store"
	"skink/warc"
)

// # Records of a response
//
// An HTTP response becomes a response record and a request record. For a duplicate page, a metadata
// record with the verdict is added. A near-duplicate does not become a revisit record, because a
// replay tool would then show the other page; payload.go is about equal bytes. For a URL without a
// response, there is only a metadata record with the reason. So the archive has a record for each URL
// that has a record in the store.
//
// If a visit finds a page unchanged, the page's record in the store still points to the first
// response. The new response becomes a revisit record, which refers to the first response, if the
// server answered with status 304 (Not Modified) or sent the same bytes. Otherwise it becomes a
// response record.
//
// A response is stored without chunked transfer coding (RFC 9112): the Transfer-Encoding field is
// removed, and Content-Length is the length of the stored body. Archive readers disagree about the
// payload of a chunked message. A response with status 304 also gets the Content-Type of the original, if it
// has none. All other fields are stored as received.

// packed contains the records of one response, compressed and ready to be written.
type packed struct {
	records []byte
	index   warc.Entry // index entry of the first record, without its offset and file; URL is "" if the record is not indexed
	length  int64      // compressed length of the first record, in bytes
	id      string     // WARC-Record-ID of the first record
	digest  string     // payload digest of the first record

	pictures []warc.Entry // index entries of pictures, with offsets from the end of the first record
}

var blocks = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// fieldsOf returns the fields of the record of a page's response. kind is the kind of response, such
// as [corpus.IsPage]. detail explains it. If it is "", the field has the note on the page, if any.
func fieldsOf(page *crawler.Page, kind, detail string) (h warc.Header) {
	h.Add(corpus.PageField, kind)
	if page.Problem == "" {
		detail = cmp.Or(detail, page.Detail)
	}
	if detail != "" {
		h.Add(corpus.DetailField, oneLine(detail))
	}
	if page.Signals != "" {
		h.Add(corpus.SignalsField, oneLine(page.Signals))
	}
	if page.Hidden {
		h.Add(corpus.HiddenField, "yes")
	}
	switch {
	case page.DrawError != "":
		h.Add(corpus.RenderField, oneLine(page.DrawError))
	case page.MayRender:
		h.Add(corpus.RenderField, corpus.NoRendering)
	}
	return h
}

// answer returns the records of a response and of its request. The record of the response has the
// given fields.
func (a *Archive) answer(raw *wire.Raw, fields warc.Header) (p packed, err error) {
	block := blocks.Get().(*bytes.Buffer)
	defer blocks.Put(block)
	block.Reset()
	block.Write(storedHead(raw))
	block.Write(raw.Body)
	response := warc.New(warc.Response, raw.URL, raw.At, warc.TypeResponse, block.Bytes())
	if raw.Address != "" {
		response.Header.Add("WARC-IP-Address", raw.Address)
	}
	response.Header.Add("WARC-Protocol", raw.Protocol)
	if raw.Cut != wire.Whole {
		response.Header.Add("WARC-Truncated", string(raw.Cut))
	}
	response.Header = append(response.Header, fields...)
	if p.records, err = pack.Append(nil, response); err != nil {
		return p, err
	}
	p.index.Status, p.index.MIME = statusAndType(raw.Head)
	return a.withRequest(p, response, raw)
}

// withRequest completes p, which so far has only the first record of a response. It sets the fields
// of p that describe this record, and appends the record of the request.
func (a *Archive) withRequest(p packed, first *warc.Record, raw *wire.Raw) (packed, error) {
	p.id, p.length, p.digest = first.ID(), int64(len(p.records)), first.Header.Get("WARC-Payload-Digest")
	p.index.URL, p.index.Date, p.index.Digest, p.index.Length = raw.URL, raw.At, p.digest, p.length
	request := warc.New(warc.Request, raw.URL, raw.At, warc.TypeRequest, raw.Request)
	request.Header.Add("WARC-Concurrent-To", p.id)
	p.index.SetRequest(&warc.Record{Block: bytes.NewReader(raw.Request)})
	var err error
	p.records, err = pack.Append(p.records, request)
	return p, err
}

// revisit returns the records of a response that repeats an earlier one, given the records p that have it
// in full. The revisit record has the head of the new response, the profile, and a reference to the
// record with the body.
func (a *Archive) revisit(p packed, raw *wire.Raw, fields warc.Header, profile string, first *original) (packed, error) {
	rec := warc.New(warc.Revisit, raw.URL, raw.At, warc.TypeResponse, withType(storedHead(raw), first.mime))
	h := &rec.Header
	h.Add("WARC-Profile", profile)
	if first.id != "" {
		h.Add("WARC-Refers-To", first.id)
	}
	h.Add("WARC-Refers-To-Target-URI", first.url)
	h.Add("WARC-Refers-To-Date", first.date.UTC().Format(time.RFC3339)) // without fractions of a second: ReplayWeb.page looks for the response from this time on, in an index with whole seconds
	if first.at.Digest != "" {
		h.Add("WARC-Payload-Digest", first.at.Digest)
	}
	h.Add("WARC-Record-ID", p.id)
	*h = append(*h, fields...)
	records, err := pack.Append(nil, rec)
	length := int64(len(records))
	p.records, p.index = append(records, p.records[p.length:]...), p.index.AsRevisit()
	p.length, p.index.Length, p.digest, p.index.Digest = length, length, first.at.Digest, first.at.Digest
	return p, err
}

// isClosed reports whether the archive has the closed file with this name.
func (a *Archive) isClosed(name string) bool {
	_, err := os.Stat(a.path(name))
	return err == nil
}

// recordAt returns the record at the given position, without its block, or nil if it cannot be read.
func (a *Archive) recordAt(at store.Archived) *warc.Record {
	f, rec := a.recordIn(at)
	if rec != nil {
		f.Close()
	}
	return rec
}

// openEither opens an archive file that may not be closed yet.
func openEither(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(path + opening)
	}
	return f, err
}

// recordIn returns the record at the given position, and its file. The record is nil if it cannot be read.
func (a *Archive) recordIn(at store.Archived) (*os.File, *warc.Record) {
	f, err := openEither(a.path(at.File))
	if path := a.others[at.File]; errors.Is(err, fs.ErrNotExist) && path != "" {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, nil
	}
	rec, err := warc.NewReader(io.NewSectionReader(f, at.Offset, at.Length)).Next()
	if err != nil {
		f.Close()
		return nil, nil
	}
	return f, rec
}

// with appends a metadata record to p, which has the records of a page's response. The new record
// contains the verdict on the page, or the reason why there is no response.
func (a *Archive) with(p packed, page *crawler.Page, r *store.Record) (packed, error) {
	var remark corpus.Remark
	switch {
	case page.Raw == nil:
		remark = corpus.Remark{Problem: string(page.Problem), Detail: page.Detail, Tries: page.Item.Tries}
	case r.Follows():
		remark = corpus.Remark{Verdict: string(r.Verdict), Resemblance: r.Resemblance}
	default:
		return p, nil
	}
	text, err := json.Marshal(remark)
	if err != nil {
		return p, err
	}
	rec := warc.New(warc.Metadata, page.Item.URL, page.FetchedAt, corpus.TypeRemark, text)
	if page.Raw != nil {
		rec.Header.Add("WARC-Concurrent-To", p.id)
	} else if page.Item.Kind != frontier.Requisite {
		rec.Header.Add(corpus.PageField, corpus.NoAnswer)
	}
	p.records, err = pack.Append(slices.Clip(p.records), rec) // slices.Clip makes Append copy p.records, because a second verdict on the same page needs them unchanged
	if page.Raw == nil {
		p.length = int64(len(p.records))
	}
	return p, err
}

// withPictures appends the pictures of a page to p, which has the records of its response, as
// browsertrix-crawler writes them. They stand after the response, where a reader finds them.
func (a *Archive) withPictures(p packed, page *crawler.Page) (_ packed, err error) {
	if page.Drawing == nil || page.Raw == nil {
		return p, nil
	}
	p.records = slices.Clip(p.records) // as in with
	for _, shot := range []struct {
		prefix, kind string
		image        []byte
	}{{warc.ViewPrefix, "image/png", page.Drawing.View}, {warc.ThumbnailPrefix, "image/jpeg", page.Drawing.Thumbnail}} {
		if len(shot.image) == 0 {
			continue
		}
		rec := warc.New(warc.Resource, shot.prefix+page.Item.URL, page.FetchedAt, shot.kind, shot.image)
		rec.Header.Add("WARC-Concurrent-To", p.id)
		at := int64(len(p.records))
		if p.records, err = pack.Append(p.records, rec); err != nil {
			return p, err
		}
		p.pictures = append(p.pictures, warc.Entry{
			URL: rec.URI(), Date: page.FetchedAt, MIME: shot.kind, Digest: rec.Header.Get("WARC-Payload-Digest"), Offset: at - p.length, Length: int64(len(p.records)) - at,
		})
	}
	return p, nil
}

// about returns the record about a page that precedes its response, so that a reader of the archive
// has it when it reads the page. It contains the URLs of a sitemap, or the HTML that a browser
// rendered. The argument response is the ID of the response.
func (a *Archive) about(page *crawler.Page, response string) ([]byte, error) {
	var rec *warc.Record
	switch {
	case page.Listed != nil:
		rec = warc.New(warc.Metadata, page.Item.URL, page.FetchedAt, corpus.TypeURLs, []byte(strings.Join(page.Listed.URLs, "\n")))
		rec.Header.Add(corpus.PageField, corpus.IsListed)
	case page.Drawing != nil:
		html, contentType := page.Document()
		rec = warc.New(warc.Conversion, page.Item.URL, page.FetchedAt, contentType, html)
		rec.Header.Add(corpus.PageField, corpus.IsRendered)
		if page.Drawing.Goes != "" {
			rec.Header.Add(corpus.GoesField, oneLine(page.Drawing.Goes))
		}
	default:
		return nil, nil
	}
	rec.Header.Add("WARC-Refers-To", response)
	return pack.Append(nil, rec)
}

// oneLine replaces each run of white space with one space, because the value of a header field must
// not contain line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// withType adds the media type of the original to the head of a response with status 304 (Not Modified),
// which need not repeat it. Without a type, a player shows a page as plain text.
func withType(head []byte, mime string) []byte {
	if mime == "" || bytes.Contains(bytes.ToLower(head), []byte("\ncontent-type:")) {
		return head
	}
	return append(slices.Clip(bytes.TrimRight(head, "\r\n")), "\r\nContent-Type: "+oneLine(mime)+"\r\n\r\n"...)
}

// storedHead returns the head of a response without Transfer-Encoding, and with the length of the
// stored body as Content-Length.
func storedHead(raw *wire.Raw) []byte {
	length := "Content-Length: " + strconv.Itoa(len(raw.Body)) + "\r\n"
	status, _ := statusAndType(raw.Head)
	// A response with such a status keeps its Content-Length: that of a 304 is the length of a body that was not sent.
	bodiless := len(raw.Body) == 0 && (status < 200 || status == 204 || status == 304)
	stored := make([]byte, 0, len(raw.Head)+len(length))
	dropped := false
	for line := range bytes.Lines(raw.Head) {
		if dropped && (line[0] == ' ' || line[0] == '\t') {
			continue // this line continues the value of a removed field
		}
		name, _, _ := strings.Cut(string(line), ":")
		name = strings.ToLower(strings.TrimRight(name, " \t"))
		dropped = name == "transfer-encoding" || name == "content-length" && !bodiless
		switch {
		case dropped:
			stored, length = append(stored, length...), ""
			continue
		case len(bytes.TrimRight(line, "\r\n")) == 0 && !bodiless:
			stored, length = append(stored, length...), ""
		}
		stored = append(stored, line...)
	}
	return stored
}

func statusAndType(head []byte) (status int, kind string) {
	m, err := (&warc.Record{Block: bytes.NewReader(head)}).Message()
	if err != nil {
		return 0, ""
	}
	kind, _, _ = mime.ParseMediaType(m.Header.Get("Content-Type"))
	return m.Status(), kind
}

// maxBehind is the number of records behind a response among which its thumbnail is.
const maxBehind = 6

// Thumbnail returns the small picture of a page that stands behind its latest response in the archive. It
// returns nil if there is none, or if the archive has been moved.
func Thumbnail(ctx context.Context, s store.Reader, r *store.Record) []byte {
	at := r.Archive
	if r.Answered.File != "" {
		at = r.Answered
	}
	dirs, err := Folders(ctx, s)
	if err != nil || at.File == "" {
		return nil
	}
	for _, dir := range dirs {
		if f, err := openEither(filepath.Join(dir, filepath.Base(at.File))); err == nil {
			defer f.Close()
			return thumbnailIn(io.NewSectionReader(f, at.Offset, 1<<62), r.URL)
		}
	}
	return nil
}

func thumbnailIn(from io.Reader, url string) []byte {
	records := warc.NewReader(from)
	for range maxBehind {
		rec, err := records.Next()
		if err != nil {
			return nil
		}
		if rec.Type() == warc.Resource && rec.URI() == warc.ThumbnailPrefix+url {
			image, err := io.ReadAll(rec.Block)
			if err != nil {
				return nil
			}
			return image
		}
	}
	return nil
}
