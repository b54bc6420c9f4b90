package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/feed"
	"skink/store"
)

// sinceFlags say since when changes are asked for.
type sinceFlags struct {
	since  string
	cursor string // a file
}

func addSinceFlags(flags *pflag.FlagSet) *sinceFlags {
	f := &sinceFlags{}
	flags.StringVar(&f.since, "since", "", "write what changed since a TIME, such as 2026-11-22 or 2026-11-22T09:30:00Z, or a CURSOR that an export printed, or start")
	flags.StringVar(&f.cursor, "cursor", "", "write what changed since the cursor in FILE, all of it if there is no such file yet, and keep the new one there")
	return f
}

const sinceStart = "start"

func (f *sinceFlags) given() bool { return f.since != "" || f.cursor != "" }

// heed turns the flags into options that say which changes are written.
func (f *sinceFlags) heed(opt *feed.Options) error {
	switch {
	case !f.given():
		return nil
	case f.since != "" && f.cursor != "":
		return usagef("--since and --cursor both say where to begin: give one of them")
	}
	opt.Changes = true
	from := f.since
	if f.cursor != "" {
		b, err := os.ReadFile(f.cursor)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return plainError(f.cursor, err)
		}
		from = string(bytes.TrimSpace(b))
	}
	if from == sinceStart {
		return nil
	}
	if at, ok := parseTime(from); ok {
		opt.Since = at
	} else {
		opt.After = store.Cursor(from)
	}
	return nil
}

// parseTime reads a moment, or the beginning of a day, in UTC.
func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, strings.TrimSpace(text), time.UTC); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// keep prints the cursor from which the next export goes on, and writes it to the cursor's file if
// there is one.
func (f *sinceFlags) keep(con Console, storeName string, end store.Cursor) error {
	if !f.given() {
		return nil
	}
	fmt.Fprintf(con.Err, "go on from here with: skink export --store %s --since %s\n", quoted(storeName), quoted(string(end)))
	if f.cursor == "" {
		return nil
	}
	return f.write(end)
}

// write writes a cursor to its file.
func (f *sinceFlags) write(at store.Cursor) error {
	text := string(at) + "\n"
	tmp := f.cursor + ".new"
	if err := errors.Join(os.WriteFile(tmp, []byte(text), 0o644), os.Rename(tmp, f.cursor)); err != nil {
		return fmt.Errorf("keep the cursor: %w", err)
	}
	return nil
}
