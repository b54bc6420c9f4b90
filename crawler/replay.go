package crawler

import (
	"io"
	"net/http"
	"time"

	"skink/frontier"
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

// Replay makes of an answer the page that a crawl would make of it by opt: its content coding is
// taken away, within opt.MaxSize, and what it says of the URL is understood.
func Replay(item frontier.Item, a Answer, opt Options) (page *Page) {
	page = &Page{Item: item, FetchedAt: a.At}
	defer func() {
		if v := recover(); v != nil {
			page = &Page{Item: item, FetchedAt: a.At}
			page.fail(&panicError{item.URL, v})
		}
	}()
	opt = opt.orDefaults()
	x := &exchange{status: a.Status, header: a.Header}
	if hasBody(a.Status) {
		resp := &http.Response{Header: a.Header, Body: io.NopCloser(a.Body)}
		x.body, x.bodyErr = readBody(resp, bodyLimit(a.Status, opt.MaxSize), func(r io.Reader) io.Reader { return r }, nil)
	}
	if err := a.Cut.err(opt); err != nil {
		x.bodyErr = err
	}
	page.fill(x)
	return page
}

// err is what a crawl met that left a body cut.
func (c Cut) err(opt Options) error {
	switch c {
	case Whole:
		return nil
	case CutLength:
		return errTooLarge
	case CutTime:
		return &timeoutError{opt.Timeout}
	}
	return io.ErrUnexpectedEOF
}
