package store

import "context"

// A Keeper keeps values that were made of a store's pages and can be made of them again, such as
// which pages resemble each other. A caller writes into the value of which pages it was made. Nobody
// relies on one: it may be gone at any time, and whoever cannot keep one goes on without.
type Keeper interface {
	// Kept returns the value that was kept last under a name, whole. It is nil if there is none.
	Kept(ctx context.Context, name string) ([]byte, error)
	// Keep keeps a value in place of the one before. The name is made of lower-case letters and
	// hyphens. Of values that are kept at once, one stays. A store that is open to be read keeps
	// values, too, if it may write where the store is.
	Keep(ctx context.Context, name string, value []byte) error
}
