// Package replay turns web archives into the pages that they are of, as a crawl has them, so that
// they are judged as if they had been crawled. [Pages] reads a whole archive; [PageOf] is the page
// of a record. How a crawl of ours marks its records is said here too, for package
// internal/archive, which writes them.
package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"skink/crawler"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/warc"
)

// PageField says whether the crawl took the answer for the page of its URL: those of a robots.txt,
// and of a URL that was tried again, are none. One that says what its host says of all that does
// not exist is an error, although the server calls it a page: no single answer shows that, so the
// crawl's finding goes with it, and in SoftField how it was found. The specification lets readers
// pass over fields that they do not know.
const (
	PageField = "Skink-Page"
	IsPage    = "yes"
	NotPage   = "no"
	SoftPage  = string(crawler.ProblemSoft)
	SoftField = "Skink-Page-Detail"
)

// A Remark is what a metadata record of a crawl says of a URL, as JSON.
type Remark struct {
	Verdict     string  `json:"verdict,omitempty"`
	DuplicateOf string  `json:"duplicate_of,omitempty"` // URL of the leader
	Resemblance float64 `json:"resemblance,omitempty"`  // exact, to the leader

	Problem string `json:"problem,omitempty"` // why there is no answer
	Detail  string `json:"detail,omitempty"`
	Tries   int    `json:"tries,omitempty"` // beyond the first
}

// TypeRemark is the content type of such records.
const TypeRemark = "application/json"

// PageOf is the page of a record, as a crawl by opt had it or would have it; nil: the record is
// none. Pages are answers of web servers, files of the web without their answer (resource records),
// and texts of pages (WET); and what this package wrote of a URL that nobody answered. The
// robots.txt of a site is no page, nor is an answer that a crawl of ours did not take for one, nor
// a revisit, which has no body.
//
// The error is a [*warc.Damage], or says what in the record makes no sense. The record's block was
// read to its end.
func PageOf(rec *warc.Record, opt crawler.Options) (*crawler.Page, error) {
	url, err := pageURL(rec)
	if url == "" || err != nil {
		return nil, err
	}
	item := frontier.Item{URL: url}
	var page *crawler.Page
	switch kind := rec.Header.Get("Content-Type"); rec.Type() {
	case warc.Metadata:
		return unanswered(item, rec)
	case warc.Resource:
		page = crawler.Replay(item, fileAnswer(rec, kind), opt)
	case warc.Conversion:
		page = crawler.Replay(item, fileAnswer(rec, "text/plain; charset=utf-8"), opt)
	case warc.Response:
		answer, err := httpAnswer(rec)
		if err != nil {
			return nil, about(rec, err)
		}
		page = crawler.Replay(item, answer, opt)
	}
	if _, err := io.Copy(io.Discard, rec.Block); err != nil {
		return nil, err
	}
	if rec.Header.Get(PageField) == SoftPage && page.Problem == "" {
		page.Problem, page.Detail = crawler.ProblemSoft, rec.Header.Get(SoftField)
	}
	return page, nil
}

// pageURL is the canonical URL of a record that may be a page; "": it is none.
func pageURL(rec *warc.Record) (string, error) {
	kind := rec.Header.Get("Content-Type")
	switch rec.Type() {
	case warc.Response:
		if !strings.HasPrefix(kind, "application/http") {
			return "", nil // of a name server, say
		}
	case warc.Conversion:
		if !strings.HasPrefix(kind, "text/plain") {
			return "", nil
		}
	case warc.Metadata:
		if kind != TypeRemark || rec.Header.Has("WARC-Concurrent-To") {
			return "", nil
		}
	case warc.Resource:
	default:
		return "", nil
	}
	uri := rec.URI()
	scheme, _, _ := strings.Cut(uri, ":")
	if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return "", nil
	}
	url, err := frontier.Canonical(uri)
	if err != nil {
		return "", about(rec, err)
	}
	switch rec.Header.Get(PageField) {
	case IsPage, SoftPage:
		return url, nil
	case NotPage:
		return "", nil
	}
	if _, path, _ := strings.Cut(strings.TrimPrefix(url, scheme+"://"), "/"); path == "robots.txt" {
		return "", nil
	}
	return url, nil
}

// about says which record an error is about.
func about(rec *warc.Record, err error) error {
	return &warc.Damage{Offset: rec.Offset, URI: rec.URI(), Err: err}
}

func cutOf(rec *warc.Record) wire.Cut {
	return wire.Cut(strings.ToLower(rec.Header.Get("WARC-Truncated")))
}

// fileAnswer is what a server would have answered with a file.
func fileAnswer(rec *warc.Record, kind string) wire.Answer {
	return wire.Answer{At: rec.Date(), Status: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: rec.Block, Cut: cutOf(rec)}
}

func httpAnswer(rec *warc.Record) (a wire.Answer, err error) {
	m, err := rec.Message()
	if err != nil {
		return a, err
	}
	a = wire.Answer{At: rec.Date(), Status: m.Status(), Header: http.Header{}, Body: m.Body, Cut: cutOf(rec)}
	if a.Status == 0 {
		return a, fmt.Errorf("it is no answer of HTTP: it begins with %q", m.Start)
	}
	for _, f := range m.Header {
		a.Header.Add(f.Name, f.Value)
	}
	return a, nil
}

// unanswered is the page of a URL that nobody answered.
func unanswered(item frontier.Item, rec *warc.Record) (*crawler.Page, error) {
	var remark Remark
	if err := json.NewDecoder(rec.Block).Decode(&remark); err != nil {
		return nil, about(rec, err)
	}
	if remark.Problem == "" {
		return nil, nil // another tool's
	}
	item.Tries = remark.Tries
	return &crawler.Page{Item: item, FetchedAt: rec.Date(), Problem: crawler.Problem(remark.Problem), Detail: remark.Detail}, nil
}
