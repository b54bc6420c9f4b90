package wire

import (
	"io"
	"net/http"
	"time"
)

// An Answer is what a server sent at some time, as an archive has it: without transfer coding,
// with its content coding.
type Answer struct {
	At     time.Time
	Status int
	Header http.Header
	Body   io.Reader
	Cut    Cut // why Body is not all of it
}

// Replay makes of an answer the exchange that it came of: its content coding is taken away, and the
// body of a page is read up to limit bytes. What a time limit cut off says timeout.
func Replay(a Answer, limit int64, timeout time.Duration) *Exchange {
	x := &Exchange{Status: a.Status, Header: a.Header, Limit: limit}
	if hasBody(a.Status) {
		resp := &http.Response{Header: a.Header, Body: io.NopCloser(a.Body)}
		x.Body, x.BodyErr = readBody(resp, bodyLimit(a.Status, limit), func(r io.Reader) io.Reader { return r }, nil)
	}
	if err := a.Cut.err(timeout); err != nil {
		x.BodyErr = err
	}
	return x
}

// err is what an exchange met that left its body cut.
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
