package cli

import (
	"errors"

	"skink/internal/precedence"
)

// checkPrefer refuses invalid expressions of --prefer.
func checkPrefer(prefer []string) error {
	_, err := precedence.NewOrder(prefer, nil)
	if pattern, ok := errors.AsType[*precedence.PatternError](err); ok {
		return usagef("--prefer %q is no regular expression: %w: the syntax is that of https://go.dev/s/re2syntax", pattern.Pattern, pattern.Err)
	}
	return err
}
