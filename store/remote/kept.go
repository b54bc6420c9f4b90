package remote

import (
	"context"

	"skink/store/disk"
)

// Cached values are files in the store's folder; see package disk. A client can access the folder
// itself, so it needs no request for them.

// Kept returns the value cached under a name.
func (r *Reader) Kept(ctx context.Context, name string) ([]byte, error) {
	return disk.Kept(ctx, r.dir, name)
}

// Keep caches a value under a name.
func (r *Reader) Keep(ctx context.Context, name string, value []byte) error {
	return disk.Keep(ctx, r.dir, name, value)
}
