package crawler

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"skink/crawler/captcha"
	"skink/crawler/render"
	"skink/crawler/wire"
	"skink/frontier"
)

// A Page is the result of fetching one URL: a response from the server, or a problem. A failed
// fetch is not an error of the crawl.
type Page struct {
	Item      frontier.Item
	Claim     frontier.Claim // the worker's claim on the host when it fetched the page
	FetchedAt time.Time
	Took      time.Duration // time from the request to the last byte of the body, excluding time spent waiting for memory
	Status    int           // HTTP status; 0 means that there was no response
	Header    http.Header   // header of the response, as received
	Body      []byte        // decoded, at most Options.MaxSize bytes, or Options.MaxFileSize if the response is a file
	Truncated bool          // Body is incomplete, for the reason in Problem
	Location  string        // canonical URL of a redirect's target; "" if there is no redirect, or its target cannot be used
	Raw       *wire.Raw     // the undecoded response; nil if there was none, or if Options.OnAnswer is nil

	Promised int64 // size of the body in bytes, according to the response to a HEAD request; 0 means unknown

	NotModified bool // the server reported that the page has not changed since the last visit (status 304); Body is empty
	Unchanged   bool // the response is the same as at the last visit, as far as a page is read from it
	Brief       bool // the page need not be read, and other pages are fetched while this one is stored, so a handler may wait for them and store them together

	Private bool   // the page was requested with a password, cookies or headers from the user, so other people may not be able to see it
	Rules   uint64 // [Options.Rules]; 0 for a replayed page, whose links are not followed
	Signals string // the content signals in the robots.txt of the page's host, such as "ai-train=no, search=yes"
	Hidden  bool   // the host's robots.txt allows this crawler to fetch the page, but not Googlebot

	Sitemaps []string // canonical URLs of the host's sitemaps, set only if the page is a seed and the home page of its host
	Listed   *Listed  // counts of the URLs that the page lists; nil if the page is not a sitemap

	MayRender bool            // a browser can render the page, so the handler may return ErrRender
	Drawing   *render.Drawing // the page as a browser rendered it; nil if the page was not rendered
	DrawError string          // reason why the browser failed to render the page; "" if there was no failure

	Problem Problem // "" means that there is none
	Detail  string  // description of the problem for the user, or a note on a page without a problem

	unsent bool // no request was sent
}

// Document returns the bytes from which the page should be read, and their media type. It returns
// the rendered HTML if a browser has rendered the page, and the body of the response otherwise.
func (p *Page) Document() (body []byte, contentType string) {
	if p.Drawing != nil {
		return p.Drawing.HTML, "text/html; charset=utf-8"
	}
	return p.Body, p.Header.Get("Content-Type")
}

// Transient reports whether the page's problem may disappear when the URL is fetched again.
func (p *Page) Transient() bool {
	switch p.Problem {
	case ProblemConnect, ProblemTimeout, ProblemReset, ProblemDNS, ProblemUnrobots, ProblemCaptcha:
		return true
	case ProblemStatus:
		return p.Status == 429 || p.Status >= 500
	}
	return false
}

// End returns the final state of the page's URL in the frontier, such as Fetched or Failed.
func (p *Page) End() frontier.State {
	switch {
	case p.Problem == ProblemRobots, p.Problem == ProblemCaptcha:
		return frontier.Blocked
	case p.Problem == ProblemLater:
		return frontier.Postponed
	case p.Problem == ProblemOutside:
		return frontier.Outside
	case p.Transient():
		return frontier.GivenUp
	case p.Problem != "":
		return frontier.Failed
	case p.Location != "":
		return frontier.Redirected
	}
	return frontier.Fetched
}

// Confirmed reports whether the response shows that the page is as at the last visit. Such a page is not read.
func (p *Page) Confirmed() bool { return p.NotModified || p.Unchanged }

// Validators returns what the next visit needs to find the page unchanged. An ETag or a
// Last-Modified that cannot be sent as a header, or is longer than maxValidator bytes, is returned as "".
func (p *Page) Validators() frontier.Validators {
	v := frontier.Validators{ETag: validator(p.Header.Get("ETag")), Modified: validator(p.Header.Get("Last-Modified")), Same: p.hash(), Rules: p.Rules}
	if p.mayChange() {
		v.Modified = ""
	}
	return v
}

// These are the header fields from which a page is read. A field in hasFields counts only as being there or not.
var (
	readFields = []string{
		"Cache-Control", "Content-Security-Policy", "Content-Type", "Link", "Referrer-Policy", "Refresh", "Strict-Transport-Security",
		"X-Content-Type-Options", "X-Frame-Options", "X-Robots-Tag",
	}
	hasFields = []string{"Content-Encoding", "Etag", "Expires", "Last-Modified"}
)

