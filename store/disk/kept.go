package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"skink/store"
)

// # Cached values beside a store
//
// A value that can be recomputed from a store's pages (see [store.Keeper]) is kept in the file
// NAME.kept in the store's folder. Any process that reads the store may write it, without a lock.
// The process writes it as NAME.RANDOM.kept.new, and then renames it. If two processes write a
// value at the same time, the second process removes the unfinished file of the first. It cannot
// distinguish that file from one that a killed process left behind.

// KeptExt is the extension of files with cached values, which are not part of the store.
const KeptExt = ".kept"

const halfExt = KeptExt + ".new"

// A Cache is a folder of a store, beside whose files values are cached. It implements [store.Keeper].
type Cache string

// Kept returns the value cached under name, or nil if there is none.
func (dir Cache) Kept(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(string(dir), name+KeptExt))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Keep caches a value under name. It returns store.ErrFull if that would use reserved space.
func (dir Cache) Keep(ctx context.Context, name string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	space := Space{Dir: string(dir)}
	if !space.HasRoom(int64(len(value))) {
		return fmt.Errorf("%s: %w: there is no space for %d more bytes", dir, store.ErrFull, len(value))
	}
	if err := removeHalves(string(dir), name); err != nil {
		return err
	}
	path := filepath.Join(string(dir), name)
	return replaceBy(path+"."+rand.Text()+halfExt, path+KeptExt, value)
}

func removeHalves(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name+".") || !strings.HasSuffix(e.Name(), halfExt) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
