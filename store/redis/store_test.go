package redis

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"skink/store"
	"skink/store/storetest"
)

// The unit tests ask a single server, the long ones a cluster too.
func TestStore(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		needLongForCluster(t)
		storetest.Run(t, func(t *testing.T) store.Store { return openNew(t, servers) })
	})
}

// What a store keeps when it is closed does not depend on how many servers keep it, so a cluster is
// asked in the long tests only.
func TestDurableStore(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		needLongForCluster(t)
		storetest.RunDurable(t, func(t *testing.T, dir string) store.Store { return openNamed(t, servers, nameOf(dir)) })
	})
}

// needLongForCluster skips what takes a cluster long.
func needLongForCluster(t *testing.T) {
	t.Helper()
	if strings.HasSuffix(t.Name(), "/cluster") && os.Getenv("SKINK_LONG") == "" {
		t.Skip("SKINK_LONG=short runs it")
	}
}

// nameOf is a name for the store of a folder that a test is given.
func nameOf(dir string) string {
	return fmt.Sprintf("dir%x", xxh3.HashString(dir))
}
