package feed

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"skink/store"
)

// # Elasticsearch and OpenSearch
//
// Both products accept documents in bulks: POST INDEX/_bulk with lines of JSON, an action and then
// its document. Both answer with a status for each item, in the same order. The answer to the
// request may be 200 although every item of it was refused, so this code looks at each item. An
// item with a temporary failure (409, 429, 5xx) is sent again after a while. An item with a
// permanent failure (400) is counted, reported and left out. A bulk that is too large (413) is sent
// in halves. An answer that names another document, or has no status, is an error, because it does
// not show whether the document was accepted. The client libraries of the two products look only at
// the answer to the request, or refuse the other product's server. So this code implements the
// protocol itself.
//
// A redirect is not followed, because it would take the documents and the credentials to a server
// that the user did not name.
//
// The ID of a document is that of its page, so a document that is sent twice is in the index once.
// Thus a bulk whose result is unknown, such as after a broken connection or a crash, can be sent
// again. The document of a page is deleted when the page is gone, asks not to be indexed, or became
// a duplicate. Deleting a document that does not exist (404) is not an error.
//
// The cursor is the position in the store's changes up to which documents were sent. It is stored
// only when the server has answered for all documents before it.

// BulkOptions configures where and how a [Bulk] sends documents.
type BulkOptions struct {
	URL    string        // URL of the index: https://HOST:9200/INDEX
	Header http.Header   // header fields sent with each request, such as credentials
	Client *http.Client  // nil means a client with a timeout of one minute
	Bytes  int           // largest size of a bulk in bytes; 0 means 5 MB, which the manuals of both products advise as a start
	Wait   time.Duration // pause before the second attempt for a bulk; it doubles with each further attempt; 0 means half a second

	Options                                                     // selects the pages that are sent, and the cursor or time after which they changed; Format is ignored
	Keep    func(ctx context.Context, after store.Cursor) error // called to store the cursor; nil means that it is not stored
	Refused func(id, why string)                                // called for each document that the server refuses permanently; nil means that it is not called

	// Delayed is called before the second attempt for a bulk, if the first one got no usable
	// answer. The argument tries is the number of further attempts, and waits is the sum of the
	// pauses before them. Delayed may be nil.
	Delayed func(why error, tries int, waits time.Duration)
}

const (
	bulkBytes  = 5 << 20
	leastBytes = 64 << 10 // minimum size in bytes to which bulks are reduced for a server that refuses large ones, so that one large document does not cause all others to be sent alone
	bulkWait   = 500 * time.Millisecond
	bulkTries  = 9        // number of attempts for a bulk; with the pauses between them, they take some two minutes
	bulkDocs   = 1000     // greatest number of documents in a bulk, however small they are
	mostReply  = 64 << 20 // greatest number of bytes that are read of an answer
)

// A Bulk sends the changes of a store to an index. It is a [Consumer].
type Bulk struct {
	s    store.Reader
	opt  BulkOptions
	bulk string // URL to which bulks are posted
	// The cursor is the position in the changes of s up to which documents were sent.
	cursor store.Cursor

	items []item // items that wait to be sent
	bytes int

	sent, deleted, refused int

	delayed bool // whether the last attempt got no usable answer
}

// An item is one action of a bulk: to index a document or to delete it.
type item struct {
	id     string
	lines  []byte // the action and, unless it is a deletion, the document; each line with its line end
	delete bool
}

func (i *item) action() string {
	if i.delete {
		return "delete"
	}
	return "index"
}

