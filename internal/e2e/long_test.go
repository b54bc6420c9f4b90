package e2e

import (
	"os"
	"testing"
)

// A form is the size of a long test.
type form string

const (
	short form = "short" // the tests take some seconds
	full  form = "full"  // the tests take minutes
)

// long returns the value of SKINK_LONG, which selects the size of the long tests. It skips the test
// if SKINK_LONG is not set, because soak tests and repeated kills take too long for unit tests.
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

// needServer skips a test with a database server if neither SKINK_LONG is set nor the race detector runs, because starting
// the server and its connections takes seconds.
func needServer(t *testing.T) {
	t.Helper()
	if !raced {
		long(t)
	}
}
