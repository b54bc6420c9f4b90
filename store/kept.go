package store

import "context"

// A Keeper caches values that can be computed again from a store's pages, such as which pages
// resemble each other. The caller includes the state of the pages in the value. A cached value may
// disappear at any time, and a caller must also work without one.
type Keeper interface {
	// Kept returns the complete value last cached under a name, or nil if there is none.
	Kept(ctx context.Context, name string) ([]byte, error)
	// Keep caches a value in place of the previous one. The name consists of lower-case letters and
	// hyphens. If several calls cache values at the same time, one of the values remains. A store
	// that is open for reading caches values too, if it may write to the store's folder.
	Keep(ctx context.Context, name string, value []byte) error
}
