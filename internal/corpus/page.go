package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"skink/crawler"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/warc"
)

// PageField says whether the crawl used the answer as the page of its URL. It did not for a
// robots.txt, for a URL that was tried again, or for a visit that counts as failed despite its
// answer. An answer that looks like a page may be an error, which a single answer does not show.
// Then the field names the problem, see [crawler.Problem.Answered], and DetailField has details.
// The specification allows readers to ignore unknown fields.
const (
	PageField   = "Skink-Page"
	IsPage      = "yes"
	NotPage     = "no"
	NoAnswer    = "none" // in a metadata record that says why there is no answer
	DetailField = "Skink-Page-Detail"
)

// A Remark is the JSON content of a metadata record of a crawl about a URL.
type Remark struct {
	Verdict     string  `json:"verdict,omitempty"`
	DuplicateOf string  `json:"duplicate_of,omitempty"` // URL of the leader
	Resemblance float64 `json:"resemblance,omitempty"`  // to the leader, exact

	Problem string `json:"problem,omitempty"` // why there is no answer
	Detail  string `json:"detail,omitempty"`
	Tries   int    `json:"tries,omitempty"` // further tries after the first
}

// TypeRemark is the content type of such records.
const TypeRemark = "application/json"

// PageOf returns the page of a record as a crawl with opt would have it, or nil if the record is
// not a page. Pages are answers of web servers, files without an answer (resource records), texts
// of pages (WET), and remarks of a skink crawl about URLs without an answer. These are not pages:
// the robots.txt of a site, an answer that a skink crawl did not use as a page, and a revisit,
// which has no body.
//
// For a record that accompanies another, such as a request, both results are nil. The error is a
// [*PassedError] for any other record that is not a page, a [*warc.Damage], or describes what is
// invalid in the record. PageOf reads the block of a page to its end.
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
	if problem := crawler.Problem(rec.Header.Get(PageField)); problem.Answered() && page.Problem == "" {
		page.Problem, page.Detail = problem, rec.Header.Get(DetailField)
	}
	return page, nil
}

// A PassedError is a record of a kind that holds no page.
type PassedError struct{ Kind string } // the kind, such as "status 404"

func (e *PassedError) Error() string { return "the record has no page: " + e.Kind }

func passed(format string, args ...any) error { return &PassedError{fmt.Sprintf(format, args...)} }

// Accompanies reports whether a record belongs to another one, or to its whole file, so that it is
// not expected to hold a page.
func Accompanies(rec *warc.Record) bool {
	switch rec.Type() {
	case warc.Info, warc.Request:
		return true
	case warc.Metadata: // with other values, or by other tools
		return rec.Header.Get(PageField) != NoAnswer
	}
	return false
}

// OtherType returns why a record is skipped if records of its type never hold a page, else nil.
func OtherType(rec *warc.Record) error {
	switch t := rec.Type(); t {
	case warc.Response, warc.Conversion, warc.Metadata, warc.Resource:
		return nil
	case warc.Revisit, warc.Continuation: // the rest is elsewhere, perhaps in another archive
		return passed("%s", t)
	case "":
		return passed("record without a type")
	default:
		return passed("record of type %.20q", string(t))
	}
}

// pageURL returns the canonical URL of a record that may be a page, or "" if it is none.
func pageURL(rec *warc.Record) (string, error) {
	if Accompanies(rec) {
		return "", nil
	}
	if err := OtherType(rec); err != nil {
		return "", err
	}
	kind := rec.Header.Get("Content-Type")
	switch {
	case rec.Type() == warc.Response && !strings.HasPrefix(kind, "application/http"):
		return "", passed("response that is not HTTP") // for example of a name server
	case rec.Type() == warc.Conversion && !strings.HasPrefix(kind, "text/plain"):
		return "", passed("conversion that is not text")
	}
	uri := rec.URI()
	scheme, _, _ := strings.Cut(uri, ":")
	switch scheme = strings.ToLower(scheme); {
	case uri == "":
		return "", passed("record without a target URI")
	case scheme != "http" && scheme != "https":
		return "", passed("record whose target URI is not http or https")
	}
	url, err := frontier.Canonical(uri)
	if err != nil {
		return "", about(rec, err)
	}
	switch kind := rec.Header.Get(PageField); {
	case kind == IsPage, kind == NoAnswer, crawler.Problem(kind).Answered():
		return url, nil
	case kind == NotPage:
		return "", passed("answer that the crawl did not accept as a page")
	}
	if _, path, _ := strings.Cut(strings.TrimPrefix(url, scheme+"://"), "/"); path == "robots.txt" {
		return "", passed("robots.txt")
	}
	return url, nil
}

// about adds the record to an error.
func about(rec *warc.Record, err error) error {
	return &warc.Damage{Offset: rec.Offset, URI: rec.URI(), Err: err}
}

func cutOf(rec *warc.Record) wire.Cut {
	return wire.Cut(strings.ToLower(rec.Header.Get("WARC-Truncated")))
}

// fileAnswer returns the answer with which a server would have sent a file.
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
		return a, fmt.Errorf("it is not an HTTP answer: it begins with %q", m.Start)
	}
	for _, f := range m.Header {
		a.Header.Add(f.Name, f.Value)
	}
	return a, nil
}

// unanswered returns the page of a URL without an answer.
func unanswered(item frontier.Item, rec *warc.Record) (*crawler.Page, error) {
	var remark Remark
	if err := json.NewDecoder(rec.Block).Decode(&remark); err != nil {
		return nil, about(rec, err)
	}
	if remark.Problem == "" {
		return nil, about(rec, errors.New("the record does not say why there is no answer"))
	}
	item.Tries = remark.Tries
	return &crawler.Page{Item: item, FetchedAt: rec.Date(), Problem: crawler.Problem(remark.Problem), Detail: remark.Detail}, nil
}
