package session

import (
	"errors"
	"fmt"
	"io"

	"skink/base/harmless"
	"skink/feed"
	"skink/report"
	"skink/store"
)

const namedRefused = 20

// NewIndex returns a Bulk that sends pages to a search index. It calls opt.Refused, which must be set, for each
// page that the index refuses, and writes a line to out for the first namedRefused of them.
func NewIndex(s store.Reader, opt feed.BulkOptions, out io.Writer) (*feed.Bulk, error) {
	named, told := 0, opt.Refused
	opt.Delayed = func(why error) {
		fmt.Fprintf(out, "skink: the index cannot be reached: %s; skink will try again for about two minutes\n", harmless.Error(why))
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

// RefusedError returns the error with which a command ends if a search index has permanently
// refused the given number of pages or passages, or nil for 0.
func RefusedError(refused int, what string) error {
	if refused == 0 {
		return nil
	}
	return fmt.Errorf("the index refused %s, which the next run sends again: create the index with the mapping that skink export --print-mapping prints (for passages, add --chunks)", report.Counted(refused, what))
}
