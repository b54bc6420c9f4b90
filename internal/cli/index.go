package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"skink/feed"
	"skink/internal/harmless"
	"skink/report"
	"skink/store"
)

// An index is Elasticsearch or OpenSearch. Credentials come from the environment, because other
// users could see them on a command line.
const (
	envUser     = "SKINK_INDEX_USER"
	envPassword = "SKINK_INDEX_PASSWORD"
	envKey      = "SKINK_INDEX_API_KEY"
)

// credentials returns the header with the credentials in the environment, or nil if there are none.
func credentials() (http.Header, error) {
	user, password, key := os.Getenv(envUser), os.Getenv(envPassword), os.Getenv(envKey)
	switch {
	case key != "" && user != "":
		return nil, usagef("%s and %s both say who you are: set one of them", envKey, envUser)
	case key != "":
		return http.Header{"Authorization": {"ApiKey " + key}}, nil
	case user != "":
		return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}}, nil
	}
	return nil, nil
}

// namedRefused is how many refused documents are printed. More would not help the user.
const namedRefused = 20

// newIndex returns a Bulk that sends pages to an index, and prints those that the index refuses.
func newIndex(s store.Reader, url string, opt feed.Options, keep func(context.Context, store.Cursor) error, say io.Writer) (*feed.Bulk, error) {
	header, err := credentials()
	if err != nil {
		return nil, err
	}
	named := 0
	b, err := feed.NewBulk(s, feed.BulkOptions{
		URL: url, Header: header, Options: opt, Keep: keep,
		Refused: func(id, why string) {
			switch named++; {
			case named <= namedRefused:
				fmt.Fprintf(say, "skink: the index refuses %s: %s\n", id, harmless.Error(errors.New(why)))
			case named == namedRefused+1:
				fmt.Fprintln(say, "skink: it refuses more; they are counted, and not named")
			}
		},
	})
	if err != nil {
		return nil, usageError{err}
	}
	return b, nil
}

// whoIsIt adds to an authentication error of an index how to set the credentials.
func whoIsIt(err error) error {
	if !errors.Is(err, feed.ErrNotAllowed) {
		return err
	}
	return fmt.Errorf("%w: set %s and %s, or %s", err, envUser, envPassword, envKey)
}

// An indexFeed sends the pages of a running crawl to an index.
type indexFeed struct{ *feed.Bulk }

func (f indexFeed) CatchUp(ctx context.Context) error { return whoIsIt(f.Bulk.CatchUp(ctx)) }
func (f indexFeed) Close(ctx context.Context) error   { return whoIsIt(f.Bulk.Close(ctx)) }

// toIndex sends the pages that the flags select to an index.
func (f *exportFlags) toIndex(ctx context.Context, con Console, s store.Reader, opt feed.Options) error {
	var keep func(context.Context, store.Cursor) error
	if f.since.cursor != "" {
		keep = func(_ context.Context, after store.Cursor) error { return f.since.write(after) }
	}
	b, err := newIndex(s, f.to, opt, keep, con.Err)
	if err != nil {
		return err
	}
	err = whoIsIt(b.Close(ctx))
	sent, deleted, refused := b.Counts()
	fmt.Fprintf(con.Err, "sent to %s: %s, %s deleted, %s refused\n", f.to, report.Counted(sent, "page"), report.Grouped(deleted), report.Grouped(refused))
	if err == nil {
		err = refusedError(refused)
	}
	return err
}

// refusedError returns the error of a command whose index permanently refused pages, or nil if it
// refused none.
func refusedError(refused int) error {
	if refused == 0 {
		return nil
	}
	return fmt.Errorf("the index refuses %s: skink export --print-mapping prints a mapping that takes all of them", report.Counted(refused, "page"))
}

// openIndexFeed opens the consumer that sends a crawl to an index. The store keeps its position.
func (c *crawlRun) openIndexFeed(ctx context.Context) (*consumer, error) {
	name := "index " + c.feed
	at, err := c.store.Meta(ctx, name)
	if err != nil {
		return nil, err
	}
	keep := func(ctx context.Context, after store.Cursor) error { return c.store.SetMeta(ctx, name, []byte(after)) }
	b, err := newIndex(c.store, c.feed, feed.Options{After: store.Cursor(at), Markdown: true}, keep, c.con.Err)
	if err != nil {
		return nil, err
	}
	return &consumer{indexFeed{b}, fileEvery, c.feed}, nil
}
