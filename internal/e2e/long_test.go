package e2e

import (
	"os"
	"testing"
)

// A form says how much a long test does.
type form string

const (
	short form = "short" // some seconds: the project's check runs it
	full  form = "full"  // minutes
)

// long returns the form in which the long tests run, as SKINK_LONG says. It skips the test where
// that is not set: soaks, and crawls that are killed again and again, are no unit tests.
func long(t *testing.T) form {
	t.Helper()
	switch f := form(os.Getenv("SKINK_LONG")); f {
	case short, full:
		return f
	case "":
		t.Skip("a long test: SKINK_LONG=short or SKINK_LONG=full runs it")
	default:
		t.Fatalf("SKINK_LONG is %q, which is neither short nor full", f)
	}
	return ""
}
