package redis

import (
	"fmt"
	"testing"

	"github.com/zeebo/xxh3"

	"skink/store"
	"skink/store/storetest"
)

func TestStore(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		storetest.Run(t, func(t *testing.T) store.Store { return openNew(t, servers) })
	})
}

func TestDurableStore(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		storetest.RunDurable(t, func(t *testing.T, dir string) store.Store { return openNamed(t, servers, nameOf(dir)) })
	})
}

// nameOf is a name for the store of a folder that a test is given.
func nameOf(dir string) string {
	return fmt.Sprintf("dir%x", xxh3.HashString(dir))
}