// NewBulk returns a Bulk that sends the changes of s after opt.After.
func NewBulk(s store.Reader, opt BulkOptions) (*Bulk, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	u, err := url.Parse(opt.URL)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", strings.Trim(u.Path, "/") == "", strings.Contains(strings.Trim(u.Path, "/"), "/_"):
		return nil, fmt.Errorf("%s does not name an index: try https://HOST:9200/INDEX", u.Redacted())
	case u.User != nil:
		return nil, errors.New("the URL of an index must not contain a user or a password: set them in the environment")
	}
	client := http.Client{Timeout: time.Minute}
	if opt.Client != nil {
		client = *opt.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	opt.Client = &client
	if opt.Bytes == 0 {
		opt.Bytes = bulkBytes
	}
	if opt.Wait == 0 {
		opt.Wait = bulkWait
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/_bulk"
	return &Bulk{s: s, opt: opt, bulk: u.String(), cursor: opt.After}, nil
}

// Counts returns the number of documents that the index accepted, deleted, and refused permanently.
func (b *Bulk) Counts() (sent, deleted, refused int) { return b.sent, b.deleted, b.refused }

// CatchUp sends the changes since the last call.
func (b *Bulk) CatchUp(ctx context.Context) error {
	after := b.cursor
	b.items, b.bytes = nil, 0 // a call that failed may have left items
	if err := b.opt.prepare(ctx, b.s); err != nil {
		return fmt.Errorf("send to %s: %w", b.opt.URL, err)
	}
	for change, err := range b.s.Changes(ctx, b.cursor, b.opt.want()) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = b.take(&change.Content)
		}
		if err != nil {
			return fmt.Errorf("send to %s: %w", b.opt.URL, err)
		}
		after = change.Cursor
		if b.bytes >= b.opt.Bytes || len(b.items) >= bulkDocs {
			if err := b.flush(ctx, after); err != nil {
				return err
			}
		}
	}
	if after == b.cursor {
		return nil
	}
	return b.flush(ctx, after)
}

// Close sends the last changes.
func (b *Bulk) Close(ctx context.Context) error { return b.CatchUp(ctx) }

// take adds the action for a changed page to the bulk. It adds none if the page neither is nor was
// in the index.
func (b *Bulk) take(page *store.Content) error {
	opt := b.opt.Options
	opt.Changes = true
	d, err := opt.document(page)
	if err != nil || d == nil {
		return err
	}
	id := d.ID.String()
	if d.Change == store.Gone {
		b.gather(item{id: id, lines: fmt.Appendf(nil, "{\"delete\":{\"_id\":%q}}\n", id), delete: true})
		return nil
	}
	d.Change = "" // the field is not part of the documents in an index
	lines, err := appendLine(fmt.Appendf(nil, "{\"index\":{\"_id\":%q}}\n", id), d)
	if err == nil {
		b.gather(item{id: id, lines: lines})
	}
	return err
}

func (b *Bulk) gather(i item) {
	b.items = append(b.items, i)
	b.bytes += len(i.lines)
}

// flush sends the waiting items, retrying until the server has answered for all of them. Then it
// stores after as the cursor.
func (b *Bulk) flush(ctx context.Context, after store.Cursor) error {
	err := b.send(ctx, b.items)
	if err == nil && b.opt.Keep != nil {
		err = b.opt.Keep(ctx, after)
	}
	if err != nil {
		return fmt.Errorf("send to %s: %w", b.opt.URL, err)
	}
	b.items, b.bytes, b.cursor = nil, 0, after
	return nil
}

// ErrNotAllowed means that the server does not let this user write into the index.
var ErrNotAllowed = errors.New("this user may not write to the index")

// errTooLarge means that the server does not accept a bulk of this size.
var errTooLarge = errors.New("the request is too large for the server")

// send sends items. It retries those with a temporary failure, and halves a bulk that is too large.
func (b *Bulk) send(ctx context.Context, items []item) error {
	wait := b.opt.Wait
	for try := 1; len(items) > 0; try++ {
		busy, after, err := b.post(ctx, items)
		switch {
		case errors.Is(err, errTooLarge) && len(items) > 1:
			half := len(items) / 2
			b.opt.Bytes = min(b.opt.Bytes, max(sizeOf(items)/2, leastBytes)) // the server would also refuse the next bulk of this size
			if err := b.send(ctx, items[:half]); err != nil {
				return err
			}
			return b.send(ctx, items[half:])
		case errors.Is(err, errTooLarge):
			b.refuse(items[0].id, "the document is too large for the server")
			return nil
		case err != nil && (busy == nil || try == bulkTries):
			return err
		case len(busy) > 0 && try == bulkTries:
			return fmt.Errorf("the server rejected %d documents %d times in a row, because it is busy or cannot store them: run the same command again later", len(busy), try)
		}
		b.delay(err)
		if items = busy; len(items) == 0 {
			return nil
		}
		if err := sleep(ctx, max(wait, after)); err != nil {
			return err
		}
		wait *= 2
	}
	return nil
}

// delay calls opt.Delayed if an attempt failed with err, unless the previous attempt failed too. A
// nil err means that the server gave a usable answer.
func (b *Bulk) delay(err error) {
	if err != nil && !b.delayed && b.opt.Delayed != nil {
		b.opt.Delayed(err, bulkTries-1, b.opt.Wait*(1<<(bulkTries-1)-1))
	}
	b.delayed = err != nil
}

