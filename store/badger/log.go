package badger

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// logger passes badger's messages to slog. Badger logs compactions and levels at info level. These
// messages help to debug a store but not to follow a crawl, so they are logged at debug level.
// Warnings and errors are also passed to full, which looks for the error for a full disk.
type logger struct {
	to   *slog.Logger // nil means that messages are dropped
	full *fullness
}

func (l logger) Errorf(format string, a ...any)   { l.log(slog.LevelError, format, a) }
func (l logger) Warningf(format string, a ...any) { l.log(slog.LevelWarn, format, a) }
func (l logger) Infof(format string, a ...any)    { l.log(slog.LevelDebug, format, a) }
func (l logger) Debugf(string, ...any)            {}

func (l logger) log(level slog.Level, format string, a []any) {
	if level >= slog.LevelWarn {
		l.full.hear(a)
	}
	if l.to != nil {
		l.to.Log(context.Background(), level, message(format, a))
	}
}

func message(format string, a []any) string {
	return "badger: " + strings.TrimSpace(fmt.Sprintf(format, a...))
}
