package warc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http/httputil"
	"strconv"
	"strings"
)

// A Message is the HTTP request or response in a record.
type Message struct {
	Start  string // first line of the message, such as "HTTP/1.1 200 OK"
	Header Header // header fields as archived
	Body   io.Reader
}

// Message reads the head of the HTTP message in the record's block. It returns the body without
// chunked transfer coding, even if the archive stored it chunked. A content coding such as gzip is
// not decoded. If the head says that the body is chunked but it is not, the body is returned
// unchanged.
func (r *Record) Message() (*Message, error) {
	in := bufio.NewReader(r.Block)
	head := headReader{in, maxHead}
	start, err := head.line()
	if err != nil {
		return nil, fmt.Errorf("read the header of a message: %w", err)
	}
	m := &Message{Start: start, Body: in}
	m.Header, err = head.fields(true)
	if err != nil && err != io.ErrUnexpectedEOF { // some archived messages end after the head, without the empty line
		return nil, fmt.Errorf("read the header of a message: %w", err)
	}
	if strings.Contains(strings.ToLower(m.Header.Get("Transfer-Encoding")), "chunked") && atChunkSize(in) {
		m.Body = httputil.NewChunkedReader(in)
	}
	return m, nil
}

// Status returns the HTTP status of a response, or 0 if the message is not a response.
func (m *Message) Status() int {
	proto, rest, _ := strings.Cut(m.Start, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, err := strconv.Atoi(code)
	if !strings.HasPrefix(proto, "HTTP/") || err != nil || status < 100 || status > 999 {
		return 0
	}
	return status
}

// maxChunkLine is the maximum length in bytes of the line that gives the size of the first chunk. Servers may
// write extensions after the size.
const maxChunkLine = 256

// atChunkSize reports whether a body begins with the size of a chunk.
func atChunkSize(body *bufio.Reader) bool {
	start, _ := body.Peek(maxChunkLine)
	line, _, found := bytes.Cut(start, []byte("\n"))
	size, _, _ := bytes.Cut(line, []byte(";"))
	_, err := strconv.ParseUint(strings.Trim(string(size), " \t\r"), 16, 63)
	return found && err == nil
}
