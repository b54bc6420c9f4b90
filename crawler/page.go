package crawler

import (
	"net/http"
	"strings"
	"time"

	"skink/crawler/learn"
	"skink/crawler/wire"
	"skink/frontier"
)

// A Page is the result of one URL: an answer, or a problem. One page failing is data, not an error.
type Page struct {
	Item      frontier.Item
	Claim     frontier.Claim // of its host, when it was fetched
	FetchedAt time.Time
	Took      time.Duration // from the request to the last byte read, without the time in which the crawl did not read
	Status    int           // HTTP status; 0: there was no answer
	Header    http.Header   // of the answer, as received
	Body      []byte        // decoded, and cut at Options.MaxSize
	Truncated bool          // Body is not the whole body; Problem says why
	Location  string        // canonical URL a redirect leads to; "": none, or none that can be used
	Raw       *wire.Raw     // the answer as it came; nil: there was none, or Options.OnAnswer is nil

	Promised int64 // bytes of the body, by the answer to a check; 0: unknown

	NotModified bool // the page has not changed since it sent the validators of Item; Body is empty

	Sitemaps []string // canonical URLs of the host's sitemaps, set on the first page of a seed's host
	Listed   *Listed  // what the page lists, if it is a sitemap; else nil

	Problem Problem // "": there is none
	Detail  string  // what exactly went wrong, for the user
}

// A Problem says why a URL has no page. The values are stored and printed, so they must not change.
type Problem string

const (
	ProblemDNS       Problem = "dns"                // the host's name has no address
	ProblemConnect   Problem = "connect"            // no connection to the address
	ProblemTimeout   Problem = "timeout"            // no whole answer within Options.Timeout
	ProblemTLS       Problem = "tls"                // no trusted certificate, or the handshake failed
	ProblemPrivate   Problem = "private address"    // the address is not on the public internet
	ProblemReset     Problem = "connection broken"  // the answer ended in the middle
	ProblemHTTP      Problem = "not http"           // the answer is not valid HTTP
	ProblemEncoding  Problem = "content encoding"   // the body cannot be decoded
	ProblemSize      Problem = "too large"          // the body is over Options.MaxSize
	ProblemRedirects Problem = "too many redirects" // more than MaxHops in a row
	ProblemLocation  Problem = "bad redirect"       // a redirect without a target, or to a URL that is not http
	ProblemRobots    Problem = "robots.txt"         // robots.txt does not allow it
	ProblemUnrobots  Problem = "robots.txt unreachable"
	ProblemStatus    Problem = "status"          // an error status; stored as "status 404"
	ProblemSitemap   Problem = "no sitemap"      // the URL of a sitemap has something else
	ProblemLater     Problem = "postponed"       // not fetched because of a learned rule, see Detail
	ProblemSoft      Problem = learn.SoftProblem // a page that the host also returns for URLs that do not exist
	ProblemEmpty     Problem = "empty"           // an answer without text where there was a page
	ProblemAlike     Problem = "same as others"  // the same answer for many URLs that were different pages
	ProblemInternal  Problem = "internal"
)

// Answered reports whether a problem is that of an answer that looks like a page. Only a comparison
// with other answers of the host shows that it is not one.
func (p Problem) Answered() bool {
	return p == ProblemSoft || p == ProblemEmpty || p == ProblemAlike
}

// Transient reports whether a problem may be gone at the next try.
func (p *Page) Transient() bool {
	switch p.Problem {
	case ProblemConnect, ProblemTimeout, ProblemReset, ProblemDNS, ProblemUnrobots:
		return true
	case ProblemStatus:
		return p.Status == 429 || p.Status >= 500
	}
	return false
}

// End returns the final state of the page's URL in the frontier.
func (p *Page) End() frontier.State {
	switch {
	case p.Problem == ProblemRobots, p.Problem == ProblemLater:
		return frontier.Blocked
	case p.Transient():
		return frontier.GivenUp
	case p.Problem != "":
		return frontier.Failed
	case p.Location != "":
		return frontier.Redirected
	}
	return frontier.Fetched
}

// Validators returns the ETag and Last-Modified of the answer, as sent, for a conditional request
// at the next visit. It returns "" for one that could not be sent as a header, or is longer than
// maxValidator bytes.
func (p *Page) Validators() (etag, modified string) {
	return validator(p.Header.Get("ETag")), validator(p.Header.Get("Last-Modified"))
}

const maxValidator = 256

func validator(s string) string {
	if len(s) > maxValidator || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return s
}

// MaxHops is the largest number of redirects in a row that are followed. Browsers stop at twenty,
// and no honest site needs ten.
const MaxHops = 10
