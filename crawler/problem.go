package crawler

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"skink/base/harmless"
	"skink/crawler/learn"
	"skink/crawler/wire"
)

// A Problem is the reason why a URL has no page. The values are stored and printed, so they must
// not change.
type Problem string

const (
	ProblemDNS       Problem = "dns"                // the host's name has no IP address
	ProblemConnect   Problem = "connect"            // the server refused the connection or cannot be reached
	ProblemTimeout   Problem = "timeout"            // no complete response within Options.Timeout
	ProblemTLS       Problem = "tls"                // no trusted certificate, or the handshake failed
	ProblemPrivate   Problem = "private address"    // the address is not on the public internet
	ProblemReset     Problem = "connection broken"  // the response was cut off
	ProblemHTTP      Problem = "not http"           // the response is not valid HTTP
	ProblemEncoding  Problem = "content encoding"   // the body cannot be decoded
	ProblemSize      Problem = "too large"          // the body is larger than Options.MaxSize, or MaxFileSize
	ProblemRedirects Problem = "too many redirects" // more than MaxHops redirects in a row led to the URL
	ProblemLocation  Problem = "bad redirect"       // a redirect has no target, or its target is not an http or https URL
	ProblemRobots    Problem = "robots.txt"         // robots.txt does not allow the URL
	ProblemUnrobots  Problem = "robots.txt unreachable"
	ProblemStatus    Problem = "status"          // an error status; stored with the number, such as "status 404"
	ProblemCaptcha   Problem = "captcha"         // the response asks visitors to prove that they are human
	ProblemSitemap   Problem = "no sitemap"      // the URL was listed as a sitemap, but the response is not one
	ProblemOutside   Problem = "outside"         // the URL was not fetched because the crawl excludes it; Detail names the rule
	ProblemLater     Problem = "postponed"       // the URL was not fetched because of a learned rule; see Detail
	ProblemSoft      Problem = learn.SoftProblem // a page that the host also returns for nonexistent URLs
	ProblemEmpty     Problem = "empty"           // the response has no text, but earlier responses for the URL had text
	ProblemAlike     Problem = "same as others"  // many URLs that used to be different pages now return the same page
	ProblemBudget    Problem = "requisite limit" // the URL was not fetched, because its host has reached the limit in [Budget].Requisites
	ProblemLogin     Problem = "login"           // logging in to the host failed
	ProblemInternal  Problem = "internal"
)

// Answered reports whether the server sent a response that looks like a page, and only a comparison
// with other responses from the host has shown that it is an error page.
func (p Problem) Answered() bool {
	return p == ProblemSoft || p == ProblemEmpty || p == ProblemAlike
}

// classify returns the problem for a fetch error, and a description for the user. An error that
// matches none of the causes counts as invalid HTTP, for which net/http has no error type.
func classify(err error) (Problem, string) {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // drop the method and the URL, because the page already has the URL
	}
	for _, c := range causes {
		if c.is(err) {
			return c.problem, cut(err.Error())
		}
	}
	return ProblemHTTP, cut(err.Error())
}

// causes lists problems, each with a function that recognizes its errors. They are tried in this
// order. Timeouts come before other network errors, because they interrupt other operations, and so
// can look like errors of these operations.
var causes = []struct {
	problem Problem
	is      func(error) bool
}{
	{ProblemInternal, isA[*panicError]},
	{ProblemOutside, isA[refusal]},
	{ProblemLogin, isA[*LoginError]},
	{ProblemPrivate, isA[*wire.PrivateError]},
	{ProblemDNS, isA[*net.DNSError]},
	{ProblemDNS, isA[url.InvalidHostError]},
	{ProblemTimeout, wire.IsTimeout},
	{ProblemConnect, isDial},
	{ProblemConnect, isA[*wire.ProxyError]},
	{ProblemReset, isBroken},
	{ProblemTLS, isTLS},
	{ProblemUnrobots, isA[*robotsUnreachableError]},
	{ProblemEncoding, isA[*wire.EncodingError]},
	{ProblemSize, func(err error) bool { return errors.Is(err, wire.ErrTooLarge) }},
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// isBroken reports whether err means that the connection ended before the response was complete, or
// that the caller canceled the request.
func isBroken(err error) bool {
	for _, end := range []error{wire.ErrUnanswered, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed, context.Canceled} {
		if errors.Is(err, end) {
			return true
		}
	}
	return isA[streamError](err)
}

// A streamError has the fields of the HTTP/2 stream errors of net/http, whose type is not exported.
// Their method As converts them to any struct with these field names.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("stream error %d", e.Code) }

func isTLS(err error) bool {
	return isA[*wire.HandshakeError](err) || isA[tls.RecordHeaderError](err) || isA[x509.CertificateInvalidError](err) ||
		errors.Is(err, http.ErrSchemeMismatch)
}

// maxDetail bounds the text of a problem in bytes, because it may contain text from the server.
const maxDetail = 300

func cut(s string) string { return harmless.Clip(s, maxDetail) }
