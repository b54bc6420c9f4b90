package audit

import (
	"slices"
	"testing"
)

// A cell leaves the list of the record as it is.
func TestListed(t *testing.T) {
	all := []string{"", "a", "b"}
	if got := listed(all); got != "a, b" || !slices.Equal(all, []string{"", "a", "b"}) {
		t.Errorf("got %v from %q", got, all)
	}
}
