package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
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
	if err = expected(err); err != nil { // some archived messages end after the head, without the empty line
		return nil, fmt.Errorf("read the header of a message: %w", err)
	}
	if strings.Contains(strings.ToLower(m.Header.Get("Transfer-Encoding")), "chunked") {
		m.Body = &chunks{in: in}
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

// chunks decodes an HTTP body with chunked transfer coding (RFC 9112, section 7.1).
type chunks struct {
	in    *bufio.Reader
	begun bool  // whether the first bytes have been examined
	plain bool  // whether the body is returned unchanged, because it is not chunked although the head says so
	left  int64 // bytes of the current chunk that have not been read yet
	err   error
}

func (c *chunks) Read(p []byte) (int, error) {
	if !c.begun {
		c.begun = true
		c.plain = !c.atChunkSize()
	}
	if c.plain {
		return c.in.Read(p)
	}
	if c.left == 0 && c.err == nil {
		c.err = c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.in.Read(p[:min(int64(len(p)), c.left)])
	if c.left -= int64(n); c.left == 0 && err == nil {
		c.err = c.endChunk()
	}
	return n, unexpected(err)
}

// maxChunkLine is the maximum length in bytes of the line that gives a chunk's size. Servers may
// write extensions after the size.
const maxChunkLine = 256

// atChunkSize reports whether the input begins with the size of a chunk.
func (c *chunks) atChunkSize() bool {
	start, _ := c.in.Peek(maxChunkLine)
	end := bytes.IndexByte(start, '\n')
	if end < 0 {
		return false
	}
	_, err := chunkSize(string(start[:end]))
	return err == nil
}

// next reads the line that gives the next chunk's size. It returns io.EOF at the last chunk, which
// is empty, and does not read the trailer after it.
func (c *chunks) next() error {
	head := headReader{c.in, maxChunkLine}
	line, err := head.line()
	if err != nil {
		return err
	}
	if c.left, err = chunkSize(line); err == nil && c.left == 0 {
		return io.EOF
	}
	return err
}

func (c *chunks) endChunk() error {
	head := headReader{c.in, maxChunkLine}
	line, err := head.line()
	if err == nil && line != "" {
		err = errors.New("a chunk of the body is longer than its stated size")
	}
	return err
}

func chunkSize(line string) (int64, error) {
	size, _, _ := strings.Cut(line, ";")
	n, err := strconv.ParseInt(strings.Trim(size, " \t\r"), 16, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a valid chunk size", brief(line))
	}
	return n, nil
}
