package crawler

import (
	"net/http"
	"strings"
	"time"

	"skink/crawler/learn"
	"skink/crawler/wire"
	"skink/frontier"
)

// A Page is what became of one URL: an answer, or a problem. One page failing is data, not an
// error.
type Page struct {
	Item      frontier.Item
	Claim     frontier.Claim // under which its host was asked
	FetchedAt time.Time
	Took      time.Duration // from the request to the last byte read, but for the time that we kept the server waiting
	Status    int           // HTTP status; 0: there was no answer
	Header    http.Header   // of the answer, as received
	Body      []byte        // decoded, and cut at Options.MaxSize
	Truncated bool          // Body is not the whole body; Problem says why
	Location  string        // canonical URL a redirect leads to; "": none, or none that can be used
	Raw       *wire.Raw     // the answer as it came; nil: there was none, or nobody wanted it (Options.OnAnswer)

	Promised int64 // bytes of the body, as the answer to a check says; 0: it does not say

	NotModified bool // the URL has what it had when it gave the validators of Item; Body is empty

	Sitemaps []string // canonical URLs of the sitemaps of a seed's host, as far as the page found them out
	Listed   *Listed  // what it lists, if it is a sitemap; nil: it is none

	Problem Problem // "": there is none
	Detail  string  // for a person: what exactly went wrong
}

// A Problem is why a URL has no page. The words are stored and printed: they do not change.
type Problem string

const (
	ProblemDNS       Problem = "dns"                // the host's name has no address
	ProblemConnect   Problem = "connect"            // nobody answers at the address
	ProblemTimeout   Problem = "timeout"            // no whole answer within Options.Timeout
	ProblemTLS       Problem = "tls"                // no certificate that can be trusted, or no handshake
	ProblemPrivate   Problem = "private address"    // the address is not on the public internet
	ProblemReset     Problem = "connection broken"  // the answer ended in the middle
	ProblemHTTP      Problem = "not http"           // the answer makes no sense
	ProblemEncoding  Problem = "content encoding"   // the body cannot be decoded
	ProblemSize      Problem = "too large"          // the body is over Options.MaxSize
	ProblemRedirects Problem = "too many redirects" // more than MaxHops in a row
	ProblemLocation  Problem = "bad redirect"       // a redirect to nowhere, or to no http URL
	ProblemRobots    Problem = "robots.txt"         // robots.txt says no
	ProblemUnrobots  Problem = "robots.txt unreachable"
	ProblemStatus    Problem = "status"          // an error status; stored as "status 404"
	ProblemSitemap   Problem = "no sitemap"      // something else, where a sitemap was to be
	ProblemLater     Problem = "postponed"       // not fetched, because of what was learned of its host; Detail says what
	ProblemSoft      Problem = learn.SoftProblem // a page, but what its host says of URLs that cannot exist
	ProblemEmpty     Problem = "empty"           // an answer without words where there was a page
	ProblemAlike     Problem = "same as others"  // the same answer for many URLs where there were pages
	ProblemInternal  Problem = "internal"
)

// Answered says whether a problem is one of an answer that looks like a page. Other answers of the
// host show that it is none.
func (p Problem) Answered() bool {
	return p == ProblemSoft || p == ProblemEmpty || p == ProblemAlike
}

// Transient says whether a problem may be gone when the URL is tried again.
func (p *Page) Transient() bool {
	switch p.Problem {
	case ProblemConnect, ProblemTimeout, ProblemReset, ProblemDNS, ProblemUnrobots:
		return true
	case ProblemStatus:
		return p.Status == 429 || p.Status >= 500
	}
	return false
}

// End is the state in which the page's URL ends in the frontier, once the crawl has handed the page
// over.
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

// Validators are what a server wants to be told when the page is asked for again: its ETag and its
// Last-Modified, as sent. One that could not be sent as a header, or is longer than any honest one,
// is left out.
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

// MaxHops is how many redirects in a row are followed. Browsers stop at twenty, and no honest site
// needs ten.
const MaxHops = 10
