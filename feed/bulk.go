package feed

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"skink/base/harmless"
	"skink/dedup"
	"skink/feed/release"
	"skink/store"
)

// # Elasticsearch and OpenSearch
//
// Both products accept documents in bulk requests: POST INDEX/_bulk with lines of JSON, each
// document preceded by an action. Both respond with a status for each item, in the same order. The
// status of the whole response may be 200 even if every item was refused, so this code looks at
// each item. An item with a temporary failure (409, 429, 5xx) is sent again after a while. An item
// with a permanent failure (400) is reported, and its document is refused: the next [Bulk] sends it
// again. A bulk that is too large (413) is split in half. A response that names another document, or has no status, is an error, because
// it does not show whether the document was accepted. The client libraries of the two products look
// only at the status of the whole response, or refuse the other product's server. So this code
// implements the protocol itself.
//
// A redirect is not followed, because it would send the documents and the credentials to a server
// that the user did not name.
//
// The ID of a document is that of its page, so a document that is sent twice is indexed only once.
// So a bulk whose result is unknown, such as after a broken connection or a crash, can be sent
// again. The document of a page is deleted when the page is gone, asks not to be indexed, or has
// become a duplicate. Deleting a document that does not exist (404) is not an error.
//
// The cursor is the position in the store's changes up to which documents were sent. It is stored
// only when the server has accepted or refused all documents before it. The ids of the refused
// documents are stored with it.

// A Place says how far an index follows a store.
type Place struct {
	After   store.Cursor // position in the store's changes up to which documents were sent
	Refused []dedup.Hash // ids of the documents that the index has refused, in order
}

// ParsePlace returns the place from the result of [Place.String], or from a cursor alone.
func ParsePlace(text string) (p Place, err error) {
	words := strings.Fields(text)
	if len(words) > 0 {
		p = Place{store.Cursor(words[0]), make([]dedup.Hash, len(words)-1)}
	}
	for n := range p.Refused {
		if p.Refused[n].UnmarshalText([]byte(words[n+1])) != nil {
			return p, fmt.Errorf("%q is not the id of a document", words[n+1])
		}
	}
	return p, nil
}

// String returns the cursor, and each id on a line of its own.
func (p Place) String() string {
	text := []byte(p.After)
	for _, id := range p.Refused {
		text = fmt.Appendf(text, "\n%s", id)
	}
	return string(text)
}

// A Refusal is a document that the server refuses permanently.
type Refusal struct {
	ID    dedup.Hash `json:"id"`
	URL   string     `json:"url,omitempty"` // "" if it must not be told
	Error string     `json:"error"`
}

// WriteRefusals writes refusals as JSON Lines.
func WriteRefusals(w io.Writer, refusals []Refusal) error {
	write := lineWriter[Refusal](w)
	for i := range refusals {
		if err := write(&refusals[i]); err != nil {
			return err
		}
	}
	return nil
}

// These environment variables hold the credentials for an index. They are not flags, because other users
// of the machine can see command lines.
const (
	EnvUser     = "SKINK_INDEX_USER"
	EnvPassword = "SKINK_INDEX_PASSWORD"
	EnvKey      = "SKINK_INDEX_API_KEY"
)

// BulkOptions configures where and how a [Bulk] sends documents.
type BulkOptions struct {
	URL    string        // URL of the index: https://HOST:9200/INDEX
	Header http.Header   // header fields sent with each request, such as credentials
	Bytes  int           // maximum size of a bulk in bytes; 0 means 5 MB, the starting point that both manuals recommend
	Wait   time.Duration // pause before the first retry of a bulk; doubles with each further retry; 0 means half a second

	Options                                            // selects the pages to send, and sets the cursor or time after which they changed; Format is ignored
	Again   []dedup.Hash                               // ids of documents that the index has refused before; they are sent again
	Keep    func(ctx context.Context, now Place) error // called to store the place; nil means that it is not stored
	Refused func(Refusal)                              // called for each document that the server refuses permanently; may be nil

	Delayed func(why error) // called before the first retry of a bulk, if the first attempt got no usable response; may be nil
}

