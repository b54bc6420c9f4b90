package corpus

import (
	"cmp"
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

// PageField is a header field that a skink crawl adds to its response and metadata records. Its
// value says whether the crawl used the response as the page of its URL. The value is "no" for a
// robots.txt, for a response after which the URL was requested again, and for a failed visit. An
// error page that is sent with status 200 counts as a failed visit, even though a single response
// does not show this. DetailField and the field that names the problem give the reason; see
// [crawler.Problem.Answered]. Other programs ignore these fields, as the WARC specification allows.
const (
	PageField   = "Skink-Page"
	IsPage      = "yes"
	NotPage     = "no"
	IsCopy      = "copy"      // like IsPage, in a revisit record whose payload is in the record of another URL or crawl
	IsRequisite = "requisite" // a file that was fetched only because a browser needs it to show a page
	NoAnswer    = "none"      // value of PageField in a metadata record about a URL without a response
	IsListed    = "listed"    // value of PageField in a metadata record with the pages that the sitemap in the next response lists
	IsRendered  = "rendered"  // value of PageField in a conversion record with the page of the next response as a browser rendered it
	IsSeeds     = "seeds"     // value of PageField in a metadata record with the order of the seeds' hosts for the records that follow
	DetailField = "Skink-Page-Detail"

	SignalsField = "Skink-Signals" // value of [crawler.Page.Signals]
	HiddenField  = "Skink-Hidden"  // exists if [crawler.Page.Hidden] is true
	GoesField    = "Skink-Goes"    // value of [render.Drawing.Goes], in the record with a rendered page
	RenderField  = "Skink-Render"  // reason why a browser did not render a page, or NoRendering
	PostedField  = "Skink-Posted"  // hash of [wire.Raw.Posted], in the response to a POST request of a script
	NoRendering  = "not needed"    // value of RenderField if a browser could have rendered the page
)

// An Order is the place of pages in a crawl. A skink crawl writes private responses to files of their
// own, so each warcinfo record has the order of the pages that follow it in its file, up to the next
// warcinfo record. The zero value is that of an archive by another tool.
type Order struct {
	Crawl  string
	Number int64
	Seeds  string // order of the hosts of seeds, as package precedence writes it; "" if the archive does not say
}

// OrderField is the field of a warcinfo record with an [Order].
const OrderField = "Skink-Order"

func (o Order) String() string { return fmt.Sprintf("%s %d", o.Crawl, o.Number) }

func orderOf(info warc.Header) (o Order) {
	_, _ = fmt.Sscanf(info.Get(OrderField), "%s %d", &o.Crawl, &o.Number) // without the field, o stays zero
	return o
}

// isPrivate reports whether a record of an archive is private. The argument info is the header of the
// last warcinfo record before it, or nil.
func isPrivate(info, record warc.Header) bool {
	return info.Has(warc.PrivateField) || record.Has(warc.PrivateField)
}

// A Remark is what a crawl writes about a URL, as JSON in a metadata record: the verdict on the
// page, or the reason why there is no response. It does not name the leader, which may be private.
type Remark struct {
	Verdict     string  `json:"verdict,omitempty"`
	Resemblance float64 `json:"resemblance,omitempty"` // exact resemblance to the leader, 0 to 1

	Problem string `json:"problem,omitempty"` // kind of failure; "" if there is a response
	Detail  string `json:"detail,omitempty"`
	Tries   int    `json:"tries,omitempty"` // number of requests after the first
}

// TypeRemark is the content type of the metadata records that contain a [Remark].
const TypeRemark = "application/json"

// TypeURLs is the content type of a list of URLs, one in each line.
const TypeURLs = "text/uri-list"

// PageOf converts a WARC record into the page that a crawl with opt would have produced. It returns
// a page for the response of a web server, a file without a response (resource record), the text of
// a page (conversion record), and a [Remark] of a skink crawl about a URL without a response. The
// page of a revisit record of a skink crawl is not modified.
//
// PageOf returns nil and no error for a record that accompanies another, such as a request. For
// other records without a page it returns a [*PassedError]. Examples are a robots.txt, a response
// that a skink crawl did not use as a page, and a revisit record of another tool. If the record
// is damaged or invalid, the error is a [*warc.Damage] or describes the fault. PageOf reads the
// block of a page to its end.
func PageOf(rec *warc.Record, opt crawler.Options) (*crawler.Page, error) {
	url, err := pageURL(rec)
	if url == "" || err != nil {
		return nil, err
	}
	if rec.Header.Has(RenderField) {
		opt.Render = crawler.RenderAuto // browsers that run scripts ignore <noscript>
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
	case warc.Response, warc.Revisit:
		answer, err := AnswerOf(rec)
		if err != nil {
			return nil, about(rec, err)
		}
		page = crawler.Replay(item, answer, opt)
	}
	if _, err := io.Copy(io.Discard, rec.Block); err != nil {
		return nil, err
	}
	page.Signals, page.Hidden = rec.Header.Get(SignalsField), rec.Header.Has(HiddenField)
	if why := rec.Header.Get(RenderField); why == NoRendering {
		page.MayRender = true
	} else {
		page.DrawError = why
	}
	if rec.Type() == warc.Revisit { // its body is in an earlier record
		page.NotModified, page.Truncated, page.Problem, page.Detail = true, false, "", ""
	} else if problem := crawler.Problem(rec.Header.Get(PageField)); page.Problem == "" {
		page.Detail = cmp.Or(rec.Header.Get(DetailField), page.Detail)
		if problem.Answered() {
			page.Problem = problem
		}
	}
	return page, nil
}

// A PassedError means that a record was skipped because it does not contain a page.
type PassedError struct{ Kind string } // why the record was skipped, such as "status 404"

func (e *PassedError) Error() string { return "the record has no page: " + e.Kind }

func passed(format string, args ...any) error { return &PassedError{fmt.Sprintf(format, args...)} }

// Accompanies reports whether a record only describes another record or the whole file, as request
// and warcinfo records do.
func Accompanies(rec *warc.Record) bool {
	switch rec.Type() {
	case warc.Info, warc.Request:
		return true
	case warc.Metadata: // only a metadata record with a Remark represents a page
		return rec.Header.Get(PageField) != NoAnswer
	case warc.Conversion:
		return rec.Header.Get(PageField) == IsRendered
	}
	return false
}

// OtherType returns a [*PassedError] if records of this type never contain a page, and nil
// otherwise.
func OtherType(rec *warc.Record) error {
	switch t := rec.Type(); t {
	case warc.Response, warc.Conversion, warc.Metadata, warc.Resource:
		return nil
	case warc.Revisit, warc.Continuation: // most of the content is in another record, perhaps in another archive
		return passed("%s", t)
	case "":
		return passed("record without a type")
	default:
		return passed("record of type %.20q", string(t))
	}
}

// pageURL returns "" if the record cannot contain a page.
func pageURL(rec *warc.Record) (string, error) {
	if Accompanies(rec) {
		return "", nil
	}
	if err := OtherType(rec); err != nil && (rec.Type() != warc.Revisit || rec.Header.Get(PageField) != IsPage) {
		return "", err
	}
	kind := rec.Header.Get("Content-Type")
	switch {
	case rec.Type() == warc.Response && !strings.HasPrefix(kind, "application/http"):
		return "", passed("response that is not HTTP") // such as a DNS response
	case rec.Type() == warc.Conversion && !strings.HasPrefix(kind, "text/plain"):
		return "", passed("conversion record that is not text")
	}
	uri := rec.URI()
	scheme, _, _ := strings.Cut(uri, ":")
	_, isPicture := warc.Pictured(uri)
	switch scheme = strings.ToLower(scheme); {
	case uri == "":
		return "", passed("record without a target URI")
	case isPicture:
		return "", passed("screenshot")
	case scheme != "http" && scheme != "https":
		return "", passed("record whose target URI is not http or https")
	}
	url, err := frontier.Canonical(uri)
	if err != nil {
		return "", about(rec, err)
	}
	switch kind := rec.Header.Get(PageField); {
	case kind == IsPage, kind == IsCopy, kind == NoAnswer, crawler.Problem(kind).Answered():
		return url, nil
	case kind == IsRequisite:
		return "", passed("page requisite")
	case kind == NotPage:
		return "", passed("response that the crawl did not accept as a page")
	}
	if _, path, _ := strings.Cut(strings.TrimPrefix(url, scheme+"://"), "/"); path == "robots.txt" {
		return "", passed("robots.txt")
	}
	return url, nil
}

func about(rec *warc.Record, err error) error {
	return &warc.Damage{Offset: rec.Offset, URI: rec.URI(), Err: err}
}

func cutOf(rec *warc.Record) wire.Cut {
	return wire.Cut(strings.ToLower(rec.Header.Get("WARC-Truncated")))
}

func fileAnswer(rec *warc.Record, kind string) wire.Answer {
	return wire.Answer{At: rec.Date(), Status: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: rec.Block, Cut: cutOf(rec)}
}

// AnswerOf returns the response in a record. Its body can be read as long as the record's block.
func AnswerOf(rec *warc.Record) (a wire.Answer, err error) {
	m, err := rec.Message()
	if err != nil {
		return a, err
	}
	a = wire.Answer{At: rec.Date(), Status: m.Status(), Header: http.Header{}, Body: m.Body, Cut: cutOf(rec)}
	if a.Status == 0 {
		return a, fmt.Errorf("this is not an HTTP response: it begins with %q", m.Start)
	}
	for _, f := range m.Header {
		a.Header.Add(f.Name, f.Value)
	}
	return a, nil
}

// unanswered returns the page for a URL without a response. The reason is in the Remark of a
// metadata record.
func unanswered(item frontier.Item, rec *warc.Record) (*crawler.Page, error) {
	var remark Remark
	if err := json.NewDecoder(rec.Block).Decode(&remark); err != nil {
		return nil, about(rec, err)
	}
	if remark.Problem == "" {
		return nil, about(rec, errors.New("the record gives no reason for the missing response"))
	}
	item.Tries = remark.Tries
	return &crawler.Page{Item: item, FetchedAt: rec.Date(), Problem: crawler.Problem(remark.Problem), Detail: remark.Detail}, nil
}