// hash returns the hash of the response, as far as a page is read from it. It is 0 only if the status is not 200.
func (p *Page) hash() uint64 {
	if p.Status != http.StatusOK {
		return 0
	}
	h := sha256.New()
	for _, name := range readFields {
		fmt.Fprintf(h, "%q", p.Header[name])
	}
	for _, name := range hasFields {
		fmt.Fprint(h, p.Header[name] != nil)
	}
	_, _ = h.Write(p.Body)
	return binary.BigEndian.Uint64(h.Sum(nil))>>8 | 1 // eight bytes in a record
}

// mayChange reports whether the page was modified in the second of the response, so that it may change once more
// without another Last-Modified (RFC 9110, section 8.8.2.2).
func (p *Page) mayChange() bool {
	modified, err := http.ParseTime(p.Header.Get("Last-Modified"))
	date, errDate := http.ParseTime(p.Header.Get("Date"))
	return err == nil && errDate == nil && date.Sub(modified) < time.Second
}

const maxValidator = 256

func validator(s string) string {
	if len(s) > maxValidator || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return s
}

// MaxHops is the maximum number of consecutive redirects to follow. Browsers stop at twenty, and no
// honest site needs ten.
const MaxHops = 10

// Replay returns the page that a crawl with opt would make from a stored response. It decodes the
// body up to the limit for its kind, and sets the status, redirect or problem.
func Replay(item frontier.Item, a wire.Answer, opt Options) (page *Page) {
	page = &Page{Item: item, FetchedAt: a.At}
	defer rescue(item.URL, func(err error) {
		page = &Page{Item: item, FetchedAt: a.At}
		page.fail(err)
	})
	opt = opt.orDefaults()
	page.fill(wire.Replay(a, opt.limit(purposeOf(item), 0), opt.Timeout), opt.renders(frontier.HostOf(item.URL)) != RenderOff)
	return page
}

func (p *Page) fill(x *wire.Exchange, scripts bool) {
	p.Status, p.Header, p.Body, p.Raw = x.Status, x.Header, x.Body, x.Raw
	if isRedirect(x.Status) {
		p.redirect()
		return
	}
	if p.NotModified = x.Status == http.StatusNotModified && (p.Item.ETag != "" || p.Item.Modified != ""); p.NotModified {
		return
	}
	p.Truncated = x.BodyErr != nil
	p.Unchanged = x.BodyErr == nil && p.Item.Same != 0 && p.Item.Same == p.hash()
	switch {
	case p.Unchanged:
		p.Detail = x.Note
	case !wire.IsPage(x.Status):
		p.Problem, p.Detail = ProblemStatus, statusText(x.Status)
	case x.BodyErr != nil:
		p.fail(x.BodyErr)
	default:
		p.Detail = x.Note
		p.findCaptcha()
		if p.Problem == "" {
			p.followRefresh(scripts)
		}
	}
}

// findCaptcha sets the problem of a page that is a captcha, in the form in which it would be read.
func (p *Page) findCaptcha() {
	if body, kind := p.Document(); isHTML(cmp.Or(kind, "text/html")) && captcha.Is(p.Header, body) {
		p.Problem, p.Detail = ProblemCaptcha, "the server asks visitors to prove that they are human"
	}
}

// Drawn sets the result of rendering the page: a document, or the reason of a failure. A document
// that is no captcha takes the place of one, because scripts may pass the test.
func (p *Page) Drawn(d *render.Drawing, failure string) {
	p.Drawing, p.DrawError = d, failure
	if d != nil {
		p.Location = "" // of a <noscript>
	}
	if p.Problem == ProblemCaptcha && d != nil {
		p.Problem, p.Detail = "", ""
	}
	if p.Problem == "" {
		p.findCaptcha()
	}
}

func (p *Page) fail(err error) { p.Problem, p.Detail = classify(err) }

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// isRedirect reports whether a status redirects a GET request. Status 300 offers several choices,
// and 304 to 306 are not redirects.
func isRedirect(status int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, status)
}

func (p *Page) redirect() {
	target, err := location(p.Item.URL, p.Header)
	switch {
	case err != nil:
		p.Problem, p.Detail = ProblemLocation, cut(err.Error())
	case target == p.Item.URL:
		p.Problem, p.Detail = ProblemRedirects, "redirects to itself; the site may require cookies: try --cookies on"
	default:
		p.follow(target)
	}
}

func (p *Page) follow(target string) {
	if p.Item.Hops >= MaxHops {
		p.Problem, p.Detail = ProblemRedirects, cut(fmt.Sprintf("stopped after %d redirects; the next is %s", p.Item.Hops+1, target))
		return
	}
	p.Location = target
}

func location(from string, h http.Header) (string, error) {
	to := h.Get("Location")
	if to == "" {
		return "", errors.New("no Location header")
	}
	return frontier.Resolve(from, to)
}
