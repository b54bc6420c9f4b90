package badger

import (
	"context"

	"skink/store/badger/disk"
)

// What is kept beside a store are files of its folder, see package disk. Badger has no part in them:
// a reader may not write to it.

// Kept returns what was kept under a name.
func (s *Store) Kept(ctx context.Context, name string) ([]byte, error) {
	return disk.Kept(ctx, s.name, name)
}

// Keep keeps a value in the store's folder, also if the store is open to be read.
func (s *Store) Keep(ctx context.Context, name string, value []byte) error {
	return disk.Keep(ctx, s.name, name, value)
}

// Kept returns what is kept now.
func (r reader) Kept(ctx context.Context, name string) ([]byte, error) { return r.s.Kept(ctx, name) }

// Keep keeps a value.
func (r reader) Keep(ctx context.Context, name string, value []byte) error {
	return r.s.Keep(ctx, name, value)
}
