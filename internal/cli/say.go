package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"skink/internal/harmless"
)

// A sayer prints the messages of a crawl, as text for users or as lines of JSON for programs.
type sayer struct {
	to    io.Writer
	log   *slog.Logger // nil: text for users
	quiet bool         // errors only
}

func newSayer(to io.Writer, json, quiet bool) sayer {
	s := sayer{to: to, quiet: quiet}
	if json {
		s.log = slog.New(slog.NewJSONHandler(harmless.JSON(to), nil))
	}
	return s
}

// line prints a sentence.
func (s sayer) line(format string, args ...any) {
	switch text := fmt.Sprintf(format, args...); {
	case s.quiet:
	case s.log != nil:
		s.log.Info(text)
	default:
		fmt.Fprintln(s.to, text)
	}
}

// summary prints how the crawl ended.
func (s sayer) summary(sum summary) {
	switch {
	case s.quiet:
	case s.log != nil:
		s.log.Info("finished", sum.attrs()...)
	default:
		fmt.Fprintln(s.to, sum)
	}
}

// error logs an error for programs, and returns only its exit code. Without a log it returns the
// error, which the caller prints.
func (s sayer) error(err error) error {
	if s.log == nil || err == nil {
		return err
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return code
	}
	s.log.Error(strings.TrimPrefix(harmless.Error(err), "skink: "))
	if _, ok := errors.AsType[usageError](err); ok {
		return exitError(exitUsage)
	}
	return exitError(exitFailed)
}
