package render

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// # The pipe
//
// The package controls the browser with the Chrome DevTools Protocol: JSON messages that end with a
// zero byte, on two pipes (--remote-debugging-pipe). Another process could connect to a port, but
// not to these pipes. The browser ends when the pipes are closed, so it also ends when this process
// does.
//
// Each tab, and each worker in a page, has its own session. Events go to the handler of their
// session, in order, in the goroutine that reads the pipe. So a handler must not block.

const (
	maxMessage  = 256 << 20        // maximum size of a message in bytes; the browser is stopped after a longer one
	writeWithin = 20 * time.Second // maximum time for writing one message
)

var errGone = errors.New("the browser process has exited")

// A message is a command to the browser, the reply to a command, or an event.
type message struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *replyError     `json:"error,omitempty"`
}

type replyError struct {
	Message string `json:"message"`
}

type params map[string]any

// A handler is called with the events of a session.
type handler func(method string, params json.RawMessage)

type pipe struct {
	out  *os.File
	gone chan struct{} // closed when the connection has ended

	writing sync.Mutex // guards writes to out

	mu       sync.Mutex
	last     int64                  // guarded by mu: number of the last command
	waiting  map[int64]chan message // guarded by mu: channels for the replies, by command number
	handlers map[string]handler     // guarded by mu: by session
}

// newPipe returns a pipe, and starts a goroutine that reads from the browser.
func newPipe(in io.Reader, out *os.File) *pipe {
	p := &pipe{out: out, gone: make(chan struct{}), waiting: map[int64]chan message{}, handlers: map[string]handler{}}
	go func() {
		defer close(p.gone)
		p.read(in)
	}()
	return p
}

// read passes each message to its handler, or to the call waiting for it, until the pipe is closed.
func (p *pipe) read(in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := readMessage(r)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text, &m) != nil {
			return
		}
		p.mu.Lock()
		handle, result := p.handlers[m.Session], p.waiting[m.ID]
		delete(p.waiting, m.ID)
		p.mu.Unlock()
		switch {
		case m.ID != 0 && result != nil:
			result <- m
		case m.ID == 0 && handle != nil:
			handle(m.Method, m.Params)
		}
	}
}

// readMessage returns the next message, without the zero byte at its end.
func readMessage(r *bufio.Reader) ([]byte, error) {
	var b bytes.Buffer
	for {
		part, err := r.ReadSlice(0)
		b.Write(part)
		switch {
		case b.Len() > maxMessage:
			return nil, errors.New("a message from the browser is too long")
		case err == nil:
			return b.Bytes()[:b.Len()-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// listen sets the handler of a session, or removes it if h is nil.
func (p *pipe) listen(session string, h handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handlers[session] = h; h == nil {
		delete(p.handlers, session)
	}
}

// post sends a command without waiting for its result.
func (p *pipe) post(session, method string, args params) { _ = p.send(session, method, args, nil) }

// call sends a command, waits for the reply, and decodes it into result, unless result is nil. The
// error is errGone, the cause of ctx, or an error from the browser.
func (p *pipe) call(ctx context.Context, session, method string, args params, result any) error {
	answer := make(chan message, 1)
	if err := p.send(session, method, args, answer); err != nil {
		return err
	}
	select {
	case m := <-answer:
		switch {
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-p.gone:
		return errGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *pipe) send(session, method string, args params, answer chan message) error {
	m := message{Session: session, Method: method}
	var err error
	if args != nil {
		if m.Params, err = json.Marshal(args); err != nil {
			return err
		}
	}
	p.mu.Lock()
	p.last++
	m.ID = p.last
	if answer != nil {
		p.waiting[m.ID] = answer
	}
	p.mu.Unlock()
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_ = p.out.SetWriteDeadline(time.Now().Add(writeWithin))
	if _, err := p.out.Write(append(text, 0)); err != nil {
		return errGone
	}
	return nil
}
