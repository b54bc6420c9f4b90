package remote

import (
	"context"

	"skink/store/badger/disk"
)

// What is kept beside a store is in its folder, see package disk. Whoever may ask the process that
// has the store has the folder, too.

// Kept returns what is kept now.
func (r *Reader) Kept(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return disk.Kept(r.dir, name)
}

// Keep keeps a value.
func (r *Reader) Keep(ctx context.Context, name string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return disk.Keep(r.dir, name, value)
}
