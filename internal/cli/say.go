package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"skink/internal/harmless"
)

// A sayer says how a crawl goes, to a person or, as lines of JSON, to a program.
type sayer struct {
	to    io.Writer
	log   *slog.Logger // nil: to a person
	quiet bool         // errors only
}

func newSayer(to io.Writer, json, quiet bool) sayer {
	s := sayer{to: to, quiet: quiet}
	if json {
		s.log = slog.New(slog.NewJSONHandler(harmless.JSON(to), nil))
	}
	return s
}

// line says a sentence.
func (s sayer) line(format string, args ...any) {
	switch text := fmt.Sprintf(format, args...); {
	case s.quiet:
	case s.log != nil:
		s.log.Info(text)
	default:
		fmt.Fprintln(s.to, text)
	}
}

// summary says how the crawl ended.
func (s sayer) summary(sum summary) {
	switch {
	case s.quiet:
	case s.log != nil:
		s.log.Info("finished", sum.attrs()...)
	default:
		fmt.Fprintln(s.to, sum)
	}
}

// error says an error to a program, and leaves only its exit code to be returned. A person gets it
// from whoever the error is returned to.
func (s sayer) error(err error) error {
	if s.log == nil || err == nil {
		return err
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return code
	}
	s.log.Error(strings.TrimPrefix(oneLine(err), "skink: "))
	if _, ok := errors.AsType[usageError](err); ok {
		return exitError(exitUsage)
	}
	return exitError(exitFailed)
}