const (
	bulkBytes = 5 << 20
	minBytes  = 64 << 10 // in bytes; the limit on the size of bulks never shrinks below this, or one large document would cause all others to be sent alone
	bulkWait  = 500 * time.Millisecond
	bulkTries = 9        // number of attempts for a bulk; with the pauses between them, they take about two minutes
	bulkDocs  = 1000     // maximum number of documents in a bulk, however small they are
	maxReply  = 64 << 20 // maximum number of bytes read from a response

	// MaxRefused is the number of documents that an index may refuse. If it refuses more, a mapping is probably wrong.
	MaxRefused = 10_000
)

var client = http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// A Bulk sends the changes of a store to an index. It is a [Consumer].
type Bulk struct {
	s      store.Reader
	opt    BulkOptions
	bulk   string       // URL to which bulks are posted
	cursor store.Cursor // position after the last change of s that was sent or skipped

	items []item // the next bulk
	bytes int    // size of items

	sent, deleted int
	again         []dedup.Hash        // documents to send again
	refused       map[dedup.Hash]bool // documents that the index has refused and not accepted since

	delayed bool // whether the last attempt got no usable response
}

type item struct {
	id     dedup.Hash
	url    string
	action string // "index" or "delete"
	lines  []byte // the action line and, unless it is a deletion, the document line, each with its newline
}

// NewBulk returns a Bulk that sends the changes of s after opt.After.
func NewBulk(s store.Reader, opt BulkOptions) (*Bulk, error) {
	u, err := url.Parse(opt.URL)
	switch {
	case err != nil: // the error may contain a part of a password
		return nil, errors.New("the URL of the index cannot be read: try https://HOST:9200/INDEX")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", strings.Trim(u.Path, "/") == "", strings.Contains(strings.Trim(u.Path, "/"), "/_"):
		return nil, fmt.Errorf("%s does not name an index: try https://HOST:9200/INDEX", u.Redacted())
	case u.User != nil:
		return nil, errors.New("the URL of an index must not contain a user name or a password: set them in the environment")
	}
	if opt.Left == nil {
		opt.Left = release.Left{}
	}
	opt.Bytes, opt.Wait = cmp.Or(opt.Bytes, bulkBytes), cmp.Or(opt.Wait, bulkWait)
	u.Path = strings.TrimRight(u.Path, "/") + "/_bulk"
	b := &Bulk{s: s, opt: opt, bulk: u.String(), cursor: opt.After, again: opt.Again, refused: map[dedup.Hash]bool{}}
	for _, id := range opt.Again {
		b.refused[id] = true
	}
	return b, nil
}

// Left returns what was left out, and why.
func (b *Bulk) Left() release.Left { return b.opt.Left }

// Counts returns the number of documents that the index accepted and deleted, and of those that it lacks because it
// refused them, now or before.
func (b *Bulk) Counts() (sent, deleted, refused int) { return b.sent, b.deleted, len(b.refused) }

// CatchUp sends the changes since the last call.
func (b *Bulk) CatchUp(ctx context.Context) error {
	if err := b.catchUp(ctx); err != nil {
		return fmt.Errorf("send to %s: %w", b.opt.URL, err)
	}
	return nil
}

func (b *Bulk) catchUp(ctx context.Context) error {
	if err := b.opt.prepare(ctx, b.s); err != nil {
		return err
	}
	gate := b.opt.gate()
	gate.At, gate.Changes = b.cursor, true
	b.items, b.bytes = nil, 0
	for page, err := range b.pages(ctx, gate) {
		d, err := b.opt.document(page, err)
		if err == nil {
			err = b.add(ctx, item{id: d.ID, url: d.URL}, &d.Change, d, gate.At)
		}
		if err != nil {
			return err
		}
	}
	if gate.At == b.cursor && len(b.items) == 0 {
		return nil
	}
	return b.flush(ctx, gate.At)
}

// SendPassages sends the passages of e. After a success, it keeps the list of e. It does not call opt.Keep.
func (b *Bulk) SendPassages(ctx context.Context, e *Passages) error {
	b.opt.Keep, e.refused = nil, b.refused
	err := e.export(ctx, func(p *Passage) error { return b.add(ctx, item{id: p.ID, url: p.URL}, &p.Change, p, "") })
	if err == nil {
		err = b.flush(ctx, "")
	}
	if err == nil {
		err = e.Keep()
	}
	if err != nil {
		return fmt.Errorf("send to %s: %w", b.opt.URL, err)
	}
	return nil
}

