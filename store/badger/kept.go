package badger

import (
	"context"

	"skink/store/disk"
)

// Cached values are files in the store's folder; see package disk. They are not in badger, because
// a read-only process must not write to badger.

// Kept returns the value cached under a name.
func (s *Store) Kept(ctx context.Context, name string) ([]byte, error) {
	return disk.Kept(ctx, s.name, name)
}

// Keep caches a value in the store's folder, even if the store is read-only.
func (s *Store) Keep(ctx context.Context, name string, value []byte) error {
	return disk.Keep(ctx, s.name, name, value)
}

func (r reader) Kept(ctx context.Context, name string) ([]byte, error) { return r.s.Kept(ctx, name) }

func (r reader) Keep(ctx context.Context, name string, value []byte) error {
	return r.s.Keep(ctx, name, value)
}
