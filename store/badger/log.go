package badger

import (
	"fmt"
	"log/slog"
	"strings"
)

// logger passes badger's messages on to slog. What badger calls information is about compactions
// and levels. It helps those who look into a store, not those who crawl, so it is logged at the
// level of debugging.
type logger struct{ to *slog.Logger }

func (l logger) Errorf(format string, a ...any)   { l.to.Error(message(format, a)) }
func (l logger) Warningf(format string, a ...any) { l.to.Warn(message(format, a)) }
func (l logger) Infof(format string, a ...any)    { l.to.Debug(message(format, a)) }
func (l logger) Debugf(string, ...any)            {}

func message(format string, a []any) string {
	return "badger: " + strings.TrimSpace(fmt.Sprintf(format, a...))
}
