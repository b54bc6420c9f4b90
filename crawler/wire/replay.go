package wire

import (
	"io"
	"net/http"
	"time"
)

// An Answer is an archived response. The transfer coding of its body has been removed, but not the
// content coding.
type Answer struct {
	At     time.Time
	Status int
	Header http.Header
	Body   io.Reader
	Cut    Cut // reason why Body is incomplete; "" if it is complete
}

// Replay rebuilds the exchange of an archived response. It removes the content coding, and reads
// the body of a page up to the limit. If the body was cut when it was archived, BodyErr contains
// the reason, unless the part that arrived is a complete encoded body, as in the exchange itself. If
// a time limit cut it, BodyErr is a TimeoutError with timeout.
func Replay(a Answer, limit Limit, timeout time.Duration) *Exchange {
	x := &Exchange{Status: a.Status, Header: a.Header, Limit: limit}
	if hasBody(a.Status) {
		body := a.Body
		if err := a.Cut.err(timeout); err != nil {
			body = io.MultiReader(body, failed{err})
		}
		x.read(&http.Response{Header: a.Header, Body: io.NopCloser(body)}, func(r io.Reader) io.Reader { return r })
	}
	if err := a.Cut.err(timeout); err != nil && x.BodyErr != nil {
		x.BodyErr = err
	}
	return x
}

func (c Cut) err(timeout time.Duration) error {
	switch c {
	case Whole:
		return nil
	case CutLength:
		return ErrTooLarge
	case CutTime:
		return &TimeoutError{timeout}
	}
	return io.ErrUnexpectedEOF
}