// pages yields the pages whose documents were refused before, as they are now, and then the changed pages.
func (b *Bulk) pages(ctx context.Context, gate *release.Gate) iter.Seq2[*release.Page, error] {
	return func(yield func(*release.Page, error) bool) {
		for ; len(b.again) > 0; b.again = b.again[1:] {
			page, err := gate.Page(ctx, b.s, b.again[0], b.opt.want())
			if page == nil && err == nil { // the index neither has nor needs it
				delete(b.refused, b.again[0])
				continue
			}
			if !yield(page, err) {
				return
			}
		}
		gate.Pages(ctx, b.s, b.opt.want())(yield)
	}
}

// Close sends the remaining changes.
func (b *Bulk) Close(ctx context.Context) error { return b.CatchUp(ctx) }

// add adds the action for a document that is or was in the index to the next bulk. It clears the field
// change of the document, which documents in an index do not have. If the bulk is large enough, add sends it first.
func (b *Bulk) add(ctx context.Context, i item, change *store.ChangeKind, document any, after store.Cursor) (err error) {
	if b.bytes >= b.opt.Bytes || len(b.items) >= bulkDocs {
		if err := b.flush(ctx, after); err != nil {
			return err
		}
	}
	i.action = "index"
	if *change == store.Gone {
		i.action = "delete"
	}
	*change = ""
	i.lines = fmt.Appendf(nil, "{%q:{\"_id\":%q}}\n", i.action, i.id)
	if i.action == "index" {
		i.lines, err = appendLine(i.lines, document)
	}
	b.items, b.bytes = append(b.items, i), b.bytes+len(i.lines)
	return err
}

// flush sends the next bulk, retries until the server has accepted or refused all its items, and then
// stores the given cursor and the documents that are refused.
func (b *Bulk) flush(ctx context.Context, after store.Cursor) error {
	items := b.items
	b.items, b.bytes = nil, 0
	err := b.send(ctx, items)
	if err == nil && len(b.refused) > MaxRefused {
		err = fmt.Errorf("the index has refused %d documents: create it with another mapping, and run the same command again", len(b.refused))
	}
	if err == nil && b.opt.Keep != nil {
		err = b.opt.Keep(ctx, Place{after, slices.SortedFunc(maps.Keys(b.refused), func(x, y dedup.Hash) int { return bytes.Compare(x[:], y[:]) })})
	}
	if err == nil {
		b.cursor = after
	}
	return err
}

var errTooLarge = errors.New("the request is too large for the server")

