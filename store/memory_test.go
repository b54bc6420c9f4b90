package store_test

import (
	"testing"

	"skink/store"
	"skink/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return storetest.NewMemory() })
}
