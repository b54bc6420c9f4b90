package badger

import (
	"context"

	"skink/store/disk"
)

// Cached values are files in the store's folder; see package disk. They are not in badger, because
// a read-only process must not write to badger.

// Kept returns the value cached under a name.
func (r reader) Kept(ctx context.Context, name string) ([]byte, error) {
	return disk.Cache(r.s.name).Kept(ctx, name)
}

// Keep caches a value in the store's folder, even if the store is read-only.
func (r reader) Keep(ctx context.Context, name string, value []byte) error {
	return disk.Cache(r.s.name).Keep(ctx, name, value)
}
