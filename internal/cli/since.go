package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/feed"
	"skink/frontier"
	"skink/store"
)

type sinceFlags struct {
	since  string
	cursor string      // name of the file with the position after the last export; "" means none
	held   feed.Place  // content of the cursor file
	seen   fs.FileInfo // the cursor file when this process last read or wrote it; nil means that it does not exist
}

func addSinceFlags(flags *pflag.FlagSet) *sinceFlags {
	f := &sinceFlags{}
	flags.StringVar(&f.since, "since", "", "`TIME` write only changes after a time (2026-11-24 or 2026-11-24T09:30:00Z), in the last 36h or 7d, or after a cursor; start means all changes")
	flags.StringVar(&f.cursor, "cursor", "", "`FILE` write only changes since the cursor in FILE (all pages if FILE does not exist yet), and save the new cursor there")
	isOutput(flags, "cursor", fileOutput, "")
	return f
}

const sinceStart = "start"

func (f *sinceFlags) given() bool { return f.since != "" || f.cursor != "" }

func (f *sinceFlags) heed(opt *feed.Options, chunks bool) error {
	if !f.given() || chunks { // the cursor of passages is no position
		return nil
	}
	opt.Changes = true
	from := f.since
	if f.cursor != "" {
		var err error
		if f.held, err = f.read(); err != nil {
			return err
		}
		from = string(f.held.After)
	}
	at, err := parseMoment(from)
	switch isCursor := strings.Trim(from, "0123456789") == ""; {
	case from == sinceStart:
	case err == nil && !isCursor:
		opt.Since = at
	case isCursor || f.cursor != "":
		opt.After = store.Cursor(from)
	default:
		return usagef("--since %q: must be a time (2026-11-24 or 2026-11-24T09:30:00Z), an age (36h or 7d), a cursor that an export printed, or the word start", from)
	}
	return nil
}

// parseMoment parses a time or a date, in UTC, or an age such as 7d. A date means the beginning of that day.
func parseMoment(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, strings.TrimSpace(text), time.UTC); err == nil {
			return at, nil
		}
	}
	age, err := parseAge(text)
	return time.Now().Add(-age), err
}

// check returns an error if the cursor after is later than the last change in s. Such a cursor
// belongs to another store, or an older copy has replaced the store. Either way the export would
// miss pages.
func (f *sinceFlags) check(ctx context.Context, s store.Reader, storeName string, after store.Cursor) error {
	if after == "" {
		return nil
	}
	end, err := s.End(ctx) // find the end before reading changes, because a running crawl may add more
	if err != nil || end == after {
		return err
	}
	for _, err := range s.Changes(ctx, after, store.WantRecord) {
		if err != nil && f.cursor != "" {
			err = fmt.Errorf("--cursor %s: %w", f.cursor, err)
		}
		return err // err is nil if a change after the cursor exists
	}
	what, anew := "--since "+string(after), "--since "+sinceStart
	if f.cursor != "" {
		what, anew = fmt.Sprintf("the cursor %s in %s", after, f.cursor), "another file for --cursor"
	}
	return fmt.Errorf("%s is later than the last change in %s (%s): it is from another store, or the store was restored from a backup; to export all pages again, try %s", what, storeName, end, anew)
}

// keep prints the cursor where the next export must start, and writes it to the --cursor file if
// there is one. The cursor is the last change that this export read, not the end of the store,
// because a running crawl may have added changes since.
func (f *sinceFlags) keep(ctx context.Context, con Console, storeName string, last store.Cursor) error {
	if !f.given() {
		return nil
	}
	from := cmp.Or(string(last), sinceStart)
	fmt.Fprintf(con.Err, "next time, continue with: skink export --store %s --since %s\n", harmless.Quoted(storeName), harmless.Quoted(from))
	if f.cursor == "" || last == "" {
		return nil
	}
	return f.writePlace(ctx, con, feed.Place{After: last, Refused: f.held.Refused})
}

// maxCursor is the maximum size of a cursor file in bytes. A line has the 32 digits of an id.
const maxCursor = 1<<10 + 33*feed.MaxRefused

// read returns the place in the --cursor file, or the zero value if the file does not exist.
func (f *sinceFlags) read() (at feed.Place, err error) {
	b, err := f.load(maxCursor)
	if err == nil {
		if at, err = feed.ParsePlace(string(b)); err != nil {
			err = f.unfit()
		}
	}
	return at, err
}

// load returns the content of the --cursor file, or nil if the file does not exist. It returns an error
// for a device or a pipe, because write would replace it with a file.
func (f *sinceFlags) load(most int64) (b []byte, err error) {
	f.seen, err = os.Stat(f.cursor)
	switch {
	case frontier.HasScheme(f.cursor):
		return nil, usagef("--cursor %s: specify a file on disk", f.cursor)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && (!f.seen.Mode().IsRegular() || f.seen.Size() > most):
		return nil, f.unfit()
	case err == nil:
		b, err = os.ReadFile(f.cursor)
	}
	return b, plainError(f.cursor, err)
}

func (f *sinceFlags) unfit() error {
	return fmt.Errorf("--cursor %s: not a cursor file: choose another file", f.cursor)
}

func (f *sinceFlags) writePlace(ctx context.Context, con Console, at feed.Place) error {
	if at.String() == f.held.String() {
		return nil
	}
	f.held = at
	return f.write(ctx, con, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, at)
		return err
	})
}

// write replaces the file named by --cursor. It returns an error if the file has changed since
// this process read it, because another export may have written a later cursor.
func (f *sinceFlags) write(ctx context.Context, con Console, write func(io.Writer) error) error {
	now, _ := os.Stat(f.cursor)
	if (now == nil) != (f.seen == nil) || now != nil && (!os.SameFile(now, f.seen) || now.Size() != f.seen.Size() || !now.ModTime().Equal(f.seen.ModTime())) {
		return fmt.Errorf("write cursor: %s was changed during this export, so it was not overwritten: run one export at a time", f.cursor)
	}
	if err := con.files.Of("--cursor").Write(ctx, write); err != nil {
		return fmt.Errorf("write cursor: %w", err)
	}
	f.seen, _ = os.Stat(f.cursor)
	return nil
}
