package store

import "context"

// A Keeper caches values that can be computed again from a store's pages, such as which pages
// resemble each other. The value must say which state of the pages it was computed from. A cached
// value may disappear at any time, and callers must also work without it.
type Keeper interface {
	// Kept returns the complete value last cached under the given name, or nil if there is none.
	Kept(ctx context.Context, name string) ([]byte, error)
	// Keep caches a value, and replaces any previous one. The name consists of lower-case letters and
	// hyphens. If several calls run at the same time, one of their values remains. A store that is
	// open only for reading caches values too, if it can write to its folder.
	Keep(ctx context.Context, name string, value []byte) error
}
