package remote

import (
	"context"

	"skink/store/badger/disk"
)

// What is kept beside a store is in its folder, see package disk. Whoever may ask the process that
// has the store has the folder, too.

// Kept returns what is kept now.
func (r *Reader) Kept(ctx context.Context, name string) ([]byte, error) {
	return disk.Kept(ctx, r.dir, name)
}

// Keep keeps a value.
func (r *Reader) Keep(ctx context.Context, name string, value []byte) error {
	return disk.Keep(ctx, r.dir, name, value)
}
