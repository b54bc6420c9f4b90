package badger

import (
	"fmt"
	"log/slog"
	"strings"
)

// logger lets badger speak through slog. Its information is about compactions
// and levels: for someone who looks into a store, not for someone who crawls.
type logger struct{ to *slog.Logger }

func (l logger) Errorf(format string, a ...any)   { l.to.Error(message(format, a)) }
func (l logger) Warningf(format string, a ...any) { l.to.Warn(message(format, a)) }
func (l logger) Infof(format string, a ...any)    { l.to.Debug(message(format, a)) }
func (l logger) Debugf(string, ...any)            {}

func message(format string, a []any) string {
	return "badger: " + strings.TrimSpace(fmt.Sprintf(format, a...))
}
