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
	"strings"
	"syscall"

	"skink/crawler/wire"
)

// classify says which problem an error of a fetch is, and what exactly went wrong. An error that is
// none of causes is taken for an answer that cannot be understood, for which net/http has no type.
func classify(err error) (Problem, string) {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // what Colly's client did, and to which URL, the page knows
	}
	for _, c := range causes {
		if c.is(err) {
			return c.problem, cut(err.Error())
		}
	}
	return ProblemHTTP, cut(err.Error())
}

// causes are tried in this order. A time limit ends every other wait, and shows as an error of what
// was waited for.
var causes = []struct {
	problem Problem
	is      func(error) bool
}{
	{ProblemInternal, isA[*panicError]},
	{ProblemPrivate, isA[*wire.PrivateError]},
	{ProblemDNS, isA[*net.DNSError]},
	{ProblemDNS, isA[url.InvalidHostError]},
	{ProblemTimeout, wire.IsTimeout},
	{ProblemConnect, isDial},
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

// isBroken knows connections that ended early, those that the caller ended too.
func isBroken(err error) bool {
	for _, end := range []error{wire.ErrUnanswered, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed, context.Canceled} {
		if errors.Is(err, end) {
			return true
		}
	}
	return isA[streamError](err)
}

// A streamError has the shape of the HTTP/2 stream errors of net/http, which has no name for them
// outside, and makes them anything of this shape (their method As compares the names of fields).
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

// maxDetail bounds what a server can make us say of it.
const maxDetail = 300

func cut(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxDetail {
		return s
	}
	return strings.ToValidUTF8(s[:maxDetail], "") + "…"
}