func sizeOf(items []item) (n int) {
	for _, i := range items {
		n += len(i.lines)
	}
	return n
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// post sends items with one request. It returns the items to send again, and the shortest pause
// before this. If err is not nil, busy contains all items, or none if another attempt would fail in
// the same way.
func (b *Bulk) post(ctx context.Context, items []item) (busy []item, after time.Duration, err error) {
	if len(items) == 0 {
		return nil, 0, nil
	}
	var body bytes.Buffer
	for _, i := range items {
		body.Write(i.lines)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.bulk, &body)
	if err != nil {
		return nil, 0, err
	}
	req.Header = b.opt.Header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	resp, err := b.opt.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if isForGood(err) {
			return nil, 0, err
		}
		return items, 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostReply))
	if err != nil {
		return items, 0, err
	}
	after = retryAfter(resp.Header)
	switch resp.StatusCode {
	case http.StatusOK:
		busy, err = b.settle(items, answer)
		return busy, after, err
	case http.StatusRequestEntityTooLarge:
		return nil, 0, errTooLarge
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return items, after, fmt.Errorf("the server returned status %d", resp.StatusCode)
	}
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		return nil, 0, fmt.Errorf("the server redirects to %s (status %d), and redirects are not followed: give the URL of the index itself", excerpt([]byte(to)), resp.StatusCode)
	}
	err = fmt.Errorf("the server returned status %d: %s", resp.StatusCode, excerpt(answer))
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		err = fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	return nil, 0, err
}

// isForGood reports whether another attempt would fail with the same error, because the server's
// certificate is not trusted or the server does not speak TLS.
func isForGood(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate) || errors.Is(err, http.ErrSchemeMismatch)
}

// A reply is the server's answer to a bulk.
type reply struct {
	Items []map[string]outcome `json:"items"` // each maps the name of an action to its outcome
}

// An outcome is the server's answer for one item.
type outcome struct {
	ID     string          `json:"_id"`
	Status int             `json:"status"`
	Error  json.RawMessage `json:"error"`
}

// settle reads the outcome of each item from an answer, and returns the items to send again.
func (b *Bulk) settle(items []item, answer []byte) (busy []item, err error) {
	var r reply
	if err := json.Unmarshal(answer, &r); err != nil || len(r.Items) != len(items) {
		return nil, fmt.Errorf("this is not a response of Elasticsearch or OpenSearch: %s", excerpt(answer))
	}
	outcomes := make([]outcome, len(items))
	for n, i := range items {
		got, ok := r.Items[n][i.action()]
		if !ok || got.ID != i.id || got.Status < 100 {
			return nil, fmt.Errorf("this is not a response of Elasticsearch or OpenSearch: item %d is not about document %s, or has no status: %s", n+1, i.id, excerpt(answer))
		}
		outcomes[n] = got
	}
	for n, i := range items {
		switch got := outcomes[n]; {
		case got.mayChange():
			busy = append(busy, i)
		case i.delete && (got.Status == http.StatusNotFound || isWell(got.Status)):
			b.deleted++
		case isWell(got.Status):
			b.sent++
		default:
			b.refuse(i.id, fmt.Sprintf("status %d: %s", got.Status, excerpt(got.Error)))
		}
	}
	return busy, nil
}

// mayChange reports whether the server may accept the same item later. It may if the server was
// busy or had a failure, or if another client changed the document at the same time.
func (o outcome) mayChange() bool {
	return o.Status == http.StatusTooManyRequests || o.Status == http.StatusConflict || o.Status >= 500
}

func isWell(status int) bool { return status >= 200 && status < 300 }

func (b *Bulk) refuse(id, why string) {
	b.refused++
	if b.opt.Refused != nil {
		b.opt.Refused(id, why)
	}
}

// retryAfter returns the time that a server asks clients to wait, at most a minute. It understands
// only seconds, because Elasticsearch and OpenSearch send no dates here.
func retryAfter(h http.Header) time.Duration {
	const most = time.Minute
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, most)
}

// excerpt returns the beginning of a server's answer, on one line of valid UTF-8.
func excerpt(said []byte) string {
	const most = 300
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(said), "\uFFFD")), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
