package store_test

import (
	"testing"

	"skink/internal/tools/storetest"
	"skink/store"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return storetest.NewMemory() })
}
