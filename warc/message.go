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

// A Message is the HTTP request or response that a record holds.
type Message struct {
	Start  string // its first line, such as "HTTP/1.1 200 OK"
	Header Header // as received
	Body   io.Reader
}

// Message reads the head of the HTTP message in the record's block. The body it returns has no
// transfer coding any more, even if the archive kept one. The server's content coding remains. A
// body that claims to be chunked and is not is returned unchanged.
func (r *Record) Message() (*Message, error) {
	in := bufio.NewReader(r.Block)
	head := headReader{in, maxHead}
	start, err := head.line()
	if err != nil {
		return nil, fmt.Errorf("read the head of a message: %w", err)
	}
	m := &Message{Start: start, Body: in}
	m.Header, err = head.fields(true)
	if err = expected(err); err != nil { // some have no body, nor the line before it
		return nil, fmt.Errorf("read the head of a message: %w", err)
	}
	if strings.Contains(strings.ToLower(m.Header.Get("Transfer-Encoding")), "chunked") {
		m.Body = &chunks{in: in}
	}
	return m, nil
}

// Status returns the status of a response, or 0 if the message has none.
func (m *Message) Status() int {
	proto, rest, _ := strings.Cut(m.Start, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, err := strconv.Atoi(code)
	if !strings.HasPrefix(proto, "HTTP/") || err != nil || status < 100 || status > 999 {
		return 0
	}
	return status
}

// chunks reads a chunked body (RFC 9112, section 7.1).
type chunks struct {
	in    *bufio.Reader
	begun bool
	plain bool  // they are none
	left  int64 // bytes of the chunk
	err   error
}

func (c *chunks) Read(p []byte) (int, error) {
	if !c.begun {
		c.begun = true
		c.plain = !c.promise()
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

// maxChunkLine is the longest line before a chunk, including extensions that servers add to the
// size.
const maxChunkLine = 256

// promise reports whether a chunk begins here.
func (c *chunks) promise() bool {
	start, _ := c.in.Peek(maxChunkLine)
	end := bytes.IndexByte(start, '\n')
	if end < 0 {
		return false
	}
	_, err := chunkSize(string(start[:end]))
	return err == nil
}

// next reads the line before a chunk. After the last chunk it returns io.EOF; the rest is not part
// of the body.
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
		err = errors.New("a chunk of the body is longer than it says")
	}
	return err
}

func chunkSize(line string) (int64, error) {
	size, _, _ := strings.Cut(line, ";")
	n, err := strconv.ParseInt(strings.Trim(size, " \t\r"), 16, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a chunk size", brief(line))
	}
	return n, nil
}
