package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"skink/base/harmless"
	"skink/feed"
	"skink/report"
	"skink/store"
)

// These environment variables hold the credentials for a search index (Elasticsearch or
// OpenSearch). They are not flags, because other users of the machine can see command lines.
const (
	EnvUser     = "SKINK_INDEX_USER"
	EnvPassword = "SKINK_INDEX_PASSWORD"
	EnvKey      = "SKINK_INDEX_API_KEY"
)

const namedRefused = 20

// NewIndex returns a Bulk that sends pages to a search index. It calls opt.Refused, which must be set, for each
// page that the index refuses, and writes a line to out for the first namedRefused of them.
func NewIndex(s store.Reader, opt feed.BulkOptions, out io.Writer) (*feed.Bulk, error) {
	named, told := 0, opt.Refused
	opt.Delayed = func(why error, tries int, waits time.Duration) {
		fmt.Fprintf(out, "skink: the index cannot be reached: %s; skink will try again up to %d times over about %.0f minutes\n", harmless.Error(why), tries, waits.Minutes())
	}
	opt.Refused = func(r feed.Refusal) {
		told(r)
		switch named++; {
		case named <= namedRefused:
			fmt.Fprintf(out, "skink: the search index refused the document %s: %s\n", r.ID, harmless.Error(errors.New(r.Error)))
		case named == namedRefused+1:
			fmt.Fprintln(out, "skink: further refused documents are counted, but not listed")
		}
	}
	b, err := feed.NewBulk(s, opt)
	if err != nil {
		return nil, UsageError{err}
	}
	return b, nil
}

// WhoIsIt adds a hint on how to set the credentials to an authentication error of a search index.
// It returns other errors unchanged.
func WhoIsIt(err error) error {
	if !errors.Is(err, feed.ErrNotAllowed) {
		return err
	}
	return fmt.Errorf("%w: set the environment variables %s and %s, or %s", err, EnvUser, EnvPassword, EnvKey)
}

type indexFeed struct{ *feed.Bulk }

func (f indexFeed) CatchUp(ctx context.Context) error { return WhoIsIt(f.Bulk.CatchUp(ctx)) }
func (f indexFeed) Close(ctx context.Context) error   { return WhoIsIt(f.Bulk.Close(ctx)) }

// RefusedError returns the error with which a command ends if a search index has permanently
// refused the given number of pages, or nil for 0.
func RefusedError(refused int) error {
	if refused == 0 {
		return nil
	}
	return fmt.Errorf("the index refused %s, which the next run sends again: create the index with the mapping that skink export --print-mapping prints", report.Counted(refused, "page"))
}
