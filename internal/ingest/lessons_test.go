package ingest

import (
	"strings"
	"testing"

	"skink/crawler/learn"
	"skink/store"
)

// Stores protect learned evidence less than settings, and recognize it by its name.
func TestNameOfEvidence(t *testing.T) {
	if name := learn.NameOf("example.com"); !strings.HasPrefix(name, store.Learned) {
		t.Errorf("the name is %q, want the prefix %q", name, store.Learned)
	}
}
