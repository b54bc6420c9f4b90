package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"skink/base/harmless"
	"skink/frontier"
	"skink/internal/archive"
	"skink/report"
	"skink/store"
	"skink/store/remote"
)

// Adopt completes and closes the archive files in the folder dir that dead workers left open, and
// reports each file with printf. It returns, by file name, the reasons why other files stay open. A
// worker counts as dead when it has written no heartbeat for longer than its claims on hosts last.
// If a file lacks the responses of pages that have records in the store, Adopt calls requeue to put
// the URLs of these pages back into the frontier. If requeue is nil, Adopt skips such a file.
func Adopt(ctx context.Context, s store.Reader, dir string, requeue func(context.Context, []frontier.Item) (int, error), printf func(format string, args ...any)) (left map[string]string, err error) {
	open, err := archive.Opened(ctx, dir, s)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	states, err := readWorkers(ctx, s)
	if err != nil {
		return nil, err
	}
	_, answers := beneath(s).(*remote.Reader) // another process has the store open and serves it to this one
	now := TimeAt(ctx, s)
	left = map[string]string{}
	for _, o := range open {
		whose := "a crawl"
		if o.Worker != "" {
			whose = "worker " + harmless.Line(o.Worker)
		}
		if silent := now.Sub(states[o.Worker].Seen); silent < ClaimsLast {
			left[o.Name] = fmt.Sprintf("%s has the file open and sent a heartbeat %v ago: wait until that process ends, or until its last heartbeat is %v old", whose, max(silent, 0).Round(time.Second), ClaimsLast)
			continue
		}
		if answers { // on systems without file locks, archive.Adopt cannot tell that a file is in use
			left[o.Name] = whose + " has the file open: wait until that process ends"
			continue
		}
		closed, lost, err := archive.Adopt(ctx, dir, s, o, requeue)
		switch {
		case errors.Is(err, archive.ErrLocked):
			left[o.Name] = whose + " has the file open: wait until that process ends"
		case errors.Is(err, archive.ErrLacking):
			left[o.Name] = fmt.Sprintf("the responses for %s are missing, perhaps because of a power failure: run the crawl again with --warc %s to fetch them", report.Counted(lost, "page"), harmless.Quoted(dir))
		case err != nil:
			printf("%s ended without closing its file, and the file could not be completed: %s", whose, harmless.Error(err))
			left[o.Name] = whose + " ended without closing the file"
		case closed:
			printf("%s ended without closing %s: the file is now complete and has an index", whose, o.Name)
		}
		if err == nil && lost > 0 {
			printf("the responses for %s are not in %s, perhaps because of a power failure: the crawl fetches these pages again", report.Counted(lost, "page"), o.Name)
		}
	}
	return left, nil
}