// send sends items. It retries those with a temporary failure, and halves a bulk that is too large.
func (b *Bulk) send(ctx context.Context, items []item) error {
	wait := b.opt.Wait
	for try := 1; len(items) > 0; try++ {
		busy, after, err := b.post(ctx, items)
		switch {
		case errors.Is(err, errTooLarge) && len(items) > 1:
			half := len(items) / 2
			b.opt.Bytes = min(b.opt.Bytes, max(sizeOf(items)/2, minBytes)) // the server would refuse the next bulk of this size too
			if err := b.send(ctx, items[:half]); err != nil {
				return err
			}
			return b.send(ctx, items[half:])
		case errors.Is(err, errTooLarge):
			b.refuse(items[0], "the document is too large for the server")
			return nil
		case err != nil && (busy == nil || try == bulkTries):
			return err
		case len(busy) > 0 && try == bulkTries:
			return fmt.Errorf("the server rejected %d documents %d times in a row, because it is busy or cannot store them: run the same command again later", len(busy), try)
		}
		if err != nil && !b.delayed && b.opt.Delayed != nil {
			b.opt.Delayed(err)
		}
		b.delayed = err != nil
		if items = busy; len(items) == 0 {
			return nil
		}
		select {
		case <-time.After(max(wait, after)):
			wait *= 2
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func sizeOf(items []item) (n int) {
	for _, i := range items {
		n += len(i.lines)
	}
	return n
}

// post sends items in one request. It returns the items to send again, and the minimum pause before
// sending them. If err is not nil, busy contains all items, or none if another attempt would fail
// in the same way.
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
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		// With a certificate that is not trusted, or without TLS, every retry would fail in the same way.
		if errors.As(err, new(*tls.CertificateVerificationError)) || errors.Is(err, http.ErrSchemeMismatch) {
			return nil, 0, err
		}
		return items, 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
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
		err = fmt.Errorf("this user may not write to the index: %w: set the environment variables %s and %s, or %s", err, EnvUser, EnvPassword, EnvKey)
	}
	return nil, 0, err
}

type reply struct {
	Items []map[string]outcome `json:"items"` // each maps the name of an action to its outcome
}

type outcome struct {
	ID     string          `json:"_id"`
	Status int             `json:"status"`
	Error  json.RawMessage `json:"error"`
}

func (b *Bulk) settle(items []item, response []byte) (busy []item, err error) {
	var r reply
	if err := json.Unmarshal(response, &r); err != nil || len(r.Items) != len(items) {
		return nil, fmt.Errorf("the response is not from Elasticsearch or OpenSearch: %s", excerpt(response))
	}
	outcomes := make([]outcome, len(items))
	for n, i := range items {
		got, ok := r.Items[n][i.action]
		if !ok || got.ID != i.id.String() || got.Status < 100 {
			return nil, fmt.Errorf("the response is not from Elasticsearch or OpenSearch: item %d is not for document %s, or has no status: %s", n+1, i.id, excerpt(response))
		}
		outcomes[n] = got
	}
	for n, i := range items {
		switch got := outcomes[n]; {
		// The server was busy or failed, or another client changed the document at the same time.
		case got.Status == http.StatusTooManyRequests || got.Status == http.StatusConflict || got.Status >= 500:
			busy = append(busy, i)
		case !isWell(got.Status) && !(i.action == "delete" && got.Status == http.StatusNotFound):
			b.refuse(i, fmt.Sprintf("status %d: %s", got.Status, excerpt(got.Error)))
		default:
			b.accept(i)
		}
	}
	return busy, nil
}

func isWell(status int) bool { return status >= 200 && status < 300 }

func (b *Bulk) accept(i item) {
	delete(b.refused, i.id)
	if i.action == "delete" {
		b.deleted++
	} else {
		b.sent++
	}
}

func (b *Bulk) refuse(i item, why string) {
	b.refused[i.id] = true
	if b.opt.Refused != nil {
		b.opt.Refused(Refusal{i.id, i.url, why})
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

// excerpt returns the beginning of a response body, on one line of valid UTF-8.
func excerpt(body []byte) string {
	return harmless.Clip(strings.Join(strings.Fields(string(body)), " "), 300)
}

// indexTypes are the types of the fields of a [Document] or a [Passage] in Elasticsearch and OpenSearch, by the name
// in the field's tag "index". Fields whose values are matched as a whole, such as URLs, are keywords.
// A value that is too long for Lucene, which both use, stays in the document but is not indexed. So a
// document is never refused for a long URL.
var indexTypes = map[string]map[string]any{
	"id":      {"type": "keyword"}, // values that are never too long
	"keyword": keyword,
	"text":    {"type": "text"},
	"name":    {"type": "text", "fields": map[string]any{"keyword": keyword}},
	"kept":    {"type": "text", "index": false}, // not indexed, because searches use the field text
	"date":    {"type": "date", "format": "strict_date_optional_time", "ignore_malformed": true},
	"short":   {"type": "short"},
	"integer": {"type": "integer"},
	"double":  {"type": "double"},
	"boolean": {"type": "boolean"},

	"object":      {"type": "object", "dynamic": true}, // see dynamic_templates
	"occurrences": {"type": "object", "properties": map[string]any{"url": keyword, "page_id": map[string]any{"type": "keyword"}, "position": map[string]any{"type": "integer"}}},
}

var keyword = map[string]any{"type": "keyword", "ignore_above": 8191} // the limit is in characters of up to four bytes; Lucene accepts at most 32,766 bytes

// WriteMapping writes to w the body of the request PUT INDEX that creates an index for documents like
// v, a [Document] or a [Passage]. The index stores fields that the mapping does not name, but does not index
// them.
func WriteMapping(w io.Writer, v any) error {
	mapped, t := map[string]any{}, reflect.TypeOf(v)
	for i, c := range columnsOf(t) {
		mapped[c.Name] = indexTypes[t.Field(i).Tag.Get("index")]
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	fields := map[string]any{"fields": map[string]any{"path_match": "fields.*", "mapping": indexTypes["name"]}}
	return enc.Encode(map[string]any{"mappings": map[string]any{"dynamic": false, "dynamic_templates": []any{fields}, "properties": mapped}})
}
