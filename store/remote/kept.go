package remote

import (
	"context"

	"skink/internal/disk"
)

// Cached values are files in the store's folder, see package disk. A process that may ask the
// server can also access the folder.

// Kept returns a cached value.
func (r *Reader) Kept(ctx context.Context, name string) ([]byte, error) {
	return disk.Kept(ctx, r.dir, name)
}

// Keep caches a value.
func (r *Reader) Keep(ctx context.Context, name string, value []byte) error {
	return disk.Keep(ctx, r.dir, name, value)
}
